"""A session that scores fewer runs than its settings select never replaces the summary of all of them."""

from __future__ import annotations

import json
import shlex

import pytest

from pytest_webeval.__main__ import main
from tests.support.default_run import first_by_default

COMPLETE, PARTIAL = "eval_summary.json", "eval_summary.partial.json"
DRIVERS = pytest.mark.parametrize("spread", [[], ["-n2"], ["--webeval-workers=2"]], ids=["serial", "xdist", "workers"])


@pytest.fixture
def scored(runs, webeval):
    """Runs 107 and 109 succeed, 108 fails; and the content of the summary of all three."""
    for task_id in (107, 108, 109):
        runs.add(task_id, passes=task_id != 108)
    webeval()
    return (runs.root / COMPLETE).read_bytes()


def read(path):
    raw = json.loads(path.read_bytes())
    return [row["task_id"] for row in raw["task_results"]], raw["webeval"]["partial"]


@pytest.mark.parametrize(
    ("arguments", "task_ids"),
    first_by_default(
        [
            (["-k", "[107]"], [107]),
            (["--lf"], [108]),
            (["-x"], [107, 108]),
            (["-m", "webeval_type(name='retrieve') and not slow", "-k", "not 107"], [108, 109]),
            (["--deselect=runs/107"], [108, 109]),
            (["runs/109"], [109]),
            (["runs/108::task", "runs/109::task"], [108, 109]),
            (["--sw"], [107, 108]),
        ],
        4,
    ),
)
def test_a_session_over_some_runs_writes_a_summary_of_its_own(runs, scored, webeval, arguments, task_ids):
    result = webeval(*arguments)
    assert read(runs.root / PARTIAL) == (task_ids, True)
    assert (runs.root / COMPLETE).read_bytes() == scored
    result.stdout.fnmatch_lines([f"summary: *{PARTIAL}"])
    result.stdout.no_fnmatch_line(f"summary: *{COMPLETE}")


@DRIVERS
def test_all_drivers_keep_the_complete_summary(runs, scored, webeval_apart, spread):
    webeval_apart("-k", "[107]", *spread)
    assert (read(runs.root / PARTIAL), (runs.root / COMPLETE).read_bytes()) == (([107], True), scored)
    webeval_apart(*spread)
    assert read(runs.root / COMPLETE) == ([107, 108, 109], False)
    assert not (runs.root / PARTIAL).exists()


@pytest.mark.whole
def test_ctrl_c_keeps_the_complete_summary(runs, scored, webeval_apart, pytester):
    interrupt = "if '108' in item.nodeid:\n        raise KeyboardInterrupt"
    pytester.makeconftest(f"def pytest_runtest_setup(item):\n    {interrupt}")
    webeval_apart()
    assert read(runs.root / PARTIAL) == ([107], True)
    assert (runs.root / COMPLETE).read_bytes() == scored


def test_a_subset_and_a_shard_are_settings(runs, scored, webeval, pytester):
    (pytester.path / "some.json").write_text(json.dumps({"task_ids": [107]}))
    webeval("--webeval-subset=some.json")
    assert read(runs.root / COMPLETE) == ([107], False)
    webeval("--webeval-shard=1/2")
    assert not (runs.root / PARTIAL).exists()


def test_each_root_keeps_its_own(webeval_over, another_root):
    roots = [another_root(name) for name in ("first", "second")]
    for root in roots:
        root.add(107)
    webeval_over(["first", "second"])
    webeval_over(["first", "second"], "first")
    assert [(root.root / PARTIAL).exists() for root in roots] == [True, False]
    webeval_over(["first", "second"])
    assert not (roots[0].root / PARTIAL).exists()


def test_a_python_test_over_one_run_keeps_the_complete_summary(runs, scored, pytester):
    pytester.makepyfile("def test_answer(webeval_response):\n    webeval_response.check()")
    pytester.makeini("[pytest]\nwebeval_runs = runs")
    pytester.runpytest("test_a_python_test_over_one_run_keeps_the_complete_summary.py", "-k", "107")
    assert read(runs.root / PARTIAL) == ([107], True)
    assert (runs.root / COMPLETE).read_bytes() == scored


def contents(directory):
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def rerun_commands(result):
    return [line.strip() for line in result.outlines if line.startswith(" " * 9 + "pytest ")]


@pytest.mark.parametrize("key", ["", "webeval_report = report", "addopts = --webeval-report=report"])
def test_a_printed_command_keeps_the_results_of_the_others(runs, pytester, webeval, key):
    for task_id in (107, 108, 109):
        runs.add(task_id, passes=task_id != 108)
    pytester.makeini(f"[pytest]\n{key}\n")
    result = webeval("--webeval-output=out", *(() if key else ("--webeval-report=report",)))
    (command,) = rerun_commands(result)
    summary, report = (pytester.path / f"out/{COMPLETE}").read_bytes(), contents(pytester.path / "report")
    again = pytester.runpytest(*shlex.split(command)[1:])
    assert (pytester.path / f"out/{COMPLETE}").read_bytes() == summary
    assert contents(pytester.path / "report") == report
    assert read(pytester.path / f"out/{PARTIAL}") == ([108], True)
    if key:
        note = "report: not written; *report has that of all runs, and this session selects some: *"
        again.stdout.fnmatch_lines([note])


@pytest.mark.thinned(every=6)
@DRIVERS
@pytest.mark.parametrize("arguments", [["-k", "[107]"], ["runs/107"]])
def test_a_selection_keeps_the_report_of_all_runs_that_the_ini_file_names(
    runs, scored, webeval_apart, pytester, arguments, spread
):
    pytester.makeini("[pytest]\nwebeval_report = report\n")
    report = pytester.path / "report"
    webeval_apart(*arguments, *spread)
    assert read(report / PARTIAL) == ([107], True)
    assert not (report / COMPLETE).exists()
    webeval_apart(*spread)
    before = contents(report)
    assert PARTIAL not in before
    webeval_apart(*arguments, *spread)
    assert contents(report) == before


def test_a_report_that_is_named_is_written_beside_the_summary_of_all_runs(runs, scored, webeval, pytester):
    report = pytester.path / "report"
    webeval("--webeval-report=report")
    complete = (report / COMPLETE).read_bytes()
    webeval("--webeval-report=report", "-k", "[107]").stdout.fnmatch_lines(["report: *index.html"])
    assert (report / COMPLETE).read_bytes() == complete
    assert read(report / PARTIAL) == ([107], True)


@pytest.mark.parametrize("arguments", [[], ["runs"], ["."]])
def test_arguments_that_name_all_runs_write_the_report_anew(runs, scored, webeval, pytester, arguments):
    pytester.makeini("[pytest]\nwebeval_report = report\n")
    for _ in range(2):
        webeval(*arguments).stdout.fnmatch_lines(["report: *index.html"])


def test_a_selection_of_all_sessions_in_the_ini_file_writes_the_report_anew(runs, scored, webeval, pytester):
    pytester.makeini("[pytest]\naddopts = -m 'not slow'\nmarkers = slow\nwebeval_report = report\n")
    for _ in range(2):
        webeval().stdout.fnmatch_lines(["report: *index.html"])


def test_commands_read_the_complete_summary_and_name_the_other(runs, scored, webeval, capsys, pytester):
    webeval("-k", "[107]")
    for command in (["compare", "runs", f"runs/{COMPLETE}"], ["history", "runs"]):
        main(command)
        shown = capsys.readouterr().out
        assert f"runs also holds {PARTIAL}, which is not read; name that file to read it" in shown
        assert "33.3%" not in shown


def test_a_partial_summary_alone_is_read_and_says_what_it_is(runs, webeval, capsys):
    for task_id in (107, 108):
        runs.add(task_id)
    webeval("-k", "[107]")
    main(["compare", "runs", f"runs/{PARTIAL}"])
    assert "runs is a partial session: only some of its runs were scored" in capsys.readouterr().out
    main(["history", "runs"])
    assert "partial session" in capsys.readouterr().out


def test_a_resumed_session_completes_the_summary(runs, webeval, webeval_apart, pytester):
    for task_id in (107, 108, 109):
        runs.add(task_id, passes=task_id != 108)
    webeval_apart("-x")
    assert read(runs.root / PARTIAL) == ([107, 108], True)
    webeval("--webeval-resume").stdout.fnmatch_lines(["resumed: 2 of 3 results taken from an earlier session"])
    assert read(runs.root / COMPLETE) == ([107, 108, 109], False)
    assert not (runs.root / PARTIAL).exists()
