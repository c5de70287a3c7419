"""Screenshots in a report: links to the run directory, or small copies that the report has in itself."""

from __future__ import annotations

import os
from base64 import b64encode
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Protocol
from urllib.parse import quote_from_bytes

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.image_size import HEADER_BYTES, MOST_HEADER_BYTES, is_jpeg, read_size
from pytest_webeval.safety.files import exists_no_follow, read_beginning_inside
from pytest_webeval.safety.pictures import MOST_PIXELS, load_pillow, shrink_picture

WIDTH, HEIGHT = 480, 960  # most pixels of a small copy
QUALITY = 60


class Picture(Struct, frozen=True):
    """A screenshot on the page: its URL, or why it has none. `size` are the pixels of the image as it was recorded."""

    url: str | None = None
    size: tuple[int, int] | None = None
    problem: str | None = None


class ScreenshotSource(Protocol):
    """How the screenshots of a run get into a report."""

    def of(self, shot: Screenshot) -> Picture:
        """A screenshot as the page has it."""
        ...


class ImageSource(Protocol):
    """What has the images of a run."""

    def image(self, shot: Screenshot) -> bytes:
        """The bytes of a screenshot. Raises `RecordingError`."""
        ...


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

    def of(self, shot: Screenshot) -> Picture:
        """A relative link to an image that a browser can show."""
        if shot.is_embedded:
            return Picture(problem="the image is part of another file; --webeval-report-embed copies it")
        if shot.name not in self._pictures:
            self._pictures[shot.name] = self._link(shot.name)
        return self._pictures[shot.name]

    def _link(self, name: str) -> Picture:
        url = relative_url(self.run / name, self.report)
        content = read_beginning_inside(self.run, name, HEADER_BYTES)
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

    source: ImageSource
    left: int
    _pictures: dict[str, Picture] = field(default_factory=dict)

    def of(self, shot: Screenshot) -> Picture:
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
            original = self.source.image(shot)
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
