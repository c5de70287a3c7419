"""Requests that may have decided a verdict: which of them are compared, and what says that two are the same."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.side_by_side import run_details
from pytest_webeval.reports.html.side_by_side.run_details import (
    Request,
    list_deciding_places,
    list_named,
    mark_matches,
    number_requests,
    read_requests,
    select,
    split_url,
)
from tests.unit.reports.html.side_by_side.results import NEAREST, build, differ, evaluate

NET = "NetworkEventEvaluator"


def row(method, url="/a", status=200, mark=""):
    return [0, method, url, status, "document", 0.5, mark]


ROWS = [
    (row("POST"), [Request("POST", "/a", 200)]),
    (row("delete", status=None), [Request("delete", "/a", None)]),
    (row("GET", mark="nearest"), [Request("GET", "/a", 200, "nearest")]),
    (row("GET", mark="candidate"), [Request("GET", "/a", 200)]),
    (row("GET", mark={"a": 1}), [Request("GET", "/a", 200)]),
    ([*row("PUT"), 0.25], [Request("PUT", "/a", 200)]),
    (row("PUT", status="302"), [Request("PUT", "/a", None)]),
    (row("PUT", status=True), [Request("PUT", "/a", None)]),
    (row("POST", url=None), []),
    (row(["POST"]), []),
    (row("POST")[:6], []),
    ("POST /a", []),
    (None, []),
    ({"method": "POST"}, []),
]


@pytest.mark.parametrize(("listed", "expected"), ROWS)
def test_rows_of_a_table_are_requests(listed, expected):
    assert read_requests({"events": [listed]}) == expected


@pytest.mark.parametrize("network", [None, [], {}, {"events": None}, {"events": "POST"}, {"events": {}}, "events", 5])
def test_without_a_table_no_request_is_known(network):
    assert read_requests(network) is None


def test_requests_are_bounded():
    listed = [row("M" * 99, url=f"/{place}{'x' * 9_999}") for place in range(run_details.MOST_READ + 9)]
    read = read_requests({"events": listed})
    assert len(read) == run_details.MOST_READ
    assert read[-1].url.startswith(f"/{run_details.MOST_READ + 8}x")
    assert (len(read[-1].url), len(read[-1].method)) == (run_details.LONGEST_URL, run_details.LONGEST_METHOD)
    assert select(read, {each.place for each in read}) == read[-run_details.MOST_COMPARED :]


URLS = [
    ("http://a.test:1/cart/add?q=1&r=2#x", ("/cart/add", "?q=1&r=2")),
    ("__SHOPPING__/cart", ("/cart", "")),
    ("__SHOPPING__", ("/", "")),
    ("http://a.test", ("/", "")),
    ("", ("/", "")),
    ("/__init__", ("/__init__", "")),
    ("http://[::1/x", ("http://[::1/x", "")),
]


@pytest.mark.parametrize(("url", "parts"), URLS)
def test_a_place_is_a_path_at_any_host(url, parts):
    assert split_url(url) == parts


def test_a_result_names_the_requests_that_matched_or_came_nearest():
    matched = {"http_method": "POST", "url": "__SHOPPING__/cart", "response_status": 302, "headers": {}}
    evaluated = [
        evaluate(NET, differ("url"), nearest=NEAREST),
        evaluate(NET, nearest=NEAREST | {"method": "PUT"}, actual=matched),
        evaluate(NET, actual=matched),
        evaluate(NET, differ("url"), actual=matched),
        evaluate(NET, nearest={"index": "x", "method": 5}),
        evaluate("AgentResponseEvaluator", actual={"status": "SUCCESS"}),
        evaluate(NET, actual="damaged"),
    ]
    assert [request for each in evaluated for request in list_named(build(each).evaluators_results)] == [
        Request("GET", "__SHOPPING__/cart", 200, "nearest"),
        Request("PUT", "__SHOPPING__/cart", 200, "match"),
        Request("POST", "__SHOPPING__/cart", 302, "match"),
    ]


def test_the_last_request_to_a_place_is_the_one_that_matched():
    visits = [Request("GET", f"http://a.test/{place}") for place in ("x", "y", "x")]
    named = [Request("GET", "__SHOPPING__/x", 200, "match"), Request("GET", "__SHOPPING__/y", 200, "nearest")]
    assert [each.role for each in mark_matches(visits, named)] == ["", "", "match"]
    assert mark_matches(visits, [Request("POST", "/x", 200, "match")]) == visits
    assert mark_matches([], named) == []


def test_what_decides_in_one_session_is_compared_in_all():
    first = [Request("GET", "/a"), Request("GET", "/b"), Request("post", "/c"), Request("GET", "/c")]
    second = [Request("GET", "/a", 200, "nearest"), Request("OPTIONS", "/b")]
    places = list_deciding_places([first, second])
    assert places == {("GET", "/a"), ("POST", "/c")}
    assert select(first, places) == [first[0], first[2]]


def test_requests_to_one_place_are_numbered():
    listed = [Request("GET", "/a"), Request("POST", "/a"), Request("get", "http://h/a?q=1")]
    assert [key for key, _ in number_requests(listed)] == [(("GET", "/a"), 0), (("POST", "/a"), 0), (("GET", "/a"), 1)]
