"""What Python tests say about runs: what they record counts, and how they end does not."""

from __future__ import annotations

import pytest

from tests.support.default_run import first_by_default

# Spread sessions of most tests are in the whole suite; the tests that stand for them run by default.
WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)
WORKERS_BY_DEFAULT = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "xdist"])

ENDINGS = """
    import pytest

    def test_assert(webeval_run):
        assert webeval_run.task_id == 0

    def test_assert_with_task(webeval_run, webeval_task):
        assert webeval_task is None

    def test_assert_with_recorder(record_evaluation):
        assert record_evaluation is None

    def test_exception(webeval_run):
        raise LookupError("no lamp")

    def test_our_exception(webeval_run):
        from pytest_webeval.errors import RecordingError
        raise RecordingError("mine")

    def test_fail(webeval_run):
        pytest.fail("no lamp")

    def test_skip(webeval_run):
        pytest.skip("no lamp")

    def test_xfail(webeval_run):
        pytest.xfail("no lamp")

    @pytest.mark.xfail
    def test_marked(webeval_run):
        assert False

    @pytest.mark.xfail(strict=True)
    def test_marked_strictly(webeval_run):
        pass

    @pytest.mark.xfail(run=False)
    def test_not_run(webeval_run):
        pass

    @pytest.fixture
    def broken(webeval_run):
        raise LookupError("no shade")

    def test_setup(broken):
        pass

    @pytest.fixture
    def untidy(webeval_run):
        yield
        raise LookupError("no bin")

    def test_teardown(untidy):
        pass
"""
OUTCOMES = {"failed": 7, "errors": 2, "skipped": 1, "xfailed": 3, "passed": 1}


@WORKERS
@pytest.mark.parametrize("order", [("runs", "test_endings.py"), ("test_endings.py", "runs")], ids=["first", "last"])
def test_no_ending_of_a_python_test_changes_what_the_evaluators_of_the_run_found(
    runs, webeval_apart, pytester, workers, order
):
    runs.add(107)
    runs.add(108, passes=False)
    pytester.makepyfile(test_endings=ENDINGS)
    result = webeval_apart(*order, *workers)
    expected = {name: 2 * count for name, count in OUTCOMES.items()}
    result.assert_outcomes(**expected | {"failed": 15, "passed": 3})
    assert (runs.result(107)["status"], runs.result(107)["error_msg"]) == ("success", None)
    assert runs.result(108)["status"] == "failure"
    assert runs.counts == (1, 1, 0)
    result.stdout.no_fnmatch_line("*recorded a failure*")


@WORKERS
def test_python_tests_alone_that_record_nothing_score_nothing(runs, webeval_apart, pytester, workers):
    runs.add(107)
    pytester.makepyfile(test_endings=ENDINGS)
    result = webeval_apart("test_endings.py", *workers)
    result.assert_outcomes(**OUTCOMES)
    assert runs.written == []
    result.stdout.fnmatch_lines(["Python tests used 1 run and recorded no result"])


@WORKERS
def test_a_run_that_python_tests_only_looked_at_is_unscored(runs, webeval_apart, pytester, workers):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(
        test_some="""
        def test_it(webeval_run, request):
            if webeval_run.task_id == 107:
                request.getfixturevalue("webeval_response").check()
        """
    )
    result = webeval_apart("test_some.py", *workers)
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    about = runs.summary["webeval"]
    assert (runs.counts, about["unscored"], about["partial"]) == ((1, 0, 0), ["runs/108"], True)
    assert runs.written == ["107/eval_result.json", "eval_summary.partial.json"]


@WORKERS
@pytest.mark.parametrize("together", [False, True], ids=["alone", "with run items"])
def test_a_recording_that_cannot_be_loaded_is_an_error_of_the_run(runs, webeval_apart, pytester, workers, together):
    (runs.add(107) / "network.har").write_text("{")
    pytester.makepyfile(test_it="def test_it(webeval_run): pass")
    result = webeval_apart("test_it.py", *(["runs"] if together else []), *workers)
    result.assert_outcomes(errors=1 + together)
    assert runs.counts == (0, 0, 1)
    assert runs.result(107)["status"] == "error"


MARKING = """
    import pytest
    def pytest_collection_modifyitems(items):
        for item in items:
            item.add_marker(pytest.mark.xfail({arguments}))
"""


@WORKERS
@pytest.mark.parametrize("strict", [False, True])
def test_a_run_item_that_is_marked_keeps_its_status(runs, webeval_apart, pytester, workers, strict):
    runs.add(107)
    runs.add(108, passes=False)
    (runs.add(109) / "network.har").write_text("{")
    pytester.makeconftest(MARKING.format(arguments=f"strict={strict}, reason='bug 7'"))
    result = webeval_apart(*workers)
    result.assert_outcomes(xfailed=2, **({"failed": 1} if strict else {"xpassed": 1}))
    assert result.ret == int(strict)
    assert [runs.result(number)["status"] for number in (107, 108, 109)] == ["success", "failure", "error"]
    assert runs.counts == (1, 1, 1)


def test_a_marked_run_item_that_is_not_run_is_excluded(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest(MARKING.format(arguments="run=False, reason='bug 7'"))
    webeval().assert_outcomes(xfailed=1)
    summary = runs.summary
    assert (summary["total"], summary["webeval"]["excluded_count"]) == (0, 1)
    assert summary["task_results"][0]["reason"] == "[NOTRUN] bug 7"
    assert runs.written == ["eval_summary.json"]


@pytest.mark.parametrize("ending", ["pytest.skip('late')", "pytest.xfail('late')", "pytest.fail('late')", "assert 0"])
def test_a_hook_after_the_test_of_a_run_does_not_change_its_status(runs, webeval, pytester, ending):
    runs.add(107)
    pytester.makeconftest(
        f"""
        import pytest
        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_call(item):
            yield
            {ending}
        """
    )
    webeval()
    assert runs.result(107)["status"] == "success"
    assert runs.counts == (1, 0, 0)


def test_a_fixture_that_fails_after_the_test_of_a_run_does_not_change_its_status(runs, webeval, pytester):
    runs.add(107)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture(autouse=True)
        def untidy():
            yield
            raise LookupError("no bin")
        """
    )
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.counts == (1, 0, 0)


RECORDS = {
    "record_evaluation": """
        from pytest_webeval import EvaluatorResult
        def test_it(record_evaluation):
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0))
    """,
    "a check that raises": """
        import pytest
        def test_it(webeval_network_event):
            with pytest.raises(AssertionError):
                webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "POST"})
    """,
    "an expected failure": """
        import pytest
        @pytest.mark.xfail
        def test_it(webeval_network_event):
            webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "POST"})
    """,
    "a skip after it": """
        import pytest
        from pytest_webeval import EvaluatorResult
        def test_it(record_evaluation):
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0))
            pytest.skip("enough")
    """,
    "a fixture after the test": """
        import pytest
        from pytest_webeval import EvaluatorResult
        @pytest.fixture
        def late(record_evaluation):
            yield
            record_evaluation(EvaluatorResult(evaluator_name="Mine", status="failure", score=0.0))
        def test_it(late):
            pass
    """,
}


@WORKERS
@pytest.mark.parametrize("how", first_by_default(RECORDS, 2))
def test_a_failure_that_a_python_test_alone_records_fails_the_session(runs, webeval_apart, pytester, workers, how):
    runs.add(107)
    pytester.makepyfile(test_records=RECORDS[how])
    result = webeval_apart("test_records.py", *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "failed" not in result.parseoutcomes()
    assert runs.counts == (0, 1, 0)
    assert runs.result(107)["status"] == "failure"
    result.stdout.fnmatch_lines(["Python tests scored 1 run as a failure: runs/107"])


def test_a_failure_of_the_run_itself_fails_the_session_of_a_python_test_that_records(runs, webeval, pytester):
    runs.add(107, passes=False)
    pytester.makepyfile(test_records=RECORDS["record_evaluation"].replace('"failure"', '"success"'))
    result = webeval("test_records.py")
    result.assert_outcomes(passed=1)
    assert (result.ret, runs.counts) == (pytest.ExitCode.TESTS_FAILED, (0, 1, 0))


@WORKERS_BY_DEFAULT
def test_a_late_failure_fails_the_session_where_the_run_passed_its_own_test(runs, webeval_apart, pytester, workers):
    runs.add(107)
    pytester.makepyfile(test_records=RECORDS["a fixture after the test"])
    result = webeval_apart("runs", "test_records.py", *workers)
    result.assert_outcomes(passed=2)
    assert (result.ret, runs.counts) == (pytest.ExitCode.TESTS_FAILED, (0, 1, 0))
    assert len(runs.result(107)["evaluators_results"]) == 2
    result.stdout.fnmatch_lines(["1 run passed its own test, but a Python test recorded a failure: runs/107"])


def test_a_failure_that_the_marked_item_of_the_run_has_as_well_is_expected(runs, webeval, pytester):
    runs.add(107, passes=False)
    pytester.makeconftest(MARKING.format(arguments=""))
    pytester.makepyfile(test_it="def test_it(webeval_response): webeval_response.check()")
    result = webeval("runs", "test_it.py")
    result.assert_outcomes(xfailed=2)
    assert (result.ret, runs.counts) == (0, (0, 1, 0))


def test_a_failure_beyond_that_of_a_marked_item_fails_the_session(runs, webeval, pytester):
    runs.add(107, passes=False)
    pytester.makeconftest(MARKING.format(arguments=""))
    pytester.makepyfile(test_it=RECORDS["a check that raises"])
    result = webeval("runs", "test_it.py")
    assert (result.ret, runs.counts) == (pytest.ExitCode.TESTS_FAILED, (0, 1, 0))


def test_a_late_success_alone_scores_nothing(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(test_it=RECORDS["a fixture after the test"].replace('"failure"', '"success"'))
    assert webeval("test_it.py").ret == 0
    assert runs.written == []


def test_collecting_such_tests_fails_nothing(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(test_records=RECORDS["record_evaluation"])
    assert webeval("test_records.py", "--co").ret == 0
    assert runs.written == []


@pytest.mark.parametrize(
    ("ending", "counts", "reason"),
    [
        ("raise LookupError('no lamp')", (0, 0, 1), "LookupError: no lamp; fix the fixture"),
        ("pytest.fail('no lamp')", (0, 0, 1), "Failed: no lamp; fix the fixture"),
    ],
)
def test_evaluators_that_cannot_be_set_up_are_an_error_of_the_run(runs, webeval, pytester, ending, counts, reason):
    runs.add(107)
    pytester.makeconftest(
        f"""
        import pytest
        @pytest.fixture
        def webeval_evaluators(webeval_evaluators):
            {ending}
        """
    )
    pytester.makepyfile(test_records=RECORDS["record_evaluation"].replace('"failure"', '"success"'))
    result = webeval("test_records.py")
    result.assert_outcomes(passed=1)
    assert (result.ret, runs.counts) == (pytest.ExitCode.TESTS_FAILED, counts)
    assert runs.reasons == {"107": f"cannot set up webeval_evaluators: {reason}"}


@WORKERS
def test_a_failure_that_a_fixture_records_after_the_test_of_a_run_fails_it(runs, webeval_apart, pytester, workers):
    runs.add(107)
    pytester.makeconftest(
        """
        import pytest
        from pytest_webeval import Assertion, EvaluatorResult
        @pytest.fixture(autouse=True)
        def too_long(record_evaluation):
            yield
            note = Assertion(assertion_name="own.too_long", status="failure", assertion_msgs=["31 steps"])
            record_evaluation(EvaluatorResult(evaluator_name="Own", status="failure", score=0.0, assertions=[note]))
        """
    )
    result = webeval_apart(*workers)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["ERROR runs/107::task - own.too_long: 31 steps"])
    assert (runs.counts, runs.reasons) == ((0, 1, 0), {"107": "own.too_long: 31 steps"})


def test_a_skip_of_an_evaluator_that_a_test_catches_leaves_the_run_out(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(
        test_it="""
        import pytest
        from pytest_webeval import EvaluatorResult, ResponseEvaluator
        class Mine(ResponseEvaluator):
            def evaluate(self, expectation, case):
                pytest.skip("no lamp")
        def test_it(webeval_response, record_evaluation):
            record_evaluation(EvaluatorResult(evaluator_name="Own", status="success", score=1.0))
            with pytest.raises(pytest.skip.Exception):
                webeval_response.using(Mine()).check()
            assert record_evaluation is None
        """
    )
    webeval("test_it.py").assert_outcomes(failed=1)
    rows = [(row["status"], row["reason"]) for row in runs.summary["task_results"]]
    assert (runs.counts, rows) == ((0, 0, 0), [("excluded", "no lamp")])


def test_what_a_python_test_says_of_a_recording_is_no_control_sequence(runs, pytester, webeval_apart):
    answer = runs.add(107) / "agent_response.json"
    answer.write_text(answer.read_text().replace('"lamp"', '"lamp \x1b[31m\u202e"'), "utf-8")
    pytester.makepyfile(
        test_saying="""
        def test_it(webeval_run):
            print(webeval_run.response.decode())
            raise ValueError(webeval_run.response.decode())
        """
    )
    result = webeval_apart("test_saying.py", "-rA", "--junitxml=junit.xml")
    shown = result.stdout.str() + (pytester.path / "junit.xml").read_text("utf-8")
    assert r"lamp \u001b[31m\u202e" in shown
    assert not {"\x1b", "\u202e"} & set(shown)
