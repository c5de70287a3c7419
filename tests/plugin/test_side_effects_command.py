"""`webeval side-effects`: which runs it compares, what it prints, and its exit codes."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.__main__ import main
from tests.support.derived_runs import CONFIG, RUNS, derive
from tests.support.traffic import send

LINE = "task 108: runs/try-2/108: event 24 POST __SHOPPING__/wishlist/add (product) is not in the other passing run"


@pytest.fixture
def attempts(tmp_path, monkeypatch):
    """Two attempts at three tasks: at 108 one has a side effect, at 109 one fails, and at 101 nothing is changed."""
    monkeypatch.chdir(tmp_path)
    extra = derive(108)
    extra.entries.append(send("/wishlist/add", [("product", "lamp")], url="http://127.0.0.1:7770"))
    failing = derive(111)  # it sent what it was not to send
    for attempt, runs in {
        "try-1": (derive(108), derive(101), failing),
        "try-2": (extra, derive(101), derive(110)),
    }.items():
        for run in runs:
            run.write(tmp_path / "runs" / attempt)
    (tmp_path / "runs/tasks.json").write_bytes((RUNS / "tasks.json").read_bytes())
    return tmp_path


def show(capsys, *arguments):
    """Exit code and output of the command."""
    code = main(["side-effects", *map(str, arguments), f"--config={CONFIG}"])
    return code, capsys.readouterr().out


def test_a_change_of_one_passing_run_is_listed(attempts, capsys):
    code, output = show(capsys, "runs")
    assert code == 0
    assert output.splitlines() == [
        LINE,
        "1 side effect in 5 passing runs of 3 tasks",
        "1 task has 1 passing run only, with nothing to compare it with",
    ]


def test_several_directories_are_compared_with_each_other(attempts, capsys):
    code, output = show(capsys, "runs/try-1", "runs/try-2", "--tasks=runs/tasks.json")
    assert code == 0
    assert output.splitlines()[0] == LINE.replace("runs/try-2", "try-2")


@pytest.mark.parametrize("again", ["runs", "./runs", "runs/try-2"])
def test_no_run_is_compared_with_itself(attempts, capsys, again):
    output = show(capsys, "runs", again, "--tasks=runs/tasks.json")[1]
    assert output.splitlines() == show(capsys, "runs")[1].splitlines()


def test_attempts_may_lie_in_a_directory_that_is_named_by_the_task(attempts, capsys):
    for attempt in ("try-1", "try-2"):
        (attempts / "by-task/108").mkdir(parents=True, exist_ok=True)
        (attempts / "runs" / attempt / "108").rename(attempts / "by-task/108" / attempt)
    _, output = show(capsys, "by-task", "--tasks=runs/tasks.json")
    assert output.splitlines()[0] == LINE.replace("runs/try-2/108", "by-task/108/try-2")


def test_as_json(attempts, capsys):
    code, output = show(capsys, "runs", "--format=json")
    content = json.loads(output)
    assert code == 0
    assert [effect["task_id"] for effect in content.pop("side_effects")] == [108]
    assert content == {"passing_runs": 5, "tasks": 3, "tasks_with_1_passing_run": 1}


def test_with_fail_side_effects_make_the_exit_code_1(attempts, capsys):
    assert show(capsys, "runs", "--fail")[0] == 1
    assert show(capsys, "runs/try-1", "--tasks=runs/tasks.json", "--fail")[0] == 0


def test_runs_are_not_written_to(attempts, capsys):
    before = sorted(path.name for path in attempts.rglob("*"))
    show(capsys, "runs")
    assert sorted(path.name for path in attempts.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "ERROR: directory not found: missing; check the path"),
        (["runs", "--tasks=missing.json"], "ERROR: cannot read the task file missing.json"),
    ],
)
def test_what_cannot_be_read_is_an_error(attempts, capsys, arguments, message):
    assert main(["side-effects", *arguments]) == 4
    assert capsys.readouterr().err.startswith(message)
