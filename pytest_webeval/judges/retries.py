"""How long to wait before a request is sent again: as the server says, otherwise longer each time."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
_FIRST_WAIT = 0.5
_SPREAD = 0.5  # share by which waits differ, so that requests that failed together are not sent together again
RETRIED_STATUSES = frozenset({408, 409, 429})


def is_retried(status: int) -> bool:
    """Whether a request with that status may succeed later."""
    return status in RETRIED_STATUSES or status >= 500


def find_wait(attempt: int, key: str, headers: Mapping[str, str]) -> float:
    """Seconds to wait after a failed attempt, the first of which is 0. It depends on nothing that is random.

    `headers` are those of the response, by lower-case names; `key` is the question's.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _parse_seconds(headers.get(name), unit)
        if seconds is not None:
            return min(max(seconds, 0.0), LONGEST_WAIT)
    share = int(key[:4], 16) / 0xFFFF
    return min(_FIRST_WAIT * 2.0 ** min(attempt, 10) * (1 + _SPREAD * share), LONGEST_WAIT)


def _parse_seconds(text: str | None, unit: float) -> float | None:
    """A number, or the time until a date."""
    if text is None:
        return None
    try:
        seconds = float(text) * unit
    except ValueError:
        return _parse_date(text)
    return None if math.isnan(seconds) else seconds


def _parse_date(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
