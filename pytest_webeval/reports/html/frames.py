"""Frames of screencasts in a report: copies in its data directory, because no page can show a file inside of a zip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.image_size import MOST_HEADER_BYTES, is_jpeg, read_size
from pytest_webeval.reports.html.screenshots import Picture, find_problem
from pytest_webeval.reports.html.timeline import MOST_STEPS
from pytest_webeval.reports.html.writer import data_name
from pytest_webeval.storage import write_bytes_in_place

MOST_FRAMES = 40  # of a run, the last ones
MOST_BYTES = 4 * 2**20  # of all copies of a run
ALL_BYTES = 256 * 2**20  # of all copies of a report, shared by all runs equally
_ADVICE = "choose another directory with --webeval-report"
_NAME = re.compile(r"(task-[0-9a-f]{16})-frame-[0-9]{1,4}\.(?:png|jpg)")
_PNG = b"\x89PNG"
_NOT_COPIED = Picture(problem=f"a report has only the last {MOST_FRAMES} frames of a screencast")
_NO_ROOM = Picture(problem="no room for the frame in the report; open the trace")


class NoFrames(Struct):
    """Copies nothing, and says so."""

    def of(self, shot: Screenshot) -> Picture:  # noqa: ARG002  (the same for all)
        """Why there is no picture."""
        return Picture(problem="frames are copied for tasks that did not succeed; open the trace")


class FrameCopies(Struct):
    """Copies the last frames of one run that fit into a budget of bytes, when the first one is asked for.

    The last frame comes first: it is that of the failure.
    """

    trace: ActionTrace
    directory: Path  # of the report
    name: str  # what the names of the copies begin with
    last: tuple[Screenshot, ...]  # frames that may be copied, in order
    left: int
    _pictures: dict[str, Picture] = field(default_factory=dict)  # a frame is that of several steps

    @classmethod
    def of_run(cls, label: str, trace: ActionTrace, directory: Path, runs: int) -> FrameCopies:
        """Those of a run, which shares the room with so many `runs`."""
        last = tuple({shot.name: shot for shot in _list_frames(trace)}.values())[-MOST_FRAMES:]
        return cls(trace, directory, data_name(label), last, min(MOST_BYTES, ALL_BYTES // max(runs, 1)))

    def of(self, shot: Screenshot) -> Picture:
        """The relative link to a copy."""
        if not self._pictures:
            for number, frame in reversed(list(enumerate(self.last))):
                self._pictures[frame.name] = self._copy(frame, number)
        return self._pictures.get(shot.name, _NOT_COPIED)

    def _copy(self, shot: Screenshot, number: int) -> Picture:
        if self.left <= 0:
            return _NO_ROOM
        try:
            content = self.trace.image(shot)
        except RecordingError:
            return Picture(problem="the frame cannot be read from the trace")
        size = read_size(content[:MOST_HEADER_BYTES]) if is_jpeg(content) or content.startswith(_PNG) else None
        if problem := find_problem(size):
            return Picture(problem=problem)
        if len(content) > self.left:
            return _NO_ROOM
        self.left -= len(content)
        place = f"data/{self.name}-frame-{number}.{'jpg' if is_jpeg(content) else 'png'}"
        write_bytes_in_place(self.directory / place, content, _ADVICE)
        return Picture(place, size)


def _list_frames(trace: ActionTrace) -> Iterator[Screenshot]:
    """The frames of the steps that a page shows, in order."""
    for step in trace.steps[-MOST_STEPS:]:
        yield from (shot for shot in (step.before, step.after) if shot is not None)


def list_frames(directory: Path) -> dict[str, list[str]]:
    """Names of the copies in the data directory of a report, by the name of the task's page."""
    frames: dict[str, list[str]] = {}
    with suppress(OSError):
        for path in directory.iterdir():
            if match := _NAME.fullmatch(path.name):
                frames.setdefault(match[1], []).append(path.name)
    return frames
