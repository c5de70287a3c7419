"""Traces whose events are lost, repeated, in another order, or followed and interrupted by others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import FETCH, NAVIGATION, Body, Draft, Event
from tests.parity.harness.goldens import expected_event, network_configs
from tests.parity.harness.recording import FORBIDDEN as SPELLING
from tests.parity.harness.recording import HONEST, Recording

Events = tuple[Event, ...]
ORDERED, STRAYS, INTERSPERSED, COUNT_WITHOUT_CHECKS = 4, 5, 3, 1
PLAIN_PAGE = {"accept": "text/html,application/xhtml+xml"}  # as on plain HTTP, where browsers send no sec-fetch-*

# Each takes the events behind the home page.
ORDERS: Mapping[str, Callable[[Events], Events]] = {
    "all lost": lambda _: (),
    "reversed": lambda events: events[::-1],
    "rotated": lambda events: (*events[1:], *events[:1]),
    "all twice": lambda events: events * 2,
    "each twice": lambda events: tuple(event for event in events for _ in range(2)),
    "first again at the end": lambda events: (*events, *events[:1]),
    "last again at the start": lambda events: (*events[-1:], *events),
    "only the first": lambda events: events[:1],
    "only the last": lambda events: events[-1:],
    "a hundred times": lambda events: events * 100,
    "first failed, then done": lambda events: (*(replace(event, status=500) for event in events), *events),
    "done, then failed": lambda events: (*events, *(replace(event, status=422) for event in events)),
    "done, then aborted": lambda events: (*events, *(replace(event, status=-1) for event in events)),
    "done, then without body": lambda events: (*events, *(replace(event, post=None) for event in events)),
    "done, then as GET": lambda events: (*events, *(replace(event, method="GET", post=None) for event in events)),
    "done, then other body": lambda events: (*events, *(replace(event, post=Body({"a": "b"})) for event in events)),
    "done, then with a query": lambda events: (*events, *(replace(event, url=event.url + "?a=b") for event in events)),
    "redirected there": lambda events: tuple(
        step for event in events for step in (replace(event, url=event.url + "/x", status=302), event)
    ),
    "asked first": lambda events: tuple(
        step for event in events for step in (replace(event, method="OPTIONS", post=None, status=204), event)
    ),
}


def _page(path: str, headers: Mapping[str, str] = NAVIGATION, **changes: object) -> Callable[[Event], Event]:
    """An event at a path of the site on which the run began."""
    return lambda home: replace(home, url=home.url.rstrip("/") + path, headers=headers, **changes)


def _as(**changes: str) -> Mapping[str, str]:
    return {**NAVIGATION, **{name.replace("_", "-"): value for name, value in changes.items()}}


def _anonymous(headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in headers.items() if name != "sec-fetch-user"}


# Each makes an event that comes behind all others.
STRAY: Mapping[str, Callable[[Event], Event]] = {
    "page": _page("/stray"),
    "page without user": _page("/stray", _anonymous(NAVIGATION)),
    "plain page": _page("/stray", PLAIN_PAGE),
    "home page": lambda home: home,
    "page in capitals": _page("/stray", {name.title(): value.upper() for name, value in NAVIGATION.items()}),
    "page with user 0": _page("/stray", _as(sec_fetch_user="?0")),
    "page with dest empty": _page("/stray", _as(sec_fetch_dest="empty")),
    "page with mode cors": _page("/stray", _as(sec_fetch_mode="cors")),
    "page that takes anything": _page("/stray", _as(accept="*/*")),
    "page that takes HTML last": _page("/stray", _as(accept="application/xml,text/html")),
    "plain page that takes HTML last": _page("/stray", {"accept": "application/xml,text/html"}),
    "plain page, blank before": _page("/stray", {"accept": " text/html"}),
    "iframe": _page("/frame", _anonymous(_as(sec_fetch_dest="iframe"))),
    "iframe with user": _page("/frame", _as(sec_fetch_dest="iframe")),
    "partial": _page("/partial", {"accept": "text/html, */*; q=0.01", "x-requested-with": "XMLHttpRequest"}),
    "fetched partial": _page("/partial", {**FETCH, "accept": "text/html"}),
    "fetch": _page("/api/x.json", FETCH),
    "no headers": _page("/stray", {}),
    "page by POST": _page("/stray", method="POST", status=302, post=Body({"a": "b"})),
    "page by get": _page("/stray", method="get"),
    "page by HEAD": _page("/stray", method="HEAD"),
    "redirect": _page("/stray", status=302),
    "page not found": _page("/stray", status=404),
    "page from the cache": _page("/stray", status=304),
    "page aborted": _page("/stray", status=-1),
    "page elsewhere": lambda home: replace(home, url="http://elsewhere.test/"),
    "download": _page("/stray.png"),
    "style sheet": _page("/stray.css"),
    "about:blank": lambda home: replace(home, url="about:blank"),
    "data page": lambda home: replace(home, url="data:text/html,x"),
    "blob": lambda home: replace(home, url="blob:http://shop.test:7770/1-2-3"),
    "error page": lambda home: replace(home, url="chrome-error://chromewebdata/"),
    "web socket": lambda home: replace(home, url=home.url.replace("http", "ws"), status=101, headers={}),
    "impossible address": lambda home: replace(home, url="http://[::1/a"),
    "impossible port": lambda home: replace(home, url="http://shop.test:99999999/a"),
    "empty address": lambda home: replace(home, url=""),
    "empty POST address": lambda home: replace(home, url="", method="POST"),
    "path only": lambda home: replace(home, url="/stray"),
    "file": lambda home: replace(home, url="file:///tmp/x.html"),
    "international host": lambda home: replace(home, url="http://bücher.test/ä?ö=ü"),
    "very long address": _page("/" + "x" * 5000),
}
# Each makes an event that is put between all others.
BETWEEN: Mapping[str, Callable[[Event], Event]] = {
    name: _page(path, FETCH)
    for name, path in {
        "scripts": "/static/app.js",
        "versioned scripts": "/static/app.js?v=1",
        "scripts with parameters": "/static/app.js;v=1",
        "scripts in capitals": "/static/APP.JS",
        "maps": "/static/app.js.map",
        "pictures": "/media/x.png",
        "fonts": "/fonts/x.woff2",
        "films": "/media/x.mp4",
        "icons": "/favicon.ico",
        "documents": "/data.json",
        "escaped scripts": "/static/app%2Ejs",
        "beacons": "/collect?id=1&t=2",
    }.items()
} | {
    "data pictures": lambda home: replace(home, url="data:image/png;base64,iVBORw0KGgo=", headers={}),
    "data scripts": lambda home: replace(home, url="data:text/javascript,x.js", headers={}),
    "blobs": lambda home: replace(home, url="blob:http://shop.test:7770/1-2-3.js", headers={}),
    "extensions": lambda home: replace(home, url="chrome-extension://abc/x.html", headers=FETCH),
    "foreign scripts": lambda home: replace(home, url="https://cdn.elsewhere.test/x.js", headers=FETCH),
    "foreign calls": lambda home: replace(home, url="https://api.elsewhere.test/v1", headers=FETCH, method="POST"),
    "home pages": lambda home: home,
}


def event_orders(draft: Draft) -> Iterator[Recording]:
    """The expected events in another number and order."""
    home, *others = draft.events
    if others:
        for index in range(len(others)):
            yield draft.with_event(index + 1).recording(f"event {index} lost")
        for name, order in drawn(ORDERS.items(), ORDERED, draft.task["task_id"], "order"):
            yield replace(draft, events=(home, *order(tuple(others)))).recording(f"events {name}")
    yield replace(draft, events=(*others, home)).recording("home page last")


def stray_events(draft: Draft) -> Iterator[Recording]:
    """The expected events, and one more behind them or between all."""
    home, *others = draft.events
    strays, between = (STRAYS, INTERSPERSED) if others else (COUNT_WITHOUT_CHECKS, COUNT_WITHOUT_CHECKS)
    for name, make in drawn(STRAY.items(), strays, draft.task["task_id"], "stray"):
        yield replace(draft, events=(*draft.events, make(home))).recording(f"then {name}")
    for name, make in drawn(BETWEEN.items(), between, draft.task["task_id"], "between"):
        mixed = (step for event in draft.events for step in (make(home), event))
        yield replace(draft, events=(*mixed, make(home))).recording(f"{name} between")


def forbidden_events(draft: Draft) -> Iterator[Recording]:
    """What must not have happened happens, exactly so or nearly so."""
    for config in network_configs(draft.task):
        if config.get("should_not_exist"):
            event = expected_event(config, draft.task)
            for name, edit in FORBIDDEN.items():
                kind = SPELLING if name == "with a fragment" else HONEST
                yield replace(draft, events=(*draft.events, edit(event))).recording(f"forbidden event {name}", kind)


FORBIDDEN: Mapping[str, Callable[[Event], Event]] = {
    "itself": lambda event: event,
    "aborted": lambda event: replace(event, status=-1),
    "refused": lambda event: replace(event, status=403),
    "without body": lambda event: replace(event, post=None),
    "with a query": lambda event: replace(event, url=event.url + "?a=b"),
    "with a slash": lambda event: replace(event, url=event.url + "/"),
    "with a fragment": lambda event: replace(event, url=event.url + "#top"),
    "in capitals": lambda event: replace(event, url=event.url.upper()),
    "elsewhere": lambda event: replace(event, url=event.url.replace(".test", ".example")),
    "by PUT": lambda event: replace(event, method="PUT"),
    "by post": lambda event: replace(event, method=event.method.lower()),
    "by GET": lambda event: replace(event, method="GET", post=None, headers=NAVIGATION),
    "deeper": lambda event: replace(event, url=event.url + "/x"),
}
