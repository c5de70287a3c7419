"""What a report shows of single requests: each field in its form, and all of it bounded."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import load_run
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.policy import RedactionPolicy, build_scope
from pytest_webeval.redaction.text import Replacements, TextRedactor
from pytest_webeval.reports.html.requests import (
    LONGEST_BODY,
    LONGEST_OTHER_BODY,
    LONGEST_VALUE,
    MARGIN,
    MOST_CHARACTERS,
    MOST_DETAILED,
    Room,
    describe_body,
    describe_events,
    list_other_secrets,
    trim_bodies,
    trim_body,
)

FORM = "application/x-www-form-urlencoded"
SECRET = "CaNaRy7zQ4abcdefgh0123456789"


def entry(url="http://shop.test/", method="GET", posted=None, content=None, headers=(), answered=(), cookies=()):
    def listed(pairs):
        return [{"name": name, "value": value} for name, value in pairs]

    return {
        "request": {"method": method, "url": url, "headers": listed(headers), "postData": posted},
        "response": {"status": 200, "headers": listed(answered), "cookies": listed(cookies), "content": content},
    }


@pytest.fixture
def recorded(tmp_path):
    """A run with that recording."""

    def make(*entries):
        (tmp_path / "107").mkdir(exist_ok=True)
        (tmp_path / "107" / "agent_response.json").write_text("{}")
        (tmp_path / "107" / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
        return load_run(tmp_path / "107")

    return make


def described_events(*arguments, **options):
    """The details of events, which have their headers in them as they do on the page."""
    details = describe_events(*arguments, **options)
    for event in details.events:
        for side in (event["request"], event["response"]):
            side["headers"] = side["headers"] and [details.headers[position] for position in side["headers"]]
    return details.events


def pairs(*named):
    return [{"name": name, "value": value} for name, value in named]


def test_an_event_has_its_parameters_headers_cookies_and_bodies(recorded):
    posted = {"mimeType": FORM, "text": "qty=2&note=a+b"}
    fields = pairs(("qty", "2"), ("note", "a b"))
    content = {"mimeType": "application/json", "text": '{"ok": [1]}', "size": 11}
    sent, answered = [("Accept", "text/html")], [("Server", "x")]
    address = "http://shop.test/?q=a%20b&q=c&empty="
    run = recorded(entry(address, "POST", posted, content, sent, answered, [("lang", "en")]))
    assert described_events(run, {}, [0]) == [
        {
            "index": 0,
            "request": {
                "query_params": pairs(("q", "a b"), ("q", "c"), ("empty", "")),
                "headers": pairs(*sent),
                "body": {"type": FORM, "length": 14, "form": "fields", "post_data": fields},
            },
            "response": {
                "response_cookies": pairs(("lang", "en")),
                "headers": pairs(*answered),
                "body": {"type": "application/json", "length": 11, "form": "json", "response_content": '{"ok": [1]}'},
                "lacks_body": False,
            },
        }
    ]


def test_what_cannot_be_read_of_an_event_is_null(recorded):
    damaged = {
        "request": {"method": 7, "url": 7, "headers": 7},
        "response": {"status": 200, "headers": 7, "cookies": 7},
    }
    (details,) = described_events(recorded(entry(), damaged), {}, [1])
    assert details["request"] == {"query_params": None, "headers": None, "body": None}
    assert details["response"] == {"response_cookies": None, "headers": None, "body": None, "lacks_body": False}


def test_a_body_that_the_recording_lacks_is_said_to_lack(recorded):
    (details,) = described_events(recorded(entry(content={"mimeType": "text/html", "size": 900})), {}, [0])
    assert details["response"]["lacks_body"] is True


def described(mime, text, room=100_000):
    return describe_body(lambda: Body(mime, text), "post_data", Room(room))


@pytest.mark.parametrize(
    ("mime", "text", "form", "value"),
    [
        ("application/json; charset=utf-8", '{"a": [1, NaN]}', "json", {"a": [1, None]}),
        ("application/vnd.api+json", "[]", "json", "[]"),
        ("Application/JSON", ' {"a": "\u00e9"}', "json", ' {"a": "\u00e9"}'),
        ("application/json", '{"token": 1}', "json", {"token": 1}),
        ("application/json", '{"to-ken": 1}', "json", {"to-ken": 1}),
        ("application/json", r'{"to\u006ben": 1}', "json", {"token": 1}),
        ("application/json", '[{"code": "a", "state": 1}]', "json", [{"code": "a", "state": 1}]),
        ("application/json", "[1e999]", "json", [None]),
        ("application/json", '"a"', "text", {"text": '"a"'}),
        ("application/json", "{", "text", {"text": "{"}),
        ("application/json", "[" * 60 + "]" * 60, "text", {"text": "[" * 60 + "]" * 60}),
        ("application/json", f"[{'9' * 9_000}]", "text", {"text": f"[{'9' * 9_000}]"}),
        ("text/html", "<p>", "text", {"text": "<p>"}),
        ("", "plain", "text", {"text": "plain"}),
        ("image/svg+xml", "<svg/>", "text", {"text": "<svg/>"}),
        (FORM, "a=1", "fields", pairs(("a", "1"))),
        (FORM, "", None, None),
        ("image/png", "PNG", "binary", None),
        ("application/octet-stream", "x", "binary", None),
    ],
)
def test_a_body_has_the_form_of_its_type(mime, text, form, value):
    body = described(mime, text)
    assert (body and body["form"], body and body.get("post_data")) == (form, value)


def test_a_multipart_body_has_its_names():
    mime = "multipart/form-data; boundary=Xx"
    text = '--Xx\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + "z" * 90_000 + "\r\n--Xx--"
    (field,) = described(mime, text)["post_data"]
    assert (field["name"], len(field["value"])) == ("file", LONGEST_VALUE + 1)


@pytest.mark.parametrize("mime", ["text/plain", "application/json"])
def test_a_long_body_is_cut_after_the_redaction(mime):
    body = described(mime, f"[{'1,' * LONGEST_BODY}1]")
    assert len(body["post_data"]["text"]) == LONGEST_BODY + MARGIN
    assert len(trim_body(body, "post_data")["post_data"]["text"]) == LONGEST_BODY + 1
    assert trim_body(described("text/plain", "short"), "post_data")["post_data"]["text"] == "short"


FORMS = (
    '{"a": 1, "access_token": "%s", "b": 2}',
    '{"value": "%s", "name": "password"}',
    '<input type="hidden" name="csrf_token" value="%s">',
    '<input value="%s" name="password">',
    '<a href="https://h.test/?access_token=%s&q=1">',
    "Set-Cookie: sid=%s; Path=/",
    "sk-proj-%s",
    "grant_type=x&code=%s&state=1",
)


@pytest.mark.parametrize("mode", ["default", "strict"])
@pytest.mark.parametrize("form", FORMS)
def test_no_secret_at_the_end_of_what_is_shown_can_be_read(form, mode):
    """Wherever the text is cut: in the secret, in its name, or behind both."""
    redact = JsonRedactor(TextRedactor(build_scope(RedactionPolicy(mode)), Replacements(b"salt")))
    for before in range(LONGEST_BODY - 90, LONGEST_BODY, 3):
        text = " ".join(["y" * before, form % SECRET, "z" * 3_000])
        shown = json.dumps(trim_body(redact(described("text/plain", text)), "post_data"))
        assert SECRET[:6] not in shown, before


def test_one_value_and_one_event_are_bounded(recorded):
    large = [(f"x-{number}", "v" * 5_000) for number in range(200)]
    run = recorded(entry(headers=large, answered=large, cookies=large))
    (details,) = described_events(run, {}, [0])
    assert details["request"]["headers"][0]["value"] == "v" * LONGEST_VALUE + "…"
    assert details["request"]["headers"][-1]["name"] == "… and 194 more"
    assert len(json.dumps(details)) < 14_000
    (nearest,) = described_events(run, {0: "nearest"}, [0])
    assert 40_000 < len(json.dumps(nearest)) < 45_000


def test_all_events_of_a_task_are_bounded_and_those_of_the_verdict_are_there(recorded):
    page = {"mimeType": "text/html", "text": "x" * 50_000}
    run = recorded(*(entry(content=page) for _ in range(500)))
    details = described_events(run, {0: "nearest", 1: "candidate"}, range(500))
    assert len(json.dumps(details)) < MOST_CHARACTERS + 150_000
    assert [one["index"] for one in details[:2]] == [0, 1]
    assert details[-1]["index"] == 499


def test_events_that_changed_something_come_before_later_ones(recorded):
    methods = ["POST", "delete", *["GET"] * (MOST_DETAILED + 5)]
    run = recorded(*(entry(method=method) for method in methods))
    indices = [details["index"] for details in described_events(run, {3: "candidate"}, range(len(methods)))]
    assert indices == [0, 1, 3, *range(9, MOST_DETAILED + 7)]
    assert len(indices) == MOST_DETAILED + 1


def test_json_is_always_read_where_any_name_may_be_that_of_a_secret():
    read = Body("application/json", '{"a": 1}')
    assert describe_body(lambda: read, "post_data", Room(100, is_strict=True))["post_data"] == {"a": 1}


def test_a_body_without_a_role_is_shorter_than_that_of_the_nearest_event(recorded):
    page = {"mimeType": "text/html", "text": "x" * 30_000}
    details = trim_bodies(described_events(recorded(entry(content=page), entry(content=page)), {1: "nearest"}, [0, 1]))
    shown = [len(event["response"]["body"]["response_content"]["text"]) for event in details]
    assert shown == [LONGEST_OTHER_BODY + 1, LONGEST_BODY + 1]


@pytest.mark.parametrize(
    "sent",
    [
        r'{"u":"https:\/\/ann:hunter22\/x@shop.test\/x"}',
        r'{"u":"https:\/\/ann:hunter22@shop.test\/x"}',
        r'{"to\nken":"hunter22"}',
        r'{"pa\tss":"hunter22"}',
        '{"to%5Bken%5D":"hunter22"}',
        '{"s%5Bid%5D":"hunter22"}',
        r'{"si\u0064":"hunter22"}',
        '{"name":"pass word","value":"hunter22"}',
    ],
)
def test_json_is_redacted_as_the_tree_that_it_is(sent):
    def redact(tree):
        return JsonRedactor(TextRedactor(build_scope(RedactionPolicy()), Replacements(b"salt")))(tree)

    body = redact(described("application/json", sent))["post_data"]
    assert (json.loads(body) if isinstance(body, str) else body) == redact({"post_data": json.loads(sent)})["post_data"]


def test_json_that_a_replacement_made_invalid_is_a_text():
    body = described("application/json", '{"id":12345678}')
    assert trim_body(body, "post_data") == body
    changed = body | {"post_data": '{"id":redacted-8}'}
    assert trim_body(changed, "post_data") == changed | {"form": "text", "post_data": {"text": '{"id":redacted-8}'}}


def test_each_header_is_there_once(recorded):
    sent = [("Accept", "*/*"), ("Host", "shop.test")]
    details = describe_events(recorded(entry(headers=sent), entry(headers=sent, answered=sent[1:])), {}, [0, 1])
    assert details.headers == pairs(*sent)
    assert [event["request"]["headers"] for event in details.events] == [[0, 1], [0, 1]]
    assert details.events[1]["response"]["headers"] == [1]


def test_of_a_success_only_what_decided_and_the_last_changes_have_details(recorded):
    run = recorded(*(entry(method=method) for method in ("POST", "GET", "POST", "POST", "GET", "PUT")))
    assert [one["index"] for one in described_events(run, {4: "match"}, range(6), is_success=True)] == [2, 3, 4, 5]


def test_secrets_of_events_without_details_are_listed_for_the_redaction(recorded):
    first = entry(
        headers=[("Cookie", "sid=1"), ("Accept", "*/*")], answered=[("Set-Cookie", "sid=2")], cookies=[("a", "3")]
    )
    run = recorded(first, entry(), entry(headers=[("Authorization", "Basic x")]))
    assert list_other_secrets(run, [{"index": 2}], range(3)) == {
        "headers": pairs(("Cookie", "sid=1"), ("Set-Cookie", "sid=2")),
        "response_cookies": pairs(("a", "3")),
    }


def test_details_without_a_margin_stay_as_they_are(recorded):
    details = described_events(recorded(entry(posted={"mimeType": "text/plain", "text": "a"})), {}, [0])
    assert trim_bodies(details) == details
