"""What changed since an earlier session."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary import summary_file
from pytest_webeval.summary.comparison.baseline import (
    Baseline,
    KnownFailure,
    KnownFailures,
    add_comparison,
    build_baseline,
    flip_by_run,
    read_baseline,
    restrict_comparison,
)
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession, session_of
from pytest_webeval.summary.summarize import summarize_records


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({}, {}),
        ({"baseline": None}, {}),
        ({"baseline": {"regressed": ["a", "b"], "fixed": ["c"]}}, {"a": "regressed", "b": "regressed", "c": "fixed"}),
        ({"baseline": {"newly_erring": ["a"]}}, {"a": "newly_erring"}),
    ],
)
def test_a_run_knows_how_it_flipped(about, expected):
    assert flip_by_run(about) == expected


WHOLE = {
    "timestamp": "2026-01-30T12:00:00Z",
    "webarena_verified_evaluator_checksum": "e",
    "webarena_verified_data_checksum": "d",
    "task_results": [{"run": "r/1", "task_id": 1, "status": "success", "score": 1.0}],
    "webeval": {"rules": "default", "success_rate": None, "more": [1]},
}


def test_a_baseline_is_read_as_far_as_it_is_needed(tmp_path):
    (tmp_path / "then.json").write_text(json.dumps(WHOLE))
    (tmp_path / "link.json").symlink_to("then.json")
    found = read_baseline(tmp_path / "link.json")
    assert [(run.run, run.task_id, run.status) for run in found.session.runs] == [("r/1", 1, "success")]
    assert found.known_failures.entries == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "then.json as JSON: Expecting value"),
        (b"\xff", "then.json as JSON: 'utf-8' codec"),
        (b'{"a": ' * 800 + b"1" + b"}" * 800, "nests deeper"),
        (b"[" + b"1," * 1_001 + b"1]", "holds more values"),
        (b"[]", "then.json: Expected `object`, got `array`"),
        (json.dumps(WHOLE | {"task_results": {}}).encode(), "got `object` @ task_results"),
        (json.dumps(WHOLE | {"webeval": []}).encode(), "got `array` @ webeval"),
        (json.dumps(WHOLE | {"webeval": {"known_failures": [{"run": "r"}]}}).encode(), "invalid known_failures in"),
        (json.dumps(WHOLE | {"timestamp": 3}).encode(), "got `int` @ timestamp"),
    ],
)
def test_what_is_no_summary_is_refused_in_one_line_that_says_why(tmp_path, monkeypatch, content, told):
    monkeypatch.setattr(summary_file, "JSON_LIMITS", replace(USUAL, values=1_000))
    (tmp_path / "then.json").write_bytes(content)
    with pytest.raises(SettingsError) as found:
        read_baseline(tmp_path / "then.json")
    assert told in str(found.value)
    assert str(found.value).startswith("--webeval-baseline: ")
    assert "\n" not in str(found.value)


def test_a_baseline_without_results_is_refused(tmp_path):
    with pytest.raises(SettingsError, match=r"--webeval-baseline: .*holds neither eval_summary.json nor"):
        read_baseline(tmp_path)
    os.mkfifo(tmp_path / "eval_summary.json")
    with pytest.raises(SettingsError, match=r"--webeval-baseline: .*not a regular file"):
        read_baseline(tmp_path)


@pytest.mark.unchecked_files("a row has only what is read")
def test_a_directory_with_a_summary_is_a_baseline(tmp_path):
    known = [{"task_id": 2, "run": "r/2", "status": "failure"}]
    content = WHOLE | {"webeval": WHOLE["webeval"] | {"known_failures": known}}
    (tmp_path / "eval_summary.json").write_text(json.dumps(content))
    baseline = read_baseline(tmp_path)
    assert [run.run for run in baseline.session.runs] == ["r/1"]
    assert [entry.run for entry in baseline.known_failures.entries] == ["r/2"]


@pytest.mark.parametrize(
    ("webeval", "counts"),
    [
        ({}, ""),
        ({"unscored_count": 2, "deselected_count": 33}, " (1 of 36 tasks)"),
        ({"deselected_count": 9, "subset": {"name": "hard", "outside_count": 6}}, " (1 of 4 tasks)"),
        ({"deselected_count": 6, "subset": {"name": "hard", "outside_count": 6}}, ""),
    ],
)
def test_a_partial_baseline_is_refused(tmp_path, webeval, counts):
    path = tmp_path / "then.json"
    path.write_text(json.dumps(WHOLE | {"webeval": {"partial": True, **webeval}}))
    with pytest.raises(SettingsError) as raised:
        read_baseline(path)
    assert str(raised.value) == f"--webeval-baseline: {path} is partial{counts}; use a complete session"


def known(*words):
    """Known failures of words such as `a/1-`."""
    status = {"-": "failure", "!": "error"}
    return KnownFailures(
        [KnownFailure(int(word[:-1].rpartition("/")[2]), word[:-1], status[word[-1]]) for word in words]
    )


@pytest.mark.parametrize(
    ("entries", "run", "task_id", "expected"),
    [
        (["a/1-"], "a/1", 1, "a/1"),
        (["a/1-"], "other/1", "1", "a/1"),
        (["a/1-", "b/1-"], "b/1", 1, "b/1"),
        (["a/1-", "b/1-"], "c/1", 1, None),
        (["a/1-"], "a/2", 2, None),
        ([], "a/1", 1, None),
    ],
)
def test_a_failure_is_known_by_its_run_or_else_by_its_task(entries, run, task_id, expected):
    entry = known(*entries).find(run, task_id)
    assert (entry and entry.run) == expected


def record(run, status, **fields):
    told = {"sites": [], "template": -1, "task_type": None, "reason": None, "warnings": [], "wall_time": 0.0}
    told |= {"rules": "default", "version": "1", "evaluator_checksum": "e", "data_checksum": "d"}
    return Record(run=run, task_id=int(run.rpartition("/")[2]), status=status, score=0.0, **(told | fields))


@pytest.mark.parametrize(
    ("entry", "status", "fields", "is_expected"),
    [
        ("failure", "failure", {}, True),
        ("failure", "error", {}, False),
        ("error", "error", {}, True),
        ("error", "failure", {}, True),
        ("failure", "success", {}, False),
        ("failure", "failure", {"skipped": True}, False),
        ("error", "error", {"missing": True}, False),
        ("failure", "error", {"missing": True}, False),
        (None, "failure", {}, False),
    ],
)
def test_an_error_or_a_lost_recording_is_no_known_failure(entry, status, fields, is_expected):
    failures = KnownFailures([] if entry is None else [KnownFailure(1, "r/1", entry)])
    expected = failures.find_expected(record("r/1", status, **fields))
    assert (expected is not None) == is_expected


@pytest.mark.parametrize(
    ("runs", "entries", "seen", "selected", "lost"),
    [
        ([1, 2], [], [1, 2, 3], None, []),
        ([1, 2], [2], [1], None, [2]),
        ([1, 2], [], [2], None, [1]),
        ([1], [1, 9], [1], None, [9]),
        ([1, 2, "b"], [], ["1"], None, [2, "b"]),
        ([1, 2, 3], [3], [1], [1, "2"], [2]),
        ([1, 2], [], [], [], []),
    ],
)
def test_a_task_of_the_baseline_or_of_its_list_is_lost_without_a_run(runs, entries, seen, selected, lost):
    rows = [ScoredRun(run=f"r/{task_id}", task_id=task_id, status="success") for task_id in runs]
    listed = KnownFailures([KnownFailure(task_id, f"r/{task_id}", "failure") for task_id in entries])
    assert Baseline(ScoredSession("A", rows), listed).list_lost_tasks(seen, selected) == lost


def test_groups_of_known_failures_follow_those_of_new_ones():
    same = {"failure": ["E", "f", "different"]}
    records = [record(f"r/{number}", "failure", **same) for number in range(1, 6)]
    other = record("r/6", "failure", failure=["E", "g", "missing"])
    groups = summarize_records([*records, other], known_failures=known("r/1-", "r/2-", "r/3-")).webeval["failures"]
    assert [(group["field"], group["count"], group.get("known", False), group["runs"]) for group in groups] == [
        ("f", 2, False, ["r/4", "r/5"]),
        ("g", 1, False, ["r/6"]),
        ("f", 3, True, ["r/1", "r/2", "r/3"]),
    ]


@pytest.mark.parametrize(
    ("others", "joined", "in_rows"),
    [
        ([], "own", [None]),
        ([("error", ())], "own", [None, None]),  # of a run that no evaluator has seen
        ([("error", ("Mine",))], "e,own", ["own", "e"]),
        ([("failure", ())], "e,own", ["own", "e"]),
    ],
)
def test_only_the_evaluators_that_decided_are_named_and_by_runs_only_where_they_differ(others, joined, in_rows):
    records = [record(f"r/{n}", status, evaluators=names) for n, (status, names) in enumerate(others, 2)]
    summary = summarize_records([record("r/1", "success", evaluator_checksum="own"), *records])
    assert summary.webarena_verified_evaluator_checksum == joined
    assert [row.get("evaluators") for row in summary.task_results] == in_rows


def test_a_session_without_a_decision_names_the_code_that_made_its_errors():
    assert summarize_records([record("r/1", "error")]).webarena_verified_evaluator_checksum == "e"


def test_an_update_adds_failures_and_removes_none():
    records = [
        record("r/1", "success"),
        record("r/2", "failure", reason="why"),
        record("r/3", "error"),
        record("r/4", "failure"),
    ]
    summary = summarize_records([*records, record("r/5", "error", skipped=True)], timestamp="2026-02-03T00:00:00Z")
    listed = build_baseline(summary, known("r/1-", "r/4-")).webeval["known_failures"]
    assert [(entry["task_id"], entry["status"], entry["reason"], entry["since"]) for entry in listed] == [
        (1, "failure", None, None),
        (4, "failure", None, None),
        (2, "failure", "why", "2026-02-03"),
        (3, "error", None, "2026-02-03"),
    ]


def test_without_a_list_all_failures_of_the_file_are_known(tmp_path):
    rows = [
        {"run": f"r/{n}", "task_id": n, "status": status}
        for n, status in enumerate(("success", "failure", "error", "excluded"))
    ]
    (tmp_path / "then.json").write_text(json.dumps(WHOLE | {"task_results": rows}))
    found = read_baseline(tmp_path / "then.json").known_failures
    assert [(entry.run, entry.status, entry.since) for entry in found.entries] == [
        ("r/1", "failure", "2026-01-30"),
        ("r/2", "error", "2026-01-30"),
    ]
    (tmp_path / "then.json").write_text(json.dumps(WHOLE | {"task_results": rows, "webeval": {"known_failures": []}}))
    assert read_baseline(tmp_path / "then.json").known_failures.entries == []


def test_tasks_with_several_runs_in_the_file_are_known_by_their_labels_alone(tmp_path):
    rows = [
        {"run": f"{name}/1", "task_id": 1, "status": status} for name, status in (("a", "failure"), ("b", "success"))
    ]
    (tmp_path / "then.json").write_text(json.dumps(WHOLE | {"task_results": rows}))
    known_failures = read_baseline(tmp_path / "then.json").known_failures
    assert known_failures.find("a/1", 1) is not None
    assert known_failures.find("b/1", 1) is None


def test_the_comparison_stands_in_the_summary_and_in_those_of_its_parts():
    then = summarize_records([record("r/1", "success"), record("r/2", "failure"), record("r/3", "success")])
    now = summarize_records(
        [record("r/1", "failure"), record("r/2", "success", rules="strict"), record("r/4", "success")]
    )
    comparison = SessionComparison(session_of(then), session_of(now))
    told = add_comparison(now, comparison).webeval["baseline"]
    assert (told["regressed"], told["fixed"], told["new"], told["gone"]) == (["r/1"], ["r/2"], ["r/4"], ["r/3"])
    assert (told["same_rules"], told["same_evaluators"], told["same_tasks"]) == (False, True, True)
    assert [change["run"] for change in told["changes"]] == ["r/1", "r/2"]
    part = summarize_records([record("r/1", "failure")])
    kept = restrict_comparison(add_comparison(now, comparison), part).webeval["baseline"]
    assert (kept["regressed"], kept["fixed"], kept["new"], [change["run"] for change in kept["changes"]]) == (
        ["r/1"],
        [],
        [],
        ["r/1"],
    )


@pytest.mark.unchecked_files("one row is damaged")
def test_a_baseline_with_rows_that_cannot_be_read_is_partial(tmp_path):
    path = tmp_path / "eval_summary.json"
    path.write_text(json.dumps(WHOLE | {"task_results": [*WHOLE["task_results"], {"run": "r/9", "status": "odd"}]}))
    with pytest.raises(SettingsError, match=r"is partial \(\d+ of \d+ tasks\); use a complete session"):
        read_baseline(path)
