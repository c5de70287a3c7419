"""Which of the requests that do not match comes nearest to the expected one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.results import Assertion, Status

# A failed check looks for the nearest miss among the last so many requests: bounded work, whatever was recorded.
NEAREST_AMONG = 500
_URL = "network_event.url"
Miss = tuple[NetworkEvent, list[Assertion]]


def choose_nearest(misses: Iterable[Miss]) -> Miss | None:
    """The one with the fewest wrong fields; of equals the last, which the agent meant to be final."""
    latest_first = reversed(list(misses))
    return min(latest_first, key=lambda miss: (_is_wrong_place(miss[1]), len(list_failed(miss[1]))), default=None)


def list_failed(assertions: Sequence[Assertion]) -> list[Assertion]:
    """The assertions that do not hold."""
    return [assertion for assertion in assertions if assertion.status is not Status.SUCCESS]


def _is_wrong_place(assertions: Sequence[Assertion]) -> bool:
    return any(assertion.assertion_name.startswith(_URL) for assertion in list_failed(assertions))
