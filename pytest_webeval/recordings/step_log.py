"""Steps that an agent reported to `pytest_webeval.recorder`: `webeval_steps/steps.jsonl`, with screenshots next to it.

It is read for a report, after the verdict, of which it is no part.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any

import msgspec

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recording_state import STEPS, STEPS_FOLDER
from pytest_webeval.recordings.trajectory.step import Screenshot, Step

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
        decoded = _decode(line)
        if decoded is not None:
            index += 1
            steps.append(_build_step(index, number, decoded))
    if not steps:
        raise RecordingError(f"no steps in {inputs.directory / STEPS}")
    return tuple(steps)


def _decode(line: bytes) -> _Line | None:
    if not line.strip() or len(line) > LONGEST_LINE:
        return None
    try:
        return msgspec.json.decode(line, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _build_step(index: int, number: int, line: _Line) -> Step:
    action = _text(line.action) or "unknown"
    return Step(
        index=index,
        action=action,
        raw_action=action,
        tool=None,
        arguments=line.arguments if isinstance(line.arguments, dict) else {},
        thought=_text(line.thought) or "",
        url=_text(line.url),
        timestamp=_text(line.timestamp),
        source=None,
        observation=_text(line.observation),
        line=number,
        before=_find_screenshot(line.screenshot),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _find_screenshot(name: object) -> Screenshot | None:
    match = _PICTURE.fullmatch(name) if isinstance(name, str) else None
    return None if match is None else Screenshot(f"{STEPS_FOLDER}/{match[0]}", int(match[1]))
