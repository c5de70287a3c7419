"""`score_runs` leaves the files that a session leaves, without pytest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from pytest_webeval import (
    NetworkEventEvaluator,
    RecordingError,
    ResponseEvaluator,
    ScoreSettings,
    SettingsError,
    TaskDefinitionError,
    find_runs,
    load_run,
    load_sites,
    load_tasks,
    score_run,
    score_runs,
)
from tests.support.killing_evaluators import SlowEvaluator
from tests.support.sessions import read_files
from tests.support.unprivileged import MAY_NOT_READ, prefix

SUITE = Path(__file__).parents[2] / "example_suite"
UNJUDGED = "WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf/r1/traj/books_old_1"
ROOTS = {"runs": SUITE / "runs", "trajectories": SUITE / "trajectories/runs"}


def read_results(root):
    """The results of a session, whose runs have names that start with that of their root, also in messages."""
    results = read_files(root, "eval_result.json")
    for content in results.values():
        content["webeval"]["run"] = content["webeval"]["run"].removeprefix("runs/")
        content["error_msg"] = content["error_msg"] and content["error_msg"].replace(" runs/", " ", 1)
    return results


@pytest.fixture
def suite(pytester):
    """A copy of one of the suite's roots, as `runs` in the directory of the session."""

    def copy(name):
        shutil.copytree(ROOTS[name], pytester.path / "runs", ignore=shutil.ignore_patterns("eval_*.json"))
        return pytester.path / "runs"

    return copy


@pytest.mark.thinned(every=3)
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


def test_a_run_that_takes_too_long_is_an_error(runs):
    runs.add(101)
    evaluators = [SlowEvaluator(101), NetworkEventEvaluator()]
    (result,) = score_runs(runs.root, evaluators=evaluators, timeout=0.1)
    assert result.error_msg == "scoring timed out after 0.1 s; inspect the run or raise --webeval-timeout"
    assert runs.result(101)["error_msg"] == result.error_msg
    (result,) = score_runs(runs.root, timeout=0)
    assert result.status == "success"


def test_evaluators_and_tasks_may_be_given(runs):
    runs.add(101)
    tasks = load_tasks(str(runs.root / "tasks.json"))
    (runs.root / "tasks.json").unlink()
    (undefined,) = score_runs(runs.root)
    assert undefined.status == "error"
    (result,) = score_runs(runs.root, tasks, evaluators=[])
    told = "unknown evaluator 'AgentResponseEvaluator' @ eval[0].evaluator; known: none; add yours in the fixture "
    assert told in result.error_msg


@pytest.mark.parametrize(
    ("break_it", "error"),
    [
        (shutil.rmtree, RecordingError),
        (lambda root: (root / "tasks.json").write_text("{"), TaskDefinitionError),
    ],
    ids=["root", "tasks"],
)
def test_what_concerns_all_runs_is_raised(runs, break_it, error):
    runs.add(101)
    break_it(runs.root)
    with pytest.raises(error):
        list(score_runs(runs.root))


def test_a_directory_in_the_place_of_a_result_ends_no_other_run(runs):
    for task_id in (101, 102, 103):
        runs.add(task_id)
    (runs.root / "102/eval_result.json").mkdir()
    results = {result.task_id: result for result in score_runs(runs.root)}
    assert [results[task_id].status for task_id in (101, 102, 103)] == ["success", "error", "success"]
    assert results[102].error_msg.endswith("it is a directory; remove it or choose another directory with output=DIR")


def test_what_is_not_there_is_said_in_a_line(tmp_path):
    (tmp_path / "runs").mkdir()
    nothing = tmp_path / "runs/999"
    calls = {
        partial(score_run, tmp_path / "runs", "999"): "no such run",
        partial(score_run, nothing): "no such run",
        partial(load_run, nothing): "no such run",
        lambda: next(score_runs(nothing)): "directory not found",
        lambda: next(find_runs(nothing)): "directory not found",
    }
    for call, problem in calls.items():
        with pytest.raises(RecordingError) as caught:
            call()
        assert str(caught.value) == f"{problem}: {nothing}; check the path"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"executor": 3}, "invalid executor 3; use an executor of concurrent.futures, or a text as in *"),
        ({"sites": "config.json"}, "invalid sites 'config.json'; pass what load_sites(PATH) returns"),
        ({"tasks": "tasks.json"}, "invalid tasks 'tasks.json'; pass what load_tasks(PATH) returns"),
        ({"only": ["foo"]}, "only: unknown evaluator 'foo'; use response, network, rubric or request"),
        ({"output": "a_file"}, "cannot write */a_file/101/eval_result.json: *; choose another directory with output=*"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_invalid_setting_is_refused_before_a_result_is_written(runs, monkeypatch, settings, message):
    runs.add(101)
    monkeypatch.chdir(runs.root.parent)
    Path("a_file").touch()
    with pytest.raises(SettingsError) as caught:
        next(score_runs("runs", **settings))
    pytest.LineMatcher([str(caught.value)]).fnmatch_lines([message])
    assert not list(runs.root.parent.rglob("eval_*"))


def test_a_single_run_is_not_scored_by_an_evaluator_that_nobody_has(runs):
    runs.add(101)
    with pytest.raises(
        SettingsError, match=r"^only: unknown evaluator 'foo'; use response, network, rubric or request$"
    ):
        score_run(runs.root, "101", ScoreSettings(only=("foo",)))
    mine = type("Mine", (ResponseEvaluator,), {"name": "foo"})
    settings = ScoreSettings(only=("foo",), evaluators=[mine()])
    assert score_run(runs.root, "101", settings).error_msg.endswith("for the chosen evaluators: foo")


def test_a_current_directory_that_is_gone_costs_no_run(runs, tmp_path_factory, monkeypatch):
    runs.add(101)
    gone = tmp_path_factory.mktemp("gone")
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert [run.task_id for run in find_runs(runs.root)] == [101]
    assert score_run(runs.root, "101").status == "success"
    assert [result.status for result in score_runs(runs.root)] == ["success"]


def test_pytest_is_not_imported(runs):
    runs.add(101)
    program = "import sys, pytest_webeval as w; print(len(list(w.score_runs('runs'))), 'pytest' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=runs.root.parent
    )
    assert done.stdout == "1 False\n"


@pytest.fixture
def score_as_user(runs):
    """Scores two runs as a user who may do only what modes allow; the first directory has the mode given."""
    program = "import pytest_webeval as w; print([one.status.value for one in w.score_runs({})])"
    for number in (101, 102):
        runs.add(number)

    def run(mode, arguments="'runs'"):
        command = [*prefix(*MAY_NOT_READ), sys.executable, "-c", program.format(arguments)]
        (runs.root / "101").chmod(mode)
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False, cwd=runs.root.parent)
        finally:
            (runs.root / "101").chmod(0o755)

    return run


def test_a_directory_that_nobody_may_use_is_an_error_without_a_file(score_as_user, runs):
    assert score_as_user(0).stdout == "['error', 'success']\n"
    assert runs.written == ["102/eval_result.json"]


def test_an_output_directory_has_the_error_too(score_as_user, runs):
    score_as_user(0, "'runs', output='results'")
    assert json.loads((runs.root.parent / "results/101/eval_result.json").read_bytes())["status"] == "error"


def test_a_verdict_that_cannot_be_written_is_raised(score_as_user):
    assert "SettingsError: cannot write " in score_as_user(0o555).stderr


def test_a_run_without_a_verdict_loses_its_earlier_result(suite):
    root = suite("trajectories")
    without = root / UNJUDGED / "eval_result.json"
    (earlier,) = [result for result in score_runs(root) if result.webeval["run"] == UNJUDGED]
    without.write_text(json.dumps(earlier.to_json()))
    assert UNJUDGED in [result.webeval["run"] for result in score_runs(root)]
    assert not without.exists()


def test_a_root_that_is_a_run_itself_is_scored_by_what_is_passed(runs):
    runs.add(101)
    tasks = load_tasks(str(runs.root / "tasks.json"))
    (result,) = score_runs(runs.root / "101", tasks)
    assert (result.status, result.webeval["run"]) == ("success", "101")
    (undefined,) = score_runs(runs.root / "101")
    assert undefined.error_msg.startswith("no task definition for 101")


def test_a_root_with_the_files_of_several_formats_is_an_error(runs):
    runs.add(101)
    (runs.root / "101/web_surfer.log").write_text("{}")
    (runs.root / "101/scores").mkdir()
    (result,) = score_runs(runs.root / "101", output=runs.root.parent / "out")
    assert (result.status, result.webeval["run"]) == ("error", "101")
    assert "has the files of several formats" in result.error_msg
