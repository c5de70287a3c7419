"""Lengths of time: "2h32m", "1.5 hours", "0:34:00", compared with tolerance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from pytest_webeval.values.base import Reading
from pytest_webeval.values.base import Value
from pytest_webeval.values.refusal import refuse_overlong
from pytest_webeval.values.refusal import unreadable
from pytest_webeval.values.text import prepared

_HOURS_AND_MINUTES = re.compile(r"(\d{1,6}):(\d{1,2})\s*(?:hours?|hrs?|h)")
_SLACK_SECONDS, _SLACK_SHARE = 180, 0.1


@dataclass(frozen=True, slots=True)
class DurationValue(Value):
    """A duration in seconds. `matches` allows three minutes or a tenth of the longer one (spec §5.6)."""

    type_name: ClassVar[str] = "duration"

    @classmethod
    def canonical(cls, raw: object, reading: Reading) -> float:
        """Seconds. Raises `ValueUnreadable` for bare numbers and anything but text."""
        if not isinstance(raw, str):
            raise unreadable(raw, "is not a duration; write it as 2h32m")
        refuse_overlong(raw, "duration")
        text = prepared(raw, reading)
        seconds = None if text.replace(".", "", 1).isdigit() else _seconds(text)
        if seconds is None:
            raise unreadable(raw, "is not a duration; write it as 2h32m")
        return seconds

    def matches(self, actual: Value) -> bool:
        """Whether any two of the alternatives are near enough."""
        if not isinstance(actual, DurationValue):
            return False
        return any(_near(one, other) for one in self.alternatives for other in actual.alternatives)

    def to_json(self) -> str:
        """The duration as hours, minutes and seconds."""
        return str(timedelta(seconds=self.alternatives[0]))


def _seconds(text: str) -> float | None:
    if clock := _HOURS_AND_MINUTES.fullmatch(text):
        return float(int(clock.group(1)) * 3600 + int(clock.group(2)) * 60)
    from pytimeparse2 import parse  # type: ignore[import-untyped]  # few answers are durations

    found = parse(text)
    return float(found) if isinstance(found, int | float) else None


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= max(_SLACK_SECONDS, _SLACK_SHARE * max(one, other))
