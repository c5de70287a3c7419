"""What the columns of a report are called depends on what was scored, and nothing is left of a report without runs."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def reported(webeval, pytester):
    """The page of a session with a report, and its index."""

    def session():
        webeval("--webeval-report=report")
        page = (pytester.path / "report" / "index.html").read_text("utf-8")
        index = json.loads(re.search(r'id="webeval-index">(.*?)</script>', page, re.DOTALL)[1])
        titles = re.findall(r'<h2 id="by-(?:site|type)">(.*?) <span', page)
        return titles, [index["headings"][name]["one"] for name in ("site", "type")]

    return session


def test_tasks_are_counted_by_site_and_kind(runs, reported):
    runs.add(107)
    assert reported() == (["Sites", "Kinds of task"], ["Site", "Kind"])


def test_trajectories_are_counted_by_benchmark_and_ending(tree, reported):
    tree("Amazon--1")
    assert reported() == (["Benchmarks", "How runs ended"], ["Benchmark", "Ending"])


def test_both_in_one_session_are_counted_by_both(runs, tree, reported):
    runs.add(107)
    tree("Amazon--1")
    titles = ["Sites and benchmarks", "Kinds of task, how runs ended"]
    assert reported() == (titles, ["Site or benchmark", "Kind or ending"])


@pytest.mark.parametrize("arguments", [["nowhere"], ["-k", "no such"]])
def test_a_session_with_a_wrong_argument_leaves_no_directory_of_a_report(runs, webeval, pytester, arguments):
    runs.add(107)
    assert webeval("--webeval-report=new/report", *arguments).ret == pytest.ExitCode.USAGE_ERROR
    assert not (pytester.path / "new").exists()
    assert runs.written == []


def test_a_session_that_selects_nothing_leaves_no_directory_of_a_report(runs, webeval, pytester):
    runs.add(107)
    (pytester.path / "mine").mkdir()
    assert webeval("--webeval-report=mine/report", "-k", "nothing").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert list((pytester.path / "mine").iterdir()) == []


def test_a_directory_with_something_else_in_it_stays(runs, webeval, pytester):
    runs.add(107)
    (pytester.path / "report").mkdir()
    (pytester.path / "report" / "mine.txt").write_text("mine")
    assert webeval("--webeval-report=report", "nowhere").ret == pytest.ExitCode.USAGE_ERROR
    assert [path.name for path in (pytester.path / "report").iterdir()] == ["mine.txt"]
