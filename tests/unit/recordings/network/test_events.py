"""What the browser did: spec §3.2 (events), §3.3 (bodies), §4 (the network evaluator)."""

from __future__ import annotations

import json
from urllib.parse import urlparse

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.bodies import Body, BodySource
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.recordings.network.har_entries import build_trace
from pytest_webeval.safety.limits import USUAL, Limits

SHOP = "http://shop.test:7770"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
PAGE = {"accept": "text/html,*/*"}
MODERN = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-user": "?1", "accept": "x,text/html"}
BOTH = pytest.mark.parametrize("rules", ["reference", "default"])


def event(url=SHOP, method="GET", headers=None):
    named = [{"name": name, "value": value} for name, value in (headers or {}).items()]
    entry = {"request": {"url": url, "method": method, "headers": named}, "response": {"status": 200}}
    return build_trace([msgspec.Raw(json.dumps(entry).encode())], BodySource(str.encode)).events[0]


@pytest.mark.parametrize(
    ("path", "asset"),
    [
        *(
            (f"/a.{kind}", True)
            for kind in ["css", "js", "png", "jpg", "jpeg", "gif", "svg", "woff", "woff2", "ttf", "ico", "webp"]
        ),
        *((path, True) for path in ["/a.js?v=1", "/a.js;v=1", "/a.js#x"]),
        *((path, False) for path in ["/a.JS", "/a.js.map", "/foojs", "/a.mp4", "/a.json", "/a?x=.js", "/a.js/"]),
    ],
)
def test_assets_are_told_by_the_end_of_their_path(path, asset):
    assert event(SHOP + path).is_asset is asset


URL_PARTS = (
    "http://",
    "https://",
    "//",
    "/",
    "?",
    "#",
    ";",
    "a",
    ".css",
    ".js",
    "[",
    "]",
    " ",
    "\t",
    "é",
    "﹖",
    "@",
    ":80",
    ".",
)


@given(st.lists(st.sampled_from(URL_PARTS), max_size=7).map("".join), st.sampled_from(["", "http://", "https://"]))
@example("a]/x", "http://")
@example("a/b.j\ts", "http://")
@example("/a.js?/x", "http://")
def test_assets_of_any_spelling_are_those_that_a_parser_finds(rest, scheme):
    try:
        path = urlparse(scheme + rest).path
    except ValueError:
        with pytest.raises(EvaluationError, match="invalid URL"):
            _ = event(scheme + rest).is_asset
    else:
        assert event(scheme + rest).is_asset is path.endswith((".css", ".js"))


@pytest.mark.parametrize(
    ("method", "headers", "navigation"),
    [
        ("GET", MODERN, True),
        ("POST", MODERN, False),
        ("get", MODERN, False),
        ("GET", {**MODERN, "accept": "*/*"}, False),
        ("GET", {**MODERN, "sec-fetch-user": "?0"}, False),
        ("GET", {**MODERN, "sec-fetch-dest": "iframe"}, False),
        ("GET", {**MODERN, "sec-fetch-mode": "cors"}, False),
        ("GET", {name.upper(): value.upper() for name, value in MODERN.items()}, True),
        ("GET", {"accept": "text/html;q=1"}, True),
        ("GET", {"accept": "application/xhtml+xml,text/html"}, False),
        ("GET", {"accept": " text/html"}, False),
        ("GET", {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "accept": "*/*"}, False),
        ("GET", {}, False),
    ],
)
def test_navigations_are_told_by_their_headers(method, headers, navigation):
    assert event(method=method, headers=headers).is_navigation is navigation


MULTIPART = "multipart/form-data; boundary=XX"
PART = 'Content-Disposition: form-data; name="{}"'


@pytest.mark.parametrize(
    ("mime", "text", "fields"),
    [
        (FORM, "a=1&b=&a=2&c=x%20y+z", {"a": "1", "b": "", "c": "x y z"}),
        (f"{FORM}; charset=utf-8", "a=1", {"a": "1"}),
        (FORM, "plain", {"plain": ""}),
        (FORM, "", None),
        (JSON, '{"a": {"b": [1]}}', {"a": {"b": [1]}}),
        (JSON, "[1]", None),
        (JSON, "5", None),
        (JSON, "{", None),
        (JSON, "[" * 700, None),
        ("application/vnd.api+json", '{"a": 1}', None),
        ("Application/JSON", '{"a": 1}', None),
        ("text/plain", "a=1", None),
        ("", "a=1", None),
        (MULTIPART, f"--XX\r\n{PART.format('a')}\r\n\r\n1\r\n--XX--\r\n", {"a": "1"}),
        (MULTIPART, f"--XX\n{PART.format('a')}\n\n1\n--XX\n{PART.format('a')}\n\n2\n--XX--", {"a": "2"}),
        (MULTIPART, f'--XX\r\n{PART.format("f")}; filename="x.txt"\r\n\r\nA\r\nB\r\n--XX--', {"f": "A\r\nB"}),
        ('multipart/form-data; boundary="XX"', f"--XX\r\n{PART.format('a')}\r\n\r\n1\r\n--XX--", {"a": "1"}),
        (f"{JSON}; {MULTIPART}", f"--XX\r\n{PART.format('a')}\r\n\r\n1\r\n--XX--", {"a": "1"}),
        ("multipart/form-data", f"--XX\r\n{PART.format('a')}\r\n\r\n1\r\n--XX--", None),
    ],
)
def test_the_fields_of_a_body_are_read_by_its_type(mime, text, fields):
    found = parse_fields(Body(mime, text))
    assert (None if found is None else found.first) == fields


@pytest.mark.parametrize(
    ("mime", "text", "told"),
    [
        (
            JSON,
            "[" * 100_000,
            "a JSON body in the trace nests deeper than 750 levels; the limit is 750; raise nesting",
        ),
        (
            JSON,
            f"[{'0,' * 9}0]",
            "a JSON body in the trace holds more values than 9; the limit is 9; raise values in",
        ),
        (FORM, "&".join("a" * 10), "a posted form holds more fields than 9; the limit is 9; raise values in"),
        (MULTIPART, "--XX" * 10, "a multipart body holds more parts than 9; the limit is 9; raise values in"),
    ],
)
def test_a_body_beyond_the_limits_is_an_error_that_names_the_limit(mime, text, told):
    with pytest.raises(EvaluationError, match=told):
        parse_fields(Body(mime, text), Limits(values=9) if len(text) < 100 else USUAL)


def posted(body):
    """The arguments of an event that posts a form (text) or a JSON object."""
    post = (FORM, body) if isinstance(body, str) else (JSON, json.dumps(body))
    return {"url": f"{SHOP}/a", "method": "POST", "post": post}


FILTERED = "$.a[?(@.k==1)].v"
# Spec §4.4: expected post data, recorded body, types of its keys, whether they match.
TABLE_4_4 = [
    ({"x": "1"}, "x=1&y=2", {}, True),
    ({"x": "1"}, "x=1&x=2", {}, True),
    ({"x": "1"}, "x=2&x=1", {}, False),
    ({"x": "1"}, "y=2", {}, False),
    ({"x": "1"}, "", {}, False),
    ({"n": 5}, "n=5", {}, True),
    ({"n": 5}, {"n": 5}, {}, True),
    ({"n": 0}, "n=0", {}, False),
    ({"n": 0}, "n=", {}, True),
    ({"n": "0"}, {"n": 0}, {}, False),
    ({"n": 47.0}, "n=47", {}, False),
    ({"n": 47.0}, "n=47.00", {"n": {"format": "currency"}}, True),
    ({"n": True}, "n=true", {}, True),
    ({"n": False}, "n=false", {}, False),
    ({"n": "Hello"}, "n=hello!", {}, True),
    ({"n": ["a", "b"]}, "n=b", {}, True),
    ({"n": {"a": 1, "b": 2}}, {"n": {"b": 2, "a": 1}}, {}, False),
    ({"$.a.b": "x"}, {"a": {"b": "X"}}, {}, True),
    ({"$.a.b": "x"}, 'a={"b":"x"}', {}, True),
    ({"$.a.b.c": "1"}, {"a": json.dumps({"b": json.dumps({"c": "1"})})}, {}, False),
    ({"$.a[*]": "x"}, {"a": ["x", "y"]}, {}, True),
    ({FILTERED: "x"}, {"a": [{"k": 1, "v": "x"}]}, {}, False),
    ({FILTERED: "x"}, {"a": [{"k": 1, "v": "x"}, {"k": 1, "v": "y"}]}, {}, True),
    ({"$.^k_\\d+$": "x"}, "k_12=x", {}, True),
    ({"$.^k_\\d+$": "x"}, "k_1=x&k_2=y", {}, True),
    ({"^k_\\d+$": "x"}, "k_12=x", {}, True),
    ({"$.^file_path|file_name$": "L"}, "file_pathology=L", {}, True),
    ({"c": "__SHOPPING__/x"}, f"c={SHOP}/x", {}, True),
    ({" n ": "1"}, "n=1", {}, False),
    ({"qty": None}, "n=1", {}, True),
    ({"qty": None}, "qty=", {}, False),
    ({"x": None}, "", {}, False),
    ({"n": ["b", "a"]}, 'n=["a","b"]', {"n": {"type": "array"}}, True),
    ({"n": ["a"]}, {"n": ["a", "b"]}, {"n": {"type": "array"}}, False),
    ({"t": "^.*mug$"}, "t=Blue+Mug", {}, True),
    ({"$.a[": "x"}, {"a": ["x"]}, {}, False),
]
GUESSES = [({"n": ["a", "b"]}, {"n": ["b", "z"]}), ({"n": "a"}, {"n": ["a", "z"]}), ({"n": "a"}, "n=^.*$")]


def post_check(bench, wanted, body, types, rules):
    expected = {"url": "__SHOPPING__/a", "http_method": "POST", "post_data": wanted}
    schema = {"post_data_schema": {"type": "object", "properties": types}} if types else {}
    return bench.network(expected, posted(body), rules=rules, **schema).status


@BOTH
@pytest.mark.parametrize(("wanted", "body", "types", "match"), TABLE_4_4)
def test_posted_fields_are_compared_key_by_key(bench, rules, wanted, body, types, match):
    assert post_check(bench, wanted, body, types, rules) == ("success" if match else "failure")


@pytest.mark.parametrize(("wanted", "body"), GUESSES)
def test_patterns_and_guesses_that_were_posted_count_for_the_reference_alone(bench, wanted, body):
    found = [post_check(bench, wanted, body, {}, rules) for rules in ("reference", "default", "strict")]
    assert found == ["success", "failure", "failure"]


@BOTH
def test_one_expected_item_without_an_array_type_is_an_error(bench, rules):
    assert post_check(bench, {"n": ["a"]}, "n=a", {}, rules) == "error"


WANTED_POST = {"url": "__SHOPPING__/a", "http_method": "POST", "post_data": {"n": "1", "form_key": "q"}}


@pytest.mark.parametrize(
    ("pattern", "status"),
    [("^form_key$", "success"), ("^FORM_KEY$", "failure"), ("(", "failure"), (".", "error")],
    ids=["name", "upper", "invalid", "all"],
)
def test_ignored_post_keys_are_removed_on_both_sides(bench, pattern, status):
    result = bench.network(WANTED_POST, posted("n=1&form_key=z"), ignored_post_data_params_patterns=[pattern])
    assert result.status == status


def at(path, method="POST", status=200, **more):
    return {"url": SHOP + path, "method": method, "status": status, **more}


A_POST = {"url": "__SHOPPING__/a", "http_method": "POST"}


@BOTH
@pytest.mark.parametrize(
    ("events", "config", "status"),
    [
        ([at("/a")], {}, "success"),
        ([at("/a?x=1")], {}, "failure"),
        ([at("/a", "post")], {}, "failure"),
        ([at("/a", "PUT")], {}, "failure"),
        ([at("/b")], {}, "failure"),
        ([at("/a", status=302)], {}, "failure"),
        ([at("/a", status=302), at("/a")], {}, "success"),
        ([at("/a"), at("/a", status=302)], {}, "failure"),
        ([at("/a"), at("/a", status=302)], {"last_event_only": False}, "success"),
        ([at("/a"), at("/a", "GET", headers=PAGE)], {}, "success"),
        ([at("/a?page=1")], {"ignored_query_params": ["page"]}, "success"),
        ([at("/a?page=1")], {"ignored_query_params_patterns": ["PAG"]}, "success"),
        ([at("/a/ZnJvbT0xJnRvPTI")], {"decode_base64_query": True}, "failure"),
        ([at("/a")], {"should_not_exist": True}, "failure"),
        ([at("/a", status=500)], {"should_not_exist": True}, "failure"),
        ([at("/a", "GET")], {"should_not_exist": True}, "success"),
        ([at("/b")], {"should_not_exist": True}, "success"),
        ([{"url": "http://[::1/a"}, at("/a")], {}, "error"),
        ([{"url": "", "method": "POST"}, at("/a")], {}, "error"),
        ([{"url": ""}, at("/a")], {}, "success"),
        ([{"url": ""}, at("/b")], {}, "failure"),
    ],
)
def test_a_request_is_judged_by_its_candidates(bench, rules, events, config, status):
    assert bench.network(A_POST, *events, rules=rules, **config).status == status


@BOTH
@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([at("/b", "GET", headers=PAGE), at("/a", "GET", headers=PAGE)], "success"),
        ([at("/a", "GET", headers=PAGE), at("/b", "GET", headers=PAGE)], "failure"),
        ([at("/a", "GET", headers=PAGE), at("/b", "GET"), at("/b", headers=PAGE)], "success"),
        ([at("/a", "GET", headers={"accept": "*/*"})], "failure"),
        ([at("/a", "GET", 304, headers=PAGE)], "failure"),
        ([{"url": "", "headers": {"accept": "*/*"}}], "failure"),
    ],
)
def test_a_navigate_task_ends_on_the_last_navigation(bench, rules, events, status):
    assert bench.network({"url": "__SHOPPING__/a"}, *events, kind="NAVIGATE", rules=rules).status == status


@BOTH
@pytest.mark.parametrize(
    ("wanted", "headers", "status"),
    [
        ({"referer": "__SHOPPING__/r?x=1"}, {"Referer": f"{SHOP}/R/?x=1"}, "success"),
        ({"referer": "__SHOPPING__/r?x=1"}, {"Referer": f"{SHOP}/R?x=1"}, "success"),
        ({"referer": "__SHOPPING__/r"}, {"referer": f"{SHOP}/r?x=1"}, "failure"),
        ({"referer": "__SHOPPING__/r"}, {"accept": "*/*"}, "failure"),
        ({"referer": "^__SHOPPING__/R$"}, {"referer": f"{SHOP}/R"}, "failure"),
        ({"X-Kind": "^a.*$"}, {"x-kind": "Abc"}, "success"),
        ({"X-Kind": "a"}, {"x-kind": "b"}, "failure"),
        ({"X-At": "__SHOPPING__/x"}, {"X-At": f"{SHOP}/x"}, "success"),
    ],
)
def test_expected_headers_must_be_there(bench, rules, wanted, headers, status):
    assert bench.network({**A_POST, "headers": wanted}, at("/a", headers=headers), rules=rules).status == status


@BOTH
@pytest.mark.parametrize(
    ("wanted", "content", "status"),
    [
        ({"a": 1}, {"a": 1.0, "b": 2}, "success"),
        ({"a": 1}, {"a": True}, "success"),
        ({"a": 1}, {"a": "1"}, "failure"),
        ({"a": "x"}, {"a": "X"}, "failure"),
        ({"a": "^.*$"}, {"a": "x"}, "failure"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "success"),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "success"),
        ({"a": None}, {"a": None}, "success"),
        ({"a": None}, {"b": 1}, "failure"),
        ({"$.a.b": "x"}, {"a": {"b": "x"}}, "success"),
    ],
)
def test_response_content_is_compared_as_it_is(bench, rules, wanted, content, status):
    event = at("/a", content=(JSON, json.dumps(content)))
    assert bench.network({**A_POST, "response_content": wanted}, event, rules=rules).status == status


@BOTH
@pytest.mark.parametrize(
    ("wanted", "cookies", "status"),
    [
        ({"c": "a b"}, {"c": "A%20b", "d": "x"}, "success"),
        ({"c": "a b"}, {"c": "a+b"}, "failure"),
        ({"c": "^a.*$"}, {"c": "abc"}, "success"),
        ({"C": "a"}, {"c": "a"}, "failure"),
        ({"c": "__SHOPPING__/x"}, {"c": f"{SHOP}/x"}, "failure"),
    ],
)
def test_response_cookies_are_compared_as_texts(bench, rules, wanted, cookies, status):
    assert (
        bench.network({**A_POST, "response_cookies": wanted}, at("/a", cookies=cookies), rules=rules).status == status
    )


TYPES = {"from": {"type": "array", "items": {"type": "date"}}, "n": {"type": "array", "items": {"type": "number"}}}


@BOTH
@pytest.mark.parametrize(
    ("query", "actual", "status"),
    [
        ({"from": ["02/1/2023"]}, "?from=2023-02-01", "success"),
        ({"from": ["02/1/2023"]}, "?from=2023-02-02", "failure"),
        ({"from": ["02/1/2023"]}, "?from=soon", "failure"),
        ({"from": ["02/1/2023"]}, "", "failure"),
        ({"from": ["02/1/2023"]}, "?from=2023-02-01&x=1", "failure"),
        ({"n": ["1", "2"]}, "?n=2.0&n=1.0", "success"),
        ({"n": ["1", "1"]}, "?n=1&n=2", "success"),
        ({"n": ["1"]}, "?n=1&n=1", "success"),
        ({"x": ["1"]}, "?x=1", "error"),
        ({"from": ["soon"]}, "?from=2023-02-01", "error"),
    ],
)
def test_typed_parameters_are_compared_as_arrays_of_their_type(bench, rules, query, actual, status):
    wanted, schema = {**A_POST, "query_params": query}, {"type": "object", "properties": TYPES}
    assert bench.network(wanted, at(f"/a{actual}"), rules=rules, query_params_schema=schema).status == status


@pytest.mark.parametrize(
    "more",
    [
        {"post_data": {"n": ["a"]}},
        {"headers": {"referer": ["a"]}},
        {"headers": {"referer": "__MAP__/x"}},
        {"response_cookies": {"x": ["a"]}},
        {"url": "^($"},
        {"url": ["__SHOPPING__/a"]},
    ],
)
@pytest.mark.parametrize("config", [{}, {"should_not_exist": True}])
def test_what_the_task_wrote_wrong_is_an_error_whatever_was_recorded(bench, more, config):
    assert bench.network({**A_POST, **more}, at("/b"), **config).status == "error"


def test_the_nearest_miss_is_told_with_its_index_and_each_differing_field(bench, failures):
    events = [at("/c", "GET"), at("/a", status=500, post=(FORM, "n=2")), at("/z", status=302)]
    result = bench.network({**A_POST, "response_status": 302, "post_data": {"n": "1"}}, *events)
    assert failures(result) == [
        "missing_navigation_event",
        "network_event.response_status_mismatch",
        "network_event.post_data.n_mismatch",
    ]
    assert result.assertions[0].assertion_msgs[1].startswith("nearest is event 2 of 3: POST __SHOPPING__/a (500)")
    assert result.actual["post_data"] == {"n": "2"}


def test_without_any_request_nothing_is_near(bench, failures):
    result = bench.network(A_POST, {"url": f"{SHOP}/a.js"}, rules="reference")
    assert (failures(result), result.actual) == (["missing_navigation_event"], None)


def test_actual_and_expected_are_one_event_each(bench):
    wanted = {**A_POST, "headers": {"referer": "__SHOPPING__/r"}, "post_data": {"n": "1"}}
    sent = at("/a", headers={"Referer": f"{SHOP}/r", "secret": "x"}, post=(FORM, "n=1&other=2"))
    result = bench.network(wanted, sent)
    keys = ["url", "headers", "response_status", "query_string", "post_data", "event_type", "http_method"]
    assert [list(one) for one in (result.actual, result.actual_normalized, result.expected)] == [keys] * 3
    assert result.actual_normalized == result.expected
    assert result.expected["url"] == "__SHOPPING__/a"
    assert result.actual["post_data"] == {"n": "1"}


def test_content_and_cookies_are_shown_where_the_task_asks_for_them(bench):
    asked = {"response_content": {"a": 1}, "response_cookies": {"c": "x"}}
    result = bench.network({**A_POST, **asked}, at("/a", content=(JSON, '{"a": 1, "b": 2}'), cookies={"c": "x"}))
    shown = {name: result.actual[name] for name in asked}
    assert shown == asked == {name: result.expected[name] for name in asked}


def test_a_forbidden_event_is_counted_and_shown(bench, failures):
    result = bench.network(A_POST, at("/a"), at("/a"), should_not_exist=True, last_event_only=False)
    assert failures(result) == ["unexpected_navigation_event"]
    assert result.assertions[0].assertion_msgs[0] == "2 matching POST __SHOPPING__/a, expected none"


@pytest.mark.parametrize("right", [0, 1, 2])
def test_each_candidate_is_judged_by_its_own_bodies(bench, right):
    wanted = {
        "url": "__SHOPPING__/a",
        "http_method": "POST",
        "post_data": {"n": "1"},
        "response_content": {"ok": True},
    }
    events = [
        {
            "url": f"{SHOP}/a",
            "method": "POST",
            "post": (FORM, f"n={int(index == right)}"),
            "content": (JSON, json.dumps({"ok": index == right})),
        }
        for index in range(3)
    ]
    assert bench.network(wanted, *events, last_event_only=False).status == "success"
    assert bench.network(wanted, *events).status == ("success" if right == 2 else "failure")


def test_each_header_that_is_an_address_is_compared_with_its_own(bench):
    headers = {"referer": "__SHOPPING__/from", "redirect_url": "__SHOPPING__/to"}
    sent = {"referer": f"{SHOP}/from", "redirect_url": f"{SHOP}/to"}
    wanted = {"url": "__SHOPPING__/a", "headers": headers}
    assert bench.network(wanted, {"url": f"{SHOP}/a", "headers": sent}).status == "success"
    swapped = dict(zip(sent, reversed(sent.values()), strict=True))
    assert bench.network(wanted, {"url": f"{SHOP}/a", "headers": swapped}).status == "failure"
