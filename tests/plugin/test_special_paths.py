"""Directories whose names have characters that mean something to pytest, to patterns or to a shell."""

from __future__ import annotations

import re
import shlex
from textwrap import dedent

import pytest

from tests.plugin.test_fixtures import OVERRIDES

NAMES = ["exp [gpt-4o]", "c::d", "[!*?]"]
OTHERS = ["a[1", "b]2", "d::task", "e [é] 'f\"$g"]
COMMAND = re.compile(r"^ +pytest (.*)$", re.MULTILINE)


@pytest.fixture
def add(another_root):
    """Adds three runs below a directory, of which one fails."""

    def add_runs(name):
        runs = another_root(f"{name}/runs")
        for number in (101, 102, 103):
            runs.add(number, passes=number != 102)
        return name

    return add_runs


@pytest.fixture(params=NAMES)
def named(request, add):
    """The name of a directory with such runs."""
    return add(request.param)


@pytest.fixture
def score(pytester, webeval_over):
    """Runs pytest with the run root below that directory."""
    return lambda name, *arguments: webeval_over([f"{name}/runs"], *arguments)


@pytest.mark.parametrize("name", [*NAMES, *OTHERS])
def test_a_root_is_scored(name, add, score, pytester):
    score(add(name)).assert_outcomes(passed=2, failed=1)
    score(name, f"{name}/runs/101").assert_outcomes(passed=1)
    assert (pytester.path / name / "runs/eval_summary.json").exists()


def test_other_paths_may_have_such_names(named, score, pytester):
    paths = {option: f"{named} {option}" for option in ("output", "report", "config")}
    (pytester.path / paths["config"]).write_text('{"environments": {}}')
    options = [f"--webeval-{option}={path}" for option, path in paths.items()]
    score(named, *options).assert_outcomes(passed=2, failed=1)
    assert (pytester.path / paths["output"] / "102/eval_result.json").exists()
    assert (pytester.path / paths["report"] / "index.html").exists()


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("argument", "passed", "failed"),
    [
        ("{}/runs/101", 1, 0),
        ("{}/runs/101::task", 1, 0),
        ("{}/runs", 2, 1),
        ("{}", 2, 1),
        (".", 2, 1),
        ("{absolute}/runs/102", 0, 1),
    ],
)
def test_an_argument_selects_runs(named, score, pytester, argument, passed, failed):
    score(named, argument.format(named, absolute=pytester.path / named)).assert_outcomes(passed=passed, failed=failed)


def test_a_printed_node_id_selects_its_run(named, score):
    result = score(named)
    (line,) = (line for line in result.outlines if line.startswith("FAILED "))
    score(named, line.removeprefix("FAILED ").partition(" - ")[0]).assert_outcomes(failed=1)


@pytest.mark.parametrize("has_twins", [False, True])
def test_the_printed_command_scores_the_failures_again(named, webeval_over, another_root, pytester, has_twins):
    roots = [f"{named}/runs"]
    if has_twins:  # so that no keyword names a run
        another_root(f"{named}/twins").add(102, passes=False)
        roots.append(f"{named}/twins")
    command = COMMAND.search(webeval_over(roots).stdout.str())[1]
    pytester.runpytest(*shlex.split(command)).assert_outcomes(failed=len(roots))


def test_the_last_failures_are_scored_again(named, score):
    score(named)
    score(named, "--lf").assert_outcomes(failed=1, deselected=2)


def test_what_stands_in_such_a_directory_counts(named, score, pytester):
    (pytester.path / named / "conftest.py").write_text(dedent(OVERRIDES["webeval_response"]))
    score(named).assert_outcomes(failed=3)
    score(named, f"{named}/runs/101").assert_outcomes(failed=1)


def test_python_tests_in_such_a_directory_are_collected(named, score, pytester):
    (pytester.path / named / "test_all.py").write_text("def test_all(webeval_run): pass")
    score(named, f"{named}/test_all.py").assert_outcomes(passed=3)


@pytest.mark.whole
def test_xdist_scores_the_same(pytester, add):
    add("exp [gpt-4o]")
    for arguments, passed in (((), 2), (("exp [gpt-4o]/runs/101", "exp [gpt-4o]/runs/102::task"), 1)):
        result = pytester.runpytest_subprocess("-n2", "--webeval-runs=exp [gpt-4o]/runs", *arguments)
        result.assert_outcomes(passed=passed, failed=1)


@pytest.mark.parametrize("name", ["exp [gpt-4o]", "[!*?]", "plain"])
@pytest.mark.parametrize(
    ("options", "conftest"),
    [
        (("--ignore-glob=deep/runs/10[12]",), ""),
        (("--ignore-glob=de*/runs/10[12]",), ""),
        (("--ignore=deep/runs/101", "--ignore=deep/runs/102"), ""),
        ((), "collect_ignore_glob = ['d*/runs/10[12]']"),
        ((), "collect_ignore = ['deep/runs/101', 'deep/runs/102']"),
    ],
    ids=str,
)
def test_what_is_ignored_is_relative_to_such_a_directory(
    name, options, conftest, another_root, webeval_over, pytester, monkeypatch
):
    runs = another_root(f"{name}/deep/runs")
    for number in (101, 102, 103):
        runs.add(number)
    (pytester.path / name / "conftest.py").write_text(conftest)
    monkeypatch.chdir(pytester.path / name)
    webeval_over(["deep/runs"], *options).assert_outcomes(passed=1)


@pytest.mark.parametrize("name", ["exp [gpt-4o]", "plain"])
def test_a_configured_root_is_ignored_in_such_a_directory(name, another_root, pytester, monkeypatch):
    another_root(f"{name}/deep/runs").add(101)
    (pytester.path / name / "pytest.ini").write_text("[pytest]\nwebeval_runs = deep/runs\ntestpaths = other\n")
    (pytester.path / name / "other").mkdir()
    monkeypatch.chdir(pytester.path / name)
    assert pytester.runpytest("--ignore-glob=d*").ret == pytest.ExitCode.NO_TESTS_COLLECTED
