"""--webeval-verdicts and --webeval-labels: verdicts from files that the session names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.plugin.test_recorded_formats import add_result
from tests.plugin.test_recorded_formats import judge
from tests.plugin.test_recorded_formats import reply
from tests.support import recorded

RECORDED = Path(__file__).parents[1] / "recorded"
LABELS = ("--webeval-labels=labels.json", "--webeval-label-coding=osu")
VERDICTS = ("--webeval-verdicts=judged.json",)


@pytest.fixture
def label(pytester):
    """Writes the labels of an agent, by task."""

    def write(agent="Ours", /, **codes):
        rows = [{"task_id": task_id, f"{agent}_human_label": code} for task_id, code in codes.items()]
        (pytester.path / "labels.json").write_text(json.dumps(rows))

    return write


@pytest.fixture
def judge_runs(pytester):
    """Writes verdicts of a judge, by task."""

    def write(**words):
        (pytester.path / "judged.json").write_text("\n".join(reply(*pair) for pair in words.items()))

    return write


def crash(path):
    """A Fara run that crashed before it had an answer."""
    return recorded.write(path, answer=None, scores=None, core_log=recorded.core_log(path.name, crash="no browser"))


def copy(name):
    """Writes a recorded run."""
    return lambda path: shutil.copytree(RECORDED / name, path)


ABORTED = {
    "fara": crash,
    "fara, flagged": lambda path: recorded.write(path, answer=recorded.final_answer(is_aborted=True)),
    "atif": copy("atif/shop-exception__aB3dE5f"),
    "webvoyager": copy("webvoyager/taskShop--4"),
}


@pytest.mark.parametrize(("code", "outcome"), [("1", "passed"), ("0", "failed"), ("2", "skipped")])
@pytest.mark.parametrize("write", ABORTED.values(), ids=ABORTED)
def test_the_label_of_an_aborted_run_decides(runs, webeval, label, write, code, outcome):
    write(runs.root / "Ours" / "t1")
    webeval().assert_outcomes(skipped=1)
    assert runs.summary["webeval"]["trajectories"]["classes"]["aborted"] == 1
    label(t1=code)
    webeval(*LABELS).assert_outcomes(**{outcome: 1})


@pytest.mark.parametrize("write", ABORTED.values(), ids=ABORTED)
def test_a_verdict_of_a_file_decides_on_an_aborted_run(runs, webeval, judge_runs, write):
    write(runs.root / "t1")
    for word, outcome in (("success", "passed"), ("failure", "failed")):
        judge_runs(t1=word)
        webeval(*VERDICTS).assert_outcomes(**{outcome: 1})


@pytest.mark.parametrize(("is_gated", "stored"), [(True, "failed"), (False, "passed")], ids=["fara", "online-mind2web"])
def test_a_label_counts_where_runs_over_budget_have_no_points_but_a_verdict_does_not(
    runs, webeval, label, judge_runs, is_gated, stored
):
    if is_gated:  # its benchmark gives them none, whatever a judge says
        recorded.write(runs.root / "Ours/t1", answer=recorded.final_answer("<no_answer>"))
    else:
        add_result(runs, "Ours/t1", final_result_response=None)
    label(t1="1")
    judge_runs(t1="success")
    webeval(*LABELS, "--webeval-over-budget=zero").assert_outcomes(passed=1)
    webeval(*VERDICTS, "--webeval-over-budget=zero").assert_outcomes(failed=1)
    webeval(*VERDICTS).assert_outcomes(**{stored: 1})


def test_a_label_counts_before_a_verdict_and_no_option_is_advised(runs, webeval, label, judge_runs):
    add_result(runs, "Ours/t1", judge=judge(100))
    label(t1="0")
    judge_runs(t1="success")
    webeval(*LABELS, *VERDICTS, "--webeval-score-file=other").assert_outcomes(failed=1)
    result = runs.result("Ours/t1")
    assert result["evaluators_results"][0]["actual"]["source"] == "labels.json"
    (warning,) = [text for text in result["webeval"]["warnings"] if "counts, not" in text]
    assert warning == "labels.json counts, not judged.json, result.json judge"
    label(t1="1")
    judge_runs(t1="failure")
    webeval(*LABELS, *VERDICTS).assert_outcomes(passed=1)


def test_worker_processes_take_the_verdicts_of_files(runs, webeval, judge_runs):
    names = [f"t{number}" for number in range(5)]
    for name in names:
        add_result(runs, name, judge=judge(100))
    judge_runs(**dict.fromkeys(names, "failure"))
    result = webeval(*VERDICTS, "--webeval-workers=2")
    result.assert_outcomes(failed=5)
    result.stdout.no_fnmatch_line("*had no effect*")
