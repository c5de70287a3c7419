"""Runs that cheat: patterns, guesses and infinite measures in place of answers, and bodies kept elsewhere."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha1
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Body, Draft, Event
from tests.parity.harness.goldens import response_config
from tests.parity.harness.leaves import Leaf, leaves, replaced
from tests.parity.harness.recording import GUESSES, INFINITE, PATTERN, SIDE_FILE, Recording
from tests.parity.harness.trace_files import lines, zipped

Spelling = Callable[[Any], Any]
PER_RUN, EVENT_PATTERNS, STORED = 2, 2, 1

PATTERNS: Mapping[str, Spelling] = {
    "anything": lambda _: "^.*$",
    "nothing or anything": lambda _: "^$",
    "itself": lambda value: f"^{re.escape(str(value))}$",
    "itself and more": lambda value: f"^{re.escape(str(value))}.*$",
    "one of two": lambda value: f"^({value}|other)$",
    "broken": lambda value: f"^({value}$",
    "anything in capitals": lambda value: f"^{str(value).upper()}$",
    "anything with blanks": lambda _: " ^.*$ ",
}
GUESSED: Mapping[str, Spelling] = {
    "right one first": lambda value: [value, "other"],
    "right one last": lambda value: ["other", "another", value],
    "wrong ones": lambda _: ["other", "another"],
    "twice": lambda value: [value, value],
    "with null": lambda value: [None, value],
    "yes and no": lambda _: [True, False],
    "fifty numbers": lambda _: list(range(50)),
    "in a list of lists": lambda value: [[value, "other"]],
    "with an object": lambda value: [value, {"a": value}],
    "as a list of texts": lambda value: [str(value), f"{value} or other"],
}
INFINITE_SPELLINGS: Mapping[str, Spelling] = {
    "inf km": lambda _: "inf km",
    "-inf km": lambda _: "-inf km",
    "infinity": lambda _: "infinity",
    "inf minutes": lambda _: "inf minutes",
    "nan km": lambda _: "nan km",
    "too large": lambda _: "1e999 km",
    "large": lambda _: "9e307 km",
    "float": lambda _: float("inf"),
    "not a number": lambda _: float("nan"),
    "dollars": lambda _: "$inf",
    "hours": lambda _: "1e400 hours",
}
MEASURES = {"number", "integer", "currency", "duration", "distance", "coordinates"}


def answer_tricks(draft: Draft) -> Iterator[Recording]:
    """Patterns, lists of guesses and infinite measures where a value is expected."""
    data = draft.answer["retrieved_data"]
    found = [] if not data else list(leaves(data, response_config(draft.task)["results_schema"]))
    measures = [leaf for leaf in found if leaf.type_name in MEASURES]
    yield from _tricked(draft, found, PATTERNS, PATTERN)
    yield from _tricked(draft, found, GUESSED, GUESSES)
    yield from _tricked(draft, measures, INFINITE_SPELLINGS, INFINITE)
    for key in drawn(("status", "task_type"), 1, draft.task["task_id"], "pattern"):
        yield replace(draft, answer={**draft.answer, key: "^.*$"}).recording(f"answer {key} a pattern", PATTERN)
    if len(data or ()) > 1:
        yield replace(draft, answer={**draft.answer, "retrieved_data": [data]}).recording("all as guesses", GUESSES)


def _tricked(draft: Draft, found: list[Leaf], spellings: Mapping[str, Spelling], kind: str) -> Iterator[Recording]:
    every = [(leaf, name, spell) for leaf in found for name, spell in spellings.items()]
    for leaf, name, spell in drawn(every, PER_RUN, draft.task["task_id"], kind):
        data = replaced(draft.answer["retrieved_data"], leaf.path, spell(leaf.value))
        changed = replace(draft, answer={**draft.answer, "retrieved_data": data})
        yield changed.recording(f"data{leaf.where} {kind}: {name}", kind)


def _posting(value: str) -> Callable[[Event], Event]:
    def post(event: Event) -> Event:
        if event.post is None:
            return event
        fields = event.post.fields
        for leaf in leaves(event.post.fields, {}):
            fields = replaced(fields, leaf.path, value)
        return replace(event, post=replace(event.post, fields=fields))

    return post


EVENT_TRICKS: Mapping[str, Callable[[Event], Event]] = {
    "address a pattern": lambda event: replace(event, url="^.*$"),
    "address a pattern of the site": lambda event: replace(event, url=f"^{'/'.join(event.url.split('/')[:3])}/.*$"),
    "address itself as pattern": lambda event: replace(event, url=f"^{event.url}$"),
    "query a pattern": lambda event: replace(event, url=re.sub("=[^&#]*", "=^.*$", event.url)),
    "fields patterns": _posting("^.*$"),
    "referer a pattern": lambda event: event.with_headers(referer="^.*$"),
    "cookies patterns": lambda event: replace(event, cookies=dict.fromkeys(event.cookies, "^.*$")),
    "Cookie a pattern": lambda event: event.with_headers(Cookie="^.*$"),
    "content patterns": lambda event: replace(event, content=_all_patterns(event.content)),
}


def _all_patterns(body: Body | None) -> Body | None:
    return body and replace(body, fields=dict.fromkeys(body.fields, "^.*$"))


def event_tricks(draft: Draft) -> Iterator[Recording]:
    """Patterns in what was sent and received."""
    for index in range(1, len(draft.events)):
        changed = [(name, edit(draft.events[index])) for name, edit in EVENT_TRICKS.items()]
        others = [(name, event) for name, event in changed if event != draft.events[index]]
        for name, event in drawn(others, EVENT_PATTERNS, draft.task["task_id"], index, PATTERN):
            yield draft.with_event(index, event).recording(f"event {index}: {name}", PATTERN)


def _encoded(body: Body) -> Body:
    stored = body.stored()
    text = base64.b64encode(stored["text"].encode("utf-8", "surrogatepass")).decode()
    return replace(body, raw={**stored, "text": text, "encoding": "base64"})


def side_files(draft: Draft) -> Iterator[Recording]:
    """Bodies in base64, and bodies kept beside the trace as Playwright does it."""
    if not any(event.post or event.content for event in draft.events):
        return
    encoded = replace(draft, events=tuple(_stored(event, _encoded) for event in draft.events))
    yield encoded.recording("bodies in base64", SIDE_FILE)
    resources: dict[str, bytes] = {}
    for folder in drawn(("", "resources/"), STORED, draft.task["task_id"], "resources"):
        aside = replace(draft, events=tuple(_stored(event, _kept_in(resources, folder)) for event in draft.events))
        content = {"trace.network": "\n".join(lines([event.entry() for event in aside.events])), **resources}
        yield aside.recording("bodies in the zip", SIDE_FILE, entries=zipped(content), trace_name="trace.zip")
    lost = replace(draft, events=tuple(_stored(event, _by_file) for event in draft.events))
    yield lost.recording("bodies in files that are lost", SIDE_FILE)


def _stored(event: Event, store: Callable[[Body], Body]) -> Event:
    return replace(event, post=event.post and store(event.post), content=event.content and store(event.content))


def _kept_in(resources: dict[str, bytes], folder: str) -> Callable[[Body], Body]:
    def keep(body: Body) -> Body:
        content = body.stored()["text"].encode("utf-8", "surrogatepass")
        name = f"{sha1(content, usedforsecurity=False).hexdigest()}.{'json' if 'json' in body.mime else 'dat'}"
        resources[f"resources/{name}"] = content
        return replace(body, raw={"mimeType": body.mime, "_sha1": f"{folder}{name}"})

    return keep


def _by_file(body: Body) -> Body:
    content = json.dumps(body.stored()).encode()
    return replace(
        body, raw={"mimeType": body.mime, "_file": f"{sha1(content, usedforsecurity=False).hexdigest()}.dat"}
    )
