"""`score_runs` leaves the files that a session leaves, without pytest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pytest_webeval import RecordingError
from pytest_webeval import SettingsError
from pytest_webeval import TaskDefinitionError
from pytest_webeval import load_sites
from pytest_webeval import load_tasks
from pytest_webeval import score_runs

SUITE = Path(__file__).parents[2] / "example_suite"
ROOTS = {"runs": SUITE / "runs", "trajectories": SUITE / "trajectories/runs"}


def read_results(root):
    results = {}
    for path in sorted(root.rglob("eval_result.json")):
        content = json.loads(path.read_bytes())
        about = content["webeval"]
        about.update(wall_time=0, run=about["run"].removeprefix("runs/"))
        results[path.relative_to(root).as_posix()] = content
    return results


@pytest.fixture
def suite(pytester):
    """A copy of one of the suite's roots, as `runs` in the directory of the session."""

    def copy(name):
        shutil.copytree(ROOTS[name], pytester.path / "runs", ignore=shutil.ignore_patterns("eval_*.json"))
        return pytester.path / "runs"

    return copy


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("options", [{}, {"rules": "strict"}, {"output": "results"}], ids=str)
def test_the_files_are_those_of_a_session(suite, webeval, pytester, name, options):
    root = suite(name)
    config, day = SUITE / "config.json", "2026-03-01"
    flags = [f"--webeval-{key}={value}" for key, value in options.items()]
    webeval(f"--webeval-config={config}", f"--webeval-today={day}", *flags)
    written = pytester.path / options.get("output", "runs")
    expected = read_results(written)
    assert len(expected) > 6
    for path in written.rglob("eval_*.json"):
        path.unlink()
    results = list(score_runs(root, sites=load_sites(config), today=date.fromisoformat(day), **options))
    actual = read_results(written)
    assert list(actual) == list(expected)
    for place, result in expected.items():
        assert actual[place] == result
    assert len(results) >= len(expected)


def test_results_come_one_by_one_and_each_is_written_by_then(runs):
    for number in (101, 102):
        runs.add(number, passes=number == 101)
    results = score_runs(runs.root)
    assert next(results).status == "success"
    assert runs.written == ["101/eval_result.json"]
    assert next(results).status == "failure"
    assert next(results, None) is None
    assert runs.result(102)["status"] == "failure"


def test_a_run_that_cannot_be_scored_is_an_error_and_the_others_are_scored(runs):
    for number in (101, 102, 103):
        runs.add(number, defined=number != 103)
    (runs.root / "101/network.har").write_text("{")
    by_id = {result.task_id: result for result in score_runs(runs.root)}
    assert [by_id[number].status for number in (101, 102, 103)] == ["error", "success", "error"]
    assert "cannot parse" in runs.result(101)["error_msg"]
    assert "task 103 is not defined" in by_id[103].error_msg


def test_a_run_that_takes_too_long_is_an_error(runs, monkeypatch):
    runs.add(101)
    (result,) = score_runs(runs.root, timeout=0.000001)
    assert result.error_msg == "scoring timed out after 1e-06 s; inspect the run or raise --webeval-timeout"
    (result,) = score_runs(runs.root, timeout=0)
    assert result.status == "success"


def test_evaluators_and_tasks_may_be_given(runs):
    runs.add(101)
    tasks = load_tasks(str(runs.root / "tasks.json"))
    (runs.root / "tasks.json").unlink()
    (undefined,) = score_runs(runs.root)
    assert undefined.status == "error"
    (result,) = score_runs(runs.root, tasks, evaluators=[])
    assert "unknown evaluator" in result.error_msg


@pytest.mark.parametrize(
    ("break_it", "error"),
    [
        (shutil.rmtree, RecordingError),
        (lambda root: (root / "tasks.json").write_text("{"), TaskDefinitionError),
        (lambda root: (root / "101/eval_result.json").mkdir(), SettingsError),
    ],
    ids=["root", "tasks", "result"],
)
def test_what_concerns_all_runs_is_raised(runs, break_it, error):
    runs.add(101)
    break_it(runs.root)
    with pytest.raises(error):
        list(score_runs(runs.root))


def test_pytest_is_not_imported(runs):
    runs.add(101)
    program = "import sys, pytest_webeval as w; print(len(list(w.score_runs('runs'))), 'pytest' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=runs.root.parent
    )
    assert done.stdout == "1 False\n"
