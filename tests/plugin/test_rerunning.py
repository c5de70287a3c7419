"""Selecting a task by its keyword, and the options with which runs are scored again."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_webeval.plugin.rerun import _select_options


def collected(result):
    return [line for line in result.outlines if "::" in line and " " not in line]


def test_a_keyword_in_brackets_selects_one_task_and_none_that_contains_its_id(runs, webeval):
    for task_id in (107, 1072, 2107):
        runs.add(task_id)
    assert len(collected(webeval("--co", "-q", "-k", "107"))) == 3
    assert collected(webeval("--co", "-q", "-k", "[107]")) == ["runs/107::task"]
    assert collected(webeval("--co", "-q", "-k", "[107] or [2107]")) == ["runs/107::task", "runs/2107::task"]


def test_a_keyword_selects_what_cannot_be_scored_and_what_is_missing(runs, webeval):
    runs.add(107)
    (runs.root / "108").mkdir()
    runs.define(runs.definition(108), runs.definition(109))
    options = ("--co", "-q", "--webeval-require-all")
    assert collected(webeval(*options, "-k", "[108] or [109]")) == ["runs/108::task", "runs/109::missing"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--webeval-runs=runs"], ["--webeval-runs=runs"]),
        (["--webeval-runs", "runs", "-x"], ["--webeval-runs=runs"]),
        (["--webeval-runs=/place/to be/runs"], ["--webeval-runs=runs"]),
        (["--webeval-runs=/place/runs"], ["--webeval-runs=/place/runs"]),
        (["--webeval-tasks=a", "--webeval-tasks", "b"], ["--webeval-tasks=a", "--webeval-tasks=b"]),
        (["--webeval-own-tasks", "-q"], ["--webeval-own-tasks"]),
        (["--webeval-require-all", "--webeval-subset=hard"], ["--webeval-require-all", "--webeval-subset=hard"]),
        (["-c", "my.ini", "-ofoo=1"], ["-c", "my.ini", "-o", "foo=1"]),
        (["-p", "no:randomly", "-pmine", "-n", "4"], ["-p", "mine"]),
        (["--webeval-rules=strict", "--webeval-output=out"], ["--webeval-rules=strict", "--webeval-output=out"]),
        (["--webeval-results=shards"], ["--webeval-results=shards"]),
        (["--webeval-durations=5", "--webeval-reuse", "--webeval-metrics=m", "--html=r.html", "-k", "x"], []),
        (["runs/107", "--junitxml", "x.xml"], []),
    ],
)
def test_the_options_that_decide_are_kept_as_they_were_given(given, kept):
    assert list(_select_options(given, Path("/place/to be"))) == kept
