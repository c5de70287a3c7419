"""A Playwright trace with a screencast in a run directory."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings import action_trace
from pytest_webeval.recordings.action_trace import load_action_trace
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.trajectory.step import Screenshot

TRACE = Path(__file__).parents[2] / "recorded/playwright_trace/trace.zip"
ACTIONS = [
    "newPage",
    "goto",
    "waitForTimeout",
    "fill",
    "fill",
    "click",
    "waitForTimeout",
    "click",
    "waitForTimeout",
    "mouseClick",
    "click",
    "click",
    "waitForTimeout",
]
FRAME = {"type": "screencast-frame", "file": "screencast/a.jpeg", "width": 1, "height": 1}
BEFORE = {"type": "before", "callId": "1", "method": "click"}


@pytest.fixture
def load(tmp_path):
    return lambda: load_action_trace(RunInputs(tmp_path))


@pytest.fixture
def pack(tmp_path):
    """Writes a `trace.zip` with a log of some events and other members."""

    def write(*events, log="trace.trace", compression=zipfile.ZIP_DEFLATED, **members):
        with zipfile.ZipFile(tmp_path / "trace.zip", "w", compression) as archive:
            archive.writestr(log, "\n".join(map(json.dumps, events)))
            for name, content in members.items():
                archive.writestr(name.replace("__", "/").replace("_", "."), content)

    return write


def unpack(directory):
    with zipfile.ZipFile(TRACE) as archive:
        archive.extractall(directory / "trace")


@pytest.mark.parametrize("as_folder", [False, True])
def test_the_steps_of_a_recorded_trace_have_frames(tmp_path, load, as_folder):
    if as_folder:
        unpack(tmp_path)
    else:
        (tmp_path / "trace.zip").write_bytes(TRACE.read_bytes())
    trace = load()
    assert [step.action for step in trace.steps] == ACTIONS
    assert all(step.before and step.after for step in trace.steps[2:])
    assert trace.image(trace.steps[-1].after).startswith(b"\xff\xd8\xff")


def test_a_run_without_a_trace_has_no_steps(load):
    assert load() is None


@pytest.mark.parametrize("log", ["trace.trace", "0-trace.trace"])
def test_a_trace_with_a_frame_has_steps(pack, load, log):
    pack(FRAME, BEFORE, log=log, screencast__a_jpeg=b"x")
    assert len(load().steps) == 1


@pytest.mark.parametrize("log", ["test.trace", "x/trace.trace", "trace.trace.txt", "ä-trace.trace"])
def test_other_files_are_no_logs(pack, load, log):
    pack(FRAME, BEFORE, log=log, screencast__a_jpeg=b"x")
    assert load() is None


def test_a_trace_without_a_screencast_is_not_even_unpacked(pack, load, monkeypatch):
    pack(FRAME, BEFORE)
    monkeypatch.setattr(action_trace.Archive, "read", None)
    assert load() is None


def test_a_screencast_without_an_action_has_no_steps(pack, load):
    pack(FRAME, screencast__a_jpeg=b"x")
    assert load() is None


def test_what_is_no_archive_has_no_steps(tmp_path, load):
    (tmp_path / "trace.zip").write_bytes(b"PK no archive")
    assert load() is None


def test_a_log_that_unpacks_to_too_much_is_not_read(pack, load, monkeypatch):
    monkeypatch.setattr(action_trace, "LARGEST_LOGS", 200)
    pack(FRAME, BEFORE, screencast__a_jpeg=b"x")
    assert load() is not None
    pack(FRAME, BEFORE, {"x": "x" * 200}, screencast__a_jpeg=b"x")
    assert load() is None


def test_all_logs_share_the_room_and_of_many_the_first_count(tmp_path, load, monkeypatch):
    log = "\n".join(map(json.dumps, (FRAME, BEFORE)))
    with zipfile.ZipFile(tmp_path / "trace.zip", "w") as archive:
        archive.writestr("screencast/a.jpeg", b"x")
        for number in range(21):
            archive.writestr(f"{number}-trace.trace", log)
    assert len(load().steps) == 20
    monkeypatch.setattr(action_trace, "LARGEST_LOGS", 20 * len(log) - 1)
    assert load() is None


def test_a_bomb_is_not_unpacked(pack, load):
    pack(FRAME, BEFORE, {"x": "x" * 30 * 2**20}, screencast__a_jpeg=b"x")
    assert load() is None


@pytest.mark.parametrize("content", [b"x" * (256 * 2**10 + 1), None])
def test_a_frame_that_is_large_or_missing_is_an_error(pack, load, content):
    pack(FRAME, BEFORE, **({"screencast__a_jpeg": content} if content else {"screencast__b_jpeg": b"x"}))
    with pytest.raises(RecordingError, match=r"^cannot read screencast/a\.jpeg in the trace: .+; re-record the run$"):
        load().image(Screenshot("screencast/a.jpeg", 0))


@pytest.mark.parametrize("part", ["", "/trace.trace"])
def test_links_are_not_followed(tmp_path, load, part):
    unpack(tmp_path)
    (tmp_path / f"trace{part}").rename(tmp_path / "elsewhere")
    (tmp_path / f"trace{part}").symlink_to(tmp_path / "elsewhere")
    assert load() is None


def test_a_link_to_an_archive_is_not_followed(tmp_path, load):
    (tmp_path / "trace.zip").symlink_to(TRACE)
    assert load() is None


def test_a_pipe_blocks_nothing(tmp_path, load):
    os.mkfifo(tmp_path / "trace.zip")
    assert load() is None


def test_a_frame_behind_a_link_is_an_error(tmp_path, load):
    unpack(tmp_path)
    trace = load()
    (frame := tmp_path / "trace" / trace.steps[-1].after.name).unlink()
    frame.symlink_to("/etc/hostname")
    with pytest.raises(RecordingError):
        trace.image(trace.steps[-1].after)


def test_nothing_of_it_is_an_input_of_the_result(tmp_path):
    (tmp_path / "trace.zip").write_bytes(TRACE.read_bytes())
    load_action_trace(inputs := RunInputs(tmp_path))
    assert inputs.checksums == {}
