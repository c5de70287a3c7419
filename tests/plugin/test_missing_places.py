"""--webeval-require-all: what counts as a recording, and where the items of missing tasks stand."""

from __future__ import annotations

import json

import pytest

REQUIRE_ALL = "--webeval-require-all"


def missing(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.endswith("::missing")]


def test_a_task_may_be_recorded_anywhere_below_the_root_and_more_than_once(runs, webeval):
    runs.add(107, name="monday/107")
    runs.add(107, name="tuesday/0107", defined=False)
    runs.define(runs.definition(108))
    assert missing(webeval(REQUIRE_ALL, "--co", "-q")) == ["runs/108::missing"]
    webeval(REQUIRE_ALL).assert_outcomes(passed=2, errors=1)
    assert missing(webeval(REQUIRE_ALL, "--co", "-q", "runs/monday")) == []


def test_beside_a_missing_task_runs_are_chosen_wherever_they_lie(runs, webeval):
    for name in ("107", "monday/am/107", "monday/pm/107", "tuesday/107"):
        runs.add(107, name=name, defined=name == "107")
    runs.define(runs.definition(108))
    found = webeval(REQUIRE_ALL, "--co", "-q", "runs/108::missing", "runs/monday/am", "runs/monday/pm/107").outlines
    assert [line for line in found if "::" in line] == [
        "runs/monday/am/107::task",
        "runs/monday/pm/107::task",
        "runs/108::missing",
    ]


def test_an_unusable_directory_by_the_number_of_a_task_is_one_error_and_not_two(runs, webeval, another_root):
    runs.define(*(runs.definition(number) for number in (107, 108, 109, 110)))
    (runs.root / "107").mkdir()
    (runs.root / "108").symlink_to(another_root("elsewhere").add(108), target_is_directory=True)
    (runs.add(109, defined=False) / "network.har").write_text("{")
    webeval(REQUIRE_ALL).assert_outcomes(errors=4)
    assert sorted(row["run"] for row in runs.summary["task_results"]) == [
        f"runs/{number}" for number in range(107, 111)
    ]
    assert runs.summary["webeval"]["missing_count"] == 1


def test_a_group_of_runs_by_the_number_of_a_task_is_no_recording_of_it(runs, webeval):
    runs.add(107, name="108/107")
    runs.define(runs.definition(108))
    webeval(REQUIRE_ALL).assert_outcomes(errors=2)
    assert runs.reasons["108"].startswith("unknown layout of runs/108: ")
    assert runs.reasons["107"].startswith("no recording of task 107 in runs; ")
    assert runs.written == ["108/eval_result.json", "eval_summary.json"]


def test_a_run_of_another_task_keeps_its_place_to_itself(runs, webeval, pytester):
    runs.add(107)
    runs.define(runs.definition(5))
    pytester.makeconftest(
        """
        import dataclasses
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified
        class Shifted(WebArenaVerified):
            def load(self, path, label, rules):
                return dataclasses.replace(super().load(path, label, rules), task_id=5)
        def pytest_webeval_recognize(path, config):
            return Shifted() if Shifted().recognizes(path) else None
        """
    )
    assert missing(webeval(REQUIRE_ALL, "--co", "-q")) == ["runs/107-2::missing"]
    webeval(REQUIRE_ALL, "runs/107-2::missing").assert_outcomes(errors=1)
    webeval(REQUIRE_ALL).assert_outcomes(passed=1, errors=1)
    assert [(row["run"], row["task_id"]) for row in runs.summary["task_results"]] == [
        ("runs/107", 5),
        ("runs/107-2", 107),
    ]


def test_roots_are_looked_at_together_and_the_one_that_defines_a_task_misses_it(another_root, pytester):
    first, second = another_root("a/runs"), another_root("b/runs")
    first.add(107)
    second.add(108)
    second.define(second.definition(107), second.definition(109))
    first.define(first.definition(108), first.definition(110))
    (pytester.path / "some.json").write_text('{"task_ids": [107, 108, 109, 110, 111]}')
    roots = ("--webeval-runs=a/runs", "--webeval-runs=b/runs")
    assert missing(pytester.runpytest(*roots, REQUIRE_ALL, "--co", "-q")) == [
        "a/runs/110::missing",
        "b/runs/109::missing",
    ]
    assert missing(pytester.runpytest(*roots, REQUIRE_ALL, "--co", "-q", "b/runs")) == ["b/runs/109::missing"]
    result = pytester.runpytest(*roots, REQUIRE_ALL, "--webeval-subset=some.json")
    result.assert_outcomes(passed=2, errors=3)
    result.stdout.fnmatch_lines(["*no recording of task 111 in a/runs, b/runs; * (task 111 is not defined in *"])
    assert (first.counts, second.counts) == ((1, 0, 2), (1, 0, 1))
    assert [first.summary["webeval"]["missing_count"], second.summary["webeval"]["missing_count"]] == [2, 1]


@pytest.mark.parametrize("argument", [(), ("runs/108::missing",), ("../runs/108::missing",)])
def test_a_root_outside_the_rootdir_misses_tasks_too(runs, pytester, monkeypatch, argument):
    runs.add(107)
    runs.define(runs.definition(108))
    project = pytester.mkdir("project")
    (project / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(project)
    result = pytester.runpytest("--webeval-runs=../runs", REQUIRE_ALL, "-v", *argument)
    result.assert_outcomes(passed=0 if argument else 1, errors=1)
    result.stdout.fnmatch_lines(["*runs/108::missing ERROR*"])


def test_the_working_directory_may_be_the_root(runs, pytester, monkeypatch):
    runs.add(107)
    runs.define(runs.definition(108))
    monkeypatch.chdir(runs.root)
    assert missing(pytester.runpytest("--webeval-runs=.", REQUIRE_ALL, "--co", "-q")) == ["108::missing"]
    pytester.runpytest("--webeval-runs=.", REQUIRE_ALL, "108::missing").assert_outcomes(errors=1)


def test_a_root_that_is_a_single_run_misses_tasks_without_trusting_the_runs_own_list(runs, pytester):
    path = runs.add(107)
    (path / "tasks.json").write_text(json.dumps([runs.definition(107), runs.definition(500)]))
    (pytester.path / "given.json").write_text(json.dumps([runs.definition(107), runs.definition(108)]))
    result = pytester.runpytest("--webeval-runs=runs/107", REQUIRE_ALL)
    result.stderr.fnmatch_lines(["ERROR: --webeval-require-all: nothing says which tasks are expected; *"])
    result = pytester.runpytest("--webeval-runs=runs/107", REQUIRE_ALL, "--webeval-tasks=given.json", "-v")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["runs/107::task PASSED*", "runs/107/108::missing ERROR*"])
    assert not (path / "108").exists()


def test_a_root_that_two_paths_lead_to_is_checked_once(runs, pytester):
    runs.add(107)
    runs.define(runs.definition(109))
    (pytester.path / "latest").symlink_to(runs.root)
    result = pytester.runpytest("--webeval-runs=runs", "--webeval-runs=latest", REQUIRE_ALL)
    result.assert_outcomes(passed=1, errors=1)


def test_an_empty_root_misses_everything_even_if_it_is_named_like_a_task(another_root, pytester):
    root = another_root("107")
    root.define(root.definition(107))
    result = pytester.runpytest("--webeval-runs=107", REQUIRE_ALL)
    result.assert_outcomes(errors=1)
    assert root.counts == (0, 0, 1)


def test_nothing_is_made_in_the_output_directory_for_a_missing_task(runs, webeval, pytester):
    runs.add(107)
    runs.define(runs.definition(108))
    webeval(REQUIRE_ALL, "--webeval-output=out").assert_outcomes(passed=1, errors=1)
    written = sorted(path.relative_to(pytester.path / "out").as_posix() for path in (pytester.path / "out").rglob("*"))
    assert written == ["107", "107/eval_result.json", "eval_session.sqlite", "eval_summary.json"]
    assert json.loads((pytester.path / "out/eval_summary.json").read_text())["webeval"]["missing_count"] == 1


def test_scored_is_not_called_for_a_missing_task(runs, webeval, pytester):
    runs.add(107)
    runs.define(runs.definition(108))
    pytester.makeconftest("def pytest_webeval_scored(item, run, result): print('scored', item.nodeid)")
    result = webeval(REQUIRE_ALL, "-s")
    result.stdout.fnmatch_lines(["*scored runs/107::task*"])
    result.stdout.no_fnmatch_line("*scored runs/108*")
