"""Which runs a shard scores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.errors import SettingsError
from pytest_webeval.summary.shards import MOST_SHARDS, Shard, split_runs


@pytest.mark.parametrize("text", ["1/1", "2/8", "10000/10000", "8/10"])
def test_a_shard_is_a_number_of_a_count(text):
    shard = Shard.parse(text)
    assert str(shard) == text
    assert shard.file_name == f"eval_shard-{shard.index}-of-{shard.count}.json"


@pytest.mark.parametrize(
    "text", ["0/1", "2/1", "1/10001", "1", "1/2\n", "x1/2", "\u0661/\u0662", "1/100000", "-1/2", ""]
)
def test_another_text_is_no_shard(text):
    with pytest.raises(SettingsError, match=r"invalid shard .*; use e\.g\. 2/8 for the second of eight"):
        Shard.parse(text)


def shares(runs, count, seconds):
    split = split_runs(runs, count, seconds)
    return ["".join(sorted(split.select(index))) for index in range(1, count + 1)]


@pytest.mark.parametrize(
    ("runs", "count", "seconds", "expected"),
    [
        ("abcdef", 3, {}, ["ad", "be", "cf"]),
        ("fedcba", 3, {}, ["ad", "be", "cf"]),
        ("abcde", 2, {}, ["ace", "bd"]),
        ("ab", 3, {}, ["a", "b", ""]),
        ("", 2, {}, ["", ""]),
        ("abcd", 2, {"d": 9.0, "a": 1.0, "b": 1.0, "c": 1.0}, ["d", "abc"]),
        ("abcd", 2, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, ["ad", "bc"]),
        ("abcd", 2, {"a": 1.0, "c": 3.0, "b": 100.0}, ["b", "acd"]),
        ("abcdef", 2, {"a": 8.0, "b": 8.0, "c": 8.0}, ["ace", "bdf"]),  # without a time: the median
        ("abc", 2, {"a": 2.0, "b": 10.0, "other": 500.0}, ["b", "ac"]),  # a run that is gone does not count
        ("abcd", 3, dict.fromkeys("abcd", 0.0), ["ad", "b", "c"]),
    ],
)
def test_the_longest_runs_go_first_to_the_shard_with_the_least(runs, count, seconds, expected):
    assert shares(runs, count, seconds) == expected


@given(
    st.dictionaries(st.text(max_size=3), st.floats(0.001, 1e6) | st.none(), max_size=12),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_each_run_is_in_exactly_one_shard_in_whatever_order_it_was_collected(times, count, random):
    runs, seconds = list(times), {run: time for run, time in times.items() if time is not None}
    split = split_runs(runs, count, seconds)
    selected = [run for index in range(1, count + 1) for run in split.select(index)]
    assert sorted(selected) == sorted(runs)
    random.shuffle(runs)
    assert split_runs(runs, count, seconds) == split


def test_the_checksum_is_that_of_runs_and_shards():
    splits = [
        split_runs("ab", 2, {}),
        split_runs("ab", 3, {}),
        split_runs("ac", 2, {}),
        split_runs("ab", 2, {"a": 1.0, "b": 2.0}),
        split_runs(["a", "\ud800"], 2, {}),
    ]
    assert len({split.checksum for split in splits}) == len(splits)
    assert split_runs("ab", 2, {"a": 5.0, "b": 5.0}).checksum == splits[0].checksum


def test_there_may_be_as_many_shards_as_a_scheduler_starts():
    assert len(shares("abc", MOST_SHARDS, {})) == MOST_SHARDS == 10_000
