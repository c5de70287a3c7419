"""A query is decoded once under strict rules, whoever wrote it, and twice by the reference."""

from __future__ import annotations

import pytest

from pytest_webeval.evaluators.network.urls import UrlMatcher
from pytest_webeval.rules import RULES, find_rules
from pytest_webeval.values import url_normalization
from pytest_webeval.values.url_normalization import LONGEST_KEPT, normalize_url

pytestmark = pytest.mark.usefixtures("published")  # so that warnings name the rules that decided

SHOP = "http://shop.test:7770"
# What is expected, the query that was sent, and whether it meets that by the reference and under strict rules.
PARAMETERS = [
    ("C++", "q=C%2B%2B", False, True),
    ("C", "q=C%2B%2B", True, False),
    ("C", "q=C++", True, True),
    ("C++", "q=C%252B%252B", True, False),
    ("C%2B%2B", "q=C%252B%252B", False, True),
    ("+1", "q=%2B1", False, True),
    ("a&b", "q=a%26b", True, True),
    ("a&b", "q=a%2526b", True, False),
    ("a%26b", "q=a%2526b", False, True),
    ("50%", "q=50%25", True, True),
    ("50%", "q=50%", True, True),
    ("100%25", "q=100%2525", False, True),
    ("a b", "q=a+b", True, True),
    ("a b", "q=a%20b", True, True),
    ("a b", "q=a%2Bb", True, False),
    ("ü", "q=%C3%BC", True, True),
    ("ü", "q=ü", True, True),
    ("a=b", "q=a%3Db", True, True),
    ("a#b", "q=a%23b", True, True),
    ("x/", "q=x/", False, True),
    ("x", "q=x/", True, False),
    ("A", "q=a", True, True),
    ("__SHOPPING__/x", "q=http%3A%2F%2Fshop.test%3A7770%2Fx", True, True),
    (f"{SHOP}/x", f"q={SHOP}/x", False, True),
]
# An expected URL is encoded as the recorded one is.
QUERIES = [
    ("q=C%2B%2B", "q=C%2B%2B", True, True),
    ("q=C", "q=C%2B%2B", True, False),
    ("q=C++", "q=C%2B%2B", True, False),
    ("q=a b", "q=a+b", True, True),
    ("q=a%2526b", "q=a%26b", True, False),
    ("q=a%26b", "q=a%26b", True, True),
    ("q%2B=1", "q%2B=1", True, True),
    ("q%252B=1", "q%2B=1", False, False),
    ("u=__SHOPPING__/x", f"u={SHOP}/x", True, True),
    ("u=__SHOPPING__/x", "u=http%3A%2F%2Fshop.test%3A7770%2Fx", True, True),
    ("u=x/", "u=x/", True, True),
    ("u=x/", "u=x", True, False),
]


@pytest.fixture
def met(bench):
    """Whether a recorded query meets an expected event, by the reference and under strict rules."""

    def check(expected, query):
        event = {"url": f"{SHOP}/s?{query}"}
        results = [bench.network({"url": "__SHOPPING__/s", **expected}, event, rules=name) for name in RULES]
        statuses = [result.status == "success" for result in results]
        assert statuses[0] == statuses[1]  # default decodes as the reference does
        return statuses[0], statuses[2]

    return check


@pytest.mark.parametrize(("value", "query", "reference", "strict"), PARAMETERS)
def test_a_parameter_is_plain_and_the_recorded_query_is_decoded_once(met, value, query, reference, strict):
    assert met({"query_params": {"q": [value]}}, query) == (reference, strict)


@pytest.mark.parametrize(("expected", "query", "reference", "strict"), QUERIES)
def test_the_query_of_an_expected_url_is_decoded_once_too(met, expected, query, reference, strict):
    assert met({"url": f"__SHOPPING__/s?{expected}"}, query) == (reference, strict)


@pytest.mark.parametrize(("expected", "query", "reference", "strict"), QUERIES)
def test_so_is_that_of_a_referer(bench, expected, query, reference, strict):
    event = {"url": f"{SHOP}/s", "headers": {"referer": f"{SHOP}/r?{query}"}}
    expectation = {"url": "__SHOPPING__/s", "headers": {"referer": f"__SHOPPING__/r?{expected}"}}
    results = [bench.network(expectation, event, rules=name) for name in ("reference", "strict")]
    assert [result.status == "success" for result in results] == [reference, strict]


@pytest.mark.parametrize(
    ("name", "query", "met_by"), [("a+b", "a%2Bb=1", True), ("a b", "a%2Bb=1", False), ("a%20b", "a%2520b=1", True)]
)
def test_names_are_decoded_once_too(met, name, query, met_by):
    assert met({"query_params": {name: ["1"]}}, query)[1] is met_by


@pytest.mark.parametrize(
    ("path", "query"),
    [("cT1DJTJCJTJC", {"q": ("c++",)}), ("P3E9YSUyNTI2Yg", {"q": ("a%26b",)})],  # q=C%2B%2B, ?q=a%2526b
)
def test_a_query_in_base64_is_decoded_once(bench, path, query):
    reader = UrlMatcher(bench.sites, ("shopping",), decode_base64=True, rules=find_rules("strict"))
    assert dict(reader.actual(f"{SHOP}/r/{path}/x").query) == query


ANSWERS = [
    (f"{SHOP}/s?q=C%2B%2B", f"{SHOP}/s?q=C%2B%2B", True, True),
    (f"{SHOP}/s?q=a%252Bb", f"{SHOP}/s?q=a%2Bb", False, False),
    (f"{SHOP}/s?q=a+b", f"{SHOP}/s?q=a%20b", True, True),
    (f"{SHOP}/s?q=a%2526b", f"{SHOP}/s?q=a%26b", True, False),
    (f"{SHOP}/s?a%252Bb=1", f"{SHOP}/s?a%2Bb=1", False, False),
    (f"{SHOP}/s?u={SHOP}/", f"{SHOP}/s?u=http%3A%2F%2Fshop.test%3A7770%2F", False, True),
]


@pytest.mark.parametrize(("expected", "answer", "reference", "strict"), ANSWERS)
def test_a_url_in_an_answer_is_decoded_once(bench, expected, answer, reference, strict):
    wanted = bench.expecting(data=[expected], schema={"type": "array", "items": {"type": "string", "format": "url"}})
    response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [answer]}
    statuses = [bench.answer(response, wanted, rules=name).status for name in ("reference", "strict")]
    assert [status == "success" for status in statuses] == [reference, strict]


def test_a_verdict_that_decoding_changed_has_a_warning(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": f"{SHOP}/s?q=C%2B%2B"}])
    network = {
        "evaluator": "NetworkEventEvaluator",
        "expected": {"url": "__SHOPPING__/s", "query_params": {"q": ["C++"]}},
    }
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network)
    (warning,) = bench.score(task, "strict").warnings
    assert (warning.kind, warning.decided) == ("Q60", True)


def test_messages_have_the_query_and_the_path_as_they_were_sent(bench):
    expected = {"url": "__SHOPPING__/s", "query_params": {"q": ["D"]}}
    for name in RULES:
        result = bench.network(expected, {"url": f"{SHOP}/s?q=C%2B%2b&A=b+c"}, rules=name)
        told = [message for assertion in result.assertions for message in assertion.assertion_msgs or ()]
        assert "nearest is event 1 of 1: GET __SHOPPING__/s?q=C%2B%2b&A=b+c (200)" in told
        assert any(message.startswith("got ") and "C%2B%2b" in message and "b+c" in message for message in told)
    result = bench.network({"url": "__SHOPPING__/s"}, {"url": f"{SHOP}/X%2Fy"}, rules="strict")
    told = [message for assertion in result.assertions for message in assertion.assertion_msgs or ()]
    assert "got __SHOPPING__/X%2Fy" in told


@pytest.fixture
def cache():
    url_normalization._normalize_short.cache_clear()
    return url_normalization._normalize_short


@pytest.mark.parametrize("url", ["data:image/png;base64,", f"{SHOP}/s?q="])
def test_a_long_url_is_kept_by_no_cache(cache, bench, url):
    long, reader = url + "A" * LONGEST_KEPT, UrlMatcher(bench.sites, ("shopping",))
    normalize_url(long)
    reader.actual(long)
    assert cache.cache_info().currsize == 0
    assert reader._seen == {}
    normalize_url(url + "A")
    reader.actual(url + "A")
    assert (cache.cache_info().currsize, len(reader._seen)) == (1, 1)
