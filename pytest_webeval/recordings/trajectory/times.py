"""When a run began and ended: `times.json` (`fara_webeval.md` §2.4)."""

from __future__ import annotations

import json
import reprlib

from msgspec import Struct

from pytest_webeval.safety.warning_log import WarningLog

_FILE = "times.json"
_MOST = 1e12  # seconds; a stamp beyond it is invalid, or counts milliseconds
_TOLERANCE = 0.001  # seconds by which a duration may differ from its stamps


class Times(Struct, frozen=True):
    """Unix time stamps of the wall clock and the duration between them, in seconds. None is unknown, which is not 0."""

    start: float | None = None
    end: float | None = None
    duration: float | None = None
    warnings: tuple[str, ...] = ()


def read_times(content: bytes | None) -> Times:
    """The times in the bytes of the file, or none where there is no file (Q33). Never raises."""
    warnings = WarningLog(_FILE)
    fields = None if content is None else _parse_object(content, warnings)
    if fields is None:
        return Times(warnings=warnings.texts)
    start, end, duration = (_read_seconds(fields, key, warnings) for key in ("start_time", "end_time", "duration"))
    if start is not None and end is not None and duration is not None:
        between = end - start
        if abs(duration - between) > _TOLERANCE:
            warnings.add(f"duration is {duration:.3f}, but the timestamps are {between:.3f} apart; duration counts")
    return Times(start, end, duration, warnings.texts)


def _parse_object(content: bytes, warnings: WarningLog) -> dict[str, object] | None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        warnings.add(f"is not valid JSON: {error}; the duration is unknown")
        return None
    if isinstance(document, dict):
        return document
    warnings.add(f"is {reprlib.repr(document):.80}; expected an object with a duration; the duration is unknown")
    return None


def _read_seconds(fields: dict[str, object], key: str, warnings: WarningLog) -> float | None:
    raw = fields.get(key)
    if isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= _MOST:
        return float(raw)
    problem = f"{key} is {reprlib.repr(raw):.80}" if key in fields else f"missing {key}"
    warnings.add(f"{problem}; expected a number of seconds; the value is unknown")
    return None
