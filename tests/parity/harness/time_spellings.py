"""How people and programs write days and durations."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from tests.parity.harness.number_spellings import in_words
from tests.parity.harness.text_spellings import Spellings

_DAY_NOTATIONS = ("%Y-%m-%d", "%B %d, %Y", "%B %d %Y", "%m/%d/%Y", "%d %B %Y")
_ONE_DAY = dt.timedelta(1)

DATE: Spellings = {
    "ISO": lambda day: day.isoformat(),
    "ISO, no dashes": lambda day: f"{day:%Y%m%d}",
    "number": lambda day: int(f"{day:%Y%m%d}"),
    "ISO with time": lambda day: f"{day}T23:59:59Z",
    "with time": lambda day: f"{day:%m/%d/%Y} 12:01:13 PM",
    "with zone": lambda day: f"{day:%B %d, %Y} 10:00 UTC",
    "US": lambda day: f"{day:%m/%d/%Y}",
    "US, no zeros": lambda day: f"{day.month}/{day.day}/{day.year}",
    "US, short year": lambda day: f"{day:%m/%d/%y}",
    "European": lambda day: f"{day:%d/%m/%Y}",
    "German": lambda day: f"{day:%d.%m.%Y}",
    "slashes, year first": lambda day: f"{day:%Y/%m/%d}",
    "dashes, year last": lambda day: f"{day:%m-%d-%Y}",
    "month in words": lambda day: f"{day:%B %d, %Y}",
    "short month": lambda day: f"{day:%b} {day.day}, {day.year}",
    "no blank": lambda day: f"{day:%b} {day.day},{day.year}",
    "day first": lambda day: f"{day.day} {day:%B %Y}",
    "short month, stop": lambda day: f"{day.day} {day:%b}. {day.year}",
    "dashed short month": lambda day: f"{day:%d-%b-%Y}",
    "ordinal": lambda day: f"{day:%B} {_ordinal(day.day)}, {day.year}",
    "ordinal of": lambda day: f"{_ordinal(day.day)} of {day:%B %Y}",
    "the ordinal": lambda day: f"the {_ordinal(day.day)} of {day:%B}, {day.year}",
    "weekday": lambda day: f"{day:%A, %B %d, %Y}",
    "wrong weekday": lambda day: f"{day + _ONE_DAY:%A}, {day:%B %d, %Y}",
    "capitals": lambda day: f"{day:%B %d, %Y}".upper(),
    "next day": lambda day: (day + _ONE_DAY).isoformat(),
    "next month": lambda day: (day + 31 * _ONE_DAY).isoformat(),
    "next year": lambda day: f"{day:%B %d}, {day.year + 1}",
    "month and year": lambda day: f"{day:%B %Y}",
    "month and day": lambda day: f"{day:%B %d}",
    "year": lambda day: str(day.year),
    "two days": lambda day: f"{day} - {day + 2 * _ONE_DAY}",
    "day, full stop": lambda day: f"{day:%B %d, %Y}.",
    "on": lambda day: f"on {day:%B %d, %Y}",
    "HTTP": lambda day: f"{day:%a, %d %b %Y} 00:00:00 GMT",
    "time stamp": lambda day: (day - dt.date(1970, 1, 1)) // dt.timedelta(seconds=1),
    "en dashes": lambda day: day.isoformat().replace("-", "–"),  # noqa: RUF001
}
DURATION: Spellings = {
    "minutes": lambda s: f"{s // 60} minutes",
    "min": lambda s: f"{s // 60} min",
    "mins, no blank": lambda s: f"{s // 60}mins",
    "m": lambda s: f"{s // 60}m",
    "minutes, full stop": lambda s: f"{s // 60} minutes.",
    "about": lambda s: f"about {s // 60} minutes",
    "seconds": lambda s: f"{s} s",
    "seconds in words": lambda s: f"{s} seconds",
    "bare minutes": lambda s: s // 60,
    "bare minutes as text": lambda s: str(s // 60),
    "hours and minutes": lambda s: f"{s // 3600}h {s // 60 % 60}m",
    "hr and min": lambda s: f"{s // 3600} hr {s // 60 % 60} min",
    "hours, minutes": lambda s: f"{s // 3600} hours, {s // 60 % 60} minutes",
    "hours and minutes in words": lambda s: f"{s // 3600} hours and {s // 60 % 60} minutes",
    "capitals": lambda s: f"{s // 3600} HOURS {s // 60 % 60} MIN",
    "clock": lambda s: f"{s // 3600}:{s // 60 % 60:02}",
    "clock with seconds": lambda s: f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}",
    "clock, hours": lambda s: f"{s // 3600}:{s // 60 % 60:02} hours",
    "clock, hour": lambda s: f"{s // 3600}:{s // 60 % 60:02} hour",
    "decimal hours": lambda s: f"{s / 3600:.2f} hours",
    "decimal minutes": lambda s: f"{s / 60:.1f} min",
    "days": lambda s: f"{s / 86400:.3f} days",
    "ISO": lambda s: f"PT{s // 3600}H{s // 60 % 60}M",
    "three minutes more": lambda s: f"{s + 180} s",
    "181 seconds more": lambda s: f"{s + 181} s",
    "three minutes less": lambda s: f"{max(s - 180, 0)} s",
    "ten percent more": lambda s: f"{s * 10 / 9:.0f} s",
    "twelve percent more": lambda s: f"{s * 1.12:.0f} s",
    "twice as long": lambda s: f"{s // 30} min",
    "negative": lambda s: f"-{s // 60} min",
    "minutes in words": lambda s: f"{in_words(s // 60)} minutes",
    "no-break blank": lambda s: f"{s // 60}\u00a0min",
    "range": lambda s: f"{s // 60}-{s // 60 + 5} min",
}


def day_of(text: Any) -> dt.date | None:
    """The day that a task's text names, if it is one."""
    for notation in _DAY_NOTATIONS:
        try:
            return dt.datetime.strptime(str(text), notation).replace(tzinfo=dt.UTC).date()
        except ValueError:
            continue
    return None


def seconds_of(text: Any) -> int | None:
    """The seconds in a task's duration."""
    if clock := re.fullmatch(r"(\d+):(\d+):(\d+)", str(text)):
        hours, minutes, seconds = map(int, clock.groups())
        return hours * 3600 + minutes * 60 + seconds
    found = {unit: int(number) for number, unit in re.findall(r"(\d+)\s*([hms])", str(text))}
    return found.get("h", 0) * 3600 + found.get("m", 0) * 60 + found.get("s", 0) if found else None


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
