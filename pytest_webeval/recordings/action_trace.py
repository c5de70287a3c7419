"""What an agent did, besides its network trace: steps that it reported, or a Playwright trace with a screencast.

The trace is `trace.zip`, or its unpacked folder `trace`.

It is read for a report, after the verdict, of which it is no part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recording_state import STEPS
from pytest_webeval.recordings.trace_actions import LoggedActions
from pytest_webeval.recordings.trajectory.step import Screenshot, Step
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
            return _load_reported(inputs)
        if exists_no_follow(inputs.directory / ARCHIVE):
            archive = Archive(inputs.peek(ARCHIVE, LARGEST_ARCHIVE, "file_size"), inputs.limits)
            names = archive.names
            return _build(names, archive.read) if any(name.startswith(_SCREENCAST) for name in names) else None
        if is_directory(inputs.directory / FOLDER):
            return _load_folder(inputs)
    except (RecordingError, *BROKEN_ZIP):
        return None
    return None


def _load_reported(inputs: RunInputs) -> ActionTrace:
    from pytest_webeval.recordings.step_log import (
        LARGEST_SCREENSHOT,  # few runs have such steps
        load_steps,
    )

    return ActionTrace(load_steps(inputs), lambda name, most: inputs.peek(name, most, "file_size"), LARGEST_SCREENSHOT)


def _load_folder(inputs: RunInputs) -> ActionTrace | None:
    def read(name: str, most: int) -> bytes:
        return inputs.peek(f"{FOLDER}/{name}", most, "file_size")

    return _build(list_directory(inputs.directory / FOLDER).names, read)


def _build(names: Iterable[str], read: ReadMember) -> ActionTrace | None:
    """Raises what reading raises."""
    logs = sorted((name for name in names if _LOG.fullmatch(name)), key=lambda name: (len(name), name))
    actions, left = LoggedActions(), LARGEST_LOGS
    for name in logs[:_MOST_LOGS]:
        content = read(name, left)
        left -= len(content)
        actions.add_log(content)
    return ActionTrace(actions.steps, read) if actions.has_frames else None
