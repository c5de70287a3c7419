"""What an agent did, besides its network trace: steps that it reported, or a Playwright trace with a screencast.

Steps are reported to `pytest_webeval.recorder`: `webeval_steps/steps.jsonl`, with screenshots next to it. The trace is
`trace.zip`, or its unpacked folder `trace`. Both are read for a report, after the verdict, of which they are no part.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import RunInputs, try_decode
from pytest_webeval.recordings.recording_state import STEPS, STEPS_FOLDER
from pytest_webeval.recordings.trace_actions import LoggedActions
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, build_step
from pytest_webeval.safety.archives import BROKEN_ZIP, Archive
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import is_directory

ARCHIVE, FOLDER = "trace.zip", "trace"
LARGEST_ARCHIVE = 256 * 2**20  # bytes
LARGEST_LOGS = 64 * 2**20  # bytes of all logs of a trace
LARGEST_FRAME = 256 * 2**10  # bytes
_LOG = re.compile(r"[\w.-]{0,80}trace\.trace", re.ASCII)
_MOST_LOGS = 20
# Where frames are: in a folder of their own since version 10 of the format, among all other resources before.
_SCREENCAST = ("screencast/", "resources/page@")

ReadMember = Callable[[str, int], bytes]


class ActionTrace(Struct, frozen=True):
    """The steps of a trace. `read_member` gives a file of it, of at most so many bytes."""

    steps: tuple[Step, ...]
    read_member: ReadMember
    largest: int = LARGEST_FRAME

    def image(self, shot: Screenshot) -> bytes:
        """A frame of the screencast. Raises `RecordingError`."""
        try:
            return self.read_member(shot.name, self.largest)
        except BROKEN_ZIP as error:
            raise RecordingError(f"cannot read {shot.name} in the trace: {error}; re-record the run") from error


def load_action_trace(inputs: RunInputs) -> ActionTrace | None:
    """The steps that the agent reported, or else those of its trace; None where none can be read, or seen."""
    try:
        if exists_no_follow(inputs.directory / STEPS):
            return ActionTrace(
                load_steps(inputs), lambda name, most: inputs.peek(name, most, "file_size"), LARGEST_SCREENSHOT
            )
        if exists_no_follow(inputs.directory / ARCHIVE):
            archive = Archive(inputs.peek(ARCHIVE, LARGEST_ARCHIVE, "file_size"), inputs.limits)
            names = archive.names
            return _build(names, archive.read) if any(name.startswith(_SCREENCAST) for name in names) else None
        if is_directory(inputs.directory / FOLDER):
            names = list(list_directory(inputs.directory / FOLDER).names)
            return _build(names, lambda name, most: inputs.peek(f"{FOLDER}/{name}", most, "file_size"))
    except (RecordingError, *BROKEN_ZIP):
        return None
    return None


def _build(names: Iterable[str], read: ReadMember) -> ActionTrace | None:
    logs = sorted((name for name in names if _LOG.fullmatch(name)), key=lambda name: (len(name), name))
    actions, left = LoggedActions(), LARGEST_LOGS
    for name in logs[:_MOST_LOGS]:
        content = read(name, left)
        left -= len(content)
        actions.add_log(content)
    return ActionTrace(actions.steps, read) if actions.has_frames else None


MOST_STEPS = 1_000  # of which the last count
LARGEST_SCREENSHOT = 2 * 2**20  # bytes
_LARGEST_LOG = 64 * 2**20  # bytes
LONGEST_LINE = 2**20  # bytes
_PICTURE = re.compile(r"([1-9][0-9]{0,8})\.(?:png|jpg)", re.ASCII)


class _Line(msgspec.Struct, gc=False):
    """The members of a line. Each may have any type."""

    action: Any = None
    arguments: Any = None
    thought: Any = None
    url: Any = None
    observation: Any = None
    timestamp: Any = None
    screenshot: Any = None


def load_steps(inputs: RunInputs) -> tuple[Step, ...]:
    """The last steps, numbered from the first one of the log. Raises `RecordingError`.

    A line that cannot be read is skipped, such as the last one of an agent that was killed.
    """
    lines = inputs.peek(STEPS, _LARGEST_LOG, "file_size").split(b"\n")
    steps: deque[Step] = deque(maxlen=MOST_STEPS)
    index = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or len(line) > LONGEST_LINE or (decoded := try_decode(_LINE, line)) is None:
            continue
        index += 1
        steps.append(_build_step(index, number, decoded))
    if not steps:
        raise RecordingError(f"no steps in {inputs.directory / STEPS}")
    return tuple(steps)


def _build_step(index: int, number: int, line: _Line) -> Step:
    match = _PICTURE.fullmatch(line.screenshot) if isinstance(line.screenshot, str) else None
    return build_step(
        index,
        _text(line.action) or "unknown",
        line.arguments if isinstance(line.arguments, dict) else {},
        thought=_text(line.thought) or "",
        url=_text(line.url),
        timestamp=_text(line.timestamp),
        observation=_text(line.observation),
        line=number,
        before=None if match is None else Screenshot(f"{STEPS_FOLDER}/{match[0]}", int(match[1])),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


_LINE = msgspec.json.Decoder(_Line)
