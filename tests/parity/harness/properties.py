"""Strategies for recordings near what a task expects: its own vocabulary, confused types, odd texts, any order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from hypothesis import strategies as st

from pytest_webeval.tasks.expectations import STATUSES, TASK_TYPES
from tests.parity.harness.body_texts import MIME_EDITS, STORED_EDITS, TEXT_EDITS
from tests.parity.harness.drafts import FETCH, NAVIGATION, Body, Draft, Event
from tests.parity.harness.envelopes import ENVELOPES
from tests.parity.harness.event_orders import BETWEEN, STRAY
from tests.parity.harness.goldens import golden_draft
from tests.parity.harness.leaves import leaves
from tests.parity.harness.query_edits import QUERY_EDITS
from tests.parity.harness.recording import DRAWN, Recording
from tests.parity.harness.request_edits import HEADER_EDITS, METHOD_EDITS, STATUS_EDITS
from tests.parity.harness.text_spellings import ANY, TEXT
from tests.parity.harness.trace_files import har
from tests.parity.harness.url_edits import NOTATION_EDITS, PATH_EDITS

Strategy = st.SearchStrategy
MOST_EVENTS = 6
MIMES = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x1", "text/plain")
HEADER_NAMES = ("accept", "Accept", "referer", "Referer", "cookie", "sec-fetch-user", "sec-fetch-dest", "x")
ODD_LETTERS = "aA1 0.,-–'\"$€%°½²ﬁéßİ™\u00a0\u200b\u2028\t\n/\\?&=#+_@^*()[]{}🤖北"  # noqa: RUF001


def recordings(task: Mapping[str, Any]) -> Strategy[Recording]:
    """Recordings of runs of the task."""
    return _recordings_of(json.dumps(task, default=list))


@lru_cache(maxsize=1000)  # building strategies takes longer than drawing from them
def _recordings_of(definition: str) -> Strategy[Recording]:
    draft = golden_draft(json.loads(definition))
    words = vocabulary(draft)
    events = st.one_of(as_expected(draft, words), st.lists(st.sampled_from(draft.events), max_size=MOST_EVENTS))
    return st.builds(partial(_recorded, draft), answers(draft, words), events, st.sampled_from(("har", "har", "zip")))


def _recorded(draft: Draft, answer: Any, events: Sequence[Event], suffix: str) -> Recording:
    entries = tuple(event.entry() for event in events)
    response = (
        answer if isinstance(answer, bytes) else json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    )
    recording = Recording(draft.task, response, entries, "drawn", DRAWN)
    if suffix == "zip":
        return replace(recording, trace_name="trace.zip")
    # A HAR without entries must be written as one: that the reference cannot read it is part of the comparison.
    return recording if entries else replace(recording, entries=har(entries).encode())


def vocabulary(draft: Draft) -> list[Any]:
    """What the task's expected answer and events are made of: values, addresses, words of them."""
    parts = [draft.answer, *(event.entry() for event in draft.events)]
    values = [leaf.value for part in parts for leaf in leaves(part, {})]
    words = [word for value in values if isinstance(value, str) for word in value.split()[:4]]
    return list({json.dumps(value): value for value in (*values, *words)}.values())


def scalars(words: Sequence[Any]) -> Strategy[Any]:
    """Values of the vocabulary, numbers, and texts of letters that are read in more ways than one."""
    numbers = st.one_of(st.integers(-10, 10_000), st.floats(allow_nan=False, allow_infinity=False, width=32))
    texts = st.text(st.sampled_from(ODD_LETTERS), max_size=8)
    return st.one_of(st.sampled_from(words), numbers, texts, st.none(), st.booleans())


def anything(words: Sequence[Any]) -> Strategy[Any]:
    """Any small JSON value."""
    keys = st.text(st.sampled_from("abc_ "), max_size=3)
    return st.recursive(
        scalars(words),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=6,
    )


def near(value: Any, words: Sequence[Any]) -> Strategy[Any]:
    """The value, now and then with something about it changed."""
    if isinstance(value, list):
        return st.one_of(_near_items(value, words), st.permutations(value), _seldom(value, anything(words)))
    if isinstance(value, Mapping):
        members = {name: near(member, words) for name, member in value.items()}
        return st.one_of(st.fixed_dictionaries(members), st.fixed_dictionaries({}, optional=members))
    edits = [*ANY.values(), *(TEXT.values() if isinstance(value, str) else ())]
    confused = st.sampled_from(edits).map(lambda edit: edit(value))
    return _seldom(value, st.one_of(confused, confused, scalars(words)))


def _near_items(items: Sequence[Any], words: Sequence[Any]) -> Strategy[list[Any]]:
    return st.tuples(*(near(item, words) for item in items)).map(list)


def _seldom(value: Any, other: Strategy[Any]) -> Strategy[Any]:
    """The value three times of four."""
    return st.sampled_from((0, 0, 0, 1)).flatmap(lambda odd: other if odd else st.just(value))


def answers(draft: Draft, words: Sequence[Any]) -> Strategy[Any]:
    """Responses: mostly the expected one with other data, then with another envelope, seldom anything."""
    envelope = st.sampled_from([*ENVELOPES.values()]).map(lambda edit: edit(draft.answer))
    said = st.fixed_dictionaries(
        {
            "task_type": _seldom(draft.answer["task_type"], st.sampled_from(TASK_TYPES)),
            "status": _seldom(draft.answer["status"], st.sampled_from(STATUSES)),
            "retrieved_data": near(draft.answer["retrieved_data"], words),
        },
        optional={"error_details": scalars(words), "note": scalars(words)},
    )
    junk = st.one_of(anything(words), st.binary(max_size=12))
    # Not `one_of`, which draws from the parts of its parts with equal chances.
    return st.sampled_from((said, said, said, said, said, envelope, junk)).flatmap(lambda chosen: chosen)


def as_expected(draft: Draft, words: Sequence[Any]) -> Strategy[list[Event]]:
    """The expected events, each now and then changed, in some order, with others among them."""
    home, *expected = draft.events
    strays = st.sampled_from([*STRAY.values(), *BETWEEN.values()]).map(lambda make: make(home))
    changed = st.tuples(*(events(event, words) for event in expected)).map(list)
    mixed = st.tuples(changed, st.lists(strays, max_size=2)).map(lambda both: [home, *both[0], *both[1]])
    return st.one_of(mixed, mixed, mixed.flatmap(st.permutations))


def events(event: Event, words: Sequence[Any]) -> Strategy[Event]:
    """The event, with none, one or two of its parts changed."""
    edits = [*METHOD_EDITS.values(), *STATUS_EDITS.values(), *HEADER_EDITS.values()]
    whole = st.sampled_from(edits).map(lambda edit: edit(event))
    parts = st.builds(
        partial(replace, event),
        url=_seldom(event.url, urls(event.url, words)),
        headers=_seldom(event.headers, headers(event.headers, words)),
        post=_seldom(event.post, bodies(event.post, words)),
        content=_seldom(event.content, bodies(event.content, words)),
        cookies=near(event.cookies, words).map(_as_texts),
    )
    return st.one_of(st.just(event), parts, parts, whole)


def urls(url: str, words: Sequence[Any]) -> Strategy[str]:
    """The address with its path, query or notation changed, or with words at its end."""
    edits = [*PATH_EDITS.values(), *QUERY_EDITS.values(), *NOTATION_EDITS.values()]
    twice = st.lists(st.sampled_from(edits), min_size=1, max_size=2)
    behind = st.tuples(st.sampled_from(("/", "?q=", "&x=", "#")), scalars(words).map(str)).map("".join)
    return st.one_of(twice.map(lambda chosen: _edited(url, chosen)), behind.map(lambda tail: url + tail))


def _edited(url: str, edits: Sequence[Any]) -> str:
    for edit in edits:
        if url.startswith("http") and "[" not in url:  # the edits take addresses apart
            url = edit(url)
    return url


def headers(expected: Mapping[str, str], words: Sequence[Any]) -> Strategy[Mapping[str, str]]:
    """Headers of a page or a fetch, with those that are expected, some of them changed."""
    names = st.sampled_from(
        ("accept", "Accept", "referer", "Referer", "cookie", "sec-fetch-user", "sec-fetch-dest", "x")
    )
    more = st.dictionaries(names, scalars(words).map(str), max_size=3)
    base = st.sampled_from((expected, NAVIGATION, FETCH, {}))
    return st.tuples(base, more).map(lambda both: {**both[0], **both[1]})


def bodies(body: Body | None, words: Sequence[Any]) -> Strategy[Body | None]:
    """The body with other values, members, MIME type or notation; one made of words where none is expected."""
    if body is None:
        fields = st.dictionaries(st.sampled_from(("a", "form_key", "x[y]")), scalars(words), max_size=3)
        return st.one_of(st.none(), st.builds(Body, fields, st.sampled_from(MIMES)))
    edits = [*MIME_EDITS.values(), *STORED_EDITS.values(), *TEXT_EDITS.values()]
    refilled = near(body.fields, words).map(lambda fields: replace(body, fields=fields))
    rewritten = st.sampled_from(edits).map(lambda edit: edit(body))
    return st.one_of(refilled, refilled, st.builds(Body, near(body.fields, words), st.sampled_from(MIMES)), rewritten)


def _as_texts(cookies: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in cookies.items()}
