"""Why the verdict on a task changed."""

from __future__ import annotations

import pytest

from pytest_webeval.summary.comparison.flip_causes import LIBRARIES_NAMED, CauseFinder, RunPair
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

SAME = {"rules": "default", "evaluators": "e1", "libraries": {"geopy": "1"}, "policy": {"criterion": None}}
RUN = {"checksums": "recording=r1 judge=j1 task=t1", "today": "2026-01-01"}


def causes(run=(), session=(), before=()):
    """The causes where a run or a session has other values than the one before."""
    first = ScoredRun(run="r", task_id=1, status="success", **(RUN | dict(before)))
    second = ScoredRun(**({"run": "r", "task_id": 1, "status": "failure"} | RUN | dict(run)))
    finder = CauseFinder(ScoredSession("A", [first], **SAME), ScoredSession("B", [second], **(SAME | dict(session))))
    return finder.list_causes(RunPair(first, second))


@pytest.mark.parametrize(
    ("run", "session", "expected"),
    [
        ({}, {}, ["unknown"]),
        ({"checksums": "recording=r2 judge=j1 task=t1"}, {}, ["recording"]),
        ({"checksums": "recording=r1 judge=j2 task=t1"}, {}, ["judge"]),
        ({"checksums": "recording=r1 task=t1"}, {}, ["judge"]),
        ({"checksums": "recording=r1 judge=j1 task=t2"}, {}, ["task definition"]),
        ({"checksums": "judge=j1 task=t1"}, {}, ["unknown"]),
        ({"checksums": None}, {}, ["unknown"]),
        ({"today": "2026-01-02"}, {}, ["day"]),
        ({"today": None}, {}, ["unknown"]),
        ({"rules": "strict"}, {}, ["rules"]),
        ({}, {"rules": "strict"}, ["rules"]),
        ({"rules": "default"}, {"rules": "strict"}, ["unknown"]),
        ({}, {"policy": {"criterion": "both"}}, ["rules"]),
        ({}, {"policy": {}}, ["unknown"]),
        ({"evaluators": "e2"}, {}, ["evaluator code"]),
        ({}, {"evaluators": "e2"}, ["evaluator code"]),
        ({}, {"evaluators": ""}, ["unknown"]),
        ({"evaluators": "e1,e2"}, {}, ["unknown"]),
        ({"status": "error", "evaluators": "e2"}, {}, ["unknown"]),
        ({"status": "error"}, {"evaluators": "e2"}, ["evaluator code"]),
        ({"status": "error"}, {"evaluators": "e1,e2"}, ["unknown"]),
        ({"libraries": {"geopy": "2"}}, {}, ["parser library"]),
        ({}, {"libraries": {"geopy": "1", "pint": "1"}}, ["parser library"]),
        ({}, {"libraries": {"geopy": "1", "pytest-webeval": "9"}}, ["unknown"]),
        ({}, {"libraries": {}}, ["unknown"]),
        (
            {"checksums": "recording=r2 judge=j2 task=t2", "today": "2026-01-02"},
            SAME | {"rules": "strict", "evaluators": "e2", "libraries": {"geopy": "2"}},
            ["recording", "task definition", "rules", "evaluator code", "parser library", "judge", "day"],
        ),
    ],
)
def test_a_cause_is_what_differs(run, session, expected):
    assert causes(run, session) == expected


@pytest.mark.parametrize(
    ("before", "after", "status", "expected"),
    [
        ("e1,e9", "e2,e9", "failure", ["evaluator code"]),  # as where two evaluators decide on each run
        ("e1,e9", "e9", "failure", ["unknown"]),
        ("e1,e9", "e2,e9", "error", ["unknown"]),
    ],
)
def test_several_checksums_are_others_if_neither_session_has_all_of_the_other(before, after, status, expected):
    assert causes({"status": status}, {"evaluators": after}, {"evaluators": before}) == expected


@pytest.mark.parametrize(("own", "expected"), [("e1", ["evaluator code"]), ("e9", ["unknown"])])
def test_an_error_may_be_of_any_evaluators_of_its_session_and_a_verdict_only_of_its_own(own, expected):
    first = ScoredRun(run="r", task_id=1, status="success", evaluators=own, checksums="recording=r1")
    second = ScoredRun(run="r", task_id=1, status="error", checksums="recording=r1")
    finder = CauseFinder(
        ScoredSession("A", [first], evaluators="e1,e9"), ScoredSession("B", [second], evaluators="e2,e9")
    )
    assert finder.list_causes(RunPair(first, second)) == expected


def test_libraries_are_named_with_their_versions():
    runs = [ScoredRun(run="r", task_id=1, status=status) for status in ("success", "failure")]
    many = {f"lib{n:02}": "1" for n in range(20)}
    pair = RunPair(*runs)
    finder = CauseFinder(
        ScoredSession("A", runs[:1], libraries={"geopy": "1"}), ScoredSession("B", runs[1:], libraries=many)
    )
    assert finder.name_libraries(pair)[:2] == ["geopy 1 to none", "lib00 none to 1"]
    assert len(finder.name_libraries(pair)) == LIBRARIES_NAMED
