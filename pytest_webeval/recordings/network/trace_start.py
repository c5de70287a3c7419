"""When a Playwright trace began, and which requests of its network log are from before.

`tracing.start_chunk` begins a new `trace.trace` and goes on with the `trace.network` of earlier chunks, in all versions
from 1.40 to 1.65. The first line of `trace.trace` has the time by the clock on the wall and by one that only goes
forward. An entry has both as well. The second is Playwright's own clock, the first in an entry is that of the browser.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from pytest_webeval.recordings.network.entry_fields import NOTHING, parse_seconds

LARGEST_START = 2**16  # bytes of the first line
_CLOCKS_DIFFER = 0.05  # seconds by which a browser may note a request before Playwright hears of it


class StartTimes(Struct, frozen=True, gc=False):
    """When something began: in seconds since 1970, and in milliseconds of Playwright's own clock."""

    wall: float | None
    monotonic: float | None

    def is_before(self, start: StartTimes) -> bool:
        """Whether this was earlier for sure."""
        if self.monotonic is not None and start.monotonic is not None:
            return self.monotonic < start.monotonic
        if self.wall is not None and start.wall is not None:
            return self.wall < start.wall - _CLOCKS_DIFFER
        return False


class _Options(Struct, gc=False):
    type: str
    wall: Any = msgspec.field(default=None, name="wallTime")
    monotonic: Any = msgspec.field(default=None, name="monotonicTime")


class _Times(Struct, gc=False):
    started: msgspec.Raw = msgspec.field(default=NOTHING, name="startedDateTime")
    monotonic: Any = msgspec.field(default=None, name="_monotonicTime")


def name_actions(log: str) -> str:
    """The name of the file that says when the trace of a network log began."""
    return f"{log.removesuffix('network')}trace"


def parse_trace_start(beginning: bytes) -> StartTimes | None:
    """When a trace began, by the beginning of its `trace.trace`; None where that does not say so."""
    line, is_whole, _ = beginning.partition(b"\n")
    if not is_whole and len(beginning) >= LARGEST_START:
        return None
    try:
        options = _OPTIONS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if options.type != "context-options":
        return None
    wall = _to_number(options.wall)
    return StartTimes(wall and wall / 1_000, _to_number(options.monotonic) or None)


def read_start_times(entry: msgspec.Raw) -> StartTimes:
    """When a request began, as far as its entry says so."""
    try:
        times = _TIMES.decode(entry)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return StartTimes(None, None)
    return StartTimes(parse_seconds(times.started), _to_number(times.monotonic))


def _to_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_OPTIONS = msgspec.json.Decoder(_Options)
_TIMES = msgspec.json.Decoder(_Times)
