"""What can be read of an event whose entry is damaged: each field on its own, whatever became of the others."""

from __future__ import annotations

import json

import msgspec
import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.har_entries import build_trace

HEADERS, COOKIES = [{"name": "Accept", "value": "*/*"}], [{"name": "a", "value": "b"}]
REQUEST = {"url": "http://shop.test/", "method": "GET", "headers": HEADERS}
RESPONSE = {"status": 200, "cookies": COOKIES}
FIELDS = {
    "url": "http://shop.test/",
    "method": "GET",
    "headers": (("Accept", "*/*"),),
    "status": 200,
    "cookies": (("a", "b"),),
    "resource_type": "document",
    "page": None,
    "frame": None,
}
ODD = "no UTF-8"  # in its place stands a byte that is none


def event(request=None, response=None, **entry):
    """An event with some of its fields changed; None leaves a member of the request or the response out."""
    parts = {"request": REQUEST | (request or {}), "response": RESPONSE | (response or {})}
    whole = {name: {key: one for key, one in part.items() if one is not None} for name, part in parts.items()}
    content = json.dumps(whole | {"_resourceType": "document"} | entry).encode().replace(ODD.encode(), b"\xff")
    return build_trace([msgspec.Raw(content)], BodySource(str.encode)).events[0]


@pytest.mark.parametrize(
    ("changes", "lost", "kept"),
    [
        ({}, (), {}),
        ({"request": {"headers": None}}, ("headers",), {}),
        ({"request": {"headers": [{"name": "a", "value": ODD}]}}, ("headers",), {}),
        ({"request": {"headers": [{"name": "a"}]}}, ("headers",), {}),
        ({"response": {"cookies": [{"name": ODD, "value": "b"}]}}, ("cookies",), {}),
        ({"response": {"cookies": None}}, (), {"cookies": ()}),
        ({"response": {"status": "x"}}, ("status",), {}),
        ({"response": {"status": "1e999"}}, ("status",), {}),
        ({"response": {"status": 200.5}}, ("status",), {}),
        ({"response": {"status": "304"}}, (), {"status": 304}),
        ({"request": {"url": None}}, ("url",), {}),
        ({"request": {"url": ODD}}, ("url",), {}),
        ({"request": {"url": 1}}, ("url",), {}),
        ({"request": {"method": None}}, ("method",), {}),
        ({"response": {"status": None}}, ("status",), {}),
        ({"request": {"url": 1}, "response": {"status": "x"}}, ("url", "status"), {}),
        ({"request": {"url": 1}, "response": {"cookies": None}}, ("url",), {"cookies": ()}),
        ({"request": {"url": 1, "headers": None}}, ("url", "headers"), {}),
        ({"request": {"url": 1, "headers": [{"name": ODD}]}}, ("url", "headers"), {}),
        ({"_resourceType": 5}, (), {"resource_type": None}),
        ({"_resourceType": ODD}, (), {"resource_type": None}),
        (
            {"request": {"url": 1}, "pageref": "p", "_frameref": "f"},
            ("url",),
            {"page": "p", "frame": "f"},
        ),
    ],
    ids=str,
)
def test_each_field_is_read_or_lost_on_its_own(changes, lost, kept):
    found = event(**changes)
    for name in lost:
        with pytest.raises(EvaluationError, match=f"event 1 of the trace is damaged: no readable {name};"):
            getattr(found, name)
    wanted = {name: value for name, value in (FIELDS | kept).items() if name not in lost}
    assert {name: getattr(found, name) for name in wanted} == wanted


@pytest.mark.parametrize(("entry", "is_pending"), [({"request": None}, True), ({"request": 5}, False), ({}, False)])
def test_a_request_that_was_still_under_way_is_null(entry, is_pending):
    (found,) = build_trace([msgspec.Raw(json.dumps(entry).encode())], BodySource(str.encode)).events
    assert found.is_pending is is_pending
