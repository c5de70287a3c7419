"""Requests by a pattern, by the rule of ClawBench's interceptor."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import msgspec
import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators import RequestPatternEvaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network import request_search
from pytest_webeval.recordings.network.bodies import BodySource
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.network.har_entries import build_trace
from pytest_webeval.recordings.network.request_log import LoggedLine, LoggedRequest
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Expectation, undefined_task

CART = "https://shop.test/cart?page=2&empty=&tag=a&tag=b"
UPLOAD = {"Content-Type": "multipart/form-data; boundary=x"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def logged(url=CART, method="POST", body=None, headers=None, **more):
    """A line of a log as a request."""
    members = {"url": url, "method": method, "headers": headers or {}, "body": body} | more
    return LoggedRequest(0, LoggedLine(**{name: msgspec.Raw(json.dumps(value)) for name, value in members.items()}))


def posted(text, mime="text/plain"):
    """A request of a HAR, whose body is kept as it was sent."""
    request = {"url": CART, "method": "POST", "headers": [], "postData": {"mimeType": mime, "text": text}}
    raw = msgspec.Raw(json.dumps({"request": request, "response": {"status": 204}}))
    return build_trace([raw], BodySource(lambda _: b"")).events[0]


def evaluate(expected, *events):
    """The result and the case of an expectation over a recording."""
    numbered = []
    for index, event in enumerate(events):
        event.index = index
        numbered.append(event)
    run = SimpleNamespace(trace=NetworkTrace(tuple(numbered)), inputs=SimpleNamespace(limits=USUAL))
    case = Case(run, undefined_task("7"), Sites({}))
    config = {"evaluator": "RequestPatternEvaluator", "expected": expected}
    return RequestPatternEvaluator().evaluate(Expectation("RequestPatternEvaluator", 0, config), case), case


def matches(event, **expected):
    return evaluate({"url_pattern": "cart"} | expected, event)[0].status == "success"


@pytest.mark.parametrize(
    ("expected", "is_match"),
    [
        ({}, True),
        ({"url_pattern": "^https://shop"}, True),
        ({"url_pattern": r"/cart\?"}, True),
        ({"url_pattern": "^/cart"}, False),
        ({"url_pattern": "CART"}, False),
        ({"method": "POST"}, True),
        ({"method": "post"}, False),
        ({"method": "GET"}, False),
        ({"params": {"page": "2"}}, True),
        ({"params": {"page": 2}}, False),
        ({"params": {"empty": ""}}, False),
        ({"params": {"tag": ["a", "b"]}}, True),
        ({"params": {"tag": "a"}}, False),
        ({"params": {}}, True),
        ({"body": {}}, True),
        ({"body": {"a": "1"}}, False),
        ({"body": {"a": None}}, False),
    ],
)
def test_url_method_and_query_are_compared_as_by_the_interceptor(expected, is_match):
    assert matches(logged(), **expected) is is_match


@pytest.mark.parametrize(
    ("text", "body", "is_match"),
    [
        ('{"a": 1, "b": {"c": [2]}}', {"b": {"c": [2]}}, True),
        ('{"a": 1}', {"a": "1"}, False),
        ('{"a": true}', {"a": 1}, False),  # which to Python is True
        ('{"a": 1}', {"a": True}, False),
        ('{"a": 1.0}', {"a": True}, False),
        ('{"a": 0}', {"a": False}, False),
        ('{"a": true}', {"a": True}, True),
        ('{"a": 1.0}', {"a": 1}, True),
        ('{"a": null}', {"a": False}, False),
        ('{"a": {"b": [1, {"c": true}]}}', {"a": {"b": [1, {"c": 1}]}}, False),
        ('{"a": {"b": [1, {"c": true}]}}', {"a": {"b": [1, {"c": True}]}}, True),
        ('{"a": {"b": 1, "c": 2}}', {"a": {"b": 1}}, False),
        ('{"a": [1]}', {"a": [1, 2]}, False),
        ('{"a": [true]}', {"a": [1]}, False),
        ('{"a": 9007199254740993}', {"a": 9007199254740992}, False),
        ('{"a": true, "b": 1}', {"a": 1, "b": True}, False),
        ('{"a": 1}', {"a": 1, "b": 2}, False),
        ('{"a": 1}', {"a": 1, "b": None}, True),  # what was not sent is null to the interceptor
        ('[{"a": 1}, {"a": 2, "b": 3}]', {"a": 2, "b": 3}, True),
        ('[{"a": 1}, {"b": 3}]', {"a": 1, "b": 3}, False),
        ('[[{"a": 1}]]', {"a": 1}, True),
        ("[{}]", {"b": None}, False),
        ("a=1&a=2&b=", {"a": ["1", "2"], "b": ""}, True),
        ("a=1&b=x%20y+z", {"b": "x y z"}, True),
        ("plain", {"plain": ""}, True),
        ("5", {"a": 1}, False),
        ("", {"a": None}, False),
    ],
)
def test_a_body_is_json_or_a_form_whatever_its_type_says(text, body, is_match):
    assert matches(posted(text), body=body) is is_match
    assert matches(posted(text, "application/json"), body=body) is is_match


@pytest.mark.parametrize(
    ("body", "headers", "expected", "is_match"),
    [
        ({"quantity": "2", "tag": ["a", "b"]}, FORM, {"quantity": "2", "tag": ["a", "b"]}, True),
        ({"quantity": "2"}, FORM, {"quantity": 2}, False),
        ({"commit": 1, "n": {"a": [1]}}, FORM, {"commit": 1, "n": {"a": [1]}}, True),  # JSON under a wrong type
        (
            [{"operationName": "A"}, {"operationName": "B"}],
            {"Content-Type": "application/json"},
            {"operationName": "B"},
            True,
        ),
        ({"a": "1"}, {}, {"a": "1"}, True),
        ({"a": ["x"]}, FORM, {"a": "x"}, False),  # JSON under a wrong type again
        ({"a": ["x"]}, FORM, {"a": ["x"]}, True),
        ({"a": [], "b": "1"}, FORM, {"a": []}, True),
        ({"a": "1"}, UPLOAD, {"a": "1"}, True),
        ("text", {"Content-Type": "text/plain"}, {"text": ""}, False),
    ],
)
def test_the_fields_of_a_logged_body_are_those_that_were_logged(body, headers, expected, is_match):
    assert matches(logged(body=body, headers=headers), body=expected) is is_match


def test_the_nearest_miss_is_explained_with_each_field():
    near = logged(body={"product": "lamp"})
    result, _ = evaluate(
        {"url_pattern": "/cart", "method": "POST", "body": {"product": "mug", "quantity": "2"}},
        logged("https://shop.test/"),
        near,
        logged("https://shop.test/cart", "GET"),
    )
    assert result.status == "failure"
    assert result.assertions[0].assertion_msgs == [
        'no matching POST "/cart" (1 candidate)',
        f'nearest is event 2 of 3: POST "{CART}"',
    ]
    assert result.actual["post_data"] == {"product": "lamp"}
    explanation = result.explanation.to_json()
    assert explanation["nearest"] == {"index": 1, "of": 3, "method": "POST", "url": CART, "status": None}
    assert explanation["candidates"] == [1]
    assert [(each["path"], each["kind"], each["actual"]) for each in explanation["differences"]] == [
        ("post_data.product", "different", "lamp"),
        ("post_data.quantity", "missing", None),
    ]


def test_without_requests_there_is_nothing_to_come_near():
    result, _ = evaluate({"url_pattern": "/cart"})
    assert result.assertions[0].assertion_msgs == ['no request "/cart": the recording has no requests to check']
    (difference,) = result.explanation.differences
    assert difference.kind == "missing"


def test_of_two_misses_as_near_the_last_is_shown():
    result, _ = evaluate({"url_pattern": "cart", "body": {"a": 1}}, logged(body={"a": 2}), logged(body={"a": 3}))
    assert result.actual["post_data"] == {"a": 3}


def test_a_miss_at_the_right_place_is_nearer_than_another_with_more_of_the_fields():
    body = {"a": 1, "b": 2}
    other, cart = logged("https://shop.test/lamp", "GET", body), logged(method="GET", body={"a": 0})
    for events in ((other, cart), (cart, other)):
        result, _ = evaluate({"url_pattern": "cart", "method": "POST", "body": body}, *events)
        assert result.actual["url"] == CART


def test_a_request_that_was_still_under_way_decides_nothing():
    pending = build_trace([msgspec.Raw(b'{"request": null, "response": null}')], BodySource(lambda _: b"")).events[0]
    assert pending.is_pending
    result, _ = evaluate({"url_pattern": "lamp"}, pending, logged())
    assert (result.status, result.actual["url"]) == ("failure", CART)


def test_of_two_requests_that_cannot_be_read_the_first_is_the_error():
    upload = logged(body="-", headers=UPLOAD)
    for events, message in (((logged(url=5), upload), "no readable url"), ((upload, logged(url=5)), "is an upload")):
        with pytest.raises(EvaluationError, match=message):
            evaluate({"url_pattern": "cart", "body": {"a": "1"}}, *events)


def test_the_first_request_that_matches_decides():
    result, _ = evaluate({"url_pattern": "cart", "method": "POST"}, logged(), logged("https://shop.test/cart2"))
    assert result.actual["url"] == CART


def test_what_may_have_matched_and_cannot_be_read_is_an_error_unless_another_request_matches():
    message = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n'
    name, _, value = message.partition("=")
    damaged, upload, text = logged(url=5), logged(body={name: value}, headers=UPLOAD), logged(body="-", headers=UPLOAD)
    for event, message in ((damaged, "no readable url"), (upload, "is an upload"), (text, "is an upload")):
        with pytest.raises(EvaluationError, match=message):
            evaluate({"url_pattern": "cart", "body": {"a": "1"}}, event)
        found, _ = evaluate({"url_pattern": "cart", "body": {"a": "1"}}, event, logged(body={"a": "1"}))
        assert found.status == "success"
    assert matches(upload)


def test_a_number_that_python_does_not_read_is_an_error():
    line = LoggedLine(url=msgspec.Raw(b'"https://shop.test/cart"'), method=msgspec.Raw(b'"POST"'))
    line.body = msgspec.Raw(b'{"a": "1", "b": ' + b"9" * 5000 + b"}")
    with pytest.raises(EvaluationError, match="a body holds an integer of too many digits"):
        evaluate({"url_pattern": "cart", "body": {"a": "1"}}, LoggedRequest(0, line))


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"url_pattern": "("}, "invalid task definition: invalid regular expression .* @ eval.0..expected.url_pattern"),
        ({"url_pattern": ""}, "invalid task definition: .*url_pattern"),
        ({"method": "GET"}, "invalid task definition: .*url_pattern"),
        ({"url_pattern": "a", "paramz": {}}, "invalid task definition: .*paramz"),
        ({"url_pattern": "a", "body": []}, "invalid task definition: .*body"),
    ],
)
def test_a_definition_with_a_mistake_is_an_error(expected, message):
    with pytest.raises(EvaluationError, match=message):
        evaluate(expected, logged())


def test_all_urls_of_a_run_share_the_time_of_a_pattern(monkeypatch):
    monkeypatch.setattr(request_search, "SECONDS", 0.2)
    slow = [logged(f"https://shop.test/{'a' * 40}!") for _ in range(50)]
    with pytest.raises(EvaluationError, match=r"took longer than 0.2 s in 50 URLs; use a simpler one"):
        evaluate({"url_pattern": "/(a+)+$"}, *slow)


def test_the_time_ends_in_a_thread_too(monkeypatch):
    monkeypatch.setattr(request_search, "SECONDS", -1.0)
    with ThreadPoolExecutor(1) as pool, pytest.raises(EvaluationError, match="took longer than -1 s in 2 URLs"):
        pool.submit(evaluate, {"url_pattern": "cart"}, logged(), logged()).result()
