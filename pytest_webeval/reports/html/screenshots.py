"""Screenshots in a report: links to the run directory, or small copies that the report has in itself."""

from __future__ import annotations

import io
import os
from base64 import b64encode
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Protocol
from urllib.parse import quote_from_bytes

from msgspec import Struct
from msgspec import field

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.trajectory.agent_trajectory import AgentTrajectory
from pytest_webeval.recordings.trajectory.step import Screenshot

WIDTH, HEIGHT = 480, 960  # most pixels of a small copy
QUALITY = 60
MOST_PIXELS = 50_000_000  # of an image that is made smaller: the file says how many, before anybody decodes them
_FORMATS = ("PNG", "JPEG", "WEBP")


class ScreenshotSource(Protocol):
    """How the screenshots of a run get into a report."""

    def of(self, shot: Screenshot) -> str | None:
        """The URL of an image on the page, or None."""
        ...


def relative_url(path: Path, directory: Path) -> str:
    """The relative URL that leads from a directory to a path."""
    return f"{_relative_directory(path.parent, directory)}{quote_from_bytes(os.fsencode(path.name))}"


@lru_cache(maxsize=64)
def _relative_directory(path: Path, directory: Path) -> str:
    """The way to what lies in a directory: that of a run root is the same for thousands of runs."""
    relative = os.path.relpath(path, directory)
    return "" if relative == "." else f"{quote_from_bytes(os.fsencode(relative))}/"


class Links(Struct, frozen=True):
    """Images stay where they are: in the run directory, to which relative links lead from the report's."""

    run: Path
    report: Path

    def of(self, shot: Screenshot) -> str | None:
        """A relative link; None to an image that is not a file of its own."""
        return None if shot.is_embedded else relative_url(self.run / shot.name, self.report)


class Thumbnails(Struct):
    """Thumbnails within a budget of bytes. Unreadable images have none."""

    trajectory: AgentTrajectory
    left: int
    _urls: dict[str, str | None] = field(default_factory=dict)

    def of(self, shot: Screenshot) -> str | None:
        """The copy as a `data:` URL."""
        if shot.name not in self._urls:
            url = self._urls[shot.name] = self._embed(shot)
            self.left -= len(url or "")
        return self._urls[shot.name]

    def _embed(self, shot: Screenshot) -> str | None:
        if self.left <= 0:
            return None
        try:
            content = thumbnail(self.trajectory.image(shot))
        except RecordingError:
            return None
        url = f"data:image/jpeg;base64,{b64encode(content).decode()}"
        return url if len(url) <= self.left else None


def thumbnail(content: bytes) -> bytes:
    """A small JPEG of an image. Raises `RecordingError` if it cannot be read or has too many pixels."""
    image_module = pillow()
    try:
        with image_module.open(io.BytesIO(content), formats=_FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                size = f"{image.width} x {image.height} pixels"
                raise RecordingError(f"image too large: {size}; the limit is {MOST_PIXELS:,} pixels")
            image.draft("RGB", (WIDTH, HEIGHT))  # a JPEG need not be decoded at full size
            small = image.convert("RGB")
            small.thumbnail((WIDTH, HEIGHT))
            written = io.BytesIO()
            small.save(written, "JPEG", quality=QUALITY, optimize=True)
            return written.getvalue()
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, image_module.DecompressionBombError) as error:
        raise RecordingError(f"cannot read image: {error}; copy the run again") from error


def pillow() -> ModuleType:
    """The library that reads images. Raises `SettingsError` where it is not installed."""
    try:
        from PIL import Image  # only for this option
    except ImportError as error:
        problem = "--webeval-report-embed requires Pillow"
        raise SettingsError(f"{problem}; install it with pip install 'pytest-webeval[embed]'") from error
    return Image
