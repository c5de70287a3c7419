"""Entries as recorders write them, of which one member is missing, null or of another type, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tests.parity.harness.choosing import drawn, rank
from tests.parity.harness.drafts import FORM, JSON, NAVIGATION
from tests.parity.harness.leaves import Path, dropped, replaced
from tests.parity.harness.recording import MISSHAPEN, Recording
from tests.parity.harness.synthetic import HOME, answering, entry, pairs, requesting, response, task

FIRST = 150_000
PER_EDIT, BODIES, ONE_ZIP_IN = 14, 4500, 4
PLACE, HERE = "__SHOPPING__/a", f"{HOME}a"
ABSENT = object()
WRONG: tuple[Any, ...] = (ABSENT, None, "", "x", " ", 0, 5, -1, 1.5, True, False, [], ["x"], [None], {}, {"name": "x"})
FULL: Mapping[str, Any] = {
    "startedDateTime": "2026-03-21T10:00:00.000Z",
    "time": 12.5,
    "request": {
        "method": "POST",
        "url": f"{HERE}?q=1",
        "httpVersion": "HTTP/1.1",
        "cookies": [{"name": "c", "value": "d"}],
        "headers": pairs({**NAVIGATION, "referer": f"{HOME}r", "x-kind": "one"}),
        "queryString": [{"name": "q", "value": "1"}],
        "postData": {"mimeType": FORM, "text": "n=1&m=2", "params": [{"name": "n", "value": "1"}]},
        "headersSize": -1,
        "bodySize": 7,
    },
    "response": {
        "status": 200,
        "statusText": "OK",
        "httpVersion": "HTTP/1.1",
        "cookies": [{"name": "m", "value": "added", "path": "/", "httpOnly": True, "expires": None}],
        "headers": pairs({"content-type": JSON}),
        "content": {"size": 8, "mimeType": JSON, "text": '{"a": 1}', "compression": 0},
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": 8,
        "_transferSize": 100,
    },
    "cache": {},
    "timings": {"send": 0, "wait": 1.5, "receive": 1, "ssl": -1},
    "pageref": "page_1",
    "serverIPAddress": "127.0.0.1",
    "connection": "17",
    "_resourceType": "document",
    "_frameref": "frame@1",
    "_fromCache": "memory",
    "_monotonicTime": 1.5,
}
_POSTED = {"url": f"{PLACE}?q=1", "http_method": "POST"}
# What is expected of that entry, and of what kind the task is.
EXPECTED: Mapping[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "nothing more": ("MUTATE", _POSTED, {}),
    "its body": ("MUTATE", {**_POSTED, "post_data": {"n": "1"}}, {}),
    "a null in its body": ("MUTATE", {**_POSTED, "post_data": {"z": None}}, {}),
    "its answer": ("MUTATE", {**_POSTED, "response_content": {"a": 1}}, {}),
    "its cookie": ("MUTATE", {**_POSTED, "response_cookies": {"m": "added"}}, {}),
    "its referer": (
        "MUTATE",
        {**_POSTED, "headers": {"referer": "__SHOPPING__/r"}},
        {},
    ),
    "its header": ("MUTATE", {**_POSTED, "headers": {"x-kind": "one"}}, {}),
    "its absence": ("MUTATE", _POSTED, {"should_not_exist": True}),
    "it last": (
        "MUTATE",
        {**_POSTED, "post_data": {"n": "1"}},
        {"last_event_only": True},
    ),
    "a page": ("NAVIGATE", {"url": PLACE}, {}),
    "another page": ("NAVIGATE", {"url": "__SHOPPING__/b"}, {}),
    "another place": ("MUTATE", {"url": "__SHOPPING__/b", "http_method": "POST"}, {}),
}
# The misshapen entry among others, one of which is as it should be.
PLACES: Mapping[str, Any] = {
    "alone": lambda bad: (bad,),
    "behind the home page": lambda bad: (entry(), bad),
    "before the right one": lambda bad: (entry(), bad, FULL),
    "behind the right one": lambda bad: (entry(), FULL, bad),
    "before a page": lambda bad: (bad, FULL, entry(HERE)),
    "behind another page": lambda bad: (entry(), entry(f"{HOME}b"), bad),
    "twice": lambda bad: (bad, bad),
    "as a static file": lambda bad: (_static(bad), FULL, entry(HERE)),
    "as a GET": lambda bad: (entry(), _got(bad)),
}


def entry_members() -> Iterator[Recording]:
    """Each member of an entry wrong in each way, before several expectations and in several places."""
    combinations = list(product(EXPECTED, PLACES))
    for about, bad in _edits():
        for wanted, place in drawn(combinations, PER_EDIT, about):
            yield _recorded(f"{about}; {place}; expected {wanted}", wanted, PLACES[place](bad))
    bodies = list(product(("post", "content"), MIMES, TEXTS, ENCODINGS, FILES, PLACES))
    for member, mime, text, encoding, file, place in drawn(bodies, BODIES, "bodies"):
        given = {"mimeType": MIMES[mime], "text": TEXTS[text], "encoding": ENCODINGS[encoding], **FILES[file]}
        stored = {name: value for name, value in given.items() if value is not ABSENT}
        path = ("request", "postData") if member == "post" else ("response", "content")
        wanted = drawn(_OF_BODY[member], 1, mime, text, encoding, file, place)[0]
        about = f"{member}: type {mime}, text {text}, encoding {encoding}, file {file}; {place}; expected {wanted}"
        yield _recorded(about, wanted, PLACES[place](replaced(FULL, path, stored)))


_OF_BODY = {
    "post": ("its body", "a null in its body", "it last", "nothing more"),
    "content": ("its answer", "nothing more"),
}
MIMES: Mapping[str, Any] = {
    "form": FORM,
    "JSON": JSON,
    "absent": ABSENT,
    "null": None,
    "empty": "",
    "a number": 5,
    "false": False,
    "a list of JSON": [JSON],
    "an object of JSON": {JSON: 1},
    "an empty list": [],
    "plain": "text/plain",
}
TEXTS: Mapping[str, Any] = {
    "a form": "n=1&m=2",
    "JSON": '{"n": 1, "a": 1}',
    "base64": "eyJuIjogMSwgImEiOiAxfQ==",
    "absent": ABSENT,
    "null": None,
    "empty": "",
    "blank": " ",
    "false": False,
    "true": True,
    "zero": 0,
    "a number": 5,
    "an empty list": [],
    "a list": ["n=1"],
    "an empty object": {},
    "an object": {"n": 1},
}
ENCODINGS: Mapping[str, Any] = {
    "absent": ABSENT,
    "base64": "base64",
    "null": None,
    "a number": 5,
    "an empty list": [],
    "false": False,
    "utf-8": "utf-8",
}
FILES: Mapping[str, Mapping[str, Any]] = {
    "absent": {},
    "null": {"_file": None, "_sha1": None},
    "empty": {"_file": ""},
    "a number": {"_sha1": 5},
    "a list": {"_file": []},
    "lost": {"_file": "lost.dat"},
}


def _edits() -> Iterator[tuple[str, Any]]:
    """Entries with one wrong member each."""
    for path in _paths(FULL):
        for wrong in WRONG:
            where = ".".join(map(str, path))
            if wrong is ABSENT:
                yield f"{where} absent", dropped(FULL, path)
            else:
                yield f"{where} {wrong!r}", replaced(FULL, path, wrong)
    for wrong in (None, "x", 5, [], {}):
        yield f"entry {wrong!r}", wrong


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """All members at any depth; of a list the first and the last item."""
    members = value.items() if isinstance(value, Mapping) else list(enumerate(value)) if isinstance(value, list) else ()
    kept = list(members)
    for name, member in kept if isinstance(value, Mapping) else kept[:1] + kept[1:][-1:]:
        yield (*path, name)
        yield from _paths(member, (*path, name))


def _static(bad: Any) -> Any:
    return _with_request(bad, "url", f"{HOME}static/app.js")


def _got(bad: Any) -> Any:
    """The entry as a page that was asked for, where its own method and body say nothing against it."""
    return _with_request(_with_request(bad, "method", "GET"), "url", HERE)


def _with_request(bad: Any, name: str, value: str) -> Any:
    request = bad.get("request") if isinstance(bad, Mapping) else None
    if not isinstance(request, Mapping) or request.get(name) not in (FULL["request"][name], value):
        return bad
    return {**bad, "request": {**request, name: value}}


def _recorded(about: str, wanted: str, entries: tuple[Any, ...]) -> Recording:
    kind, expected, options = EXPECTED[wanted]
    definition = {
        **task(answering(kind), requesting(expected, **options), sites=("shopping",)),
        "task_id": FIRST + list(EXPECTED).index(wanted),
    }
    name = "network.har" if rank(about) % ONE_ZIP_IN else "trace.zip"
    return Recording(definition, response(kind), entries, about, MISSHAPEN, name)
