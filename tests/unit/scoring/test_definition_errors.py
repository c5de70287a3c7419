"""A mistake in the definition of a task of one's own is an error of its runs: no agent is blamed for it."""

from __future__ import annotations

import pytest

from pytest_webeval.results import Status

PAGE = "http://shop.test:7770"
FORM = ("application/x-www-form-urlencoded", "qty=2")
POST = {"url": "__SHOPPING__/cart", "http_method": "POST"}
GET = {"url": "__SHOPPING__/cart"}

MISTAKES = [
    (GET | {"query_params": {"sort": "price"}}, "'price' is read letter by letter; write ['price'] @ eval[1]"),
    ({"url": "__SHOPPING__/items/*"}, "'__SHOPPING__/items/*' has a * that is compared as a text; write '^…$' with"),
    ({"url": "__SHOPPING__/*/edit"}, "'__SHOPPING__/*/edit' has a * that is compared as a text"),
    ({"url": ["__SHOPPING__/a", "__SHOPPING__/b*"]}, "has a * that is compared as a text"),
    ({"url": "__SHOPPING__/items/.*"}, "looks like a pattern but is compared as a text; write '^…$'"),
    (POST | {"http_method": "post"}, "unknown method 'post'; use POST @ eval[1].expected.http_method"),
    (POST | {"http_method": "PSOT"}, "unknown method 'PSOT'"),
    (GET | {"post_data": {"qty": "2"}}, "post_data without http_method, which is GET then"),
    (GET | {"http_method": "GET", "post_data": {"qty": "2"}}, "a GET has no post_data"),
    (POST | {"response_status": 2000}, "impossible status 2000"),
    (POST | {"post_data": {" qty": "2"}}, "has blanks around it and never matches"),
    (POST | {"post_data": {"^qty": "2"}}, "looks like a pattern but is compared as a text"),
    (POST | {"post_data": {"a": "^(x$"}}, "invalid regular expression"),
    (POST | {"post_data": {"a": "__SHOPING__/x"}}, "unknown placeholder __SHOPING__; use __SHOPPING__"),
    (
        POST | {"response_cookies": {"a": "__SHOPPING__/x"}},
        "never matches here, for recorded addresses are not replaced",
    ),
    (GET | {"headers": {}}, "an empty headers never matches"),
]
# Of a forbidden URL any reading counts.
MISTAKES_OF_REQUIRED = [
    ({"url": "^__SHOPPING__/cart/$"}, "never matches: a recorded URL has no slash at its end"),
    ({"url": r"^__SHOPPING__/cart\?a=1$"}, "it is compared without the query"),
]


@pytest.fixture
def scored(bench):
    """The result of the second expectation, of a run that posted something, and the warnings."""

    def score(expected, rules="strict", **config):
        bench.record(
            {"task_type": "MUTATE", "status": "SUCCESS"},
            [{"url": f"{PAGE}/cart", "method": "POST", "post": FORM}, {"url": f"{PAGE}/x"}],
        )
        network = {"evaluator": "NetworkEventEvaluator", "expected": expected, **config}
        whole = bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network), rules)
        return whole.evaluators_results[1], whole.webeval["warnings"]

    return score


@pytest.mark.parametrize(
    ("expected", "text", "forbidden"),
    [*((*row, each) for row in MISTAKES for each in (False, True)), *((*row, False) for row in MISTAKES_OF_REQUIRED)],
)
def test_a_mistake_is_an_error_in_one_line_whatever_was_recorded(scored, expected, text, forbidden):
    result, _ = scored(expected, should_not_exist=forbidden)
    assert result.status is Status.ERROR
    assert text in result.error_msg
    assert result.error_msg.startswith("invalid task definition: ")
    assert result.error_msg.endswith("; fix the definition")
    assert "\n" not in result.error_msg
    assert " @ eval[1]." in result.error_msg


@pytest.mark.parametrize(("expected", "_"), MISTAKES_OF_REQUIRED)
def test_it_is_none_of_a_forbidden_request(scored, expected, _):
    result, _ = scored(expected | {"http_method": "POST"}, should_not_exist=True)
    assert result.status is not Status.ERROR


@pytest.mark.parametrize(("expected", "text"), [*MISTAKES, *MISTAKES_OF_REQUIRED])
def test_rules_that_follow_the_reference_keep_the_verdict_with_a_warning(scored, expected, text):
    for rules in ("reference", "default"):
        result, warnings = scored(expected, rules)
        if result.status is not Status.ERROR:
            assert [text in warning for warning in warnings].count(True) == 1


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(("expected", "text"), MISTAKES)
def test_a_published_task_keeps_its_verdict(scored, expected, text):
    statuses = [scored(expected, rules)[0].status for rules in ("reference", "default")]
    assert scored(expected, "auto")[0].status is statuses[1]
    result, _ = scored(expected, "strict")
    assert text not in (result.error_msg or "") or statuses[1] is Status.ERROR


def test_sound_definitions_are_judged(scored):
    for url in ("__SHOPPING__/cart", "^__SHOPPING__/.*$", "__SHOPPING__/a%2Ab", "__SHOPPING__/cart?q=*"):
        result, warnings = scored({"url": url, "http_method": "POST"})
        assert (result.status, warnings) in ((Status.SUCCESS, []), (Status.FAILURE, []))


@pytest.mark.parametrize("kind", ["NOT_FOUND_ERROR", "SUCCESS"])
def test_data_that_no_type_reads_are_an_error_whatever_the_agent_says(bench, kind):
    bench.record({"task_type": "RETRIEVE", "status": kind, "retrieved_data": None})
    wanted = bench.expecting(data=["soon"], schema={"type": "array", "items": {"type": "date"}})
    (result,) = bench.score(bench.task(wanted), "strict").evaluators_results
    assert result.status is Status.ERROR
    assert "'soon'" in result.error_msg


def test_requests_that_contradict_each_other_blame_nobody(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    network = {"evaluator": "NetworkEventEvaluator", "expected": POST}
    task = bench.task(network, network | {"should_not_exist": True})
    first, second = bench.score(task, "strict").evaluators_results
    assert first.status is Status.FAILURE
    assert "contradicts eval[0], which requires such a request" in second.error_msg


def test_an_evaluator_with_a_slip_in_its_name_is_named_rightly(bench):
    bench.record()
    (result,) = bench.score(bench.task({"evaluator": "NetworkEventEvalutor", "expected": GET})).evaluators_results
    assert result.error_msg.startswith(
        "unknown evaluator 'NetworkEventEvalutor' @ eval[0].evaluator; did you mean 'NetworkEventEvaluator'? known: "
    )
    (other,) = bench.score(bench.task({"evaluator": "Mine", "expected": GET})).evaluators_results
    assert "did you mean" not in other.error_msg


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("status", [200, 201, 202, 204, 302, 303])
def test_a_request_that_writes_without_a_status_accepts_all_that_servers_answer_when_strict(bench, method, status):
    expected = POST | {"http_method": method}
    found = {}
    for rules in ("reference", "default", "strict"):
        result = bench.network(expected, {"url": f"{PAGE}/cart", "method": method, "status": status}, rules=rules)
        found[rules] = str(result.status)
        text = "expected 200 (the default: the task names no response_status)"
        said = [each for one in result.assertions for each in one.assertion_msgs or () if each == text]
        assert bool(said) is (found[rules] == "failure")
    usual = "success" if status == 200 else "failure"
    assert found == {"reference": usual, "default": usual, "strict": "success"}


@pytest.mark.parametrize(
    ("expected", "status", "text"),
    [
        (POST, 404, "expected a status from 200 to 399 (the default: the task names no response_status)"),
        (POST, 500, "expected a status from 200 to 399 (the default: the task names no response_status)"),
        (POST | {"response_status": 200}, 302, "expected 200"),
        (POST | {"http_method": "PUT"}, 404, "expected a status from 200 to 399 (the default: the task names no"),
        (POST | {"http_method": "GET"}, 204, "expected 200 (the default: the task names no response_status)"),
        (POST | {"http_method": "HEAD"}, 302, "expected 200 (the default: the task names no response_status)"),
    ],
)
def test_another_status_is_a_failure_that_says_whether_the_task_names_it(bench, expected, status, text):
    event = {"url": f"{PAGE}/cart", "method": expected["http_method"], "status": status}
    result = bench.network(expected, event, rules="strict")
    said = [each for one in result.assertions for each in one.assertion_msgs or ()]
    assert result.status is Status.FAILURE
    assert any(each.startswith(text) for each in said)
