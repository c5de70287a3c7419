"""ClawBench's runs as pytest items, alone and beside its tasks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded" / "clawbench"
ORDER = {"url_pattern": r"/cart(\?|$)", "method": "POST", "body": {"quantity": "2"}}
CASES = ("901-shop-success", "902-shop-judge-mismatch", "903-shop-not-matched", "904-shop-time-limit")


@pytest.fixture
def recorded(runs):
    """The recorded runs in a run root."""
    shutil.copytree(RECORDED, runs.root / "clawbench")
    return runs.root / "clawbench" / "example--agent-1"


@pytest.fixture
def tasks(pytester):
    """Writes a directory of tasks with these requests."""

    def write(**schemas):
        for name, schema in schemas.items():
            path = pytester.path / "suite" / name / "task.json"
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps({"instruction": "Order two mugs.", "eval_schema": schema, "time_limit": 1}))
        return "--webeval-tasks=suite"

    return write


def find(recorded, case):
    (path,) = recorded.glob(f"*-{case}-*")
    return path


@pytest.mark.usefixtures("recorded")
def test_stored_verdicts_are_verdicts(webeval, runs):
    webeval().assert_outcomes(passed=3, failed=3, skipped=4)
    rows = runs.summary["webeval"]["trajectories"]["classes"]
    assert {name: count for name, count in rows.items() if count} == {
        "completed": 5,
        "over_budget": 1,
        "aborted": 2,
        "ungraded": 2,
    }


def test_a_run_without_interception_fails_whichever_judge_is_chosen(webeval, recorded):
    webeval("--webeval-score-file=judge_llm.json").assert_outcomes(passed=1, failed=5, skipped=4)
    stored = {
        path.parent.name.split("-")[1]: json.loads(path.read_text()) for path in recorded.rglob("eval_result.json")
    }
    statuses = {case: stored[case]["status"] for case in ("901", "902", "903", "904", "908")}
    assert statuses == {"901": "error", "902": "error", "903": "failure", "904": "failure", "908": "success"}
    (result,) = stored["902"]["evaluators_results"]
    assert 'there is no verdict in "judge_llm.json", only in "judge.json"' in result["error_msg"]


def test_a_suite_adds_the_request_to_the_verdict(webeval, recorded, tasks):
    result = webeval(tasks(**dict.fromkeys(CASES, ORDER)), "-k", " or ".join(f"[{case}]" for case in CASES))
    result.assert_outcomes(passed=1, failed=3, deselected=6)
    rows = json.loads((find(recorded, CASES[0]) / "eval_result.json").read_text())["evaluators_results"]
    assert [(row["evaluator_name"], row["status"]) for row in rows] == [
        ("RequestPatternEvaluator", "success"),
        ("RubricEvaluator", "success"),
    ]
    result.stdout.fnmatch_lines(["*nearest is event 3 of 4: POST *wishlist*", "*expected *cart* in it"])


def test_a_request_that_the_judge_accepts_and_the_task_does_not_is_a_failure(webeval, recorded, tasks):
    other = ORDER | {"body": {"quantity": "3"}}
    webeval(tasks(**{CASES[0]: other}), "-k", f"[{CASES[0]}]").assert_outcomes(failed=1, deselected=9)
    rows = json.loads((find(recorded, CASES[0]) / "eval_result.json").read_text())["evaluators_results"]
    assert [row["status"] for row in rows] == ["failure", "success"]


@pytest.mark.parametrize(
    ("case", "schema", "status", "why"),
    [
        ("906-shop-not-judged", ORDER, "success", "no judge decided whether the request is right"),
        ("906-shop-not-judged", ORDER | {"body": {"quantity": "3"}}, "failure", "no judge decided"),
        ("907-shop-judge-failed", ORDER, "success", "the judge reached no verdict: judge_call_failed"),
    ],
)
def test_a_request_alone_decides_where_no_judge_has_a_verdict(webeval, recorded, tasks, case, schema, status, why):
    webeval("-k", f"[{case}]").assert_outcomes(skipped=1, deselected=9)
    webeval(tasks(**{case: schema}), "-k", f"[{case}]")
    found = json.loads((find(recorded, case) / "eval_result.json").read_text())
    assert (found["status"], [row["evaluator_name"] for row in found["evaluators_results"]]) == (
        status,
        ["RequestPatternEvaluator"],
    )
    (note,) = found["webeval"]["warnings"]
    assert note.startswith(f"scored by its expectations; no judge's verdict counts: {why}")


@pytest.mark.usefixtures("recorded")
def test_a_text_that_is_sent_to_the_harness_is_a_request_too(webeval, tasks):
    schema = {"url_pattern": "/api/task-submit", "method": "POST"}
    webeval(tasks(**{"ce-T910-answer": schema}), "-k", "[ce-T910-answer]").assert_outcomes(passed=1, deselected=9)


@pytest.mark.usefixtures("recorded")
def test_an_expectation_of_your_own_lies_over_a_run(webeval, pytester):
    task = {"task_id": 1, "test_case": CASES[0], "instruction": "-", "eval_schema": {"url_pattern": "/lamp"}}
    (pytester.path / "mine.json").write_text(json.dumps([task]))
    webeval("--webeval-tasks=mine.json", "-k", f"[{CASES[0]}]").assert_outcomes(failed=1, deselected=9)


def test_a_contradiction_and_a_damaged_verdict_are_errors(webeval, recorded, runs):
    success, mismatch = (find(recorded, case) / "judge.json" for case in CASES[:2])
    success.write_text(json.dumps(json.loads(success.read_text()) | {"match": False}))
    mismatch.write_text("{")
    webeval("-k", f"[{CASES[0]}] or [{CASES[1]}]")
    for case in CASES[:2]:
        assert json.loads((find(recorded, case) / "eval_result.json").read_text())["status"] == "error"


def test_a_failure_is_no_success_without_its_log_of_requests(webeval, recorded, tasks):
    other = tasks(**{CASES[0]: ORDER | {"body": {"quantity": "3"}}})
    webeval(other, "-k", f"[{CASES[0]}]").assert_outcomes(failed=1, deselected=9)
    (find(recorded, CASES[0]) / "data" / "requests.jsonl").unlink()
    webeval(other, "-k", f"[{CASES[0]}]").assert_outcomes(failed=1, deselected=9)
    assert json.loads((find(recorded, CASES[0]) / "eval_result.json").read_text())["status"] == "error"


def test_files_that_do_not_agree_are_an_error_whichever_judge_is_chosen(webeval, recorded):
    lenient = json.dumps({"match": True, "reason": "", "raw": '{"match": true}', "rubric": "lenient"})
    (find(recorded, CASES[0]) / "judge_llm.json").write_text(lenient)
    blocked = find(recorded, CASES[0]) / "data" / "interception.json"
    options = ("--webeval-score-file=judge_llm.json", "-k", f"[{CASES[0]}]")
    webeval(*options).assert_outcomes(passed=1, deselected=9)
    blocked.write_text(json.dumps(json.loads(blocked.read_text()) | {"intercepted": False}))
    webeval(*options).assert_outcomes(failed=1, deselected=9)
    assert json.loads((find(recorded, CASES[0]) / "eval_result.json").read_text())["status"] == "error"


def test_a_failure_of_which_the_judge_is_missing_is_an_error(webeval, recorded):
    run = find(recorded, CASES[1])
    meta = json.loads((run / "run-meta.json").read_text())
    (run / "run-meta.json").write_text(json.dumps({key: meta[key] for key in meta if key != "judge"}))
    (run / "judge.json").unlink()
    webeval("-k", f"[{CASES[1]}]").assert_outcomes(failed=1, deselected=9)
    (result,) = json.loads((run / "eval_result.json").read_text())["evaluators_results"]
    assert (result["status"], "the reply of the judge is missing" in result["error_msg"]) == ("error", True)


RECORD, JUDGE = "copy all files from the output of the harness again, or record the run again", "judge the run again"


@pytest.mark.parametrize(
    ("name", "file", "changes", "advice"),
    [
        (CASES[0], "data/interception.json", {"intercepted": False}, RECORD),
        (CASES[0], "data/interception.json", {"request": None}, RECORD),
        (CASES[0], "data/interception.json", {"request": {"url": "https://shop.test/", "method": "GET"}}, RECORD),
        (CASES[0], "run-meta.json", {"pass": False}, RECORD),
        (CASES[0], "run-meta.json", {"judge": {"match": True, "raw": '{"match": false}'}}, RECORD),
        (CASES[0], "run-meta.json", {"judge": {"match": False}}, JUDGE),
        (CASES[0], "judge.json", {"error": "connection refused"}, JUDGE),
        (CASES[2], "judge.json", {"match": True, "raw": None}, RECORD),
        (CASES[0], "judge.json", {"match": False, "raw": '{"match": true}', "rubric": "strict"}, JUDGE),
    ],
)
def test_the_advice_is_to_judge_again_only_where_a_judge_can_help(webeval, recorded, name, file, changes, advice):
    path = find(recorded, name) / file
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | changes))
    webeval("-k", f"[{name}]").assert_outcomes(failed=1, deselected=9)
    (result,) = json.loads((find(recorded, name) / "eval_result.json").read_text())["evaluators_results"]
    assert result["error_msg"].endswith(f"; {advice}")
    assert result["error_msg"].count(" the run again") == 1


def test_a_response_is_unknown_and_no_failure(webeval, recorded, pytester):
    pytester.makepyfile(
        test_orders="""
        def test_order(webeval_network_event):
            webeval_network_event.check(expected={"url": "^.*/cart$", "http_method": "POST"})

        def test_request(webeval_request_pattern):
            webeval_request_pattern.check(expected={"url_pattern": "/cart$", "method": "POST"})
        """
    )
    result = webeval("test_orders.py", "-k", CASES[0])
    result.stdout.fnmatch_lines(["*event 3 has no status: requests.jsonl of ClawBench records no responses*"])
    result.assert_outcomes(passed=1, failed=1, deselected=18)


@pytest.mark.usefixtures("recorded")
def test_a_directory_without_tasks_is_an_error(webeval, pytester):
    (pytester.path / "empty").mkdir()
    result = webeval("--webeval-tasks=empty")
    result.stderr.fnmatch_lines(["*cannot read the task file *empty: Is a directory; check --webeval-tasks*"])
