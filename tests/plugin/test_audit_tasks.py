"""`--webeval-audit-tasks`: an item for each task, which fails with what is wrong with it. No run is scored."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.plugin.collection.task_audits import WITHOUT_EFFECT
from pytest_webeval.sessions.options import OPTIONS
from tests.support.runs import visited

LAMP = visited("__SHOPPING__/lamp")
CONFIG = '{"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}'
OPTION = "--webeval-audit-tasks"


@pytest.fixture
def audited(runs, pytester):
    """Two tasks: 107 expects an answer that cannot be guessed, 108 is a refusal that anybody may guess."""
    runs.add(107)
    runs.add(108)
    refuse(runs, 108)
    (pytester.path / "config.json").write_text(CONFIG)
    pytester.makeini("[pytest]\nwebeval_config = config.json\n")
    return runs


def refuse(runs, task_id):
    """Let a task expect a refusal, and its run give it."""
    for task in runs.tasks:
        if task["task_id"] == task_id:
            task["eval"][0]["expected"] |= {"status": "NOT_FOUND_ERROR", "retrieved_data": None}
            task["eval"][0]["results_schema"] = {"type": "null"}
    (runs.root / "tasks.json").write_text(json.dumps(runs.tasks))
    answer = {"task_type": "RETRIEVE", "status": "NOT_FOUND_ERROR", "retrieved_data": None, "error_details": None}
    (runs.root / str(task_id) / "agent_response.json").write_text(json.dumps(answer))


def list_items(result):
    return [line for line in result.outlines if "::" in line]


def results(pytester):
    return sorted(path.name for path in pytester.path.rglob("eval_*"))


def test_an_item_for_each_task_fails_with_the_findings(audited, webeval, pytester):
    result = webeval(OPTION, "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "runs/107::audit PASSED*",
            "runs/108::audit FAILED*",
            "1 finding of * trials by the rules strict",
            "  passes_without_work @ AgentResponseEvaluator status: *(refusal NOT_FOUND_ERROR); require a request *",
            "2 tasks audited with * trials: 1 finding in 1 task, * notes",
        ]
    )
    assert result.ret == 1
    assert results(pytester) == []


def test_results_of_an_earlier_session_stay_as_they_are(audited, webeval, pytester):
    webeval()
    before = {path: path.read_bytes() for path in pytester.path.rglob("eval_*")}
    assert before
    webeval(OPTION)
    assert {path: path.read_bytes() for path in pytester.path.rglob("eval_*")} == before


def test_findings_may_be_allowed(audited, webeval):
    allowed = webeval(OPTION, "--webeval-audit-most=1")
    allowed.assert_outcomes(passed=1, failed=1)
    allowed.stdout.fnmatch_lines(["*1 finding in 1 task (1 allowed)*"])
    assert allowed.ret == 0
    assert webeval(OPTION, "--webeval-audit-most=0").ret == 1
    refused = webeval(OPTION, "--webeval-audit-most=few")
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*--webeval-audit-most*few*"])


def test_allowed_findings_excuse_no_other_failure(audited, webeval, pytester):
    pytester.makeconftest(
        "import pytest\n@pytest.fixture\ndef webeval_evaluators(webeval_evaluators):\n    raise ValueError('mine')\n"
    )
    assert webeval(OPTION, "--webeval-audit-most=9").ret == 1


def test_the_ini_key_means_the_same(audited, webeval, pytester):
    pytester.makeini("[pytest]\nwebeval_config = config.json\nwebeval_audit_tasks = true\nwebeval_audit_most = 1\n")
    result = webeval()
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 0


def test_of_several_runs_of_a_task_the_first_stands_for_it(audited, webeval, another_root):
    more = another_root("more")
    more.add(107)
    more.add(109)
    apart = webeval(OPTION, "--webeval-runs=more", "--collect-only", "-q")
    own = ["runs/107::audit", "runs/108::audit"]
    assert list_items(apart) == [*own, "more/107::audit", "more/109::audit"]  # each root has tasks of its own
    more.tasks.append(more.tasks[0] | {"task_id": 108})
    (more.root / "tasks.json").write_text(json.dumps(more.tasks))
    together = webeval(OPTION, "--webeval-runs=more", "--webeval-tasks=more/tasks.json", "--collect-only", "-q")
    assert list_items(together) == [*own, "more/109::audit"]


@pytest.mark.parametrize("arguments", [["-k", "108"], ["-k", "[108]"], ["runs/108"], ["runs/108::audit"]])
def test_items_are_selected_as_usual(audited, webeval, arguments):
    webeval(OPTION, *arguments).assert_outcomes(failed=1)


def test_failed_items_run_again(audited, webeval, pytester):
    webeval(OPTION)
    webeval(OPTION, "--lf").assert_outcomes(failed=1)
    runs_first = webeval(OPTION, "-x", "runs/108", "runs/107")
    runs_first.assert_outcomes(failed=1)


@pytest.mark.whole
def test_two_workers_find_the_same(audited, webeval_apart):
    result = webeval_apart(OPTION, "-n", "2")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["2 tasks audited with * trials: 1 finding in 1 task, * notes"])


def test_junit_has_the_findings(audited, webeval, pytester):
    webeval(OPTION, "--junitxml=junit.xml")
    text = (pytester.path / "junit.xml").read_text()
    assert 'failures="1"' in text
    assert "passes_without_work @ AgentResponseEvaluator status" in text


def test_evaluators_of_the_user_decide(audited, webeval, pytester):
    pytester.makeconftest(
        """
        import pytest
        import pytest_webeval as webeval

        class Explained(webeval.ResponseEvaluator):
            def evaluate(self, expectation, case):
                usual = super().evaluate(expectation, case)
                details = (usual.actual_normalized or {}).get("error_details")
                return self.adding(usual, webeval.Assertion.of("explained", details == "sold out", "give details"))

        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Explained())
        """
    )
    result = webeval(OPTION, "runs/108")
    result.assert_outcomes(passed=1)


def test_a_task_whose_run_cannot_be_read_is_audited_by_its_definition(audited, webeval):
    (audited.root / "108" / "network.har").write_text("{")
    webeval(OPTION, "runs/108").assert_outcomes(failed=1)


def test_tasks_without_a_run_are_audited_where_all_are_required(audited, webeval):
    audited.tasks.append(audited.tasks[1] | {"task_id": 110})
    (audited.root / "tasks.json").write_text(json.dumps(audited.tasks))
    result = webeval(OPTION, "--webeval-require-all", "-v")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["runs/110::audit FAILED*"])


def test_a_run_without_a_definition_is_an_error_with_a_reason(runs, webeval):
    runs.add(107)
    (runs.root / "tasks.json").unlink()
    result = webeval(OPTION)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["no task definition for runs/107; name one with --webeval-tasks"])


def test_a_trajectory_without_a_definition_is_skipped(tree, webeval):
    tree("books_find_7")
    result = webeval(OPTION, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*not audited: no task definition for *books_find_7; name one with *"])


def test_a_task_that_only_a_judge_decides_is_skipped(tree, runs, webeval):
    tree("books_find_7")
    task = {"task_id": "books_find_7", "intent": "Find a book.", "eval": [{"evaluator": "RubricEvaluator"}]}
    usual = {"sites": [], "intent_template_id": 1, "start_urls": [], "intent_template": "Find a book."}
    (runs.root / "tasks.json").write_text(json.dumps([usual | task | {"instantiation_dict": {}, "revision": 1}]))
    result = webeval(OPTION, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*not audited: no expectation of task books_find_7 can be checked *"])


def test_a_task_that_takes_too_long_is_skipped_and_says_so(audited, webeval, pytester):
    pytester.makeconftest(
        """
        import time
        import pytest
        import pytest_webeval as webeval

        class Slow(webeval.ResponseEvaluator):
            def evaluate(self, expectation, case):
                time.sleep(30)

        @pytest.fixture
        def webeval_response(webeval_response):
            return webeval_response.using(Slow())
        """
    )
    result = webeval(OPTION, "runs/107", "--webeval-timeout=0.2", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*not audited: not all was checked (it takes more than 0.2 s); *"])


@pytest.mark.parametrize(
    ("argument", "advice"),
    [
        ("--webeval-report=page", "use `webeval audit --report`"),
        ("--webeval-output=out", "use `webeval audit --json`"),
        ("--webeval-baseline=eval_summary.json", "use --webeval-audit-most"),
        ("--webeval-gate=errors <= 2", "use --webeval-audit-most"),
        ("--webeval-evaluators=response", "leave it out: all evaluators are audited"),
        ("--webeval-judge=model", "leave it out: no judge is asked"),
        ("--webeval-reuse", "leave it out: no run is scored"),
    ],
)
def test_an_option_without_effect_is_refused_with_what_to_do_instead(audited, webeval, argument, advice):
    result = webeval(OPTION, argument)
    assert result.ret == 4
    flag = argument.partition("=")[0]
    assert f"ERROR: {flag} has no effect with --webeval-audit-tasks; {advice}" in result.errlines


def test_what_a_configuration_file_says_for_other_sessions_is_no_mistake(audited, webeval, pytester):
    pytester.makeini(
        "[pytest]\nwebeval_config = config.json\nwebeval_report = page\nwebeval_gate = errors <= 2\n"
        "addopts = --webeval-output=out\n"
    )
    webeval(OPTION).assert_outcomes(passed=1, failed=1)
    assert not (pytester.path / "page").exists()
    assert not (pytester.path / "out").exists()


def test_options_without_effect_are_options():
    assert WITHOUT_EFFECT.keys() <= {option.name for option in OPTIONS}
