"""The parameters of queries and forms in other orders, repeated, and with empty ones between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from tests.parity.harness.choosing import drawn, rank
from tests.parity.harness.drafts import FORM, Body, Draft, Event, form_value
from tests.parity.harness.made_up_forms import MIME, message
from tests.parity.harness.recording import HONEST, MULTIPART, Recording

ORDERED, FORMS, MOST_EVENTS = 2, 5, 3
Pairs = list[tuple[str, str]]

ORDERS: Mapping[str, Callable[[Pairs], Pairs]] = {
    "reversed": lambda pairs: pairs[::-1],
    "sorted": sorted,
    "rotated": lambda pairs: [*pairs[1:], *pairs[:1]],
    "shuffled": lambda pairs: sorted(pairs, key=rank),
    "sorted by value": lambda pairs: sorted(pairs, key=lambda pair: pair[::-1]),
    "all twice": lambda pairs: pairs * 2,
    "each twice": lambda pairs: [pair for pair in pairs for _ in range(2)],
    "all again, reversed": lambda pairs: [*pairs, *pairs[::-1]],
    "first again with x": lambda pairs: [*pairs, (pairs[0][0], f"{pairs[0][1]}x")],
    "first before with x": lambda pairs: [(pairs[0][0], f"{pairs[0][1]}x"), *pairs],
    "first again, empty": lambda pairs: [*pairs, (pairs[0][0], "")],
    "first before, empty": lambda pairs: [(pairs[0][0], ""), *pairs],
    "last again, blank": lambda pairs: [*pairs, (pairs[-1][0], " ")],
    "last before, blank": lambda pairs: [(pairs[-1][0], " "), *pairs],
    "all before, empty": lambda pairs: [*((name, "") for name, _ in pairs), *pairs],
    "all again, empty": lambda pairs: [*pairs, *((name, "") for name, _ in pairs)],
    "others between, empty": lambda pairs: [one for pair in pairs for one in (pair, (f"x_{pair[0]}", ""))],
    "all empty": lambda pairs: [(name, "") for name, _ in pairs],
    "all blank": lambda pairs: [(name, "  ") for name, _ in pairs],
    "none": lambda _: [],
}


def parameter_orders(draft: Draft) -> Iterator[Recording]:
    """Other orders of the query and of the form of each expected event, as a form and as a multipart message."""
    for index in drawn(range(1, len(draft.events)), MOST_EVENTS, draft.task["task_id"], "orders"):
        event = draft.events[index]
        for name, order in drawn(ORDERS.items(), ORDERED, draft.task["task_id"], index, "query orders"):
            yield from _queried(draft, index, name, order)
        if event.post is not None:
            yield from _posted(draft, index, event.post)


def _queried(draft: Draft, index: int, name: str, order: Callable[[Pairs], Pairs]) -> Iterator[Recording]:
    event = draft.events[index]
    base, _, query = event.url.partition("?")
    if pairs := parse_qsl(query, keep_blank_values=True):
        changed = replace(event, url=f"{base}?{urlencode(order(pairs))}")
        yield draft.with_event(index, changed).recording(f"event {index}: parameters {name}")


def _posted(draft: Draft, index: int, body: Body) -> Iterator[Recording]:
    pairs = [(name, form_value(value)) for name, value in body.fields.items() if value is not None]
    if not pairs:
        return
    for name, order in drawn(ORDERS.items(), FORMS, draft.task["task_id"], index, "form orders"):
        fields, event = order(pairs), draft.events[index]
        form = replace(event, post=Body(body.fields, FORM, urlencode(fields)))
        yield draft.with_event(index, form).recording(f"event {index}: form {name}")
        parts = [f'Content-Disposition: form-data; name="{one}"\r\n\r\n{value}' for one, value in fields]
        multipart: Event = replace(event, post=Body(body.fields, MIME, message(*parts)))
        kind = HONEST if all(value.strip() for _, value in fields) else MULTIPART
        yield draft.with_event(index, multipart).recording(f"event {index}: multipart {name}", kind)
