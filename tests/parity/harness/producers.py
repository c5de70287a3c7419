"""The same events as other programs export them, small entries of our own in the shape that each of them writes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import FORM, Body, Draft, Event
from tests.parity.harness.recording import HONEST, SIDE_FILE, Recording

WITHOUT_CHECKS = 3  # producers for a task that no network evaluator looks at
STARTED = "2026-03-21T10:00:00.000Z"
TIMINGS = {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 12, "receive": 1}
Entry = dict[str, Any]
Members = Mapping[str, Any]


def _named(members: Mapping[str, str], **more: Any) -> list[Entry]:
    return [{"name": name, "value": value, **more} for name, value in members.items()]


def _query(event: Event) -> list[Entry]:
    return [{"name": name, "value": value} for name, value in parse_qsl(urlsplit(event.url).query)]


def _params(body: Body) -> list[Entry]:
    """A form's fields as HAR lists them; of any other body none."""
    stored = body.stored()
    fields = parse_qsl(stored["text"], keep_blank_values=True) if stored["mimeType"].startswith(FORM) else ()
    return [{"name": name, "value": value} for name, value in fields]


def _entry(event: Event, post: Members | None, content: Members, **more: Any) -> Entry:
    """The event with bodies as a producer keeps them; `request` and `response` in `more` go into these two."""
    posted = {} if post is None else {"postData": post}
    request = {
        "method": event.method,
        "url": event.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _named(event.headers),
        "queryString": _query(event),
        "headersSize": -1,
        "bodySize": -1,
        **posted,
        **more.pop("request", {}),
    }
    response = {
        "status": event.status,
        "statusText": "OK",
        "httpVersion": "HTTP/1.1",
        "cookies": _named(event.cookies),
        "headers": [],
        "content": content,
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": -1,
        **more.pop("response", {}),
    }
    times = {"startedDateTime": STARTED, "time": 13, "cache": {}, "timings": TIMINGS}
    return {**times, "request": request, "response": response, **more}


def _whole(body: Body | None, **more: Any) -> Entry | None:
    return None if body is None else {**body.stored(), "params": _params(body), **more}


def _content(body: Body | None, empty: Members, **more: Any) -> Members:
    return empty if body is None else {**body.stored(), "size": len(body.stored()["text"]), **more}


def _base64(body: Body) -> Entry:
    stored = body.stored()
    text = base64.b64encode(stored["text"].encode("utf-8", "surrogatepass")).decode()
    return {"mimeType": stored["mimeType"], "size": len(stored["text"]), "text": text, "encoding": "base64"}


def charles(event: Event) -> Entry:
    """Charles: what is empty has no type; redirects name no address."""
    nothing = {"size": 0, "mimeType": None, "text": "", "encoding": "base64"}
    post = {"mimeType": None, "text": ""} if event.method != "GET" and event.post is None else _whole(event.post)
    answer = {"_charlesStatus": "COMPLETE", "redirectURL": None, "statusText": None}
    return _entry(event, post, _content(event.content, nothing), response=answer, serverIPAddress="127.0.0.1")


def fiddler(event: Event) -> Entry:
    """Fiddler: finer times, `params` before the text, ports in the connection."""
    post = None if event.post is None else {"params": _params(event.post), **event.post.stored()}
    empty = {"size": 0, "compression": 0, "mimeType": ""}
    made = _entry(event, post, _content(event.content, empty, compression=0), comment="[#7]")
    return {**made, "startedDateTime": "2026-03-21T10:00:00.1234567+00:00", "connection": "ClientPort:1;EgressPort:2"}


def firefox(event: Event) -> Entry:
    """Firefox: a post without a body has data without text, content that was not kept a comment."""
    post = {"mimeType": "", "params": [], "text": ""} if event.method != "GET" else None
    kept = {"mimeType": "text/html", "size": 100, "comment": "Response bodies are not included."}
    found = _entry(event, _whole(event.post) or post, _content(event.content, kept))
    return {**found, "_securityState": "insecure", "pageref": "page_1", "serverIPAddress": "127.0.0.1"}


def webkit(event: Event) -> Entry:
    """WebKit: an unknown type has a name, and how a response came is told."""
    unknown = {"size": 0, "compression": 0, "mimeType": "x-unknown"}
    cookies = _named(event.cookies, path="/", expires="", httpOnly=False, secure=False)
    answer = {"cookies": cookies, "_transferSize": 0}
    made = _entry(event, _whole(event.post), _content(event.content, unknown), response=answer)
    return {**made, "pageref": "page_0", "_fetchType": "Network Load", "connection": ""}


def mitmproxy(event: Event) -> Entry:
    """mitmproxy: data for every POST, PUT and PATCH, content with a text even where it is empty, times of null."""
    nothing = {"mimeType": "", "text": "", "params": []} if event.method in {"POST", "PUT", "PATCH"} else None
    empty = {"size": 0, "compression": 0, "mimeType": "text/html", "text": ""}
    timings = {"connect": None, "ssl": None, "send": 0.5, "receive": 0.1, "wait": 1.25}
    return _entry(event, _whole(event.post) or nothing, _content(event.content, empty), timings=timings)


def mitmproxy_failed(event: Event) -> Entry:
    """mitmproxy, and no response came for anything that is not looked at."""
    if event.post or event.content or event.cookies or event.status != 200:
        return mitmproxy(event)
    answer = {"status": 0, "statusText": "", "headers": [], "_transferSize": 0, "_error": None}
    return _entry(event, None, {}, response=answer)


def chrome_har(event: Event) -> Entry:
    """chrome-har: no bodies of responses, many members of its own."""
    post = None if event.post is None else event.post.stored()
    own = {"_initiator_type": "other", "_priority": "VeryHigh", "_requestId": "1.2", "_resourceType": "document"}
    content = {"mimeType": "text/html" if event.content is None else event.content.mime, "size": 7}
    return _entry(event, post, content, pageref="page_1", **own)


def webpagetest(event: Event) -> Entry:
    """WebPageTest: nothing of bodies, all else told a second time as texts."""
    own = {"_url": event.url, "_responseCode": str(event.status), "_method": event.method, "_contentType": "text/html"}
    post = None if event.post is None else {"mimeType": event.post.mime}
    return _entry(event, post, {"mimeType": "text/html", "size": 7}, pageref="page_1_0_1", **own)


def splash(event: Event) -> Entry:
    """Splash: all content in base64, no type but that of the header, states of its own."""
    content = {"size": 0, "mimeType": "", "encoding": "base64", "text": ""}
    kept = content if event.content is None else _base64(event.content)
    post = None if event.post is None else event.post.stored()
    answer = {"ok": True, "url": event.url}
    return _entry(event, post, kept, response=answer, _splash_processing_state="finished")


def devtools(event: Event) -> Entry:
    """The network panel of Chromium's developer tools: who asked for it, and from which cache it came."""
    own = {"_connectionId": "1", "_initiator": {"type": "other"}, "_priority": "High", "_resourceType": "document"}
    answer = {"_transferSize": 10, "_error": None, "_fetchedViaServiceWorker": False}
    content = _content(event.content, {"size": 0, "mimeType": "x-unknown"}, compression=0)
    return _entry(event, _whole(event.post), content, response=answer, pageref="page_1", **own)


def browsermob(event: Event) -> Entry:
    """BrowserMob: a comment everywhere, encoded or empty texts."""
    content = _content(event.content, {"size": 0, "mimeType": "", "comment": ""}, comment="")
    post = _whole(event.post, comment="")
    return _entry(event, post, content, comment="", serverIPAddress="127.0.0.1", pageref="Page 0")


PRODUCERS: Mapping[str, Callable[[Event], Entry]] = {
    "Charles": charles,
    "Fiddler": fiddler,
    "Firefox": firefox,
    "WebKit": webkit,
    "mitmproxy": mitmproxy,
    "mitmproxy without responses": mitmproxy_failed,
    "chrome-har": chrome_har,
    "WebPageTest": webpagetest,
    "Splash": splash,
    "DevTools": devtools,
    "BrowserMob": browsermob,
}
ENCODING = {"Splash"}


def producers(draft: Draft) -> Iterator[Recording]:
    """The expected events in the shape of each producer, and with what it writes between them."""
    home, *others = draft.events
    count = len(PRODUCERS) if others else WITHOUT_CHECKS
    for name, write in drawn(PRODUCERS.items(), count, draft.task["task_id"], "producer"):
        encodes = name in ENCODING and any(event.content for event in draft.events)
        entries = tuple(write(event) for event in draft.events)
        yield draft.recording(f"exported by {name}", SIDE_FILE if encodes else HONEST, entries=entries)
    for name, between in drawn(BETWEEN.items(), 2, draft.task["task_id"], "between"):
        mixed = [one for event in draft.events for one in (between(home), event.entry())]
        yield draft.recording(f"exported with {name}", entries=(*mixed, between(home)))


def _tunnel(home: Event) -> Entry:
    host = urlsplit(home.url).netloc
    return fiddler(Event(f"http://{host}:443", "CONNECT", 200, {"Host": host}))


def _redirect(home: Event) -> Entry:
    made = charles(Event(f"{home.url}old", status=302, headers=home.headers))
    return {**made, "response": {**made["response"], "redirectURL": home.url}}


def _socket(home: Event) -> Entry:
    made = mitmproxy(Event(f"{home.url}socket", status=101, headers={"upgrade": "websocket"}))
    return {**made, "_resourceType": "websocket", "_webSocketMessages": [{"type": "send", "opcode": 1, "data": "x"}]}


def _canceled(home: Event) -> Entry:
    made = webkit(Event(f"{home.url}canceled", status=0, headers={}))
    return {**made, "response": {**made["response"], "_error": "canceled", "content": {"size": 0, "mimeType": ""}}}


def _picture(home: Event) -> Entry:
    return devtools(
        Event(f"{home.url}a.png", headers={"accept": "image/*"}, content=Body({}, "image/png", "\ufffdPNG"))
    )


def _beacon(home: Event) -> Entry:
    body = Body({}, "text/plain;charset=UTF-8", '{"t": 1}')
    return firefox(Event("http://stats.test/collect", "POST", 204, {"accept": "*/*"}, body))


# What producers write that no agent asked for; each is put between all events.
BETWEEN: Mapping[str, Callable[[Event], Entry]] = {
    "tunnels": _tunnel,
    "redirects": _redirect,
    "web sockets": _socket,
    "canceled requests": _canceled,
    "pictures": _picture,
    "beacons": _beacon,
}
