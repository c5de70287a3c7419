"""A result is the verdict on the whole task, whoever asked for it, and always one that can be written."""

import json

import pytest

ONE_CHECK = "def test_it(webeval_network_event): webeval_network_event.check(expected={'url': '^.*$'})"


def test_a_passing_check_of_a_python_test_is_no_success_of_a_failed_task(pytester, runs, webeval):
    runs.add(107, passes=False, expects=(runs.visited(),))
    pytester.makepyfile(test_checks=ONE_CHECK)
    webeval("test_checks.py").assert_outcomes(passed=1)
    assert runs.result(107)["status"] == "failure"
    assert runs.counts == (0, 1, 0)


def test_a_lenient_check_does_not_replace_the_verdict_of_the_run(pytester, runs, webeval):
    runs.add(107, passes=False)
    pytester.makepyfile(
        test_checks="""
        import pytest, pytest_webeval as webeval

        class Lenient(webeval.ResponseEvaluator):
            def evaluate(self, expectation, case):
                return super().evaluate(expectation, case).with_changes(status=webeval.Status.SUCCESS, score=1.0)

        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Lenient())

        def test_it(webeval_response):
            webeval_response.check()
        """
    )
    webeval("runs", "test_checks.py").assert_outcomes(passed=1, failed=1)
    assert runs.result(107)["status"] == "failure"


def test_a_broken_recording_is_an_error_for_python_tests_as_well(pytester, runs, webeval):
    (runs.add(107) / "network.har").write_text("{")
    pytester.makepyfile(test_checks=ONE_CHECK)
    webeval("test_checks.py").assert_outcomes(errors=1)
    assert runs.counts == (0, 0, 1)


def test_surrogates_in_keys_and_values_cost_no_other_task(runs, webeval):
    odd = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["\ud800"], "\ud800": 1}
    (runs.add(107) / "agent_response.json").write_text(json.dumps(odd))
    runs.add(108)
    webeval().assert_outcomes(passed=1, failed=1)
    assert runs.counts == (1, 1, 0)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("pass", "Own.evaluate returned NoneType; return self.result"),
        ("return self.result([], actual=object())", "Object of type object is not JSON serializable"),
        (
            "return self.result([]).with_changes(status='succes')",
            "Own returned an invalid EvaluatorResult: Invalid enum value 'succes' @ status",
        ),
        (
            "return self.result([webeval.Assertion(assertion_name='a', status='success', assertion_msgs='b')])",
            "Own returned an invalid EvaluatorResult: Expected `array | null`, got `str` @ assertions?0?.assertion_m",
        ),
    ],
)
def test_an_evaluator_whose_result_cannot_be_written_is_an_error(pytester, runs, webeval, ending, told):
    runs.add(107, expects=({"evaluator": "Own"},))
    pytester.makeconftest(
        f"""
        import pytest, pytest_webeval as webeval

        class Own(webeval.Evaluator):
            name = "Own"
            def evaluate(self, expectation, case):
                {ending}

        @pytest.fixture
        def webeval_evaluators(webeval_evaluators):
            return [*webeval_evaluators, Own()]
        """
    )
    webeval().stdout.fnmatch_lines([f"*{told}*"])
    assert runs.counts == (0, 0, 1)


def test_a_skip_while_scoring_excludes_the_run(pytester, runs, webeval):
    runs.add(107, expects=({"evaluator": "Own"},))
    pytester.makeconftest(
        """
        import pytest

        @pytest.hookimpl(wrapper=True)
        def pytest_pyfunc_call(pyfuncitem):
            pytest.skip("the agent was aborted")
            yield
        """
    )
    webeval().assert_outcomes(skipped=1)
    assert runs.summary["webeval"]["excluded_count"] == 1
    assert runs.counts == (0, 0, 0)


def test_a_root_that_is_a_run_does_not_trust_its_own_tasks(pytester, runs, webeval):
    runs.add(107)
    own = runs.root / "107"
    (runs.root / "tasks.json").rename(own / "tasks.json")
    pytester.runpytest("--webeval-runs=runs/107", "--webeval-own-tasks").assert_outcomes(passed=1)
    assert "agent could have written it" in str(runs.result(107)["webeval"]["warnings"])


def test_guessed_site_addresses_are_told(runs, webeval):
    runs.add(107, expects=(runs.visited(),))
    webeval().assert_outcomes(passed=1)
    assert "site URLs were inferred" in str(runs.result(107)["webeval"]["warnings"])


def test_one_run_named_on_the_command_line_makes_a_partial_summary(runs, webeval):
    runs.add(107)
    runs.add(108)
    webeval("runs/107").stdout.fnmatch_lines(["partial session: the arguments selected some of the runs"])
    assert runs.summary["webeval"]["partial"] is True


def test_configured_site_addresses_are_not_guessed(pytester, runs, webeval):
    runs.add(107, expects=(runs.visited(),))
    config = pytester.path / "config.json"
    config.write_text(json.dumps({"environments": {"shopping": {"urls": ["http://shop.test"]}}}))
    webeval("--webeval-config=config.json").assert_outcomes(passed=1)
    assert runs.result(107)["webeval"]["warnings"] == []


def test_a_link_to_a_run_in_the_same_root_is_not_scored_twice(runs, webeval):
    (runs.root / "latest").symlink_to(runs.add(107))
    webeval().assert_outcomes(passed=1)


def test_a_selection_that_leaves_nothing_says_that_runs_were_found(runs, webeval):
    runs.add(107)
    webeval("-k", "reddit").stdout.fnmatch_lines(["no run was scored; 1 run collected, none selected or finished"])


def test_tasks_beside_the_response_are_not_taken_for_the_definition(runs, webeval):
    own = runs.add(107)
    (runs.root / "tasks.json").rename(own / "tasks.json")
    webeval().assert_outcomes(errors=1)
    assert "no task definition for runs/107" in runs.reasons["107"]


@pytest.mark.parametrize(
    ("options", "place"), [((), "runs"), (("--webeval-output=out",), "out")], ids=["in place", "elsewhere"]
)
def test_nothing_behind_a_link_out_of_the_root_is_read(runs, webeval, pytester, another_root, options, place):
    runs.add(107)
    (runs.root / "108").symlink_to(another_root("other").add(108))
    webeval(*options).assert_outcomes(passed=1, errors=1)
    rows = json.loads((pytester.path / place / "eval_summary.json").read_text())["task_results"]
    assert [row.get("format") for row in rows] == ["webarena-verified", None]
