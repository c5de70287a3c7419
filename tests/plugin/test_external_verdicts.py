"""--webeval-verdicts and --webeval-labels: verdicts from files that the session names."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from tests.plugin.test_recorded_formats import add_result, judge, reply
from tests.plugin.test_resume import INTERRUPTED_AT, timeless
from tests.support import recorded

RECORDED = Path(__file__).parents[1] / "recorded"
LABELS = ("--webeval-labels=labels.json", "--webeval-label-coding=osu")
WORKERS = pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["serial", "spread"])
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


@pytest.mark.thinned(every=4)
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


def test_worker_processes_score_no_run_whose_verdict_could_be_about_another(runs, webeval, judge_runs):
    for agent in ("A", "B"):
        for number in range(3):
            add_result(runs, f"{agent}/t{number}", judge=judge(100))
    judge_runs(t1="success")
    webeval(*VERDICTS, "--webeval-workers=2").assert_outcomes(passed=4, errors=2)


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


@WORKERS
def test_it_is_reported_which_verdicts_are_on_runs(runs, webeval_apart, label, judge_runs, workers):
    for name in ("t1", "t2", "t3"):
        add_result(runs, f"Ours/{name}", judge=judge(100))
    label(t1="1", t2="1")
    judge_runs(t1="success", zzz="success", yyy="failure")
    result = webeval_apart(*LABELS, *VERDICTS, *workers)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "labels.json has 2 labels, 2 on runs, 1 run without label",
            "judged.json has 3 verdicts, 1 on runs, 2 on no run, 2 runs without verdict",
        ]
    )
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.thinned(every=4)
@WORKERS
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (VERDICTS, "no verdict in judged.json is on a run; compare its task ids with those of the runs"),
        (LABELS, "no label in labels.json is on a run; compare its task ids with those of the runs"),
    ],
)
def test_a_file_about_no_run_fails_the_session(runs, webeval_apart, label, judge_runs, options, problem, workers):
    add_result(runs, "Ours/t1", judge=judge(100))
    label(zzz="1")
    judge_runs(zzz="success")
    gates = ("--webeval-baseline=first.json", "--webeval-baseline-update", "--webeval-gate=errors <= 9")
    result = webeval_apart(*options, *gates, *workers)
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([problem])
    assert not (runs.root.parent / "first.json").exists()


@pytest.mark.thinned(every=3)
@WORKERS
@pytest.mark.parametrize(
    ("place", "outcomes"), [("t{}", {"errors": 2}), ("Mine/t{}", {"errors": 2}), ("Yours/t{}", {"passed": 2})]
)
def test_labels_of_the_tasks_but_not_of_the_directories_say_so(runs, webeval_apart, pytester, place, outcomes, workers):
    for number in (1, 2):
        add_result(runs, place.format(number), judge=judge(100))
    rows = [{"task_id": f"t{number}", "Ours_human_label": "1", "Yours_human_label": None} for number in (1, 2)]
    (pytester.path / "labels.json").write_text(json.dumps(rows))
    result = webeval_apart(*LABELS, *workers)
    result.assert_outcomes(**outcomes)
    problem = "its tasks have 2 runs, but none in the directory of an agent with a label on it (agents: Ours, Yours)"
    advice = "put the runs of an agent into a directory of its name"
    result.stdout.fnmatch_lines([f"no label in labels.json is on a run; {problem}; {advice}"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_file_about_runs_that_the_session_does_not_choose_fails_nothing(runs, webeval, judge_runs):
    add_result(runs, "t1", judge=judge(100))
    add_result(runs, "t2", judge=judge(100))
    judge_runs(t1="success")
    assert webeval(*VERDICTS, "-k", "t2").ret == pytest.ExitCode.OK


def test_summary_result_and_header_name_the_files(runs, webeval, label, judge_runs, pytester):
    add_result(runs, "Ours/t1", judge=judge(100))
    add_result(runs, "Ours/t2", judge=judge(100))
    label(t1="1")
    judge_runs(t1="success")
    first = webeval(*LABELS, *VERDICTS)
    digests = {
        name: hashlib.sha256((pytester.path / f"{name}.json").read_bytes()).hexdigest() for name in ("labels", "judged")
    }
    first.stdout.fnmatch_lines(
        [f"*, labels labels.json osu {digests['labels'][:12]}, verdicts judged.json {digests['judged'][:12]}"]
    )
    policy = runs.summary["webeval"]["policy"]
    assert policy["labels"] == {"name": "labels.json", "checksum": digests["labels"], "coding": "osu"}
    assert policy["verdicts"] == {"name": "judged.json", "checksum": digests["judged"]}
    rows = runs.result("Ours/t1")["webeval"]["external_verdicts"]
    assert [row["file"] for row in rows] == ["labels.json", "judged.json"]
    assert len({row["checksum"] for row in rows}) == 2
    assert "external_verdicts" not in runs.result("Ours/t2")["webeval"]
    webeval()
    assert not {"labels", "verdicts"} & runs.summary["webeval"]["policy"].keys()


def test_another_file_of_verdicts_explains_a_changed_verdict(runs, webeval, judge_runs):
    for name in ("t1", "t2"):
        add_result(runs, name, judge=judge(100))
    judge_runs(t1="success", t2="success")
    webeval(*VERDICTS, "--webeval-baseline=first.json", "--webeval-baseline-update")
    judge_runs(t1="success", t2="failure")
    result = webeval(*VERDICTS, "--webeval-baseline=first.json")
    result.stdout.fnmatch_lines(["  because of other rules and judge: t2"])


def test_shards_with_other_files_of_verdicts_are_not_merged(runs, judge_runs, pytester, capsys):
    for number in range(4):
        add_result(runs, f"t{number}", judge=judge(100))
    words = {f"t{number}": "success" for number in range(4)}
    for index, word in ((1, "success"), (2, "failure")):
        judge_runs(**words | {"t0": word})
        options = (f"--webeval-shard={index}/2", f"--webeval-output=out-{index}", "--webeval-today=2026-01-31")
        pytester.runpytest("--webeval-runs=runs", *options, *VERDICTS)
    assert main(["merge", "out-1", "out-2", "--output=out"]) != 0
    assert "are not shards of one session: external_verdicts verdicts judged.json " in capsys.readouterr().err


def test_merged_shards_are_what_one_session_leaves(runs, judge_runs, label, pytester):
    for number in range(4):
        add_result(runs, f"Ours/t{number}", judge=judge(100))
    judge_runs(t0="failure", t1="failure")
    label(t1="1", t2="0")
    options = ("--webeval-runs=runs", "--webeval-today=2026-01-31", *VERDICTS, *LABELS)
    for index in (1, 2):
        pytester.runpytest(*options, f"--webeval-shard={index}/2", f"--webeval-output=out-{index}")
    assert main(["merge", "out-1", "out-2", "--output=merged"]) == 0
    pytester.runpytest(*options, "--webeval-output=out").assert_outcomes(passed=2, failed=2)
    for name in ("eval_summary.json", *(f"Ours/t{number}/eval_result.json" for number in range(4))):
        merged, single = (timeless((pytester.path / place / name).read_bytes()) for place in ("merged", "out"))
        assert merged == single


@pytest.mark.whole
def test_an_interrupted_session_with_files_is_resumed_only_where_their_verdicts_are_the_same(
    runs, webeval_apart, label, judge_runs, pytester
):
    for name in ("t1", "t2", "t3"):
        add_result(runs, f"Ours/{name}", judge=judge(100))
    label(t1="1", t2="1")
    judge_runs(t3="success")
    pytester.makeconftest(INTERRUPTED_AT.format(label="t3"))
    webeval_apart(*LABELS, *VERDICTS)
    label(t1="1", t2="0")
    result = webeval_apart(*LABELS, *VERDICTS, "--webeval-resume")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["resumed: 1 of 3 results*"])


def test_paths_of_files_in_an_ini_file_begin_at_that_file(runs, label, judge_runs, pytester, monkeypatch):
    add_result(runs, "Ours/t1", judge=judge(100))
    add_result(runs, "Ours/t2", judge=judge(100))
    label(t1="0")
    judge_runs(t2="failure")
    options = ("webeval_labels = labels.json", "webeval_label_coding = osu", "webeval_verdicts = judged.json")
    pytester.makeini("\n".join(("[pytest]", "webeval_runs = runs", *options)))
    monkeypatch.chdir(pytester.mkdir("tests"))
    pytester.runpytest("-c", "../tox.ini").assert_outcomes(failed=2)
