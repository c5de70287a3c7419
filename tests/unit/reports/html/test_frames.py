"""Copies of frames of a screencast in a report."""

from __future__ import annotations

import struct

import pytest

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.trajectory.step import Screenshot, Step
from pytest_webeval.reports.html import screenshots as frames
from pytest_webeval.reports.html.screenshots import FrameCopies, Picture, list_frames
from pytest_webeval.reports.html.writer import data_name

NAME = data_name("runs/107")


def jpeg(width=640, height=400, size=100):
    return (b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width)).ljust(size, b"\x00")


def png(width=640, height=400):
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", width, height)


def webp():
    return b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(20)


def shot(name):
    return Screenshot(name, 0, is_embedded=True)


def step(before, after):
    return Step(1, "click", "click", None, {}, "", None, None, None, None, 1, before, after)


@pytest.fixture
def copies(tmp_path):
    """The copies of a trace with these frames, one before each step; `None` cannot be read."""

    def make(contents, runs=1):
        def read(name, most):
            if contents[name] is None:
                raise RecordingError("damaged")
            return contents[name]

        trace = ActionTrace(tuple(step(shot(name), None) for name in contents), read)
        return FrameCopies.of_run("runs/107", trace, tmp_path, runs)

    return make


def test_a_frame_is_copied_once(copies, tmp_path):
    made = copies({"a": jpeg(), "b": png()})
    pictures = [made(shot(name)) for name in ("a", "b", "a")]
    links = [f"data/{NAME}-frame-0.jpg", f"data/{NAME}-frame-1.png", f"data/{NAME}-frame-0.jpg"]
    assert pictures == [Picture(link, (640, 400)) for link in links]
    assert [(tmp_path / link).read_bytes() for link in links[:2]] == [jpeg(), png()]
    assert list_frames(tmp_path / "data") == {NAME: [link.removeprefix("data/") for link in sorted(links[:2])]}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "the frame cannot be read from the trace"),
        (b"<svg onload='alert(1)'/>", "not a PNG, JPEG or WebP image"),
        (b"<script>alert(1)</script>", "not a PNG, JPEG or WebP image"),
        (b"", "not a PNG, JPEG or WebP image"),
        (webp(), "not a PNG, JPEG or WebP image"),
        (b"\xff\xd8\xff", "not a PNG, JPEG or WebP image"),
        (jpeg(10_000, 5_001), "the image has 10,000 x 5,001 pixels; the limit is 50,000,000"),
        (png(2**31, 2**31), "the image has 2,147,483,648 x 2,147,483,648 pixels; the limit is 50,000,000"),
    ],
)
def test_what_is_no_small_jpeg_or_png_is_not_copied(copies, tmp_path, content, problem):
    assert copies({"a": content})(shot("a")) == Picture(problem=problem)
    assert list(tmp_path.iterdir()) == []


def test_of_many_frames_the_last_ones_are_copied(copies):
    made = copies({str(number): jpeg() for number in range(frames.MOST_FRAMES + 2)})
    assert made(shot("1")).problem == "a report has only the last 40 frames of a screencast"
    assert made(shot("2")).url


def test_copies_stay_within_the_room_of_a_run(copies, monkeypatch):
    monkeypatch.setattr(frames, "MOST_BYTES", 250)
    made = copies({"a": jpeg(), "b": jpeg(size=150), "c": jpeg(size=151), "d": jpeg()})
    assert [bool(made(shot(name)).url) for name in "abcd"] == [False, True, False, True]
    assert made(shot("c")).problem == "no room for the frame in the report; open the trace"


def test_of_frames_that_do_not_all_fit_the_last_ones_are_copied(copies, monkeypatch):
    monkeypatch.setattr(frames, "MOST_BYTES", 350)
    made = copies({str(number): jpeg() for number in range(frames.MOST_FRAMES)})
    assert [number for number in range(frames.MOST_FRAMES) if made(shot(str(number))).url] == [37, 38, 39]


def test_all_runs_share_the_room_of_a_report(copies, monkeypatch):
    monkeypatch.setattr(frames, "ALL_BYTES", 300)
    assert [bool(copies({"a": jpeg(size=100)}, runs)(shot("a")).url) for runs in (3, 4)] == [True, False]


def test_a_copy_that_cannot_be_written_is_an_error(copies, tmp_path):
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(SettingsError, match="choose another directory with --webeval-report"):
        copies({"a": jpeg()})(shot("a"))


def test_a_directory_without_copies_has_none(tmp_path):
    assert list_frames(tmp_path / "nowhere") == {}
    (tmp_path / f"{NAME}.js").touch()
    (tmp_path / f"{NAME}-frame-x.jpg").touch()
    assert list_frames(tmp_path) == {}
