"""Trace files, what makes a request a navigation, and bodies, with the verdict (spec §3)."""

from __future__ import annotations

import json

from tests.parity.harness.run_directories import har, lines, zipped
from tests.parity.harness.synthetic import FORM, MODERN, entry
from tests.parity.harness.verdicts import ERROR, FAILURE, SUCCESS

HAR = har([entry()])
LINES = lines([entry()])
CONTEXT = b'{"type": "context-options"}\n'

# Name of the trace, its bytes, and the verdict of a task that needs no request: whether the trace can be loaded.
LOADERS = [
    ("network.har", HAR, SUCCESS),
    ("network.json", HAR, SUCCESS),
    ("network.har", b"\xef\xbb\xbf" + HAR, ERROR),
    *(("network.har", text, ERROR) for text in (b"{}", b'{"log": {}}', b'{"log": {"entries": []}}')),
    ("network.har", b'{"log": {"entries": null}}', ERROR),
    ("network.har", HAR[:-9], ERROR),
    ("network.har", HAR.decode().encode("utf-16"), ERROR),
    ("network.har", b"[]", ERROR),
    ("network.har", json.dumps([entry()]).encode(), ERROR),
    ("network.har", b"", SUCCESS),
    ("network.json", b"", SUCCESS),
    ("network.har", LINES, SUCCESS),
    ("network.json", LINES, SUCCESS),
    ("network.HAR", HAR, ERROR),
    ("network.HAR", LINES, SUCCESS),
    ("network.gz", LINES, SUCCESS),
    ("network", LINES, SUCCESS),
    ("trace.zip", zipped({"trace.network": LINES}), SUCCESS),
    ("trace.zip", zipped({"trace.network": b""}), SUCCESS),
    ("trace.zip", zipped({"0-trace.network": LINES}), ERROR),
    ("trace.zip", zipped({"trace/trace.network": LINES}), ERROR),
    ("trace.zip", zipped({"network.har": HAR}), ERROR),
    ("trace.zip", zipped({"trace.network": b"\xff" + LINES}), ERROR),
    ("trace.zip", zipped({"trace.network": LINES})[:-30], ERROR),
    ("trace.zip", LINES, ERROR),
    ("trace.zip", b"", ERROR),
    ("trace", LINES, SUCCESS),
    ("trace.network", LINES, SUCCESS),
    ("trace.network", LINES + b"\xff", SUCCESS),
    ("trace.network", b"", SUCCESS),
    ("trace.network", LINES + b"\n" + LINES, ERROR),
    ("trace.network", b"\n" + LINES, ERROR),
    ("trace.network", LINES + b'{"snapshot": {}}\n', ERROR),
    ("trace.network", b'{"type": "\xe2\x80\xa8"}\n', ERROR),
    ("trace.network", LINES.rstrip(), SUCCESS),
    ("trace.network", CONTEXT, SUCCESS),
    ("trace.network", CONTEXT + LINES, SUCCESS),
    ("trace.network", LINES + b"not json\n", ERROR),
    ("trace.network", b"[1]\n", ERROR),
    ("trace.network", HAR, ERROR),
]

HERE = "http://shop.test:7770/x"
PLACE = "__SHOPPING__/x"


def without(name):
    """An entry that lacks a part of its request or response."""
    made = entry(HERE)
    return {side: {key: value for key, value in part.items() if key != name} for side, part in made.items()}


# An entry that may be malformed, and the verdict of a task that wants a GET of its address.
MALFORMED = [
    (entry(HERE), SUCCESS),
    ({"response": {"status": 200}}, ERROR),
    (without("method"), ERROR),
    (without("url"), ERROR),
    (without("headers"), ERROR),
    (without("status"), ERROR),
    (without("cookies"), SUCCESS),
    (entry(HERE, status=None), ERROR),
    (entry(HERE, status="200"), SUCCESS),
    (entry(HERE, status=200.0), SUCCESS),
    (entry(HERE, status=200.5), ERROR),
    (entry(HERE, status="ok"), ERROR),
    (entry(HERE, status=-1), FAILURE),
    ({**entry(HERE), "request": {"method": "GET", "url": HERE, "headers": [{"name": "accept"}]}}, ERROR),
]


def headers(**changed):
    """The headers of a modern browser's navigation, some of them changed; None takes one away."""
    merged = {**MODERN, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return {name: value for name, value in merged.items() if value is not None}


# Method, headers, and the verdict of a task that wants a navigation.
NAVIGATIONS = [
    ("GET", MODERN, SUCCESS),
    ("GET", {name.title(): value.upper() for name, value in MODERN.items()}, SUCCESS),
    ("POST", MODERN, FAILURE),
    ("get", MODERN, FAILURE),
    ("GET", headers(accept="*/*"), FAILURE),
    ("GET", headers(accept=None), FAILURE),
    ("GET", headers(accept="application/xhtml+xml,text/html"), SUCCESS),
    ("GET", headers(sec_fetch_user="?0"), FAILURE),
    ("GET", headers(sec_fetch_dest="iframe"), FAILURE),
    ("GET", headers(sec_fetch_dest=None), FAILURE),
    ("GET", headers(sec_fetch_mode="no-cors"), FAILURE),
    ("GET", {"accept": "text/html,application/xml"}, SUCCESS),
    ("GET", {"Accept": "TEXT/HTML"}, SUCCESS),
    ("GET", headers(sec_fetch_user=None, sec_fetch_dest="iframe"), SUCCESS),
    ("GET", {"accept": "application/xhtml+xml,text/html"}, FAILURE),
    ("GET", {"accept": " text/html"}, FAILURE),
    ("GET", headers(sec_fetch_user=None, accept="*/*"), FAILURE),
    ("GET", {}, FAILURE),
]

# Path of a request, and whether a task that wants it sees it.
STATIC = ["css", "js", "png", "jpg", "jpeg", "gif", "svg", "woff", "woff2", "ttf", "ico", "webp"]
PATHS = [
    *((f"/a.{suffix}", FAILURE) for suffix in STATIC),
    ("/a.js?v=1", FAILURE),
    ("/a.js;v=1", FAILURE),
    ("/a.js/", SUCCESS),
    ("/a?b=x.js", SUCCESS),
    *((path, SUCCESS) for path in ("/a.JS", "/a.js.map", "/foojs", "/a.mp4", "/a.json", "/a.html")),
]

PARTS = (
    '--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n'
    '--X\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nText\r\n'
    '--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n2\r\n--X--\r\n'
)
MULTIPART = "multipart/form-data; boundary=X"
EMPTY_PARTS = (
    '--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n1\r\n'
    '--X\r\nContent-Disposition: form-data; name="n"\r\n\r\n\r\n'
    '--X\r\nContent-Disposition: form-data; name="e"\r\n\r\n \r\n'
    '--X\r\nContent-Disposition: form-data; filename="f"; name="g"\r\n\r\nText\r\n--X--\r\n'
)

# MIME type and text of what was posted, the fields that are wanted, and the verdict.
BODIES = [
    (FORM, "n=1&m=", {"n": "1", "m": ""}, SUCCESS),
    (f"{FORM}; charset=UTF-8", "n=1&n=2", {"n": "1"}, SUCCESS),
    (FORM, "n=1&n=2", {"n": "2"}, FAILURE),
    (FORM, "alone", {"alone": ""}, SUCCESS),
    (FORM, "n=a+b%21", {"n": "a b!"}, SUCCESS),
    (FORM.title(), "n=1", {"n": "1"}, FAILURE),
    (FORM, "", {"n": None}, FAILURE),
    ("application/json", '{"n": 1}', {"n": "1"}, SUCCESS),
    ("application/json;charset=utf-8", '{"n": 1}', {"n": "1"}, SUCCESS),
    *(("application/json", text, {"n": None}, FAILURE) for text in ("[1]", "5", '{"n": ', "null")),
    (MULTIPART, PARTS, {"n": "2"}, SUCCESS),
    (MULTIPART, PARTS, {"n": "1"}, FAILURE),
    (MULTIPART, PARTS, {"f": "Text"}, SUCCESS),
    (MULTIPART, EMPTY_PARTS, {"n": "1"}, SUCCESS),
    (MULTIPART, EMPTY_PARTS, {"e": None}, SUCCESS),
    (MULTIPART, EMPTY_PARTS, {"e": ""}, FAILURE),
    (MULTIPART, EMPTY_PARTS, {"f": "Text"}, SUCCESS),
    (MULTIPART, EMPTY_PARTS, {"g": "Text"}, FAILURE),
    (MULTIPART, "--X--\r\n", {"n": None}, FAILURE),
    (FORM, "&", {"n": None}, FAILURE),
    ("application/json", "{}", {"n": None}, FAILURE),
    ("application/json", '{"n": NaN}', {"n": "nan"}, FAILURE),
    ("application/json", '{"n": 1e999}', {"n": None}, SUCCESS),
    (MULTIPART, PARTS.replace("\r\n", "\n"), {"n": "2"}, SUCCESS),
    ('multipart/form-data; boundary="X"', PARTS, {"n": "2"}, FAILURE),
    ("multipart/form-data", PARTS, {"n": "2"}, FAILURE),
    *((mime, '{"n": 1}', {"n": "1"}, FAILURE) for mime in ("text/plain", "application/vnd.api+json", "")),
    ("APPLICATION/JSON", '{"n": 1}', {"n": "1"}, FAILURE),
]

# The `postData` of a request as it lies in the file, and the verdict where {"n": "1"} is wanted.
STORED = [
    ({"mimeType": FORM, "text": "n=1"}, SUCCESS),
    ({"mimeType": FORM, "params": [{"name": "n", "value": "1"}]}, FAILURE),
    ({"mimeType": FORM, "text": "n=1", "params": []}, SUCCESS),
    ({"mimeType": FORM}, FAILURE),
    ({"text": "n=1"}, FAILURE),
    ({"mimeType": FORM, "_sha1": "abc"}, FAILURE),
    ({"mimeType": FORM, "_file": "abc"}, FAILURE),
    ({}, FAILURE),
    (None, FAILURE),
]
