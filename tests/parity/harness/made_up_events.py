"""Tasks whose network-event evaluators use options and notations that the data set rarely or never uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.parity.harness.drafts import Body, Draft, Event
from tests.parity.harness.made_up_addresses import BASE64, BROKEN_PATTERNS, PATHS, QUERIES, QUERY_SCHEMAS
from tests.parity.harness.made_up_requests import ANSWERS, COOKIES, HEADERS, POSTS, SEQUENCES
from tests.parity.harness.patterns import is_pattern
from tests.parity.harness.recording import GUESSES, HONEST, PATH_TRICK, PATTERN, PLACEHOLDER, SITE_PATTERN, Recording

GRIDS = (PATHS, QUERIES, BASE64, QUERY_SCHEMAS, SEQUENCES, HEADERS, COOKIES, POSTS, ANSWERS, BROKEN_PATTERNS)
FIRST, APART = 110_000, 1000


def made_up_events() -> Iterator[Recording]:
    """Every expectation against runs of its grid."""
    for place, grid in enumerate(GRIDS):
        for draft, about in grid.drafts(FIRST + APART * place):
            yield draft.recording(about, _kind(draft))


def _kind(draft: Draft) -> str:
    """The class of a run, by what its last event holds."""
    *_, last = draft.events
    marks: Mapping[str, Callable[[Event], bool]] = {
        PATH_TRICK: lambda event: any(mark in event.url.lower() for mark in ("/./", "/../", "%2f", "%252f")),
        SITE_PATTERN: lambda event: "shopxtest" in event.url,
        PLACEHOLDER: lambda event: event.url.startswith("__"),
        PATTERN: lambda event: any(map(is_pattern, event.cookies.values())) or _holds(event.post, is_pattern),
        GUESSES: lambda event: _holds(event.post, lambda value: isinstance(value, list) and len(value) > 1),
    }
    return next((kind for kind, applies in marks.items() if applies(last)), HONEST)


def _holds(body: Body | None, is_so: Callable[[Any], bool]) -> bool:
    """Whether a value at any depth of the body is so."""

    def found(value: Any) -> bool:
        members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        return is_so(value) or any(map(found, members))

    return body is not None and found(body.fields)
