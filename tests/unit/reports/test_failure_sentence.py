"""The plain sentence of a failed task: for each failure of the example suite, and for what recordings may hold."""

# ruff: noqa: E501  (rows of a table read best in one line)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_webeval import load_sites, score_runs
from pytest_webeval.reports.failure_sentence import (
    LONGEST_SENTENCE,
    event_check_name,
    failure_sentence,
    reason_in_words,
)
from pytest_webeval.results import Assertion, EvaluatorResult, ResultWarning, Status, TaskResult, WarningKind
from tests.support.stored_results import build

SUITE = Path(__file__).parents[3] / "example_suite"
SENTENCES = {
    102: 'The answer lacks "hearth & co" and has "ironvale" instead.',
    106: "The request GET __SHOPPING__/search was sent with sort=price_desc instead of price_asc.",
    109: "No POST to __SHOPPING__/cart/add was sent; the nearest request differs in url and method.",
    111: "A forbidden request was sent: POST __SHOPPING__/contact.",
    202: 'The answer has the status "unknown_error" instead of "success".',
    205: "A forbidden request was sent: POST __SHOPPING_ADMIN__/orders/1043/cancel.",
    207: "The request GET __SHOPPING_ADMIN__/reports/sales was sent with to=01/30/2024 instead of 2024-01-31.",
    210: "The answer has the right items in the wrong order.",
    303: "The request POST __GITLAB__/api/issues was sent with issue.labels[0]=bug instead of performance.",
}
POST = {"url": "__SHOPPING__/cart", "http_method": "POST", "event_type": "request"}
PAGE = {"url": "__SHOPPING__/cart", "http_method": "GET", "event_type": "navigation"}
PATTERN = {"url": "/cart$", "http_method": None}
NEAREST = {"index": 3, "of": 9, "method": "POST", "url": "__SHOPPING__/cart?x=1", "status": 200}


def test_each_failure_of_the_example_suite_has_its_sentence(tmp_path):
    sites = load_sites(SUITE / "config.json")
    results = list(score_runs(SUITE / "runs", sites=sites, output=tmp_path))
    sentences = {result.task_id: failure_sentence(result, {}) for result in results}
    assert {task: sentence for task, sentence in sentences.items() if sentence} == SENTENCES
    assert {result.task_id for result in results if result.status is Status.FAILURE} == set(SENTENCES)


def difference(path: str, kind: str = "different", expected: Any = "a", actual: Any = "b") -> dict[str, Any]:
    return {"path": path, "kind": kind, "expected": expected, "actual": actual}


def result_of(
    name: str, failed: str, *differences: Any, messages: list[str] | None = None, **changes: Any
) -> TaskResult:
    """A failure of one evaluator with one failed check."""
    explanation = {"differences": list(differences), "nearest": None, "candidates": []}
    explanation |= {key: value for key, value in changes.items() if key in explanation}
    assertion = Assertion(assertion_name=failed, status=Status.FAILURE, assertion_msgs=messages)
    evaluated = EvaluatorResult(
        evaluator_name=name, status=Status.FAILURE, score=0.0, expected=changes.get("expected"), assertions=[assertion],
        error_msg=changes.get("error"),
    )  # fmt: skip
    return build([evaluated], {"explanations": changes.get("explanations", [explanation])})


@pytest.mark.parametrize(
    ("differences", "sentence"),
    [
        ([difference("agent_response", "missing", {}, None)], "The agent gave no answer."),
        ([difference("agent_response", "unreadable", {}, "done")], 'The answer is not a JSON object with task_type and status: "done".'),
        ([difference("task_type", "missing", "retrieve", None)], 'The answer lacks action; expected is "retrieve".'),
        ([difference("task_type", "different", "retrieve", "mutate")], 'The answer has the action "mutate" instead of "retrieve".'),
        ([difference("error_details", "extra", None, "none")], 'The answer has error_details "none", which is not expected.'),
        ([difference("retrieved_data", "missing", [6.0], None)], "The answer lacks results; expected is [6]."),
        ([difference("retrieved_data", "extra", None, ["x"])], 'The answer has results ["x"], which is not expected.'),
        ([difference("retrieved_data", "different", [1], "x")], 'The answer has the results "x" instead of [1].'),
        ([difference("retrieved_data[2]", "missing", "a", None)], 'The answer lacks "a".'),
        ([difference("retrieved_data[2]", "missing", 3.0, None)], "The answer lacks 3."),
        ([difference("retrieved_data[2]", "extra", None, "b")], 'The answer has "b", which is not expected.'),
        ([difference("retrieved_data[0]", "unreadable", 3, "three")], 'The answer lacks 3 and has "three" instead.'),
        ([difference("retrieved_data[0]", "different", "a", "b"), difference("retrieved_data[1]", "different", "b", "c"), difference("retrieved_data[2]", "missing", "c", None)], 'The answer lacks "a".'),
        ([difference(f"retrieved_data[{at}]", "missing", at, None) for at in range(5)], "The answer lacks 0, 1, 2 and 2 more."),
        ([difference("retrieved_data[0].price", "different", 1, 2)], "The answer has 2 instead of 1 in results[0].price."),
        ([difference("retrieved_data[0].price", "missing", 1, None)], "The answer lacks 1 in results[0].price."),
        ([difference("retrieved_data[0].price", "extra", None, 2)], "The answer has 2 in results[0].price, which is not expected."),
        ([difference("retrieved_data[0]", "missing", {"b": 1, "a": 2}, None), difference("retrieved_data[0]", "extra", None, {"a": 2, "b": 1})], "The answer has the right items in the wrong order."),
        ([difference("retrieved_data[0]", "different", "x…", "y…"), difference("retrieved_data[1]", "different", "y…", "x…")], None),
        ([difference("retrieved_data[0]", "different", "A" * 90, "A" * 91)], None),
        ([difference("retrieved_data", "different", ["A" * 90], ["A" * 91])], None),
        ([difference("retrieved_data[0].price", "different", "A" * 90, "A" * 91)], None),
        ([difference(f"retrieved_data[{at}]", "different", f"e{at}", f"e{at + 1}") for at in range(100)], "The answer differs from the expected one in at least 100 places."),
        ([difference("retrieved_data[0].price", "different", 1, 2), difference("retrieved_data[1]", "missing", "b", None)], 'The answer lacks "b" in results[1]; there is 1 other difference.'),
        ([difference("retrieved_data[0].price", "different", 1, 2), difference("retrieved_data[0].name"), difference("retrieved_data[1]", "extra", None, "b")], 'The answer has "b" in results[1], which is not expected; there are 2 other differences.'),
        ([difference("agent_response", "missing", {}, "")], "The agent gave no answer."),
        *(([difference("agent_response", "missing", {}, actual)], f"The answer is not a JSON object with task_type and status: {text}.") for actual, text in ((0, "0"), (False, "false"), ([], "[]"), ({}, "{}"))),
        ([difference("status", "missing", "success", "")], 'The answer has an empty status; expected is "success".'),
        ([difference("retrieved_data", "extra", None, None)], None),
        ([difference("retrieved_data[0]", "missing", {"a": [6.0, 2.5]}, None)], 'The answer lacks {"a": [6, 2.5]}.'),
        ([difference("retrieved_data[0]", "different", [6.0], [6])], None),
        ([], None),
    ],
)  # fmt: skip
def test_an_answer_is_described_in_the_words_of_the_agent(differences, sentence):
    words = {"task_type": "action", "retrieved_data": "results"}
    assert failure_sentence(result_of("AgentResponseEvaluator", "status_mismatch", *differences), words) == sentence


@pytest.mark.parametrize(
    ("expected", "differences", "sentence"),
    [
        (POST, [difference("url")], "No POST to __SHOPPING__/cart was sent; the nearest request differs in url."),
        (POST | {"url": ["/a", "/b"]}, [difference("http_method")], "No POST to /a or /b was sent; the nearest request differs in method."),
        (POST | {"url": "^/a$"}, [difference("url")], "No POST matching ^/a$ was sent; the nearest request differs in url."),
        (POST, [difference("query_params.q", "missing", "lamp", None)], "The request POST __SHOPPING__/cart was sent without q=lamp."),
        (POST, [difference("query_params.q", "extra", None, "lamp")], "The request POST __SHOPPING__/cart was sent with the unexpected q=lamp."),
        (POST, [difference("query_params.q", "different", "a b", ["c", "d"])], 'The request POST __SHOPPING__/cart was sent with q=["c", "d"] instead of "a b".'),
        (POST, [difference("post_data.$.n", "different", 3.0, 2.5)], "The request POST __SHOPPING__/cart was sent with n=2.5 instead of 3."),
        (POST, [difference("post_data", "missing", {"n": 1}, None)], 'The request POST __SHOPPING__/cart was sent without posted data {"n": 1}.'),
        (POST, [difference("post_data", "unreadable", {"n": 1}, None)], "The request POST __SHOPPING__/cart was sent with posted data that cannot be read."),
        (POST, [difference("headers.referer")], "The request POST __SHOPPING__/cart was sent with the header referer b instead of a."),
        (POST, [difference(f"query_params.{name}") for name in "xyz"], "The request POST __SHOPPING__/cart was sent with x=b instead of a and with y=b instead of a and 1 other difference."),
        (POST, [difference("response_status", "different", 302, 200)], "The request POST __SHOPPING__/cart was answered with status 200 instead of 302."),
        (POST, [difference("response_content.n", "missing", 1, None)], "The request POST __SHOPPING__/cart was answered without the content n 1."),
        (POST, [difference("response_cookies.n")], "The request POST __SHOPPING__/cart was answered with the cookies n b instead of a."),
        (POST, [difference("response_content", "unreadable", "x", None)], "The response to the request POST __SHOPPING__/cart cannot be read, expected is its content."),
        (POST, [difference("response_content.items[1]", "extra", None, 2)], "The request POST __SHOPPING__/cart was answered with the unexpected content items[1] 2."),
        (PAGE, [difference("url")], "The last page is b instead of a."),
        (PAGE, [difference("query_params.q")], "The request POST __SHOPPING__/cart was sent with q=b instead of a."),
        (POST, [], None),
        (None, [difference("url")], None),
    ],
)  # fmt: skip
def test_a_missing_request_is_described_by_the_nearest(expected, differences, sentence):
    result = result_of(
        "NetworkEventEvaluator",
        "missing_navigation_event",
        *differences,
        expected=expected,
        nearest=NEAREST,
        candidates=[3],
    )
    assert failure_sentence(result, {}) == sentence


@pytest.mark.parametrize("status", [None, -1, 0])
@pytest.mark.parametrize("path", ["response_status", "response_content.n"])
def test_a_request_without_a_response_is_not_called_answered(status, path):
    nearest, differences = NEAREST | {"status": status}, difference(path, "missing", 302, status)
    result = result_of(
        "NetworkEventEvaluator", "missing_navigation_event", differences, expected=POST, nearest=nearest, candidates=[3]
    )
    assert failure_sentence(result, {}) == "The request POST __SHOPPING__/cart got no response."


def test_a_request_that_counts_as_the_last_one_is_called_so():
    result = result_of(
        "NetworkEventEvaluator",
        "missing_navigation_event",
        difference("query_params.q"),
        expected=POST,
        nearest=NEAREST,
        candidates=[3],
        messages=["no matching POST __SHOPPING__/cart (the last of 3 requests)"],
    )
    assert failure_sentence(result, {}) == "The last request POST __SHOPPING__/cart was sent with q=b instead of a."


def test_a_sentence_about_guessed_sites_says_so():
    result = result_of("NetworkEventEvaluator", "missing_navigation_event", expected=POST)
    warned = result.with_warnings([ResultWarning(WarningKind.GUESSED_SITES, "guessed")])
    advice = " But the URLs of the sites were guessed: pass them with --webeval-config."
    assert failure_sentence(warned, {}) == f"{failure_sentence(result, {})}{advice}"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"expected": POST}, "No POST to __SHOPPING__/cart was sent: the recording has no requests to check."),
        ({"expected": PAGE, "nearest": NEAREST}, "No GET to __SHOPPING__/cart was sent as a page: no request has an Accept header that starts with text/html."),
    ],
)  # fmt: skip
def test_what_has_no_candidate_is_missing(changes, sentence):
    result = result_of(
        "NetworkEventEvaluator", "missing_navigation_event", difference("network_event", "missing"), **changes
    )
    assert failure_sentence(result, {}) == sentence


def test_a_pattern_is_matched_by_a_request_of_any_method():
    result = result_of(
        "RequestPatternEvaluator", "missing_request", difference("url"), expected=PATTERN, nearest=NEAREST
    )
    assert failure_sentence(result, {}) == "No request matching /cart$ was sent; the nearest request differs in url."


@pytest.mark.parametrize(
    ("candidates", "sentence"),
    [
        ([3], "A forbidden request was sent: POST __SHOPPING__/cart?x=1."),
        ([3, 4], "2 forbidden requests were sent, such as POST __SHOPPING__/cart?x=1."),
        ([*range(100)], "At least 100 forbidden requests were sent, such as POST __SHOPPING__/cart?x=1."),
    ],
)
def test_a_forbidden_request_is_named(candidates, sentence):
    result = result_of("NetworkEventEvaluator", "unexpected_navigation_event", nearest=NEAREST, candidates=candidates)
    assert failure_sentence(result, {}) == sentence


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        (["not achieved: No.", "step 1"], "Not achieved: No."),
        (["4 of 6 points; 80% required"], "4 of 6 points; 80% required."),
        ([""], None),
        (None, None),
    ],
)
def test_a_rubric_is_described_by_its_first_message(messages, sentence):
    assert failure_sentence(result_of("RubricEvaluator", "rubric.points_mismatch", messages=messages), {}) == sentence


@pytest.mark.parametrize(
    "changes",
    [
        {"explanations": "none"},
        {"explanations": []},
        {"explanations": [{"differences": "x"}]},
        {"explanations": [{"differences": [], "nearest": "x"}]},
        {"explanations": [{"differences": [], "nearest": {"method": "GET", "url": 3, "index": 1, "of": 2}}]},
        {"explanations": [{"differences": [], "nearest": NEAREST, "candidates": 3}]},
        {"explanations": [{"differences": [{"path": 7}]}]},
        {"explanations": [None]},
        {"error": "no such file"},
    ],
)
def test_without_a_valid_explanation_the_reason_has_to_do(changes):
    for name, check in (
        ("AgentResponseEvaluator", "status_mismatch"),
        ("NetworkEventEvaluator", "missing_navigation_event"),
    ):
        sentence = failure_sentence(result_of(name, check, **changes), {})
        assert sentence is None


def test_a_check_of_a_user_has_no_sentence():
    assert failure_sentence(result_of("Mine", "too_slow", difference("x"), messages=["slow"]), {}) is None


def test_hostile_values_stay_short_and_in_one_line():
    hostile = "\x1b[31m\u202e\n::error::" + "A" * 10_000
    values = [
        difference(f"retrieved_data[{at}]", "different", hostile + str(at), {hostile: [hostile] * 9})
        for at in range(99)
    ]
    for result in (
        result_of("AgentResponseEvaluator", "status_mismatch", *values),
        result_of("NetworkEventEvaluator", "missing_navigation_event", difference(f"post_data.{hostile}", "different", hostile, hostile),
                  expected=POST | {"url": hostile}, nearest=NEAREST | {"url": hostile, "method": hostile}, candidates=[3]),
        result_of("RubricEvaluator", "rubric.points_mismatch", messages=[hostile]),
    ):  # fmt: skip
        sentence = failure_sentence(result, {})
        assert len(sentence) <= LONGEST_SENTENCE
        assert sentence.isprintable()
        assert "\n" not in sentence


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("missing_navigation_event: no matching POST /cart (0 candidates)", "missing request: no matching POST /cart (0 candidates)"),
        ("missing_navigation_event: no POST /cart: the recording", "missing request: no POST /cart: the recording"),
        ("missing_navigation_event: no matching GET /cart", "missing navigation event: no matching GET /cart"),
        ("missing_request: no matching GET '/cart'", "missing request: no matching GET '/cart'"),
        ("unexpected_navigation_event: 2 matching POST /cart, expected none", "forbidden request: 2 matching POST /cart, expected none"),
        ("status: missing_navigation_event: x", "status: missing_navigation_event: x"),
        ("missing_navigation_event", "missing_navigation_event"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_reason_has_the_check_of_an_event_in_words(reason, words):
    assert reason_in_words(reason) == words


@pytest.mark.parametrize(
    ("name", "method", "words"),
    [
        ("missing_navigation_event", "POST", "missing request"),
        ("missing_navigation_event", None, "missing request"),
        ("missing_navigation_event", "GET", "missing navigation event"),
        ("missing_request", "GET", "missing request"),
        ("unexpected_navigation_event", "GET", "forbidden request"),
        ("network_event.url_mismatch", "GET", "network_event.url_mismatch"),
    ],
)
def test_a_check_of_an_event_has_a_name_in_words(name, method, words):
    assert event_check_name(name, method) == words
