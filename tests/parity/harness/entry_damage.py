"""HAR entries of which something is missing or has a type that no recorder writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.parity.harness.choosing import drawn, rank
from tests.parity.harness.drafts import Draft
from tests.parity.harness.leaves import Path, dropped, replaced
from tests.parity.harness.recording import DAMAGED, HONEST, MISSHAPEN, Recording

COUNT = 3
REQUEST, RESPONSE = ("request",), ("response",)


def _lost(*path: str | int) -> Callable[[Any], Any]:
    return lambda entry: dropped(entry, path)


def _set(path: Path, value: Any) -> Callable[[Any], Any]:
    def set_on(entry: Any) -> Any:
        return replaced(_with_place(entry, path), path, value)

    return set_on


def _with_place(entry: Any, path: Path) -> Any:
    """The entry with something at the place that is to be replaced."""
    holder, last = path[:-1], path[-1]
    members = entry
    for step in holder:
        members = members[step]
    return replaced(entry, holder, {**members, last: None}) if isinstance(members, dict) else entry


def _headers(*pairs: Any) -> Callable[[Any], Any]:
    """Headers behind those that are there."""
    return lambda entry: replaced(entry, ("request", "headers"), [*entry["request"]["headers"], *pairs])


def _cookies(*pairs: Any) -> Callable[[Any], Any]:
    return lambda entry: replaced(entry, ("response", "cookies"), [*entry["response"]["cookies"], *pairs])


DAMAGE: Mapping[str, Callable[[Any], Any]] = {
    "empty": lambda _: {},
    "null": lambda _: None,
    "a text": lambda _: "GET /",
    "a list": lambda entry: [entry],
    "without request": _lost("request"),
    "request null": _set(REQUEST, None),
    "request empty": _set(REQUEST, {}),
    "request a list": _set(REQUEST, []),
    "without method": _lost("request", "method"),
    "method null": _set(("request", "method"), None),
    "method a number": _set(("request", "method"), 5),
    "without url": _lost("request", "url"),
    "url null": _set(("request", "url"), None),
    "url a number": _set(("request", "url"), 5),
    "url a list": _set(("request", "url"), ["http://shop.test:7770/"]),
    "without headers": _lost("request", "headers"),
    "headers null": _set(("request", "headers"), None),
    "headers an object": _set(("request", "headers"), {"accept": "text/html"}),
    "headers a text": _set(("request", "headers"), "accept: text/html"),
    "header without value": _headers({"name": "x"}),
    "header without name": _headers({"value": "x"}),
    "header value null": _headers({"name": "x", "value": None}),
    "header value a number": _headers({"name": "x", "value": 5}),
    "header name null": _headers({"name": None, "value": "x"}),
    "header null": _headers(None),
    "header a text": _headers("x: y"),
    "header empty": _headers({}),
    "accept again, empty": _headers({"name": "accept", "value": ""}),
    "Accept again": _headers({"name": "Accept", "value": "text/html"}),
    "accept again, anything": _headers({"name": "accept", "value": "*/*"}),
    "header with blanks in its name": _headers({"name": " accept ", "value": "*/*"}),
    "header with a comment": _headers({"name": "x", "value": "y", "comment": None}),
    "referer twice": _headers(
        {"name": "referer", "value": "http://a.test/"}, {"name": "Referer", "value": "http://b.test/"}
    ),
    "without response": _lost("response"),
    "response null": _set(RESPONSE, None),
    "response empty": _set(RESPONSE, {}),
    "without status": _lost("response", "status"),
    "status null": _set(("response", "status"), None),
    "status empty": _set(("response", "status"), ""),
    "status an object": _set(("response", "status"), {}),
    "status a list": _set(("response", "status"), [200]),
    "status too large a float": _set(("response", "status"), 1e300),
    "without response cookies": _lost("response", "cookies"),
    "response cookies null": _set(("response", "cookies"), None),
    "response cookies an object": _set(("response", "cookies"), {"a": "b"}),
    "cookie without value": _cookies({"name": "x"}),
    "cookie without name": _cookies({"value": "x"}),
    "cookie value null": _cookies({"name": "x", "value": None}),
    "cookie value a number": _cookies({"name": "x", "value": 5}),
    "cookie null": _cookies(None),
    "cookie with attributes": _cookies({"name": "x", "value": "y", "path": "/", "httpOnly": True, "expires": None}),
    "without response headers": _lost("response", "headers"),
    "response headers null": _set(("response", "headers"), None),
    "without content": _lost("response", "content"),
    "content null": _set(("response", "content"), None),
    "content a text": _set(("response", "content"), "x"),
    "content text a number": _set(("response", "content"), {"mimeType": "application/json", "text": 5}),
    "content type null": _set(("response", "content"), {"mimeType": None, "text": "x"}),
    "content type a number": _set(("response", "content"), {"mimeType": 5, "text": "x"}),
    "postData null": _set(("request", "postData"), None),
    "postData empty": _set(("request", "postData"), {}),
    "postData a text": _set(("request", "postData"), "a=b"),
    "postData a list": _set(("request", "postData"), []),
    "postData type null": _set(("request", "postData"), {"mimeType": None, "text": "a=b"}),
    "postData text null": _set(
        ("request", "postData"), {"mimeType": "application/x-www-form-urlencoded", "text": None}
    ),
    "redirectURL": _set(("response", "redirectURL"), "http://elsewhere.test/"),
    "queryString null": _set(("request", "queryString"), None),
    "request cookies null": _set(("request", "cookies"), None),
    "members more": lambda entry: {**entry, "_frameref": "page@1", "_monotonicTime": 1.5, "serverIPAddress": None},
    "timings null": lambda entry: {**entry, "timings": None, "cache": None, "time": None},
    "resource type": lambda entry: {**entry, "_resourceType": "document"},
}
PASSED_OVER = {"header value null", "request null"}  # by all rules but the reference's


def damaged_entries(draft: Draft) -> Iterator[Recording]:
    """Something wrong with one entry: an expected one, the home page, or one that nobody asks for."""
    entries = [event.entry() for event in draft.events]
    asset = replaced(entries[0], ("request", "url"), "http://shop.test:7770/static/app.js")
    places = {"asset before": 0, "page before": 0, "entry": -1, "last again": len(entries)}
    for name, damage in drawn(DAMAGE.items(), COUNT, draft.task["task_id"], "damage"):
        where = drawn(places, 1, draft.task["task_id"], name, "place")[0]
        if where == "entry":
            index = rank(draft.task["task_id"], name) % len(entries)
            changed = [*entries[:index], damage(entries[index]), *entries[index + 1 :]]
        else:
            source = asset if where == "asset before" else entries[0 if where == "page before" else -1]
            changed = [*entries[: places[where]], damage(source), *entries[places[where] :]]
        alone = DAMAGED if where == "entry" and len(entries) == 1 else HONEST
        kind = MISSHAPEN if name in PASSED_OVER else alone
        yield draft.recording(f"{where}: {name}", kind, entries=tuple(changed))
