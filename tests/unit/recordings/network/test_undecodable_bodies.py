"""Bodies with a member of a wrong type that no decoder takes at all: they are damaged, and nothing else is."""

from __future__ import annotations

import msgspec
import pytest

from pytest_webeval.api import load_run
from pytest_webeval.diagnostics import recording_checks as checks
from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.entries import Entry, Request, Response
from pytest_webeval.recordings.network.events import NetworkEvent

DEEP = b"[" * 100_000 + b"]" * 100_000
BODIES = {
    "a number": b'{"mimeType": null, "text": "", "x": 1e999999}',
    "a byte": b'{"mimeType": null, "text": "a\xff=1"}',
    "depth": b'{"mimeType": null, "text": "", "x": ' + DEEP + b"}",
}


@pytest.mark.parametrize("raw", BODIES.values(), ids=BODIES)
def test_a_body_that_no_decoder_takes_is_damaged(raw):
    with pytest.raises(EvaluationError, match=r"^a body in the trace is damaged: .*; re-record the run$"):
        BodySource(lambda _: b"").read_post(msgspec.Raw(raw))


@pytest.mark.parametrize("place", ["headers", "cookies"])
def test_objects_within_objects_for_headers_or_cookies_are_damaged(place):
    raw = msgspec.Raw(b'{"x":' * 100_000 + b"1" + b"}" * 100_000)
    entry = Entry(Request("GET", "http://shop.test/", headers=raw), Response(200, cookies=raw))
    with pytest.raises(EvaluationError, match=place):
        getattr(NetworkEvent(0, entry, BodySource(lambda _: b"")), place)


@pytest.mark.parametrize("error", [RecursionError, ValueError, EvaluationError])
def test_an_error_of_one_check_of_a_recording_loses_that_check_only(bench, monkeypatch, error):
    def fail(_capture):
        raise error("no more")

    entry = b'{"request": {"method": "GET", "url": "http://shop.test:7770/"}, "response": {"status": 0}}'
    run = load_run(bench.record(events=b'{"log": {"entries": [' + entry + b"]}}"))
    assert len(run.trace.events) == 1
    monkeypatch.setitem(checks._CHECKS, "bodies_missing", fail)
    assert [one["kind"] for one in checks.check_recording(run)] == ["failed_requests"]
