"""Moments as recordings and logs write them."""

from __future__ import annotations

from datetime import UTC
from datetime import datetime

_LONGEST = 64  # characters; no time stamp has as many


def seconds_of(stamp: str | None) -> float | None:
    """The seconds since 1970 of an ISO 8601 time stamp, in UTC where it names no zone; None where it is none."""
    if stamp is None or len(stamp) > _LONGEST:
        return None
    try:
        moment = datetime.fromisoformat(stamp.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
