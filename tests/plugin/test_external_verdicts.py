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


def reason_of(runs, place):
    """The reason of a run in the summary."""
    return next(row["reason"] for row in runs.summary["task_results"] if row["run"] == f"runs/{place}")


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


def test_a_verdict_that_could_be_about_several_runs_decides_on_none(runs, webeval, judge_runs, pytester):
    for agent, score in (("A", 100), ("B", 0)):
        add_result(runs, f"{agent}/t1", judge=judge(score))
        add_result(runs, f"{agent}/t2", judge=judge(score))
    judge_runs(t1="success")
    webeval(*VERDICTS).assert_outcomes(passed=1, failed=1, errors=2)
    problem = "judged.json has one verdict on task t1, but 2 runs could be meant: runs/A/t1, runs/B/t1; pass only the"
    assert reason_of(runs, "A/t1").startswith(problem)
    assert reason_of(runs, "B/t1").startswith(problem)
    webeval(*VERDICTS, "runs/A/t1").assert_outcomes(errors=1)
    pytester.runpytest(*VERDICTS, "--webeval-runs=runs/A").assert_outcomes(passed=2)


def test_a_verdict_on_one_of_several_attempts_decides_on_none(runs, webeval, judge_runs):
    for attempt in ("aaaaaaa", "bbbbbbb"):
        shutil.copytree(RECORDED / "atif/shop-success__aB3dE5f", runs.root / f"shop__{attempt}")
    judge_runs(shop="success")
    webeval(*VERDICTS).assert_outcomes(errors=2)
    assert "has one verdict on task shop, but 2 runs" in reason_of(runs, "shop__aaaaaaa")


def test_labels_of_an_agent_decide_on_no_run_of_another(runs, webeval, label):
    for agent in ("A", "B"):
        add_result(runs, f"{agent}/t1", judge=judge(0))
    label("A", t1="1")
    webeval(*LABELS).assert_outcomes(passed=1, errors=1)
    assert "labels.json has labels of A, and runs/B names none of them" in reason_of(runs, "B/t1")


def test_a_label_that_could_be_about_several_runs_decides_on_none(runs, webeval, label):
    for attempt in ("first", "second"):
        add_result(runs, f"A/{attempt}/t1", judge=judge(0))
    label("A", t1="1")
    webeval(*LABELS).assert_outcomes(errors=2)
    assert "labels.json has one label on task t1, but 2 runs" in reason_of(runs, "A/first/t1")


def test_a_verdict_on_a_run_that_has_since_a_double_is_not_reused(runs, webeval, judge_runs):
    add_result(runs, "A/t1", judge=judge(100))
    add_result(runs, "A/t2", judge=judge(100))
    judge_runs(t2="success")
    webeval(*VERDICTS, "--webeval-reuse").assert_outcomes(passed=2)
    add_result(runs, "B/t1", judge=judge(100))
    judge_runs(t1="success", t2="success")
    webeval(*VERDICTS, "--webeval-reuse").assert_outcomes(passed=1, errors=2)


@pytest.mark.parametrize("root", ["Ours", "Ours/r1", "r2/Ours"])
def test_the_directory_of_an_agent_may_be_the_root_or_lie_around_it(runs, label, pytester, root):
    add_result(runs, f"{root}/deep/t1", judge=judge(0))
    label(t1="1")
    pytester.runpytest(f"--webeval-runs=runs/{root}", *LABELS).assert_outcomes(passed=1)


def test_the_root_names_the_agent_where_it_is_the_rootdir(runs, label, pytester, monkeypatch):
    add_result(runs, "Ours/t1", judge=judge(0))
    label(t1="1")
    monkeypatch.chdir(runs.root / "Ours")
    labels = f"--webeval-labels={pytester.path / 'labels.json'}"
    pytester.runpytest("--webeval-runs=.", "--rootdir=.", labels, LABELS[1]).assert_outcomes(passed=1)
