"""`times.json`: `fara_webeval.md` §2.4."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.side_files import Times, read_times


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, Times(None, None, None)),
        (
            b'{"start_time":1772359200.0,"end_time":1772359225.5,"duration":25.5}',
            Times(1772359200.0, 1772359225.5, 25.5),
        ),
        (b'{"start_time":1772359500,"end_time":1772359522,"duration":22}', Times(1772359500.0, 1772359522.0, 22.0)),
        (b'{"start_time":0,"end_time":25.5009,"duration":25.5,"zone":"UTC"}', Times(0.0, 25.5009, 25.5)),
        (b'\xef\xbb\xbf{"start_time":5,"end_time":5,"duration":0}', Times(5.0, 5.0, 0.0)),
    ],
)
def test_times_are_read_as_they_stand(content, expected):
    assert read_times(content) == expected


@pytest.mark.parametrize("end_and_duration", ["30, 25.5", "25.498, 25.5", "5, 1", "12, 0"])
def test_a_duration_that_its_stamps_contradict_is_used_with_a_warning(end_and_duration):
    end, duration = json.loads(f"[{end_and_duration}]")
    found = read_times(json.dumps({"start_time": 10, "end_time": 10 + end, "duration": duration}).encode())
    assert found.duration == duration
    told = f"duration is {duration:.3f}, but the timestamps are {end:.3f} apart; duration counts"
    assert found.warnings == (f"times.json: {told}",)


def test_an_end_before_the_start_contradicts_any_duration():
    found = read_times(b'{"start_time": 20, "end_time": 10, "duration": 10}')
    assert found.warnings == ("times.json: duration is 10.000, but the timestamps are -10.000 apart; duration counts",)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("-0.5", "duration is -0.5"),
        ("NaN", "duration is nan"),
        ("Infinity", "duration is inf"),
        ("1e400", "duration is inf"),
        ("1" * 400, "duration is 1111"),
        ("1772359200000", "duration is 1772359200000"),
        ("true", "duration is True"),
        ("null", "duration is None"),
        ('"25.5"', "duration is '25.5'"),
        ("[25.5]", "duration is [25.5]"),
    ],
)
def test_a_duration_that_is_no_time_is_unknown(raw, told):
    found = read_times(f'{{"start_time": 1, "end_time": 2, "duration": {raw}}}'.encode())
    assert (found.start, found.end, found.duration) == (1.0, 2.0, None)
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(f"times.json: {told}")
    assert found.warnings[0].endswith("; expected a number of seconds; the value is unknown")


def test_each_stamp_is_unknown_by_itself():
    found = read_times(b'{"start_time": "10:00", "duration": 25.5}')
    assert (found.start, found.end, found.duration) == (None, None, 25.5)
    assert found.warnings == (
        "times.json: start_time is '10:00'; expected a number of seconds; the value is unknown",
        "times.json: missing end_time; expected a number of seconds; the value is unknown",
    )


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is not valid JSON: Expecting value: line 1 column 1 (char 0); the duration is unknown"),
        (b'{"duration": 25', "is not valid JSON: "),
        (b"\xff", "is not valid JSON: "),
        (b"[" * 100_000, "is not valid JSON: "),
        (b"25.5", "is 25.5; expected an object with a duration; the duration is unknown"),
        (b"null", "is None; expected an object"),
    ],
)
def test_a_damaged_file_says_nothing_but_a_warning(content, told):
    found = read_times(content)
    assert (found.start, found.end, found.duration, len(found.warnings)) == (None, None, None, 1)
    assert found.warnings[0].startswith(f"times.json: {told}")


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(
    st.binary(max_size=40)
    | st.dictionaries(st.sampled_from(["start_time", "end_time", "duration"]), VALUES).map(
        lambda raw: json.dumps(raw).encode()
    )
)
def test_any_bytes_are_times_that_can_be_added_up(content):
    found = read_times(content)
    assert all(seconds is None or 0 <= seconds <= 1e12 for seconds in (found.start, found.end, found.duration))
    assert all(text.isprintable() for text in found.warnings)
