"""Fields of bodies of each kind, and the same body with another value in one of them."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.authoring.audit.attempts import build_page, build_trace, change_event, replace_events
from pytest_webeval.authoring.audit.request_mutants import BodyField, read_fields
from pytest_webeval.authoring.audit.values import list_values, replace_value
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.safety.json import DEEPEST

FORM = "application/x-www-form-urlencoded"
PART = '--b\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
MULTIPART = Body("multipart/form-data; boundary=b", PART.format("a", "1") + PART.format("c", "x y") + "--b--")


@pytest.mark.parametrize(
    ("body", "names", "changed"),
    [
        (Body(FORM, "a=1&c=x+y"), ["a", "c"], {"a": "1", "c": "new"}),
        (Body(FORM, "c=1&c=2"), ["c"], {"c": "new"}),
        (MULTIPART, ["a", "c"], {"a": "1", "c": "new"}),
        (Body("application/json", '{"a": 1, "c": 2}'), ["a", "c"], {"a": 1, "c": "new"}),
    ],
)
def test_a_changed_body_is_read_like_the_recorded_one(body, names, changed):
    fields = read_fields(body)
    assert [field.name for field in fields.list_fields()] == names
    assert parse_fields(fields.unchanged()).first == parse_fields(body).first
    assert parse_fields(fields.replace(("c",), "new")).first == changed


def test_values_inside_json_have_paths():
    body = Body("application/json", json.dumps({"issue": {"labels": ["a", "b"], "title": "t"}}))
    fields = read_fields(body)
    assert [field.name for field in fields.list_fields()] == ["issue.labels[0]", "issue.labels[1]", "issue.title"]
    changed = json.loads(fields.replace(("issue", "labels", 1), "new").text)
    assert changed == {"issue": {"labels": ["a", "new"], "title": "t"}}


@pytest.mark.parametrize(
    "body",
    [None, Body("text/plain", "a=1"), Body("application/json", "[1]"), Body("application/json", "{"), Body(FORM, "")],
)
def test_other_bodies_have_no_fields(body):
    assert read_fields(body) is None


def test_a_body_that_is_too_long_is_not_changed():
    assert read_fields(Body(FORM, "a=" + "x" * 200_000)) is None


@pytest.mark.parametrize(
    "key", ["issue", "issue.title", "$.issue", "$.issue.title", " $.issue.title ", "$['issue'].title"]
)
def test_a_key_names_the_field_that_it_leads_to(key):
    assert BodyField(("issue", "title"), "t").is_named([key])


@pytest.mark.parametrize("key", ["title", "$.title", "$.issue.titles", "$.issue[0]", "$", "^issue$"])
def test_another_key_does_not(key):
    assert not BodyField(("issue", "title"), "t").is_named([key])


def test_data_nested_deep_end_in_one_value():
    data = "end"
    for _ in range(700):
        data = [data]
    ((path, value),) = list_values(data)
    assert len(path) == DEEPEST
    assert isinstance(value, list)
    assert list(list_values(replace_value(data, path, 1))) == [(path, 1)]


def test_events_of_a_made_trace_are_numbered_in_their_order():
    first, second = build_page("http://shop.test/a"), build_page("http://shop.test/b", status=302)
    trace = build_trace([first, second])
    doubled = replace_events(trace, {0: (), 1: (trace.events[1], change_event(trace.events[1], method="POST"))})
    seen = [(event.index, event.url, event.method, event.status) for event in doubled.events]
    assert seen == [(0, "http://shop.test/b", "GET", 302), (1, "http://shop.test/b", "POST", 302)]
    assert doubled.events[0].is_navigation
