"""Events whose method, status, headers, cookies or answer differ from the expected ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import FETCH, Draft, Event
from tests.parity.harness.recording import Recording

Edit = Callable[[Event], Event]
Edits = Mapping[str, Edit]
METHODS, STATUS, HEADERS, MOST_EVENTS = 1, 2, 2, 3


def edited(draft: Draft, edits: Edits, count: int, about: str) -> Iterator[Recording]:
    """Some of the edits on some of the expected events; on the home page where the task expects none."""
    expected = range(1, len(draft.events))
    indices = drawn(expected, MOST_EVENTS, draft.task["task_id"], about) or [0]
    count = count if expected else 1
    for index in indices:
        event = draft.events[index]
        for name, edit in drawn(edits.items(), count, draft.task["task_id"], index, about):
            changed = edit(event)
            if changed != event or list(changed.headers) != list(event.headers):
                yield draft.with_event(index, changed).recording(f"event {index}: {about} {name}")


METHOD_EDITS: Edits = {
    **{
        method: lambda event, method=method: replace(event, method=method)
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "", "get", "Post", "QUERY")
    },
    "in lower case": lambda event: replace(event, method=event.method.lower()),
    "in title case": lambda event: replace(event, method=event.method.title()),
    "with a blank": lambda event: replace(event, method=event.method + " "),
}
STATUS_EDITS: Edits = {
    **{
        repr(status): lambda event, status=status: replace(event, status=status)
        for status in (200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 400, 401, 403, 404, 422, 500, 502, 0, -1)
    },
    "as text": lambda event: replace(event, status=str(event.status)),
    "as text with blanks": lambda event: replace(event, status=f" {event.status} "),
    "as text with decimals": lambda event: replace(event, status=f"{event.status}.0"),
    "as float": lambda event: replace(event, status=float(event.status)),
    "and a half": lambda event: replace(event, status=event.status + 0.5),
    "true": lambda event: replace(event, status=True),
    "null": lambda event: replace(event, status=None),
    "in a list": lambda event: replace(event, status=[event.status]),
    "in words": lambda event: replace(event, status="OK"),
    "negative": lambda event: replace(event, status=-event.status),
    "huge": lambda event: replace(event, status=10**20),
}
HEADER_EDITS: Edits = {
    "none": lambda event: replace(event, headers={}),
    "names in capitals": lambda event: replace(event, headers={k.upper(): v for k, v in event.headers.items()}),
    "names in title case": lambda event: replace(event, headers={k.title(): v for k, v in event.headers.items()}),
    "values in capitals": lambda event: replace(event, headers={k: v.upper() for k, v in event.headers.items()}),
    "values with blanks": lambda event: replace(event, headers={k: f" {v} " for k, v in event.headers.items()}),
    "values empty": lambda event: replace(event, headers=dict.fromkeys(event.headers, "")),
    "without sec-fetch": lambda event: event.with_headers(
        **dict.fromkeys(("sec_fetch_dest", "sec_fetch_mode", "sec_fetch_site", "sec_fetch_user"))
    ),
    "without user": lambda event: event.with_headers(sec_fetch_user=None),
    "user 0": lambda event: event.with_headers(sec_fetch_user="?0"),
    "without accept": lambda event: event.with_headers(accept=None),
    "any accepted": lambda event: event.with_headers(accept="*/*"),
    "XHTML accepted first": lambda event: event.with_headers(accept="application/xhtml+xml,text/html"),
    "only HTML accepted": lambda event: event.with_headers(accept="text/html"),
    "of a fetch": lambda event: replace(event, headers={**event.headers, **FETCH}),
    "of an iframe": lambda event: event.with_headers(sec_fetch_dest="iframe"),
    "nested navigation": lambda event: event.with_headers(sec_fetch_mode="nested-navigate"),
    "a referer": lambda event: event.with_headers(referer="http://elsewhere.test/"),
    "pseudo headers": lambda event: replace(event, headers={":authority": "x", ":path": "/", **event.headers}),
    "many more": lambda event: replace(event, headers={**event.headers, **{f"x-{n}": str(n) for n in range(40)}}),
    "a redirect_url": lambda event: event.with_headers(redirect_url="http://elsewhere.test/"),
    "other order": lambda event: replace(event, headers=dict(reversed(event.headers.items()))),
}


def requests(draft: Draft) -> Iterator[Recording]:
    """Another method, status or set of headers, event by event."""
    yield from edited(draft, METHOD_EDITS, METHODS, "method")
    yield from edited(draft, STATUS_EDITS, STATUS, "status")
    yield from edited(draft, HEADER_EDITS, HEADERS, "headers")


# What becomes of one text among headers or cookies; None takes it away.
TEXT_EDITS: Mapping[str, Callable[[str], str | None]] = {
    "missing": lambda _: None,
    "empty": lambda _: "",
    "other": lambda _: "http://elsewhere.test/other",
    "in capitals": str.upper,
    "in lower case": str.lower,
    "extended": lambda text: f"{text}x",
    "with a slash": lambda text: f"{text}/",
    "without its slash": lambda text: text.rstrip("/"),
    "with a query": lambda text: f"{text}{'&' if '?' in text else '?'}a=b",
    "with an empty parameter": lambda text: f"{text}{'&' if '?' in text else '?'}a=",
    "without its query": lambda text: text.partition("?")[0],
    "with a fragment": lambda text: f"{text}#top",
    "https": lambda text: text.replace("http:", "https:"),
    "other host": lambda text: text.replace(".test", ".example"),
    "other port": lambda text: text.replace(":8", ":1").replace(":7", ":1"),
    "only the origin": lambda text: "/".join(text.split("/")[:3]) + "/",
    "deeper": lambda text: f"{text.partition('?')[0]}/deeper",
    "blank before": lambda text: f" {text}",
    "double slash": lambda text: text.replace("/-/", "//-/").replace("/f/", "//f/"),
    "first half": lambda text: text[: len(text) // 2],
    "escapes undone": lambda text: text.replace("%5B", "[").replace("%5D", "]").replace("%20", " "),
    "blanks as plus": lambda text: text.replace("%20", "+"),
    "escaped twice": lambda text: text.replace("%", "%25"),
    "and a line break": lambda text: f"{text}\n",
    "malformed": lambda _: "http://[::1/a",
}


def expected_headers(draft: Draft) -> Iterator[Recording]:
    """Each header that a task asks for and each cookie that it expects, wrong in turn."""
    for index, event in enumerate(draft.events):
        for name in {**event.headers}:
            if name not in FETCH and not name.startswith("sec-"):
                yield from _retold(draft, index, "headers", name)
        for name in event.cookies:
            yield from _retold(draft, index, "cookies", name)
            yield from _set_aside(draft, index, name)


def _retold(draft: Draft, index: int, part: str, name: str) -> Iterator[Recording]:
    """The text with that name edited, once its name as well."""
    event, texts = draft.events[index], getattr(draft.events[index], part)
    for about, edit in TEXT_EDITS.items():
        text = edit(texts[name])
        kept = {key: value for key, value in texts.items() if key != name}
        members = kept if text is None else {**kept, name: text}
        if members != texts:
            yield draft.with_event(index, replace(event, **{part: members})).recording(f"event {index}: {name} {about}")
    renamed = {key.swapcase() if key == name else key: value for key, value in texts.items()}
    yield draft.with_event(index, replace(event, **{part: renamed})).recording(f"event {index}: {name} renamed")


def _set_aside(draft: Draft, index: int, name: str) -> Iterator[Recording]:
    """The cookie where the reference does not look."""
    event = draft.events[index]
    moved = replace(event, cookies={}, headers={**event.headers, "cookie": f"{name}={event.cookies[name]}"})
    yield draft.with_event(index, moved).recording(f"event {index}: cookie {name} sent, not received")
    raw = replace(event, cookies={name: event.cookies[name].replace("%20", " ")})
    yield draft.with_event(index, raw).recording(f"event {index}: cookie {name} not escaped")
