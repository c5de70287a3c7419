"""Events whose bodies differ from the expected ones: field by field, and as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.parity.harness.bodies import FORM_KEY
from tests.parity.harness.body_texts import MIME_EDITS, STORED_EDITS, TEXT_EDITS
from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import JSON, Body, Draft, Event, form_value
from tests.parity.harness.leaves import Leaf, dropped, leaves, replaced
from tests.parity.harness.recording import GUESSES, HONEST, MULTIPART, Recording

PER_FIELD, MIMES, STORED, TEXTS, MOST_EVENTS = 2, 2, 1, 3, 2

MISREAD = {"as multipart, quoted boundary", "multipart, plain names"}
FIELD_EDITS: Mapping[str, Callable[[Any], Any]] = {
    "extended": lambda value: f"{value}x",
    "another": lambda _: "another",
    "null": lambda _: None,
    "empty": lambda _: "",
    "zero": lambda _: 0,
    "as text": str,
    "as number": lambda value: _number(value),  # noqa: PLW0108  (defined below)
    "as float": lambda value: float(_number(value)) if isinstance(_number(value), int) else value,
    "as float text": lambda value: f"{value}.0",
    "true": lambda _: True,
    "false": lambda _: False,
    "in capitals": lambda value: str(value).upper(),
    "swapped case": lambda value: str(value).swapcase(),
    "blanks around": lambda value: f"  {value}\t",
    "full stop": lambda value: f"{value}.",
    "quotes": lambda value: f'"{value}"',
    "line break before": lambda value: f"\r\n{value}",
    "no-break blanks": lambda value: str(value).replace(" ", "\u00a0"),
    "dashes": lambda value: str(value).replace("-", "–"),  # noqa: RUF001
    "trade mark": lambda value: f"{value}™",
    "accent": lambda value: f"{value}\u0301",
    "first half": lambda value: str(value)[: len(str(value)) // 2],
    "twice": lambda value: f"{value} {value}",
    "leading zero": lambda value: f"0{value}",
    "one more": lambda value: str(_number(value) + 1) if isinstance(_number(value), int) else value,
    "thousands": lambda value: f"{_number(value):,}" if isinstance(_number(value), int) else value,
    "cents": lambda value: f"{_number(value)}.00" if isinstance(_number(value), int) else value,
    "in a list": lambda value: [value],
    "in an object": lambda value: {"value": value},
    "empty list": lambda _: [],
    "empty object": lambda _: {},
    "as JSON text": json.dumps,
    "as JSON list text": lambda value: json.dumps([value]),
    "escaped": lambda value: str(value).replace(" ", "%20").replace("&", "&amp;"),
    "an address": lambda value: f"http://shop.test:7770/{value}",
    "two addresses": lambda value: f"http://shop.test:7770/x http://git.test:8023/{value}",
    "a placeholder": lambda value: f"__SHOPPING__/{value}",
    "commas": lambda value: str(value).replace(" ", ","),
    "reversed list": lambda value: ",".join(reversed(str(value).split(","))),
}


def posts(draft: Draft) -> Iterator[Recording]:
    """Each expected field wrong in turn, and whole bodies otherwise."""
    for index in _posting(draft):
        event = draft.events[index]
        for leaf in _own_fields(event.post):
            yield from _field_edits(draft, index, leaf)
        yield draft.with_event(index, replace(event, post=_more_fields(event.post))).recording(
            f"event {index}: more fields"
        )
    for index in drawn(_posting(draft), MOST_EVENTS, draft.task["task_id"], "body"):
        yield from _whole_bodies(draft, index)


def _posting(draft: Draft) -> list[int]:
    return [index for index, event in enumerate(draft.events) if event.post is not None]


def _own_fields(body: Body) -> list[Leaf]:
    return [leaf for leaf in leaves(body.fields, {}) if leaf.path[0] not in FORM_KEY]


def _more_fields(body: Body) -> Body:
    return replace(body, fields={"utf8": "✓", "more": "", **dict(reversed(body.fields.items()))})


def _field_edits(draft: Draft, index: int, leaf: Leaf) -> Iterator[Recording]:
    body = draft.events[index].post
    yield _posted(draft, index, dropped(body.fields, leaf.path), f"{leaf.where} lost")
    for name, edit in drawn(FIELD_EDITS.items(), PER_FIELD, draft.task["task_id"], index, leaf.where):
        value = edit(leaf.value)
        if type(value) is not type(leaf.value) or value != leaf.value:
            yield _posted(draft, index, replaced(body.fields, leaf.path, value), f"{leaf.where} {name}")
    if draft.task["task_id"] % 4 == 0:
        guesses = replaced(body.fields, leaf.path, [leaf.value, f"not {leaf.value}"])
        in_json = Body(guesses, JSON)
        event = replace(draft.events[index], post=in_json)
        yield draft.with_event(index, event).recording(f"event {index}: {leaf.where} with a second guess", GUESSES)


def _posted(draft: Draft, index: int, fields: Mapping[str, Any], about: str, kind: str = HONEST) -> Recording:
    event = draft.events[index]
    changed = replace(event, post=replace(event.post, fields=fields))
    return draft.with_event(index, changed).recording(f"event {index}: field {about}", kind)


def _whole_bodies(draft: Draft, index: int) -> Iterator[Recording]:
    event = draft.events[index]
    for edits, count in ((MIME_EDITS, MIMES), (STORED_EDITS, STORED), (TEXT_EDITS, TEXTS)):
        for name, edit in drawn(edits.items(), count, draft.task["task_id"], index, len(edits)):
            changed = replace(event, post=edit(event.post))
            if changed.entry() != event.entry():
                kind = _kind(name, event.post)
                yield draft.with_event(index, changed).recording(f"event {index}: body {name}", kind)


# What becomes of one value of a JSON answer; the others stay.
VALUE_EDITS: Mapping[str, Callable[[Any], Any]] = {
    "as text": str,
    "as float": lambda value: float(value) if isinstance(value, int) else value,
    "as number": lambda value: int(value) if isinstance(value, bool) else value,
    "other": lambda value: value + 1 if isinstance(value, int) else f"{value}x",
    "null": lambda _: None,
    "in a list": lambda value: [value],
    "in capitals": lambda value: value.upper() if isinstance(value, str) else value,
    "blank behind": lambda value: f"{value} " if isinstance(value, str) else value,
    "negated": lambda value: not value,
}


def contents(draft: Draft) -> Iterator[Recording]:
    """Each expected member of an answer wrong in turn, more members, and the whole body otherwise."""
    for index, event in enumerate(draft.events):
        if event.content is None:
            continue
        for leaf in leaves(event.content.fields, {}):
            yield from _member_edits(draft, index, leaf)
        more = {**event.content.fields, "more": [1, {"a": None}]}
        yield _answering(draft, index, Body(more, JSON), "members more")
        for edits, count in ((MIME_EDITS, 4), (STORED_EDITS, 2), (TEXT_EDITS, 4)):
            for name, edit in drawn(edits.items(), count, draft.task["task_id"], index, len(edits), "content"):
                yield _answering(draft, index, edit(event.content), name, _kind(name, event.content))


def _member_edits(draft: Draft, index: int, leaf: Leaf) -> Iterator[Recording]:
    fields = draft.events[index].content.fields
    yield _answering(draft, index, Body(dropped(fields, leaf.path), JSON), f"{leaf.where} lost")
    for name, edit in VALUE_EDITS.items():
        value = edit(leaf.value)
        if type(value) is not type(leaf.value) or value != leaf.value:
            yield _answering(draft, index, Body(replaced(fields, leaf.path, value), JSON), f"{leaf.where} {name}")


def _answering(draft: Draft, index: int, body: Body | None, about: str, kind: str = HONEST) -> Recording:
    changed: Event = replace(draft.events[index], content=body)
    return draft.with_event(index, changed).recording(f"event {index}: content {about}", kind)


def _kind(name: str, body: Body) -> str:
    """The class of a body written otherwise. The reference misreads some multipart forms, and empty fields of any."""
    has_blank = any(not form_value(value).strip() for value in body.fields.values() if value is not None)
    return MULTIPART if name in MISREAD or ("multipart" in name and has_blank) else HONEST


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
