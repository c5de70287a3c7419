"""The smallest recording on which two scorers still disagree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from time import monotonic
from typing import Any

from tests.parity.harness.recording import Recording

TRIES, SECONDS = 400, 5.0
# Parts of an entry that a trace may lack; the others would only turn one disagreement into another.
OPTIONAL = {"headers", "cookies", "postData", "content", "queryString", "httpVersion"}


def smallest(recording: Recording, disagrees: Callable[[Recording], bool]) -> Recording:
    """The recording with all left out that can be left out, one thing after the other, within bounds."""
    attempts = _attempts()

    def tried(candidate: Recording) -> bool:
        return next(attempts, None) is not None and disagrees(candidate)

    while found := next(filter(tried, simpler(recording)), None):
        recording = found
    return recording


def _attempts() -> Iterator[int]:
    until = monotonic() + SECONDS
    return takewhile(lambda _: monotonic() < until, range(TRIES))


def simpler(recording: Recording) -> Iterator[Recording]:
    """The recording with one thing less, the biggest things first."""
    if not isinstance(recording.entries, bytes):
        for entries in shorter(recording.entries):
            if entries:
                yield replace(recording, entries=tuple(entries))
    for response in _simpler_response(recording.response):
        yield replace(recording, response=response)
    if not isinstance(recording.entries, bytes):
        for place, entry in enumerate(recording.entries):
            for less in simpler_entry(entry):
                changed = (*recording.entries[:place], less, *recording.entries[place + 1 :])
                yield replace(recording, entries=changed)


def _simpler_response(response: bytes) -> Iterator[bytes]:
    try:
        parsed = json.loads(response)
    except ValueError:
        return
    for less in simpler_value(parsed):
        yield json.dumps(less).encode()


def simpler_entry(entry: Any) -> Iterator[dict[str, Any]]:
    """The entry without an optional part, a header, a cookie or a piece of a text."""
    parts = {side: entry.get(side) for side in ("request", "response")} if isinstance(entry, Mapping) else {}
    for side, part in parts.items():
        if not isinstance(part, Mapping):
            continue
        for name in sorted(OPTIONAL & part.keys()):
            if name != "headers":  # the reference cannot do without the list itself
                yield {**entry, side: {key: value for key, value in part.items() if key != name}}
            for less in simpler_value(part[name]):
                yield {**entry, side: {**part, name: less}}


def simpler_value(value: Any) -> Iterator[Any]:
    """The JSON value with a member, an item or half of a text less, at any depth."""
    if isinstance(value, str):
        yield from shorter(value)
    elif isinstance(value, list):
        yield from shorter(value)
        for place, item in enumerate(value):
            yield from ([*value[:place], less, *value[place + 1 :]] for less in simpler_value(item))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield {key: kept for key, kept in value.items() if key != name}
            yield from ({**value, name: less} for less in simpler_value(member))


def shorter(sequence: Any) -> Iterator[Any]:
    """A text or list without its first half, its last half, or any one element."""
    half = len(sequence) // 2
    if half > 1:
        yield sequence[half:]
        yield sequence[:half]
    if len(sequence) <= 20:
        yield from (sequence[:place] + sequence[place + 1 :] for place in range(len(sequence)))
