"""Screenshots in a report: links to the run directory, small copies in its pages, or copies beside them.

The copies beside pages are frames of screencasts, because no page can show a file inside of a zip.
"""

from __future__ import annotations

import os
import re
import struct
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.writer import ADVICE, PAGES, data_name
from pytest_webeval.safety.files import exists_no_follow, read_beginning_inside
from pytest_webeval.safety.pictures import MOST_PIXELS, load_pillow, shrink_picture
from pytest_webeval.storage import write_bytes_in_place

if TYPE_CHECKING:
    from pytest_webeval.recordings.action_trace import ActionTrace

MOST_STEPS = 200  # of a run on its page, the last ones
WIDTH, HEIGHT = 480, 960  # most pixels of a small copy
QUALITY = 60
MOST_FRAMES = 40  # of a run that are copied, the last ones
MOST_BYTES = 4 * 2**20  # of all copies of a run
ALL_BYTES = 256 * 2**20  # of all copies of a report, shared by all runs equally
_FRAME = re.compile(r"(task-[0-9a-f]{16})-frame-[0-9]{1,4}\.(?:png|jpg)")
HEADER_BYTES = 32  # which hold the size of a PNG and of a WebP
MOST_HEADER_BYTES = 64 * 1024  # in which a JPEG may have comments, profiles and a thumbnail before its size
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
# Start of frame, baseline to lossless; among them are three markers of tables, which are none.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xDA)})


class Picture(Struct, frozen=True):
    """A screenshot on the page: its URL, or why it has none. `size` are the pixels of the image as it was recorded."""

    url: str | None = None
    size: tuple[int, int] | None = None
    problem: str | None = None


ScreenshotSource = Callable[[Screenshot], Picture]  # how the screenshots of a run get into a report


def relative_url(path: Path, directory: Path) -> str:
    """The relative URL that leads from a directory to a path."""
    return f"{_relative_directory(path.parent, directory)}{quote_from_bytes(os.fsencode(path.name))}"


@lru_cache(maxsize=64)
def _relative_directory(path: Path, directory: Path) -> str:
    """The way to what lies in a directory: that of a run root is the same for thousands of runs."""
    relative = os.path.relpath(path, directory)
    return "" if relative == "." else f"{quote_from_bytes(os.fsencode(relative))}/"


class Links(Struct):
    """Images stay where they are: in the run directory, to which relative links lead from the report's.

    A browser decodes all pixels of an image before it shows any, so one with very many freezes the page. It is the
    beginning of the file that says how many there are: 32 bytes, or 64 KiB of a JPEG, are quickly read. A file that is
    no image, such as an SVG or a page, is not linked either.
    """

    run: Path
    report: Path
    _pictures: dict[str, Picture] = field(default_factory=dict)  # a screenshot is that of two steps

    def __call__(self, shot: Screenshot) -> Picture:
        """A relative link to an image that a browser can show."""
        if shot.is_embedded:
            return Picture(problem="the image is part of another file; --webeval-report-embed copies it")
        if shot.name not in self._pictures:
            self._pictures[shot.name] = self._link(shot.name)
        return self._pictures[shot.name]

    def _link(self, name: str) -> Picture:
        url = relative_url(self.run / name, self.report)
        try:
            content = read_beginning_inside(self.run, name, HEADER_BYTES)
        except RecordingError as error:  # of a store
            return Picture(problem=str(error))
        if not content and not exists_no_follow(self.run / name):
            return Picture(url)  # the page says so, as long as it is not copied there
        if is_jpeg(content):
            content = read_beginning_inside(self.run, name, MOST_HEADER_BYTES)
        size = read_size(content)
        problem = find_problem(size)
        return Picture(problem=problem) if problem else Picture(url, size)


def find_problem(size: tuple[int, int] | None) -> str | None:
    """Why an image of that size is not shown, or None."""
    if size is None:
        return "not a PNG, JPEG or WebP image"
    if size[0] * size[1] > MOST_PIXELS:
        return f"the image has {size[0]:,} x {size[1]:,} pixels; the limit is {MOST_PIXELS:,}"
    return None


class Thumbnails(Struct):
    """Thumbnails within a budget of bytes. Unreadable images have none."""

    read: Callable[[Screenshot], bytes]  # raises `RecordingError`
    left: int
    _pictures: dict[str, Picture] = field(default_factory=dict)

    def __call__(self, shot: Screenshot) -> Picture:
        """The copy as a `data:` URL."""
        if shot.name not in self._pictures:
            picture = self._pictures[shot.name] = self._embed(shot)
            self.left -= len(picture.url or "")
        return self._pictures[shot.name]

    def _embed(self, shot: Screenshot) -> Picture:
        if self.left <= 0:
            return _NO_ROOM
        size = None
        try:
            original = self.read(shot)
            size = read_size(original[:MOST_HEADER_BYTES])
            content = thumbnail(original)
        except RecordingError:  # which names directories of this machine
            return Picture(problem=find_problem(size) or "the image cannot be read")
        url = f"data:image/jpeg;base64,{b64encode(content).decode()}"
        return Picture(url, size) if len(url) <= self.left else _NO_ROOM


_NO_ROOM = Picture(problem="no room for the image; raise --webeval-report-embed")


def thumbnail(content: bytes) -> bytes:
    """A small JPEG of an image. Raises `RecordingError` if it cannot be read or has too many pixels."""
    return shrink_picture(content, (WIDTH, HEIGHT), QUALITY, pillow())


def pillow() -> ModuleType:
    """The library that reads images. Raises `SettingsError` where it is not installed."""
    return load_pillow("--webeval-report-embed", "embed")


_NOT_COPIED = Picture(problem=f"a report has only the last {MOST_FRAMES} frames of a screencast")
_NO_FRAME_ROOM = Picture(problem="no room for the frame in the report; open the trace")


def no_frames(_: Screenshot) -> Picture:
    """No picture, and why there is none."""
    return Picture(problem="frames are copied for tasks that did not succeed; open the trace")


class FrameCopies(Struct):
    """Copies the last frames of one run that fit into a budget of bytes, when the first one is asked for.

    The last frame comes first: it is that of the failure.
    """

    trace: ActionTrace
    directory: Path  # of the report
    name: str  # what the names of the copies begin with
    frames: tuple[Screenshot, ...]  # that may be copied, in order
    left: int
    _pictures: dict[str, Picture] = field(default_factory=dict)  # a frame is that of several steps

    @classmethod
    def of_run(cls, label: str, trace: ActionTrace, directory: Path, runs: int) -> FrameCopies:
        """Those of a run, which shares the room with so many `runs`."""
        shots = (shot for step in trace.steps[-MOST_STEPS:] for shot in (step.before, step.after) if shot is not None)
        frames = tuple({shot.name: shot for shot in shots}.values())[-MOST_FRAMES:]
        return cls(trace, directory, data_name(label), frames, min(MOST_BYTES, ALL_BYTES // max(runs, 1)))

    def __call__(self, shot: Screenshot) -> Picture:
        """The relative link to a copy."""
        if not self._pictures:
            for number, frame in reversed(list(enumerate(self.frames))):
                self._pictures[frame.name] = self._copy(frame, number)
        return self._pictures.get(shot.name, _NOT_COPIED)

    def _copy(self, shot: Screenshot, number: int) -> Picture:
        if self.left <= 0:
            return _NO_FRAME_ROOM
        try:
            content = self.trace.image(shot)
        except RecordingError:
            return Picture(problem="the frame cannot be read from the trace")
        size = read_size(content[:MOST_HEADER_BYTES]) if is_jpeg(content) or content.startswith(_PNG[:4]) else None
        if problem := find_problem(size):
            return Picture(problem=problem)
        if len(content) > self.left:
            return _NO_FRAME_ROOM
        self.left -= len(content)
        place = f"{PAGES}/{self.name}-frame-{number}.{'jpg' if is_jpeg(content) else 'png'}"
        write_bytes_in_place(self.directory / place, content, ADVICE)
        return Picture(place, size)


def list_frames(directory: Path) -> dict[str, list[str]]:
    """Names of the copies in the data directory of a report, by the name of the task's page."""
    frames: dict[str, list[str]] = {}
    with suppress(OSError):
        for path in directory.iterdir():
            if match := _FRAME.fullmatch(path.name):
                frames.setdefault(match[1], []).append(path.name)
    return frames


def is_jpeg(content: bytes) -> bool:
    """Whether bytes are the beginning of a JPEG, of which the size may be far from there."""
    return content.startswith(_JPEG)


def read_size(content: bytes) -> tuple[int, int] | None:
    """Width and height in pixels; None of another file, or where the bytes end before them. Nothing is decoded.

    PNG (W3C, 3rd edition, 11.2.1), JPEG (ITU-T T.81, B.2.2) and WebP (RFC 9649) say them where a decoder reads them
    first.
    """
    try:
        size = _read_png(content) or _read_webp(content) or _read_jpeg(content)
    except (struct.error, IndexError):
        return None
    return size if size and all(size) else None


def _read_png(content: bytes) -> tuple[int, int] | None:
    if not content.startswith(_PNG) or content[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _read_webp(content: bytes) -> tuple[int, int] | None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return None
    kind = content[12:16]
    if kind == b"VP8X":  # of an image with more than pixels: the size of its canvas
        return _decode_less_one(content[24:27]), _decode_less_one(content[27:30])
    if kind == b"VP8L" and content[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _decode_less_one(content: bytes) -> int:
    if len(content) < 3:
        raise IndexError
    return int.from_bytes(content, "little") + 1


def _read_jpeg(content: bytes) -> tuple[int, int] | None:
    """The size in the first frame, which stands after any number of segments with lengths."""
    if not is_jpeg(content):
        return None
    place = 2
    while content[place] == 0xFF:
        marker = content[place + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return width, height
        if marker == 0xFF:  # a byte that fills
            place += 1
        elif marker in _WITHOUT_LENGTH:
            place += 2
        else:
            (length,) = struct.unpack_from(">H", content, place + 2)
            place += 2 + length
    return None
