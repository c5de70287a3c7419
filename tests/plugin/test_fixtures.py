"""Fixtures: overriding them, and Python tests over runs."""

from __future__ import annotations

import pytest

from tests.support.default_run import first_by_default

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)

OVERRIDES = {
    "webeval_run": """
        import pytest
        @pytest.fixture
        def webeval_run(webeval_run):
            pytest.fail("overridden: " + webeval_run.label)
    """,
    "webeval_task": """
        import pytest
        @pytest.fixture
        def webeval_task(webeval_task):
            pytest.fail("overridden: " + webeval_task.intent)
        @pytest.fixture
        def webeval_evaluators(webeval_evaluators, webeval_task):
            return webeval_evaluators
    """,
    "webeval_response": """
        import pytest
        from pytest_webeval import Evaluator
        class Strict(Evaluator):
            name = "AgentResponseEvaluator"
            def evaluate(self, expectation, case):
                raise ValueError("overridden")
        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Strict())
    """,
    "webeval_network_event": """
        import pytest
        @pytest.fixture
        def webeval_network_event():
            pytest.fail("overridden")
    """,
    "webeval_rubric": """
        import pytest
        @pytest.fixture
        def webeval_rubric():
            pytest.fail("overridden")
    """,
    "webeval_evaluators": """
        import pytest
        from pytest_webeval import Assertion, Evaluator
        class Mine(Evaluator):
            name = "AgentResponseEvaluator"
            def evaluate(self, expectation, case):
                return self.result([Assertion(assertion_name="overridden", status="failure")])
        @pytest.fixture
        def webeval_evaluators():
            return [Mine()]
    """,
    "webeval_judge": """
        import pytest
        @pytest.fixture(scope="session")
        def webeval_judge():
            pytest.fail("overridden")
        @pytest.fixture
        def webeval_evaluators(webeval_evaluators, webeval_judge):
            return webeval_evaluators
    """,
    "webeval_sites": """
        import pytest
        @pytest.fixture(scope="session")
        def webeval_sites():
            pytest.fail("overridden")
    """,
    "webeval_tasks": """
        import pytest
        @pytest.fixture(scope="session")
        def webeval_tasks():
            pytest.fail("overridden")
        @pytest.fixture(autouse=True)
        def ask(webeval_tasks):
            pass
    """,
    "record_evaluation": """
        import pytest
        @pytest.fixture
        def record_evaluation():
            pytest.fail("overridden")
    """,
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_conftest_overrides_each_fixture(runs, webeval, pytester, name):
    runs.add(107)
    assert webeval().ret == 0
    pytester.makeconftest(OVERRIDES[name])
    result = webeval()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*overridden*"])
    assert runs.counts[0] == 0


def test_an_evaluator_from_a_conftest_changes_the_evaluator_checksum(runs, webeval, pytester):
    runs.add(107)
    webeval()
    before = runs.result(107)["webarena_verified_evaluator_checksum"]
    pytester.makeconftest(OVERRIDES["webeval_response"])
    webeval()
    assert runs.result(107)["webarena_verified_evaluator_checksum"] != before


def test_an_evaluator_of_ones_own_is_named_by_a_task(runs, webeval, pytester):
    runs.add(107, expects=({"evaluator": "PalmReader", "line": "long"},))
    pytester.makeconftest(
        """
        import pytest
        from pytest_webeval import Assertion, Evaluator
        class PalmReader(Evaluator):
            name = "PalmReader"
            def evaluate(self, expectation, case):
                told = expectation.config["line"]
                return self.result([Assertion(assertion_name="palm", status="success", assertion_msgs=[told])])
        @pytest.fixture
        def webeval_evaluators(webeval_evaluators):
            return [*webeval_evaluators, PalmReader()]
        """
    )
    webeval().assert_outcomes(passed=1)
    found = runs.result(107)["evaluators_results"]
    assert [one["evaluator_name"] for one in found] == ["AgentResponseEvaluator", "PalmReader"]


def test_a_python_test_that_asks_for_a_run_is_parametrised_over_all_runs(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile("def test_it(webeval_run): assert webeval_run.task_id in (107, 108)")
    result = webeval("-v", "test_a_python_test_that_asks_for_a_run_is_parametrised_over_all_runs.py")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*::test_it[[]runs/107[]] PASSED*", "*::test_it[[]runs/108[]] PASSED*"])


@pytest.mark.parametrize("fixture", sorted(OVERRIDES.keys() - {"webeval_judge", "webeval_sites", "webeval_tasks"}))
def test_without_runs_such_a_test_is_skipped(pytester, fixture):
    pytester.makepyfile(f"def test_it({fixture}): assert False")
    result = pytester.runpytest("-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*requires recorded runs; pass --webeval-runs=DIR"])


PYTHON_TESTS = """
    import pytest
    from pytest_webeval import Assertion, EvaluatorResult

    def test_response(webeval_response):
        webeval_response.check()

    def test_network(webeval_network_event):
        webeval_network_event.check(expected={"url": "__SHOPPING__/", "http_method": "GET"})

    def test_elsewhere(webeval_network_event, webeval_run):
        if webeval_run.task_id == 108:
            webeval_network_event.check(expected={"url": "__SHOPPING__/cart", "http_method": "POST"})

    def test_rubric(webeval_rubric):
        webeval_rubric.check(threshold=0.5)

    def test_own(record_evaluation):
        note = Assertion(assertion_name="own.palm", status="success")
        record_evaluation(EvaluatorResult(evaluator_name="Own", status="success", score=1.0, assertions=[note]))

    def test_that_looks_only(webeval_run, webeval_task):
        assert webeval_task.task_id == webeval_run.task_id
"""
RUBRIC = '{"items": [{"criterion": "tidy", "max_points": 4, "earned_points": 3}]}'


@WORKERS
@pytest.mark.parametrize("together", first_by_default([False, True], 1), ids=["alone", "with run items"])
def test_what_python_tests_check_lands_in_the_result_of_the_run(runs, webeval_apart, pytester, workers, together):
    for number in (107, 108):
        (runs.add(number) / "rubric.json").write_text(RUBRIC)
    pytester.makepyfile(test_checks=PYTHON_TESTS)
    result = webeval_apart("test_checks.py", *(["runs"] if together else []), *workers)
    result.assert_outcomes(passed=11 + 2 * together, failed=1)
    fine, bad = runs.result(107), runs.result(108)
    names = sorted(one["evaluator_name"] for one in fine["evaluators_results"])
    assert names == ["AgentResponseEvaluator", "NetworkEventEvaluator", "Own", "RubricEvaluator"]
    assert (fine["status"], fine["score"]) == ("success", 1.0)
    assert (bad["status"], bad["score"]) == ("failure", 0.0)
    assert len(bad["evaluators_results"]) == 5
    assert runs.counts == (1, 1, 0)
    assert runs.summary["total"] == 2


@WORKERS
def test_an_error_of_the_run_item_stays_one_whatever_python_tests_check(runs, webeval_apart, pytester, workers):
    runs.add(107, expects=({"evaluator": "PalmReader"},))
    pytester.makepyfile(test_checks="def test_it(webeval_response): webeval_response.check()")
    result = webeval_apart("test_checks.py", "runs", *workers)
    result.assert_outcomes(passed=1, failed=1)
    assert runs.result(107)["status"] == "error"
    assert runs.counts == (0, 0, 1)


def test_a_check_that_fails_shows_its_reason_and_fails_the_test(runs, webeval, pytester):
    runs.add(107, passes=False)
    pytester.makepyfile(test_checks="def test_it(webeval_response):\n    webeval_response.check()")
    result = webeval("test_checks.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*agent_response.status_mismatch*"])
    assert runs.result(107)["status"] == "failure"


def test_a_check_of_something_that_the_task_does_not_expect_says_so(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(test_checks="def test_it(webeval_rubric):\n    webeval_rubric.check()")
    result = webeval("test_checks.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*task 107 has no expectation for RubricEvaluator"])


def test_a_python_test_over_a_broken_run_is_an_error(runs, webeval, pytester):
    (runs.add(107) / "network.har").write_text("{")
    pytester.makepyfile(test_checks="def test_it(webeval_run): pass")
    webeval("test_checks.py").assert_outcomes(errors=1)


def test_python_tests_that_ask_for_no_run_are_left_alone(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(test_checks="def test_it(): pass")
    webeval("test_checks.py", "runs").assert_outcomes(passed=2)
    assert runs.summary["total"] == 1


def test_fixtures_are_listed_with_their_manual_page(runs, webeval):
    runs.add(107)
    result = webeval("--fixtures")
    for name in OVERRIDES:
        result.stdout.fnmatch_lines([f"{name}*-- *"])


@WORKERS
def test_a_failure_that_a_conftest_records_fails_the_run_item(runs, webeval_apart, pytester, workers):
    runs.add(107)
    pytester.makeconftest(
        """
        import pytest
        from pytest_webeval import Assertion, EvaluatorResult
        @pytest.fixture(autouse=True)
        def too_long(record_evaluation):
            note = Assertion(assertion_name="own.too_long", status="failure", assertion_msgs=["31 steps"])
            record_evaluation(EvaluatorResult(evaluator_name="Own", status="failure", score=0.0, assertions=[note]))
        """
    )
    result = webeval_apart(*workers)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED runs/107::task - own.too_long: 31 steps"])
    assert runs.result(107)["status"] == "failure"
    assert runs.counts == (0, 1, 0)


def test_a_python_test_may_choose_its_runs_itself(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makepyfile(
        test_checks="""
        import pytest
        from pathlib import Path
        @pytest.mark.parametrize("webeval_run", [Path(__file__).parent / "runs" / "108"], indirect=True, ids=["mine"])
        def test_it(webeval_run, webeval_response):
            webeval_response.check()
        """
    )
    result = webeval("test_checks.py", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_it[[]mine[]] PASSED*"])
    assert runs.summary["total"] == 1


COUNTED = """
import pytest
from pytest_webeval.sessions.workspace.task_definitions import TaskDefinitions


@pytest.fixture(autouse=True, scope="session")
def resolved():
    resolve, labels = TaskDefinitions.definition, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TaskDefinitions, "definition", lambda self, run: labels.append(run.label) or resolve(self, run))
        yield
    print("resolved:", *sorted(labels))
"""

RECORDING = """
def test_answer(webeval_response):
    webeval_response.check()
def test_task(webeval_task, record_evaluation):
    assert webeval_task.intent
"""


def test_the_definition_of_a_run_is_resolved_once_in_a_test(runs, webeval, pytester):
    runs.add(107)
    runs.add(108, passes=False)
    runs.add(109)
    pytester.makeconftest(COUNTED)
    webeval("-s", "-x").stdout.fnmatch_lines(["*resolved: runs/107 runs/108*"])
    webeval("-s", "--webeval-reuse").stdout.fnmatch_lines(["*resolved: runs/107 runs/108 runs/109"])
    path = pytester.makepyfile(RECORDING)
    result = webeval("-s", str(path), "-k", "107")
    result.assert_outcomes(passed=2, deselected=4)
    result.stdout.fnmatch_lines(["*resolved: runs/107 runs/107"])


def test_a_run_that_a_fixture_puts_in_its_place_has_a_definition_of_its_own(runs, webeval, pytester):
    runs.add(107)
    runs.define(runs.definition(108) | {"intent": "Find another lamp."})
    pytester.makeconftest(
        """
        import dataclasses, pytest
        @pytest.fixture
        def webeval_run(webeval_run):
            return dataclasses.replace(webeval_run, task_id=108)
        """
    )
    path = pytester.makepyfile("def test_task(webeval_task): assert webeval_task.intent == 'Find another lamp.'")
    webeval(str(path)).assert_outcomes(passed=1)


def test_a_fixture_that_a_plugin_adds_to_one_run_is_used_for_that_run_alone(runs, webeval, pytester):
    for number in range(101, 106):
        runs.add(number)
    pytester.makeconftest(
        """
        import pytest
        @pytest.fixture
        def slowly():
            pytest.fail("slowly")
        def pytest_collection_modifyitems(items):
            items[2].fixturenames.append("slowly")
        """
    )
    webeval().assert_outcomes(passed=4, errors=1)
    assert "slowly" in runs.result(103)["error_msg"]


def test_runs_that_are_roots_have_the_fixtures_of_their_own_directories(another_root, pytester, monkeypatch):
    for place in ("first", "second"):
        another_root(place).add(101)
    (pytester.path / "first/conftest.py").write_text(
        "import pytest\n@pytest.fixture\ndef webeval_evaluators():\n    pytest.fail('of the first')\n"
    )
    (pytester.mkdir("elsewhere") / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir("elsewhere")
    options = ("--webeval-runs=../first/101", "--webeval-runs=../second/101", "--webeval-tasks=../second/tasks.json")
    result = pytester.runpytest("-pno:benchmark", "-pno:hypothesispytest", *options)
    result.assert_outcomes(passed=1, errors=1)
