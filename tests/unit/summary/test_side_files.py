"""Long lists lie next to the summary that names them, and every reader finds them there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_webeval.__main__ import main
from pytest_webeval.errors import SettingsError
from pytest_webeval.exports.loading import load_results
from pytest_webeval.results import SUMMARY
from pytest_webeval.summary import summarize, summary_file
from pytest_webeval.summary.comparison.baseline import KnownFailures, build_baseline, read_baseline
from pytest_webeval.summary.comparison.session_reading import read_session
from pytest_webeval.summary.summarize import summarize_records
from pytest_webeval.summary.summary_file import load_side_lists, read_summary_file, write_summary
from tests.support.made_records import make_records

NOW = "2026-02-03T00:00:00Z"
COUNT = 160


@pytest.fixture
def few(monkeypatch):
    """Lists of more than forty entries are long."""
    monkeypatch.setattr(summary_file, "LIMIT", 40)


def summary(count=COUNT, limit=7):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summarize, "MOST_IN_MEMORY", limit)
        return summarize_records(make_records(count), timestamp=NOW)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_list_of_10_000_entries_stays_and_a_longer_one_moves(tmp_path):
    write_summary(tmp_path / SUMMARY, summary(10_000, 20_000))
    assert names(tmp_path) == [SUMMARY]

    write_summary(tmp_path / SUMMARY, summary(10_001, 20_000))
    content = json.loads((tmp_path / SUMMARY).read_text())
    assert content["task_results"] == []
    (side,) = content["webeval"]["side_files"]
    assert (side["path"], side["count"]) == (["task_results"], 10_001)
    assert names(tmp_path) == [side["file"], SUMMARY]
    assert side["file"] == f"eval_summary-task_results-{side['checksum'][:12]}.jsonl"


@pytest.mark.usefixtures("few")
def test_what_is_read_is_what_one_file_would_hold(tmp_path):
    write_summary(tmp_path / SUMMARY, summary())

    raw = load_side_lists(read_summary_file(tmp_path / SUMMARY, "it"))
    moved = raw["webeval"].pop("side_files")

    assert raw == json.loads(json.dumps(summary().to_json()))
    assert ["task_results"] in [side["path"] for side in moved]
    assert len(moved) == len(names(tmp_path)) - 1


@pytest.mark.usefixtures("few")
def test_an_object_with_a_member_for_each_run_moves_in_pairs(tmp_path):
    records = [record for record in make_records(500) if record.warnings]
    write_summary(tmp_path / SUMMARY, summarize_records(records, timestamp=NOW))

    sides = json.loads((tmp_path / SUMMARY).read_text())["webeval"]["side_files"]
    (side,) = (side for side in sides if side["path"] == ["webeval", "warnings"])

    lines = (tmp_path / side["file"]).read_text().splitlines()
    assert dict(map(json.loads, lines)) == {record.run: [record.warnings[0][1]] for record in records}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("index", [0, 3, COUNT - 1, -1, -COUNT, COUNT, 2 * COUNT, -COUNT - 1])
def test_an_entry_of_a_side_file_has_the_index_that_it_has_in_a_list(tmp_path, index):
    write_summary(tmp_path / SUMMARY, summary())
    rows = read_summary_file(tmp_path / SUMMARY, "it")["task_results"]

    if index in range(-COUNT, COUNT):
        assert rows[index] == list(rows)[index]
    else:
        with pytest.raises(IndexError, match=f"there is no entry {index} of {COUNT}"):
            rows[index]


@pytest.mark.usefixtures("few")
def test_every_reader_finds_the_rows(tmp_path, capsys):
    path = tmp_path / SUMMARY
    write_summary(path, summary())
    failed = COUNT - sum(record.status == "success" for record in make_records(COUNT))

    assert len(read_session(tmp_path).runs) == COUNT
    assert len(load_results(path)) == COUNT
    assert len(read_baseline(path).session.runs) == COUNT
    write_summary(tmp_path / "baseline.json", build_baseline(summary(), KnownFailures([])))
    assert len(read_baseline(tmp_path / "baseline.json").known_failures.entries) in range(41, failed + 1)
    assert main(["compare", str(path), str(path)]) == 0
    assert main(["history", str(path), str(path)]) == 0
    assert main(["validate", str(path)]) == 0
    assert "1 file valid" in capsys.readouterr().out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda side: side.unlink(), "missing file: .*task_results.*jsonl; copy its side files next to it"),
        (lambda side: side.write_text(side.read_text().replace("success", "failure")), "has changed; restore the file"),
        (
            lambda side: side.write_bytes(side.read_bytes()[:-20]),
            "has changed; restore the file of SHA-256 [0-9a-f]{64}",
        ),
        (lambda side: (side.rename("x"), side.symlink_to("x")), "cannot read .*; copy its side files next to it"),
    ],
)
@pytest.mark.unchecked_files("a side file is missing or another")
def test_a_side_file_that_is_missing_or_changed_is_named_in_one_line(tmp_path, monkeypatch, capsys, change, problem):
    monkeypatch.chdir(tmp_path)
    write_summary(tmp_path / SUMMARY, summary())
    (side,) = tmp_path.glob("*task_results*")
    change(side)

    with pytest.raises(SettingsError, match=problem) as raised:
        read_session(tmp_path)

    assert "\n" not in str(raised.value)
    assert main(["validate", SUMMARY]) == 1
    assert "1 of 1 file invalid" in capsys.readouterr().out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    "changes",
    [
        {"file": "../x-a-0123456789ab.jsonl"},
        {"file": "/etc/passwd"},
        {"path": []},
        {"path": ["task_results", 3]},
        {"path": ["nothing", "there"]},
        {"count": -1},
        {"count": "many"},
    ],
)
@pytest.mark.unchecked_files("what a stranger may write")
def test_a_summary_of_a_stranger_names_no_file_elsewhere(tmp_path, changes):
    write_summary(tmp_path / SUMMARY, summary())
    content = json.loads((tmp_path / SUMMARY).read_text())
    content["webeval"]["side_files"][0] |= changes
    (tmp_path / SUMMARY).write_text(json.dumps(content))

    with pytest.raises(SettingsError, match="cannot read"):
        read_session(tmp_path)


@pytest.mark.usefixtures("few")
def test_a_smaller_summary_removes_the_side_files_of_the_earlier_one_alone(tmp_path):
    others = ["eval_summary-of-mine.jsonl", "eval_summary-a-b-0123456789ab.jsonl", "other-a-0123456789ab.jsonl"]
    for name in others:
        (tmp_path / name).touch()
    write_summary(tmp_path / SUMMARY, summary())
    write_summary(tmp_path / SUMMARY, summary(50))
    assert len(read_session(tmp_path).runs) == 50

    write_summary(tmp_path / SUMMARY, summary(3))

    assert names(tmp_path) == sorted([*others, SUMMARY])


@pytest.mark.usefixtures("few")
def test_a_session_that_is_killed_leaves_the_earlier_summary_complete(tmp_path, monkeypatch):
    write_summary(tmp_path / SUMMARY, summary())
    monkeypatch.setattr(summary_file, "write_long_json", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))

    with pytest.raises(KeyboardInterrupt):
        write_summary(tmp_path / SUMMARY, summary(50))

    assert len(read_session(tmp_path).runs) == COUNT


@pytest.mark.usefixtures("few")
def test_side_files_are_the_same_bytes_each_time(tmp_path):
    for name in "ab":
        write_summary(tmp_path / name / SUMMARY, summary(limit=7 if name == "a" else 100))

    assert names(tmp_path / "a") == names(tmp_path / "b")
    for name in names(tmp_path / "a"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
