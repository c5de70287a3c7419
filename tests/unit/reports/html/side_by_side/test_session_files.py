"""The details of runs as they are read from the files of a session."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.side_by_side import entries
from pytest_webeval.reports.html.side_by_side.entries import DetailsReader, SessionFiles, TaskRuns, build_entry
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails, describe_run
from pytest_webeval.reports.html.side_by_side.run_files import (
    LIMITS,
    RecordingReader,
    find_shot,
    load_recording,
)
from pytest_webeval.reports.html.writer import write_task
from pytest_webeval.summary.result_facts import format_digests
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
from tests.support.runs import Runs
from tests.unit.reports.html.side_by_side.results import build, evaluate

INPUTS = {"network.har": "0" * 64, "scores/judge.json": "1" * 64}
SECRET = "hunter2hunter2"


def reader(directory, mode="default"):
    redacting = Redacting(RedactionPolicy(mode), is_leaving=True)
    return DetailsReader(directory, redacting, RecordingReader(directory))


def write_files(kind, directory):
    """The page or the result of a run that succeeded."""
    if kind == "page":
        page = {"status": "success", "evaluators": [], "checksums": {"inputs": INPUTS}}
        write_task("runs/107", page, directory)
        return
    (directory / "107").mkdir()
    result = build(evaluate("x"), inputs=INPUTS).to_json()
    (directory / "107" / "eval_result.json").write_text(json.dumps(result))


def change_inputs(**changes):
    return format_digests({"inputs": {name.replace("_", "."): text for name, text in changes.items()}})


ROWS = [
    ("success", None, True),
    ("success", format_digests({"inputs": INPUTS}), True),
    ("success", format_digests({"inputs": INPUTS | {"scores/judge.json": "2"}, "task_checksum": "ab"}), True),
    ("success", change_inputs(network_har="2" * 64), False),
    ("failure", None, False),
    ("failure", format_digests({"inputs": INPUTS}), False),
]


@pytest.mark.unchecked_files("results with as much as a page needs")
@pytest.mark.parametrize(("status", "checksums", "is_read"), ROWS)
@pytest.mark.parametrize("kind", ["page", "result"])
def test_files_count_if_the_summary_is_about_the_same_run(tmp_path, kind, status, checksums, is_read):
    write_files(kind, tmp_path)
    run = ScoredRun(run="runs/107", task_id=107, status=status, checksums=checksums)
    (details,) = reader(tmp_path).read_all([(SessionFiles(ScoredSession("a", [run]), tmp_path, tmp_path), run)])
    assert isinstance(details, RunDetails) == is_read
    assert is_read or details == f"its {kind} is of another session"


@pytest.mark.parametrize(
    ("network", "has_all"),
    [
        ({"events": []}, True),
        ({"events": [], "left_out": 0}, True),
        ({"events": [], "left_out": 5}, False),
        (None, False),
    ],
)
def test_a_request_is_absent_only_from_a_whole_table(network, has_all):
    assert describe_run(build(), network).has_all_requests == has_all


def test_a_recording_is_read_within_limits_of_its_own(tmp_path):
    path = Runs(tmp_path / "runs").add(107)
    run = load_recording(path, build(rules="strict"))
    assert (run.inputs.limits, run.rules.name, run.label) == (LIMITS, "strict", "runs/107")
    assert load_recording(path, build(rules=["strict"])).rules.name == "default"


def test_a_reason_without_details_is_redacted_and_columns_are_bounded(tmp_path):
    runs = [
        ScoredRun(run="runs/107", task_id=107, status="failure", reason=f"{'x' * 250} password={SECRET}")
        for _ in range(7)
    ]
    files = [SessionFiles(ScoredSession(str(day), [run]), tmp_path / "none", tmp_path) for day, run in enumerate(runs)]
    entry = build_entry(TaskRuns("task-107", [*runs[:5], None, runs[6]]), files, reader(tmp_path))
    assert (len(entry["columns"]), entry["more_sessions"]) == (entries.MOST_SESSIONS, 1)
    assert [column["problems"] for column in entry["columns"]] == [["no report and no result of it"]] * 5 + [
        ["no run of this task"]
    ]
    assert SECRET not in str(entry)
    assert "password=redacted-" in entry["columns"][0]["reason"]
    assert entry["columns"][5]["status"] is None


@pytest.mark.parametrize(("shots", "index", "expected"), [([], 1, "last"), ([(1, "a", "b"), (2, "c", None)], 2, "c")])
def test_the_screenshot_of_a_step_or_without_steps_the_last_one(shots, index, expected):
    steps = [SimpleNamespace(index=number, before=before, after=after) for number, before, after in shots]
    run = SimpleNamespace(trajectory=SimpleNamespace(steps=steps, screenshots=["first", "last"]))
    assert find_shot(run, {"index": index}) == expected
    assert find_shot(run, None) is None
    assert find_shot(SimpleNamespace(trajectory=None), {"index": index}) is None
