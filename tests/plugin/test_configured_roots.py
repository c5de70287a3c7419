"""The ini key `webeval_runs`: a session scores the runs and tests the project, each of them once."""

from __future__ import annotations

import pytest

WORKERS = pytest.mark.parametrize(
    "workers", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "xdist"]
)


@pytest.fixture
def project(runs, pytester):
    """A project with a test of its own, a test over runs, and two runs that its ini file names."""
    runs.add(107)
    runs.add(108, passes=False)
    pytester.makeini("[pytest]\nwebeval_runs = runs\n")
    tests = pytester.mkdir("tests")
    (tests / "test_own.py").write_text("def test_own(): pass\n")
    (tests / "test_over_runs.py").write_text("def test_task(webeval_task): assert webeval_task.sites\n")
    return pytester


def collected(result):
    return [line for line in result.outlines if "::" in line and " " not in line]


ALL = [
    "runs/107::task",
    "runs/108::task",
    "tests/test_over_runs.py::test_task[runs/107]",
    "tests/test_over_runs.py::test_task[runs/108]",
    "tests/test_own.py::test_own",
]


def test_plain_pytest_collects_the_tests_of_the_project_and_the_configured_runs(project):
    assert sorted(collected(project.runpytest("--co", "-q"))) == ALL


@pytest.mark.whole
@WORKERS
def test_a_session_with_configured_runs_is_whole(project, runs, workers):
    project.runpytest_subprocess(*workers).assert_outcomes(passed=4, failed=1)
    assert runs.counts == (1, 1, 0)
    assert runs.summary["webeval"]["partial"] is False


def test_plain_pytest_collects_testpaths_and_the_configured_runs(project):
    project.makeini("[pytest]\nwebeval_runs = runs\ntestpaths = tests/test_own.py\n")
    assert collected(project.runpytest("--co", "-q")) == ["tests/test_own.py::test_own", *ALL[:2]]


def test_runs_inside_of_testpaths_are_collected_once(project):
    project.makeini("[pytest]\nwebeval_runs = runs\ntestpaths = tests runs runs/107\n")
    assert sorted(collected(project.runpytest("--co", "-q"))) == ALL


def test_plain_pytest_in_another_directory_collects_that_and_the_configured_runs(project, monkeypatch):
    monkeypatch.chdir(project.path / "tests")
    assert sorted(collected(project.runpytest("--co", "-q"))) == ALL


def test_the_option_stands_in_for_testpaths(project):
    assert collected(project.runpytest("--co", "-q", "--webeval-runs=runs")) == ALL[:2]


@pytest.mark.parametrize(
    ("argument", "expected"),
    [("tests/test_own.py", ALL[4:]), ("runs/108", ALL[1:2]), ("tests", ALL[2:]), ("runs", ALL[:2]), (".", ALL)],
)
def test_arguments_name_what_is_collected(project, argument, expected):
    assert sorted(collected(project.runpytest("--co", "-q", argument))) == expected


@pytest.mark.parametrize(
    ("ignored", "testpaths"), [("--ignore=runs", ""), ("--ignore-glob=ru*", "testpaths = tests\n")]
)
def test_ignored_roots_are_left_out(project, ignored, testpaths):
    project.makeini(f"[pytest]\nwebeval_runs = runs\n{testpaths}")
    assert sorted(collected(project.runpytest("--co", "-q", ignored))) == ALL[2:]


@pytest.mark.parametrize("hidden", ["build", ".recorded/deep"])
def test_roots_in_directories_that_pytest_passes_over_are_collected_alone(project, another_root, hidden):
    another_root(f"{hidden}/runs").add(109)
    (project.path / hidden / "test_foreign.py").write_text("def test_foreign(): pass\n")
    (project.path / hidden / "conftest.py").write_text("COLLECTED = True\n")
    project.makeini(f"[pytest]\nwebeval_runs = {hidden}/runs\n")
    found = collected(project.runpytest("--co", "-q", "-k", "not over_runs"))
    assert sorted(found) == sorted([f"{hidden}/runs/109::task", "tests/test_own.py::test_own"])


def test_a_conftest_above_a_root_holds_where_pytest_would_pass_it_over(project, another_root):
    another_root("build/runs").add(109)
    (project.path / "build" / "conftest.py").write_text(
        "def pytest_itemcollected(item): item.name == '109' and print('seen', item.nodeid)\n"
    )
    project.makeini("[pytest]\nwebeval_runs = build/runs\n")
    project.runpytest("--co", "-q").stdout.fnmatch_lines(["seen build/runs/109::task"])


def test_another_path_to_a_root_is_no_part_of_the_project(project, runs):
    (project.path / "latest").symlink_to(runs.root)
    for directory in (runs.root, runs.root / "107"):
        (directory / "test_planted.py").write_text("def test_planted(): pass\n")
        (directory / "conftest.py").write_text("raise SystemExit('imported')\n")
    project.makeini("[pytest]\nwebeval_runs = latest\ntestpaths = tests runs runs/107 latest\n")
    found = collected(project.runpytest("--co", "-q", "-k", "not over_runs"))
    assert sorted(found) == ["latest/107::task", "latest/108::task", "tests/test_own.py::test_own"]


def test_arguments_without_runs_say_nothing_about_configured_runs(project):
    result = project.runpytest("tests/test_own.py")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*webeval*scored*")
    result.stdout.no_fnmatch_line("*no run was scored*")
