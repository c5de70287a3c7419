"""Recordings of traffic that no browser made: too many entries, wrong types, bodies that are not what they say."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, holding, recording, run, tracing

_MIB = 2**20

_GOOD = honest.entry()

_HEADERS = honest.asked(("lamp",), "string", honest.visited(expected={"headers": {"referer": "__SHOPPING__/x"}}))

_COOKIES = honest.asked(("lamp",), "string", honest.visited(expected={"response_cookies": {"a": "1"}}))

_NAVIGATE = honest.asked(None, "null", kind="navigate")


def _with(place: str, value: Any) -> dict[str, Any]:
    """A good entry with another value at a place such as request.url."""
    changed = json.loads(json.dumps(_GOOD))
    *above, last = place.split(".")
    at = changed
    for name in above:
        at = at[name]
    at[last] = value
    return changed


def _lacking(place: str) -> dict[str, Any]:
    changed = json.loads(json.dumps(_GOOD))
    *above, last = place.split(".")
    for name in above:
        changed_in = changed[name]
        del changed_in[last]
    if not above:
        del changed[last]
    return changed


def _many(count: int, text: bytes) -> bytes:
    return b'{"log": {"entries": [' + b",".join([text] * (count - 1)) + b"," + json.dumps(_GOOD).encode() + b"]}}"


def _tiny_lines(count: int) -> bytes:
    return b'{"type":""}\n' * count + honest.lines(_GOOD)


def _snapshots(count: int) -> bytes:
    return b'{"type":"resource-snapshot","snapshot":{}}\n' * count + honest.lines(_GOOD)


_TINY = b'{"request":{"url":"http://shop.test/x","method":"HEAD"},"response":{"status":200}}'

_VALUES: tuple[tuple[str, Any], ...] = (
    ("null", None),
    ("a number", 17),
    ("a huge number", 10**400),
    ("a fraction", 0.5),
    ("true", True),
    ("a list", []),
    ("lists in lists", [[[["x"]]]]),
    ("an object", {"a": {"b": []}}),
    ("an empty text", ""),
    ("a text of a megabyte", "x" * _MIB),
)

# The only entry has that at that place; whoever needs the field cannot have it.
_PLACES = ("request", "request.url", "request.method", "request.headers", "response", "response.status")


# Of a request without headers nothing is asked that it lacks, and a fraction is not compared.
NEEDLESS = {("request.headers", "a list"), ("request.headers", "an empty text"), ("response.status", "a fraction")}


def _wrong(place: str, what: str, value: Any) -> Case:
    return run(f"{what} for {place} in the only entry", EITHER, recording(_with(place, value)))


def _url(what: str, url: str, outcome: str = EITHER) -> Case:
    return run(f"an address {what}", outcome, recording(honest.entry(url)))


def _beside(what: str, extra: Any, outcome: str = "success") -> Case:
    return run(f"{what} beside a good entry", outcome, recording(extra, _GOOD))


def _repeated_header() -> dict[str, Any]:
    made = honest.entry()
    made["request"]["headers"] += honest.pairs({"Accept": "text/html"}) * 100_000
    return made


def _deep_entry(depth: int) -> str:
    return '{"log": {"entries": ' + '{"a": ' * depth + "[]" + "}" * depth + "}}"


CASES: tuple[Case, ...] = (
    *(_wrong(place, what, value) for place in _PLACES for what, value in _VALUES if (place, what) not in NEEDLESS),
    run("an empty text for request.headers in the only entry", "success", recording(_with("request.headers", ""))),
    *(
        run(f"the only entry lacks {place}", EITHER, recording(_lacking(place)))
        for place in ("request", "response", "request.url", "request.method", "response.status")
    ),
    *(
        run(f"entries are {what}", "error", holding(honest.HAR, {"log": {"entries": value}}), "network.har|trace")
        for what, value in _VALUES
    ),
    *(
        _beside(f"an entry that is {what}", value, "error")
        for what, value in _VALUES
        if not (isinstance(value, str) and not value)
    ),
    run("200,001 entries", "error", holding(honest.HAR, lambda: _many(200_001, _TINY)), "200,000"),
    run("200,001 entries that are {}", "error", holding(honest.HAR, lambda: _many(200_001, b"{}")), "200,000"),
    run("150,000 entries", "success", holding(honest.HAR, lambda: _many(150_000, _TINY))),
    run("a million null entries", "error", holding(honest.HAR, lambda: _many(1_000_000, b"null"))),
    run("200,001 snapshots", "error", tracing(lambda: _snapshots(200_001)), "200,000"),
    run("a million lines of other kinds", "success|error", tracing(lambda: _tiny_lines(1_000_000))),
    run("a million blank lines", "success|error", tracing(lambda: b"\n" * 1_000_000 + honest.lines(_GOOD))),
    run("an address of 50 MB", "failure", recording(lambda: honest.entry("http://shop.test/" + "x" * 50 * 10**6))),
    run(
        "a header of 50 MB that nobody asks for",
        "success",
        recording(lambda: honest.entry(headers={**honest.PAGE, "X": "x" * 50 * 10**6})),
    ),
    run(
        "a hundred thousand headers",
        "success",
        recording(lambda: honest.entry(headers={**honest.PAGE, **{f"x{n}": "y" for n in range(100_000)}})),
    ),
    run("the same header a hundred thousand times", EITHER + "|success", recording(_repeated_header)),
    run("entries nested in an object of 600", "error", holding(honest.HAR, lambda: _deep_entry(600))),
    run("entries nested in an object of 100,000", "error", holding(honest.HAR, lambda: _deep_entry(100_000))),
    run(
        "two logs, the good one first",
        EITHER,
        holding(honest.HAR, json.dumps(honest.har(_GOOD))[:-1] + ', "log": {"entries": []}}'),
    ),
    run(
        "two lists of entries, the good one first",
        EITHER,
        holding(honest.HAR, f'{{"log": {{"entries": [{json.dumps(_GOOD)}], "entries": []}}}}'),
    ),
    run(
        "two addresses in one request, the good one first",
        EITHER,
        holding(
            honest.HAR,
            json.dumps(honest.har(_GOOD))
            .replace('"url":', '"url": "http://shop.test/", "url":')
            .replace('"url": "http://shop.test/", "headers"', '"url": "http://shop.test/no", "headers"'),
        ),
    ),
    _url("with an open bracket", "http://[::1/a"),
    _url("with NUL in it", "http://shop.test/\x00"),
    _url("with a line feed in it", "http://shop.test/a\n::error::x"),
    _url("of the script kind", "javascript:window.__pwned=1"),
    _url("of the data kind", "data:text/html,<script>window.__pwned=1</script>"),
    _url("of a file", "file:///etc/passwd"),
    _url("with the site as its user", "http://shop.test@evil.test/"),
    _url("with the site's name longer", "http://shop.test.evil.test/"),
    _url("with the site in its query", "http://evil.test/?http://shop.test/"),
    _url("with the site in its fragment", "http://evil.test/#http://shop.test/"),
    _url("with another port", "http://shop.test:81/"),
    _url("with a port that is none", "http://shop.test:99999999/"),
    _url("with a backslash", "http://evil.test\\@shop.test/"),
    _url("with a name that looks like the site's", "http://shоp.test/"),
    _url("with half a surrogate pair", "http://shop.test/\ud800"),
    _url("with a pattern", "^.*$"),
    _url("with a hundred thousand slashes", "http://shop.test" + "/x" * 100_000),
    _url("with a hundred thousand parameters", "http://shop.test/no?" + "a=b&" * 100_000),
    _url("with percent signs", "http://shop.test/" + "%25" * 100_000),
    _url("with a hundred thousand dots", "http://shop.test/no/" + "../x/" * 100_000),
    _url("with a name of 10,000 characters", "http://" + "x." * 5000 + "test/"),
    _url("with a name that cannot be encoded", "http://xn--" + "a" * 300 + ".test/"),
    run(
        "a header that should be an address of 100,000 characters",
        EITHER,
        recording(honest.entry(headers={**honest.PAGE, "Referer": "http://shop.test/" + "%2F" * 33_000})),
        task=_HEADERS,
    ),
    run(
        "a header that is a pattern",
        EITHER,
        recording(honest.entry(headers={**honest.PAGE, "Referer": "^.*$"})),
        task=_HEADERS,
    ),
    run(
        "a header that is a list",
        EITHER,
        recording(honest.entry(headers={**honest.PAGE, "Referer": ["http://shop.test/x"]})),
        task=_HEADERS,
    ),
    run("a cookie that is a list", EITHER, recording(honest.entry(cookies={"a": ["1", "2"]})), task=_COOKIES),
    run("a cookie that is a pattern", EITHER, recording(honest.entry(cookies={"a": "^.*$"})), task=_COOKIES),
    run("a visit that another status denies", EITHER, recording(honest.entry(status=404)), task=_NAVIGATE),
    run("a status that is a text", "success|failure|error", recording(honest.entry(status="200")), task=_NAVIGATE),
    run("a status beyond all", EITHER, recording(honest.entry(status=10**30)), task=_NAVIGATE),
)
