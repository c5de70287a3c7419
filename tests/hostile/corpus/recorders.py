"""Recordings as other recorders write them, and members of entries with a type that nobody expects."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.hostile.corpus import honest, zips
from tests.hostile.corpus.cases import EITHER, Case, Spoil, all_of, holding, recording, run, tracing, without

JSON_TYPE, FORM_TYPE = "application/json", "application/x-www-form-urlencoded"
MARK = b"\xef\xbb\xbf"  # the byte order mark that Fiddler writes
NOTHING = {"size": 0, "mimeType": None, "text": "", "encoding": "base64"}  # Charles, for each empty response
HAR_ZIP = "network.har.zip"

_BODY = honest.asked(("lamp",), "string", honest.visited(expected={"response_content": {"a": "1"}}))
_POST = honest.asked(
    ("lamp",),
    "string",
    honest.visited(
        "__SHOPPING__/cart", expected={"http_method": "POST", "post_data": {"a": "1"}, "response_status": 200}
    ),
)
_GOOD_BODY = {"mimeType": JSON_TYPE, "text": '{"a": "1"}'}
_GOOD_POST = {"mimeType": FORM_TYPE, "text": "a=1"}
_PAGE = honest.entry(content=_GOOD_BODY)
_SENT = honest.entry("http://shop.test/cart", "POST", post=_GOOD_POST)


def _changed(entry: Any, **places: Any) -> Any:
    """An entry with other values at places such as response__content__encoding; a function is called with the old."""
    copy = json.loads(json.dumps(entry))
    for place, value in places.items():
        *above, last = place.split("__")
        member = copy
        for name in above:
            member = member.setdefault(name, {})
        member[last] = value(member[last]) if callable(value) else value
    return copy


def _har(entries: list[Any], **log: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", **log, "entries": entries}}


def _written_by(what: str, document: Any, outcome: str = "success", **more: Any) -> Case:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return run(f"a HAR as {what} writes it", outcome, holding(honest.HAR, content), **more)


def _timed(entry: Any, **more: Any) -> Any:
    return {"startedDateTime": "2026-03-01T10:00:00.000+00:00", "time": -1, "cache": {}, **entry, **more}


_REDIRECT = _changed(_PAGE, response__status=302, response__content=NOTHING)
_SOCKET = {**_timed(honest.entry("ws://shop.test/live")), "_resourceType": "websocket", "_webSocketMessages": []}
_CANCELLED = _changed(_timed(_PAGE), response__status=0, response__content={"size": 0, "mimeType": "x-unknown"})

PRODUCERS: tuple[Case, ...] = (
    _written_by("Charles", _har([_timed(_REDIRECT), _timed(_PAGE)], creator={"name": "Charles Proxy"}), task=_BODY),
    _written_by("Charles, nothing but redirects", _har([_timed(_REDIRECT)]), EITHER, task=_BODY),
    _written_by(
        "Charles, a form posted with nothing",
        _har([_timed(_changed(_SENT, request__postData=NOTHING)), _timed(_SENT)]),
        task=_POST,
    ),
    _written_by("Fiddler", MARK + json.dumps(_har([_timed(_PAGE, comment="[#1]")])).encode(), task=_BODY),
    _written_by("Fiddler, twice marked", MARK * 2 + json.dumps(_har([_timed(_PAGE)])).encode(), "error"),
    _written_by("Firefox", _har([_timed(_PAGE, _securityState="insecure", serverIPAddress=None)]), task=_BODY),
    _written_by(
        "WebKit",
        _har([_timed(_changed(_PAGE, response__bodySize=-1, response__headersSize=-1), _priority="medium")]),
        task=_BODY,
    ),
    _written_by("mitmproxy", _har([_timed(_PAGE), _SOCKET]), task=_BODY),
    _written_by("chrome-har", _har([_timed(_PAGE, pageref="page_1", _requestId="7.1")], pages=[]), task=_BODY),
    _written_by("WebPageTest", _har([_timed(_PAGE, _load_ms="12", _index=0, _full_url="x")]), task=_BODY),
    _written_by("Splash", _har([_timed(_changed(_PAGE, response__ok=True), _splash_processing_state="finished")])),
    _written_by("a browser that was stopped", _har([_timed(_PAGE), _CANCELLED]), "failure|success", task=_BODY),
    _written_by("a browser with a request under way", _har([{"request": None, "response": None}, _timed(_PAGE)])),
    _written_by("a browser with nothing but requests under way", _har([{"request": None}] * 3), "error"),
)

# Members beside a good body, with a type that no recorder documents.
VALUES: tuple[tuple[str, Any], ...] = (("null", None), ("a number", 17), ("a list", ["x"]), ("an object", {"x": 1}))


def _member(place: str, what: str, value: Any, outcome: str, base: Any, task: Any) -> Case:
    where = place.replace("__", ".")
    return run(
        f"{what} for {where} beside what is good", outcome, recording(_changed(base, **{place: value})), task=task
    )


MEMBERS: tuple[Case, ...] = (
    *(
        _member(f"response__content__{name}", what, value, "success|failure|error", _PAGE, _BODY)
        for name in ("encoding", "_file", "_sha1", "size", "comment")
        for what, value in VALUES
    ),
    # A type that is no text is none: the headers say it, or the body is read as what it is.
    *(_member("response__content__mimeType", what, value, "success|error", _PAGE, _BODY) for what, value in VALUES),
    *(_member("response__content__text", what, value, EITHER, _PAGE, _BODY) for what, value in VALUES),
    *(_member("request__postData__mimeType", what, value, EITHER, _SENT, _POST) for what, value in VALUES),
    *(_member("request__postData__text", what, value, EITHER, _SENT, _POST) for what, value in VALUES),
    *(
        _member(f"response__{name}", what, value, "success|failure|error", _PAGE, _BODY)
        for name in ("cookies", "headers", "redirectURL")
        for what, value in VALUES
    ),
    *(_member("timings", what, value, "success", _PAGE, _BODY) for what, value in VALUES),
)

_DEEP = b"[" * 100_000 + b"]" * 100_000


def _undecodable(what: str, post: bytes) -> Case:
    """A body with a member of a wrong type, and something else that no decoder takes."""
    content = json.dumps(_har([_changed(_SENT, request__postData="POST")])).encode().replace(b'"POST"}', post + b"}")
    return run(f"a posted body of no type with {what}", "failure|error", holding(honest.HAR, content), task=_POST)


UNDECODABLE: tuple[Case, ...] = (
    _undecodable("a number beyond all", b'{"mimeType": null, "text": "", "x": 1e999999}'),
    _undecodable("a byte that is no UTF-8", b'{"mimeType": null, "text": "a\xff=1"}'),
    _undecodable("members within members", b'{"mimeType": null, "text": "", "x": ' + _DEEP + b"}"),
)


def _part(name: str, value: str, more: str = "") -> str:
    return f'--x\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{value}\r\n'


def _parts(what: str, outcome: str, *parts: str) -> Case:
    body = {"mimeType": "multipart/form-data; boundary=x", "text": "".join(parts) + "--x--\r\n"}
    sent = honest.entry("http://shop.test/cart", "POST", post=body)
    return run(f"a multipart form with {what}", outcome, recording(sent), task=_POST)


FORMS: tuple[Case, ...] = (
    _parts("one field", "success", _part("a", "1")),
    _parts("the field empty", EITHER, _part("a", "")),
    _parts("the field blank", EITHER, _part("a", "  ")),
    _parts("a file whose name is that of the field", EITHER, _part("b", "1", '; filename="a"')),
    _parts("a file name before the name", EITHER, '--x\r\nContent-Disposition: form-data; filename="a"\r\n\r\n1\r\n'),
    _parts("the name in another header", EITHER, '--x\r\nX-Y: form-data; name="a"\r\n\r\n1\r\n'),
    _parts("no header at all", EITHER, "--x\r\n\r\n1\r\n"),
    _parts("an empty name", EITHER, _part("", "1")),
    _parts("a folded header", "success|failure", '--x\r\nContent-Disposition: form-data;\r\n name="a"\r\n\r\n1\r\n'),
    _parts("a blank line in the value", "failure|success", _part("a", "\r\n\r\n1")),
)


def _packed(*members: tuple[Any, Any]) -> bytes:
    told = [
        (name, content if isinstance(content, bytes) else json.dumps(content).encode()) for name, content in members
    ]
    return zips.packed(*told)


def _instead(name: str, content: Callable[[], bytes]) -> Spoil:
    return all_of(without(honest.HAR), holding(name, content))


def _zipped(what: str, outcome: str, *members: tuple[Any, Any], says: str = "", **more: Any) -> Case:
    told = says or (HAR_ZIP if outcome == "error" else "")
    return run(f"a zipped HAR with {what}", outcome, _instead(HAR_ZIP, lambda: _packed(*members)), told, **more)


_ASIDE = _har([_changed(_PAGE, response__content={"mimeType": JSON_TYPE, "_file": "b.json"})])
_GOOD_HAR = _har([_PAGE])

ZIPPED_HARS: tuple[Case, ...] = (
    _zipped("the HAR alone", "success", ("har.har", _GOOD_HAR), task=_BODY),
    _zipped("a body of its own", "success", ("har.har", _ASIDE), ("b.json", {"a": "1"}), task=_BODY),
    _zipped("a body that is missing", "error", ("har.har", _ASIDE), says="b.json", task=_BODY),
    _zipped("a member that leads out", "success", ("har.har", _GOOD_HAR), ("../../x", b"x"), task=_BODY),
    _zipped("no HAR", "error", ("b.json", {"a": "1"})),
    _zipped("a HAR that is a link", "error", (zips.member("har.har", mode=0o120777), b"/etc/passwd")),
    _zipped("a HAR that is no JSON", "error", ("har.har", b"<script>window.__pwned=1</script>")),
    run("a zipped HAR that is none", "error", _instead(HAR_ZIP, lambda: b"PK"), HAR_ZIP),
    run("a zipped HAR that is a bomb", "error", _instead(HAR_ZIP, lambda: zips.bomb(300 * 2**20, "har.har"))),
)


def _lines(url: str, time: int) -> bytes:
    entry = {**honest.entry(url), "_monotonicTime": time}
    return honest.lines(entry)


_HOME = _lines(honest.HOME, 1)
_PARTS = (("0-trace.network", _HOME), ("1-trace.network", _lines("http://shop.test/a.png", 3)))

PLAYWRIGHT_TESTS: tuple[Case, ...] = (
    run("a trace of Playwright Test", "success", tracing(lambda: _packed(*_PARTS, ("test.trace", b"")), honest.ZIP)),
    run(
        "a trace of Playwright Test in a folder",
        "success",
        all_of(without(honest.HAR), *(holding(f"trace/{name}", content) for name, content in _PARTS)),
    ),
    run(
        "a thousand parts of a trace",
        "success",
        tracing(lambda: _packed(*((f"{n}-trace.network", _HOME) for n in range(1000))), honest.ZIP),
    ),
    run(
        "a part of a trace that is damaged",
        "success|error",
        tracing(lambda: _packed(*_PARTS, ("2-trace.network", b"\xff{")), honest.ZIP),
    ),
    run(
        "a part of a trace in a folder that is a link",
        "error",
        all_of(
            without(honest.HAR),
            holding("trace/0-trace.network", _HOME),
            lambda path: (path / "trace/1-trace.network").symlink_to("/etc/passwd"),
        ),
        "1-trace.network",
    ),
    run(
        "a trace without any network", "error", tracing(lambda: _packed(("test.trace", b"{}")), honest.ZIP), "trace.zip"
    ),
)

CASES: tuple[Case, ...] = (*PRODUCERS, *MEMBERS, *UNDECODABLE, *FORMS, *ZIPPED_HARS, *PLAYWRIGHT_TESTS)
