"""What the files of shards must have in common, and the summary that they make."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.summary import shard_file, summary_file
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.shard_file import (
    ShardFile,
    check_shards,
    merge_records,
    merge_summary,
    read_shards,
    write_shard_file,
)

DETAILS = {
    "unscored_count": 0,
    "unscored": [],
    "stopped": None,
    "deselected_count": 0,
    "partial": False,
    "subset": None,
    "today": "2026-01-31",
    "shard": "1/2",
    "shard_run_count": 1,
}


def record(run: str) -> Record:
    return Record(
        run=run,
        task_id=int(run),
        status="success",
        score=1.0,
        sites=["shopping"],
        template=1,
        task_type="retrieve",
        reason=None,
        warnings=[],
        wall_time=1.0,
        rules="default",
        version="1",
        evaluator_checksum="e",
        data_checksum="d",
    )


def shard(index: int, *runs: str, details=(), **fields) -> ShardFile:
    content = ShardFile(
        schema_version=1,
        index=index,
        count=2,
        run_count=2,
        split_checksum="split",
        timestamp=f"2026-01-31T00:00:0{index}Z",
        session={"rules": "default", "expected": None, "attempts": None},
        chosen=0,
        outside=0,
        details=DETAILS | dict(details),
        records=[record(run) for run in runs],
    )
    return structs.replace(content, **fields)


def check(*shards):
    return check_shards([(Path(f"{index}.json"), each) for index, each in enumerate(shards, 1)])


def webeval(*shards):
    return merge_summary(shards).webeval


@pytest.mark.parametrize("order", [1, -1])
def test_shards_are_merged_in_their_order(order):
    shards = [shard(1, "101", "102"), shard(2, "103")]
    assert check(*shards[::order]) == shards
    assert [each.run for each in merge_records(shards)] == ["101", "102", "103"]
    summary = merge_summary(shards[::order])
    assert (summary.timestamp, summary.total) == ("2026-01-31T00:00:02Z", 3)


OWN = {
    "unscored_count": 1,
    "unscored": ["101"],
    "stopped": "Interrupted",
    "deselected_count": 3,
    "partial": True,
    "reused_count": 2,
    "shard": "2/2",
    "shard_run_count": 7,
}


@pytest.mark.parametrize("name", OWN)
def test_shards_may_differ_in_what_they_scored(name):
    assert len(check(shard(1), shard(2, details={name: OWN[name]}))) == 2


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"count": 3}, "one is of 2 shards, the other of 3; merge one session"),
        ({"run_count": 3}, "they split other runs, or by other times; merge one session"),
        ({"split_checksum": "other"}, "they split other runs, or by other times; merge one session"),
        ({"session": {"rules": "strict", "expected": None, "attempts": None}}, "rules default, strict; merge"),
        ({"session": {"rules": "default", "expected": [], "attempts": None}}, r"expected None, \[\]; merge"),
        ({"session": {"rules": "default", "expected": None, "attempts": None, "more": "x"}}, "more None, x; merge"),
        ({"details": {"today": "2026-02-01"}}, "today 2026-01-31, 2026-02-01; merge"),
        ({"details": {"more": "y" * 70}}, "more None, y{59}…; merge"),
        ({"details": {"subset": {"name": "a"}}}, "subset None, {'name': 'a'}; merge"),
    ],
)
def test_what_decides_verdicts_is_the_same_in_all_shards(changed, problem):
    with pytest.raises(SettingsError, match=rf"^2.json and 1.json are not shards of one session: {problem}"):
        check(shard(1), shard(2, **changed))
    with pytest.raises(SettingsError, match=r"^2.json and 1.json are not shards of one session: "):
        check(shard(2, **changed), shard(1))


@pytest.mark.parametrize(
    ("again", "is_refused"),
    [
        (shard(1, "101"), False),
        (shard(1, "102"), True),
        (shard(1, "101", timestamp="2026-01-31T00:00:09Z"), True),
    ],
)
def test_two_files_of_one_shard_must_be_the_same(again, is_refused):
    shards = shard(1, "101"), shard(2), again
    if not is_refused:
        assert len(check(*shards)) == 2
        return
    with pytest.raises(SettingsError, match=r"^3.json and 1.json are both shard 1/2; name one of them$"):
        check(*shards)


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ([shard(1)], "1 shard missing: 2/2; score and name all shards"),
        ([shard(2)], "1 shard missing: 1/2; score and name all shards"),
        ([shard(2, count=8)], "7 shards missing: 1/8, 3/8, 4/8, 5/8, 6/8, … and 2 more; score and name all shards"),
        ([shard(1, "101"), shard(2, "102", "101")], "2.json and 1.json both have the run 101; score both again"),
        ([shard(1, "101", "102"), shard(2, "103", "101")], "2.json and 1.json both have the run 101; score both again"),
        ([shard(1, "101", "101"), shard(2)], "1.json and 1.json both have the run 101; score both again"),
    ],
)
def test_missing_shards_and_runs_in_two_shards_are_named(shards, message):
    with pytest.raises(SettingsError) as caught:
        check(*shards)
    assert str(caught.value) == message


def test_what_was_not_scored_is_summed_up():
    first = shard(1, "101", details={"unscored": ["109", "104"], "unscored_count": 2, "deselected_count": 4}, chosen=1)
    second = shard(2, details={"unscored": ["102"], "unscored_count": 1, "deselected_count": 5}, chosen=2)
    details = webeval(structs.replace(first, outside=3), structs.replace(second, outside=3))
    assert (details["unscored"], details["unscored_count"]) == (["102", "104", "109"], 3)
    assert details["deselected_count"] == 6  # what each deselected of its own, and what is outside the subset in all
    assert not {"shard", "shard_run_count"} & details.keys()
    assert details["today"] == "2026-01-31"


@pytest.mark.parametrize(
    ("first", "second", "is_partial"),
    [
        (shard(1, "101"), shard(2, "102"), False),
        (shard(1, "101"), shard(2), False),
        (shard(1), shard(2), True),
        (shard(1, "101"), shard(2, details={"partial": True}), True),
        (shard(1, "101", details={"partial": True}), shard(2), True),
        (shard(1, "101"), shard(2, details={"unscored": ["102"]}), True),
    ],
)
def test_a_merged_summary_is_partial_if_a_run_is_not_scored(first, second, is_partial):
    assert webeval(first, second)["partial"] is is_partial


@pytest.mark.parametrize(
    ("first", "second", "stopped"),
    [
        (None, None, None),
        ("Interrupted", None, "Interrupted"),
        (None, "Interrupted", "Interrupted"),
        ("a", "a", "a"),
        ("a", "b", "a; b"),
    ],
)
def test_each_reason_to_stop_is_named_once(first, second, stopped):
    assert webeval(shard(1, details={"stopped": first}), shard(2, details={"stopped": second}))["stopped"] == stopped


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [({"reused_count": 2}, {"reused_count": 3}, 5), ({"reused_count": 2}, {}, 2), ({}, {}, None)],
)
def test_reused_results_are_summed_up(first, second, expected):
    assert webeval(shard(1, details=first), shard(2, details=second)).get("reused_count") == expected


def test_attempts_and_expected_tasks_are_those_of_the_session(monkeypatch):
    monkeypatch.setattr(shard_file, "summarize_records", lambda *arguments: arguments)
    session = {"rules": "default", "expected": ["books_find_1"], "attempts": "r*"}
    assert merge_summary([shard(1, session=session), shard(2, session=session)])[-2:] == (["books_find_1"], "r*")


SESSION = {"rules": "default", "options": {}, "evaluators": "e", "expected": None, "attempts": None}
SESSION |= dict.fromkeys(("fixtures", "tasks", "selection"), "") | {"sites": None, "external_verdicts": None}


def write_long_shards(directory, monkeypatch):
    """The two shards of a session, with records, texts and labels in side files."""
    monkeypatch.setattr(summary_file, "LIMIT", 20)
    runs = [str(number) for number in range(60)]
    texts = {run: {"intent": f"find {run}"} for run in runs}
    report = shard_file.ReportPart("runs", [], [], texts)
    unscored = [f"x/{number}" for number in range(30)]
    first = shard(1, *runs[::2], details={"unscored": unscored}, report=report, session=SESSION)
    shards = [first, shard(2, *runs[1::2], session=SESSION)]
    for each in shards:
        write_shard_file(directory / f"eval_shard-{each.index}-of-2.json", each)
    return shards


def test_shards_with_side_files_merge_as_those_in_one_file(tmp_path, monkeypatch):
    shards = write_long_shards(tmp_path, monkeypatch)

    read = check_shards(read_shards([tmp_path]))

    assert read[0].report == shards[0].report
    assert merge_summary(read) == merge_summary(shards)
    assert len(list(tmp_path.glob("eval_shard-1-of-2-*.jsonl"))) == 3
    assert not isinstance(read[1].records, list)


def test_a_run_of_two_shards_is_found_in_side_files(tmp_path, monkeypatch):
    monkeypatch.setattr(summary_file, "LIMIT", 20)
    first, second = shard(1, *map(str, range(30))), shard(2, *map(str, range(30, 60)), "3")
    for each in (structs.replace(part, session=SESSION) for part in (first, second)):
        write_shard_file(tmp_path / f"eval_shard-{each.index}-of-2.json", each)

    with pytest.raises(SettingsError, match=r"-2-of-2.json and .*-1-of-2.json both have the run 3; score both again"):
        check_shards(read_shards([tmp_path]))


@pytest.mark.unchecked_files("the label of a stranger")
def test_a_label_in_a_side_file_that_leads_out_of_the_roots_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(summary_file, "LIMIT", 1)
    outside = structs.replace(record("2"), run="../2")
    write_shard_file(tmp_path / "eval_shard-1-of-2.json", shard(1, records=[record("1"), outside]))

    with pytest.raises(SettingsError, match=r"the label '../2' leads out of the run roots"):
        read_shards([tmp_path])
