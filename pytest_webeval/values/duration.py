"""Lengths of time: "2h32m", "1.5 hours", "0:34:00", compared with tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, check_length, parse_error
from pytest_webeval.values.text import normalize_text

_HOURS_AND_MINUTES = re.compile(r"(?<!\d)(\d+):(\d+)\s*hours?")  # no second look at digits from their middle on
_SLACK_SECONDS, _SLACK_SHARE = 180, 0.1


@dataclass(frozen=True, slots=True)
class DurationValue(Value):
    """A duration. `matches` allows three minutes or a tenth of the longer one (spec §5.6)."""

    type_name: ClassVar[str] = "duration"
    tolerance: ClassVar[str] = f"{_SLACK_SECONDS / 60:.0f} minutes, or {_SLACK_SHARE:.0%} of the longer one"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> timedelta:
        """The duration that a text names; a number without a unit names none."""
        if not isinstance(raw, str):
            raise parse_error(raw, "is not a duration; write it as 2h32m")
        check_length(raw, "duration")
        text = normalize_text(raw, context)
        duration = None if _is_number(text) else _parse_duration(_HOURS_AND_MINUTES.sub(r"\1h \2m", text))
        if duration is None:
            raise parse_error(raw, "is not a duration; write it as 2h32m")
        return duration

    @staticmethod
    def is_same(expected: timedelta, actual: timedelta) -> bool:
        """Whether two durations are near enough: in floats, as the reference compares.

        11111 s and 9999.9 s differ by a little more than a tenth.
        """
        seconds = expected.total_seconds(), actual.total_seconds()
        return abs(seconds[0] - seconds[1]) <= max(_SLACK_SECONDS, _SLACK_SHARE * max(seconds))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse_duration(text: str) -> timedelta | None:
    from pytimeparse2 import parse  # type: ignore[import-untyped]  # few answers are durations

    try:
        seconds = parse(text)
        return timedelta(seconds=seconds) if isinstance(seconds, int | float) else None
    except OverflowError:  # a moment more than Python counts, by rounding
        return None
