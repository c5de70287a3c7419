"""A recorded run whose main file is missing or damaged is an error, and its message is about that file."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.support import recorded_runs
from tests.support.runs import definition

LACKS = "; add the missing files or move the directory away"
DAMAGED = "; restore the damaged files or move the directory away"
HISTORY = "AgentHistory.json"


@pytest.fixture
def copy(runs):
    """Copies a recorded run into the root and damages one of its files: None removes it."""

    def copy(name, part, file, content, to="7"):
        path = runs.root / to
        shutil.copytree(recorded_runs.find_run(name, part), path)
        if content is None:
            (path / file).unlink()
        else:
            (path / file).write_text(content)
        return path

    return copy


CLAWBENCH = "openclaw-901-shop-success-example--agent-1-20261124-084736"
HAS_ACTIONS = "it has data/actions.jsonl and data/requests.jsonl of the format clawbench, but "
KEYS = "result.json with task_id, final_result_response or action_history"


def test_a_clawbench_run_without_its_main_file_is_an_error_that_names_it(runs, webeval, copy):
    copy("clawbench", CLAWBENCH, "run-meta.json", None)
    webeval().assert_outcomes(errors=1)
    lack = f"{HAS_ACTIONS}lacks run-meta.json with test_case, intercepted{LACKS}"
    assert runs.reasons == {"7": f"unknown layout of runs/7: {lack}"}


def test_a_truncated_file_is_called_damaged(runs, webeval, copy):
    copy("clawbench", CLAWBENCH, "run-meta.json", '{"test_case": "901')
    webeval().assert_outcomes(errors=1)
    damage = "run-meta.json is not valid JSON: Unterminated string starting at, character 15"
    assert runs.reasons == {"7": f"unknown layout of runs/7: {HAS_ACTIONS}{damage}{DAMAGED}"}


@pytest.mark.parametrize(("part", "image"), [("lamp_success", "0_full_screenshot"), ("lamp_second_success", "0000")])
def test_screenshots_of_online_mind2web_without_a_result_are_an_error(runs, webeval, copy, part, image):
    copy("online-mind2web", part, "result.json", None)
    webeval().assert_outcomes(errors=1)
    lack = f"it has trajectory/{image}.png of the format online-mind2web, but lacks {KEYS}{LACKS}"
    assert runs.reasons == {"7": f"unknown layout of runs/7: {lack}"}


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("tasks", [None, [7], [8]], ids=["no tasks", "defined", "undefined"])
@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        ("shop-captcha", None, f"it has screenshots/step_2.png of the format browser-use, but lacks {HISTORY} with "),
        ("shop-captcha", "", f"it has {HISTORY} of the format browser-use, but {HISTORY} is empty or cannot be read"),
        ("shop-captcha", '{"hist', f"it has {HISTORY} of the format browser-use, but {HISTORY} is not valid JSON: "),
        ("shop-02-har", "", f"it has {HISTORY} of the format browser-use, but {HISTORY} is empty or cannot be read"),
    ],
)
def test_the_advice_about_a_damaged_history_is_not_about_tasks(runs, webeval, copy, tasks, part, content, problem):
    copy("browser-use", part, HISTORY, content)
    if tasks:
        (runs.root / "tasks.json").write_text(json.dumps([definition(number) for number in tasks]))
    webeval().assert_outcomes(errors=1)
    assert runs.reasons["7"].startswith(f"unknown layout of runs/7: {problem}")


@pytest.mark.parametrize("tasks", [None, [8]], ids=["no tasks", "undefined"])
def test_the_advice_about_a_trace_alone_is_about_the_missing_file(runs, webeval, copy, tasks):
    copy("browser-use", "shop-02-har", HISTORY, None)
    if tasks:
        (runs.root / "tasks.json").write_text(json.dumps([definition(number) for number in tasks]))
    webeval().assert_outcomes(errors=1)
    problem = "it has network.har of the format webarena-verified, but lacks agent_response.json, or the main file of "
    assert runs.reasons["7"] == f"unknown layout of runs/7: {problem}another format{LACKS}"


def test_the_advice_about_a_missing_interception_is_not_to_judge_again(runs, webeval, copy):
    copy("clawbench", CLAWBENCH, "data/interception.json", None)
    webeval().assert_outcomes(failed=1)
    (result,) = runs.result(7)["evaluators_results"]
    problem = (
        "R21: run-meta.json says that a request was intercepted, but there is no data/interception.json, which holds"
    )
    advice = "it; copy it from the output of the harness, or record the run again"
    assert result["error_msg"] == f"inconsistent: judge.json contradicts itself: {problem} {advice}"


def test_a_secret_that_a_file_has_for_a_key_is_in_no_message(runs, webeval, copy):
    secret = "sk-live-0123456789abcdefghij"
    copy("clawbench", CLAWBENCH, "judge.json", json.dumps({"match": {secret: 1}}))
    runs.add(8, defined=False)
    runs.add(9, defined=False)
    unknown = runs.visited() | {secret: 1}
    runs.define(runs.definition(8) | {secret: 1}, runs.definition(9) | {"eval": [unknown]})
    result = webeval("--webeval-report=report")
    result.assert_outcomes(errors=2, failed=1)
    assert "judge.json has {'redacted-" in runs.reasons["7"]
    assert "unknown key 'redacted-" in runs.reasons["8"]
    assert "unknown key 'redacted-" in runs.reasons["9"]
    outputs = [runs.root / "eval_summary.json", *(path for path in (runs.root.parent / "report").rglob("*.*"))]
    written = [path for path in outputs if secret.encode() in path.read_bytes()]
    assert (secret in str(result.stdout), written) == (False, [])
