"""Run directories that are swapped for something else after they were collected: no other run decides or is written."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import swaps
from tests.support.swaps import MOMENTS, SWAPS, list_attacks

ATTACKS = list_attacks()
CHANGED = "was (replaced|removed) (during the session|while it was scored)"
SCORE_ALL = """
import json, sys
from pytest_webeval import find_runs, load_tasks, score, score_run, score_runs
from pytest_webeval.errors import WebEvalError

def show(run, score_it):
    try:
        result = score_it()
        outcome = result.status, result.error_msg
    except WebEvalError as error:
        outcome = "error", str(error)
    print(json.dumps([run, *outcome]))

kind, *executor = sys.argv[1:]
if kind == "score_runs":
    for result in score_runs("runs", executor=executor[0] if executor else None):
        show(result.webeval["run"], lambda: result)
else:
    tasks = load_tasks("runs/tasks.json")
    for run in list(find_runs("runs")):
        key = str(run.path.relative_to("runs"))
        show(key, (lambda: score_run("runs", key)) if kind == "score_run" else lambda: score(run, tasks))
"""


@pytest.fixture
def attacked(runs, pytester):
    """A run of each attack, which fails, between others, a run that succeeds to be swapped for, and an ordinary run."""
    for number in ATTACKS:
        for beside in (1, number, 999):  # the first and last runs of a directory are never scored directly
            runs.add(number, name=f"g{number}/{beside}", passes=False, defined=beside == number)
        runs.add(number, name=f"v{number}/{number}", defined=False)
    runs.add(99)
    (pytester.path / "marks").mkdir()
    (pytester.path / "swaps.py").write_text(Path(swaps.__file__).read_text())
    (pytester.path / "attack.py").write_text(
        f"import pathlib, swaps\nswaps.install(pathlib.Path({str(pytester.path / 'marks')!r}))"
    )
    return runs


def list_results_aside(runs):
    """The results of attacked runs in directories that were moved."""
    results = runs.root.rglob("eval_result.json")
    return [path for path in results if "aside" in str(path) and path.parent.name not in ("1", "999")]


def check_files(runs, *, is_writing=True):
    """Assert that each run that was not attacked has its own result, and no directory that was moved has one."""
    for number in ATTACKS:
        place = runs.root / f"v{number}/{number}"
        if is_writing:
            result = json.loads((place / "eval_result.json").read_bytes())
            assert (result["status"], result["webeval"]["run"].rpartition("runs/")[2]) == (
                "success",
                f"v{number}/{number}",
            )
        else:
            assert not (place / "eval_result.json").exists()
    aside = list_results_aside(runs)
    assert (aside, runs.root.joinpath("99/eval_result.json").exists()) == ([], is_writing)


def check_outcome(number, status, reason, changed=CHANGED):
    """Assert that the outcome of an attacked run names what happened to its directory."""
    moment, swap = ATTACKS[number]
    expected = SWAPS[swap] if moment == MOMENTS[0] else changed
    assert (status, bool(re.search(expected, reason or ""))) == ("error", True), (moment, swap, reason)


def read_summary(runs):
    rows = {row["run"].removeprefix("runs/"): (row["status"], row["reason"]) for row in runs.summary["task_results"]}
    assert rows.pop("99") == ("success", None)
    assert {rows.pop(f"v{number}/{number}") for number in ATTACKS} == {("success", None)}
    return {number: rows[f"g{number}/{number}"] for number in ATTACKS}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="direct"),
        pytest.param(("--setup-show",), id="phases", marks=pytest.mark.whole),
        pytest.param(("-n2",), id="xdist"),
        pytest.param(("-n2", "--webeval-report=report"), id="report", marks=pytest.mark.whole),
    ],
)
def test_a_session_scores_no_directory_in_the_place_of_another(attacked, webeval_apart, pytester, arguments):
    pytester.makeconftest("import attack")
    webeval_apart(*arguments)
    for number, outcome in read_summary(attacked).items():
        check_outcome(number, *outcome)
    check_files(attacked)


@pytest.mark.whole
def test_worker_processes_score_no_directory_in_the_place_of_another(attacked, webeval_apart, pytester, monkeypatch):
    (pytester.path / "sitecustomize.py").write_text("import sys\nif sys.flags.safe_path: import attack")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    webeval_apart("--webeval-workers=2")
    for number, (status, reason) in read_summary(attacked).items():
        if ATTACKS[number][1] is swaps.swap_for_directory:
            assert status == "success"  # the session scores the directory that it finds, and keeps no older verdict
        else:
            assert (status, bool(re.search("is a link|Not a directory|No such file|" + CHANGED, reason))) == (
                "error",
                True,
            )
    assert list_results_aside(attacked) == []


@pytest.mark.whole
def test_with_an_output_directory_a_later_swap_changes_nothing(attacked, webeval_apart, pytester):
    pytester.makeconftest("import attack")
    webeval_apart("--webeval-output=out")
    rows = {
        row["run"].removeprefix("runs/"): row
        for row in json.loads((pytester.path / "out/eval_summary.json").read_bytes())["task_results"]
    }
    for number, (moment, swap) in ATTACKS.items():
        row = rows[f"g{number}/{number}"]
        assert rows[f"v{number}/{number}"]["status"] == "success"
        if moment == MOMENTS[0]:
            check_outcome(number, row["status"], row["reason"])
        else:
            assert row["status"] == ("error" if swap is swaps.remove_all and moment == "reading" else "failure")
    check_files(attacked, is_writing=False)


PROCESSES = pytest.param(("--executor=process:2",), id="processes", marks=pytest.mark.whole)


@pytest.mark.parametrize("arguments", [pytest.param((), id="here"), PROCESSES])
def test_the_command_scores_no_directory_in_the_place_of_another(attacked, pytester, monkeypatch, arguments):
    (pytester.path / "sitecustomize.py").write_text("import attack")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    pytester.run(sys.executable, "-m", "pytest_webeval", "score", "runs", *arguments)
    for number, outcome in read_summary(attacked).items():
        check_outcome(number, *outcome)
    check_files(attacked)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    "arguments", [("score_runs",), ("score_runs", "process:2"), ("score",), ("score_run",)], ids="-".join
)
def test_python_scores_no_directory_in_the_place_of_another(attacked, pytester, monkeypatch, arguments):
    (pytester.path / "sitecustomize.py").write_text("import attack")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=":")
    is_writing = arguments[0] == "score_runs"
    done = subprocess.run([sys.executable, "-c", SCORE_ALL, *arguments], check=True, capture_output=True, text=True)
    rows = {run: (status, reason) for run, status, reason in map(json.loads, done.stdout.splitlines())}
    for number, (moment, swap) in ATTACKS.items():
        outcome = rows[f"g{number}/{number}"]
        assert rows[f"v{number}/{number}"][0] == "success"
        if is_writing or moment == MOMENTS[0]:
            check_outcome(number, *outcome)
        else:
            assert outcome[0] == ("error" if swap is swaps.remove_all and moment == "reading" else "failure")
    check_files(attacked, is_writing=is_writing)


def test_an_item_keeps_nothing_of_the_directory_that_was_open(runs, pytester, webeval):
    runs.add(107)
    pytester.makeconftest(
        "from pytest_webeval.plugin.collection.nodes import OPENED_RUNS\n"
        "def pytest_sessionfinish(session):\n"
        "    assert [OPENED_RUNS in item.stash for item in session.items] == [False]\n"
    )
    webeval().assert_outcomes(passed=1)
