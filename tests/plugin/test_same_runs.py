"""pytest, `score` and `score_runs` count the same runs, broken ones among them, and say the same of each."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_webeval import (
    RecordingError,
    Run,
    RunFormat,
    RunInputs,
    find_runs,
    load_run,
    load_tasks,
    load_trace,
    score,
    score_runs,
    summarize,
)
from pytest_webeval.__main__ import main
from tests.plugin.test_fixtures import OVERRIDES

RULES = "strict"
COUNTS = ("total", "success_count", "failed_count", "error_count")


def empty(run):
    for path in run.iterdir():
        path.unlink()


def leave_a_download(run):
    empty(run)
    (run / "download.txt").touch()


def cut(run):
    (run / "network.har").write_text("{")


def drop_answer(run):
    (run / "agent_response.json").unlink()


def add_another_format(run):
    (run / "interact_messages.json").write_text(json.dumps([{"role": "user", "content": "x"}]))


def add_runs_inside(run):
    for name in ("a", "b"):
        (run / name).mkdir()
        for path in [path for path in run.iterdir() if path.is_file()]:
            (run / name / path.name).write_bytes(path.read_bytes())


def lead_outside(run):
    empty(run)
    run.rmdir()
    outside = run.parent.parent / "outside"
    outside.mkdir()
    run.symlink_to(outside)


def lead_nowhere(run):
    empty(run)
    run.rmdir()
    run.symlink_to(run.parent.parent / "nothing")


def leave_results_alone(run):
    empty(run)
    (run / "eval_result.json").write_text("{}")


BREAKING = [
    empty,
    leave_a_download,
    cut,
    drop_answer,
    add_another_format,
    add_runs_inside,
    lead_outside,
    lead_nowhere,
    leave_results_alone,
]


def read_results(place):
    results = {}
    for path in place.rglob("eval_result.json"):
        content = json.loads(path.read_text())
        message = (content["error_msg"] or "").replace("runs/", "")
        results[path.parent.name] = content["task_id"], content["status"], message
    return results


def run_command(*arguments):
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        return main(["score", *map(str, arguments), "--executor=process:1", "--no-progress"]), output.getvalue()


def read_counts(place):
    summary = json.loads((place / "eval_summary.json").read_text())
    return [summary[name] for name in COUNTS]


@pytest.fixture
def drivers(pytester, webeval, monkeypatch):
    """What each driver leaves in an output directory of its own: counts and results."""
    monkeypatch.chdir(pytester.path)

    def run(**settings):
        outputs = [pytester.path / name for name in ("by_pytest", "by_score", "by_python")]
        webeval("--webeval-output=by_pytest", f"--webeval-rules={RULES}")
        run_command("runs", "--output=by_score", f"--rules={RULES}")
        results = list(score_runs("runs", output="by_python", rules=RULES, **settings))
        summary = summarize(results)
        counts = [*map(read_counts, outputs[:2]), [getattr(summary, name) for name in COUNTS]]
        return counts, list(map(read_results, outputs))

    return run


@pytest.mark.thinned(every=3)
@pytest.mark.filterwarnings("ignore:runs inside other runs")
@pytest.mark.unchecked_files("a foreign eval_result.json lies in a run")
@pytest.mark.parametrize("breaking", BREAKING)
def test_a_broken_run_is_the_same_error(runs, drivers, breaking):
    for number in (101, 102, 103):
        runs.add(number, passes=number != 102)
    breaking(runs.add(104))
    counts, results = drivers()
    assert counts == [[4, 1 + 1, 1, 1]] * 3
    assert results[0]["104"][1] == "error"
    assert results[1] == results[0]
    assert results[2] == results[0]
    assert len(list(find_runs(runs.root, RULES))) == 4


@pytest.mark.filterwarnings("ignore:runs inside other runs")
@pytest.mark.unchecked_files("a foreign eval_result.json lies in a run")
def test_a_root_of_all_kinds_is_the_same(runs, drivers):
    for number, breaking in enumerate(BREAKING, 201):
        if breaking is not lead_outside:
            breaking(runs.add(number))
    runs.add(101)
    runs.add(999, defined=False)
    cut_off = runs.add(998, defined=False)
    empty(cut_off)
    (cut_off / "trace.zip").touch()
    runs.add(997, defined=False, name="e [%25] \udcff")
    (runs.root / "notes").mkdir()
    (runs.root / "notes/todo.txt").touch()
    counts, results = drivers()
    assert counts == [[12, 1, 0, 11]] * 3
    assert results[1] == results[0]
    assert {name: row[:2] for name, row in results[2].items()} == {name: row[:2] for name, row in results[0].items()}


def test_an_output_directory_in_the_root_holds_no_runs(runs):
    runs.add(101)
    empty(runs.add(102))
    for _ in range(2):
        assert len(list(score_runs(runs.root, output=runs.root / "out", rules=RULES))) == 2


@pytest.mark.parametrize("executor", [None, "process:1"])
def test_no_error_is_written_behind_a_link(runs, executor):
    runs.add(101)
    lead_outside(runs.add(102))
    assert [result.status for result in score_runs(runs.root, rules=RULES, executor=executor)] == ["success", "error"]
    assert not list((runs.root.parent / "outside").iterdir())


def test_tasks_of_ones_own_say_which_directories_are_broken(runs):
    runs.add(101)
    empty(runs.add(102))
    tasks = load_tasks(str((runs.root / "tasks.json").rename(runs.root.parent / "mine.json")))
    assert [result.status for result in score_runs(runs.root, tasks, rules=RULES)] == ["success", "error"]
    broken = list(find_runs(runs.root, RULES, tasks=tasks))[1]
    for read in (broken.check, lambda: broken.response, lambda: broken.trace, lambda: score(broken, tasks)):
        with pytest.raises(
            RecordingError, match=r"^unknown layout of .*/102: expected the files of one of the formats"
        ):
            read()
    assert broken.task_id == 102


def test_runs_are_listed_where_tasks_cannot_be_read(runs):
    runs.add(101)
    (runs.root / "tasks.json").write_text("{")
    assert [run.label for run in find_runs(runs.root, RULES)] == ["101"]


@pytest.mark.parametrize("name", ["tasks.json", "task.json"])
def test_a_root_that_is_a_run_defines_no_task(runs, name):
    path = runs.add(101)
    (path / name).write_bytes((runs.root / "tasks.json").read_bytes())
    (result,) = score_runs(path, rules=RULES)
    assert (result.status, "no task definition" in result.error_msg) == ("error", True)


FORMAT = """
    from dataclasses import replace
    import pytest_webeval as webeval

    class Renamed(webeval.RunFormat):
        name, expected_files = "renamed", "answer.json and network.har"
        def recognizes(self, path):
            return (path / "answer.json").is_file()
        def load(self, path, label, rules):
            return webeval.Run(
                path, label, int(path.name), self.name, "answer.json", webeval.RunInputs(path), rules,
                lambda inputs: webeval.load_trace(inputs, name="network.har"),
            )

    def pytest_webeval_recognize(path, config):
        return Renamed() if Renamed().recognizes(path) else None
"""


class Renamed(RunFormat):
    """The same for Python."""

    name, expected_files = "renamed", "answer.json and network.har"

    def recognizes(self, path):
        return (path / "answer.json").is_file()

    def load(self, path, label, rules):
        if (path / "bad").exists():
            raise ValueError("bad")
        trace = partial(load_trace, name="network.har")
        return Run(path, label, int(path.name), self.name, "answer.json", RunInputs(path), rules, trace)


@pytest.fixture
def renamed(runs):
    """Two runs of a format of one's own beside one of ours."""
    for number in (101, 102, 103):
        path = runs.add(number, passes=number != 102)
        if number != 103:
            (path / "agent_response.json").rename(path / "answer.json")
    return runs


def test_a_format_of_ones_own_is_that_of_pytest(renamed, webeval, pytester):
    pytester.makeconftest(FORMAT)
    webeval("--webeval-output=out", f"--webeval-rules={RULES}")
    expected = read_results(pytester.path / "out")
    for executor in (None, "process:1"):
        place = pytester.path / f"of_{executor}"
        settings = {"output": place, "rules": RULES, "executor": executor}
        results = list(score_runs(renamed.root, formats=[Renamed()], **settings))
        assert [(result.status, result.webeval["format"]) for result in results[:2]] == [
            ("success", "renamed"),
            ("failure", "renamed"),
        ]
        assert read_results(place) == expected
    assert [run.format for run in find_runs(renamed.root, RULES, formats=[Renamed()])][:2] == ["renamed"] * 2
    assert load_run(renamed.root / "101", RULES, formats=[Renamed()]).format == "renamed"


def test_a_format_that_raises_costs_its_run_alone(renamed):
    (renamed.root / "101/bad").touch()
    results = list(score_runs(renamed.root, formats=[Renamed()], rules=RULES))
    assert [result.status for result in results] == ["error", "failure", "success"]
    assert results[0].error_msg == "the format renamed cannot load 101: ValueError: bad; fix its load() and rerun"


REFUSED = {
    "the hook": (FORMAT, "pytest_webeval_recognize", "score with pytest"),
    "an evaluator": (OVERRIDES["webeval_response"], "webeval_response", "pass evaluators with --evaluators-from=*"),
    "an imported one": ("from checks import webeval_rubric", "webeval_rubric", "pass evaluators with *"),
    "a named one": (
        "import pytest\n@pytest.fixture(name='webeval_evaluators')\ndef mine(): pass",
        "webeval_evaluators",
        "pass evaluators with *",
    ),
    "one under a condition": ("if True:\n    from checks import webeval_rubric", "webeval_rubric", "pass *"),
    "all of a module": ("from mine.checks import *", "webeval_response", "pass evaluators with *"),
    "a plugin": ("pytest_plugins = ['mine.checks']", "webeval_response", "pass evaluators with *"),
}


PLACES = [(place, here) for place in (".", "exp") for here in (".", "exp", "other")]


@pytest.mark.parametrize(
    ("name", "place", "here"),
    [*((name, ".", ".") for name in REFUSED), *(("an evaluator", *each) for each in PLACES[1:])],
)
def test_the_command_refuses_what_it_would_not_read(another_root, pytester, monkeypatch, name, place, here):
    content, names, advice = REFUSED[name]
    another_root("exp/runs").add(101)
    (pytester.path / place / "conftest.py").write_text(dedent(content))
    (pytester.path / place / "mine").mkdir()
    (pytester.path / place / "mine/checks.py").write_text(dedent(OVERRIDES["webeval_response"]))
    (pytester.path / "other").mkdir()
    monkeypatch.chdir(pytester.path / here)
    code, output = run_command(pytester.path / "exp/runs", f"--rules={RULES}")
    assert code == pytest.ExitCode.USAGE_ERROR
    line = f"*/conftest.py defines {names}, which `score` does not read; {advice}"
    pytest.LineMatcher(output.splitlines()).fnmatch_lines([f"*{line}"])
    assert not list(Path().rglob("eval_*"))


def test_the_command_takes_evaluators_in_place_of_those_of_a_conftest(runs, pytester, monkeypatch):
    runs.add(101)
    pytester.makeconftest(OVERRIDES["webeval_response"])
    pytester.makepyfile(mine="def webeval_evaluators(ours): return ours")
    monkeypatch.chdir(pytester.path)
    assert run_command("runs", f"--rules={RULES}", "--evaluators-from=mine.py")[0] == 0


@pytest.mark.whole
@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("runs", OVERRIDES["webeval_response"]),
        ("runs/101", FORMAT),
        ("elsewhere", FORMAT),
        (".", "def pytest_webeval_summary(summary, config): pass"),
        (".", "def ("),
        (".", "\0"),
    ],
)
def test_the_command_refuses_no_other_conftest(runs, pytester, monkeypatch, place, content):
    runs.add(101)
    (pytester.path / "elsewhere").mkdir()
    (pytester.path / place / "conftest.py").write_text(dedent(content))
    monkeypatch.chdir(pytester.path)
    assert run_command("runs", f"--rules={RULES}")[0] == 0
