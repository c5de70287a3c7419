"""A mistake in the definition of a task of one's own is an error of its runs: no agent is blamed for it."""

from __future__ import annotations

import pytest

from pytest_webeval.evaluators import NetworkEventEvaluator, default_evaluators
from pytest_webeval.results import Status
from pytest_webeval.scoring.score import score

PAGE = "http://shop.test:7770"
FORM = ("application/x-www-form-urlencoded", "qty=2")
POST = {"url": "__SHOPPING__/cart", "http_method": "POST"}
GET = {"url": "__SHOPPING__/cart"}

MISTAKES = [
    (GET | {"query_params": {"sort": "price"}}, "'price' is read letter by letter; write ['price'] @ eval[1]"),
    ({"url": "__SHOPPING__/items/*"}, "'__SHOPPING__/items/*' has a * that is compared as a text; write '^…$' with"),
    ({"url": "__SHOPPING__/*/edit"}, "'__SHOPPING__/*/edit' has a * that is compared as a text"),
    ({"url": ["__SHOPPING__/a", "__SHOPPING__/b/*"]}, "has a * that is compared as a text"),
    ({"url": "__SHOPPING__/items/.*"}, "looks like a pattern but is compared as a text; write '^…$'"),
    (POST | {"http_method": "post"}, "unknown method 'post'; use POST @ eval[1].expected.http_method"),
    (POST | {"http_method": "PSOT"}, "unknown method 'PSOT'"),
    (GET | {"post_data": {"qty": "2"}}, "post_data without http_method, which is GET then"),
    (GET | {"http_method": "GET", "post_data": {"qty": "2"}}, "a GET has no post_data"),
    (POST | {"response_status": 2000}, "impossible status 2000"),
    (POST | {"post_data": {" qty": "2"}}, "has blanks around it and never matches"),
    (POST | {"post_data": {"$.a[": "2"}}, "invalid path '$.a['"),
    (POST | {"post_data": {"a": "^(x$"}}, "invalid regular expression"),
    (GET | {"query_params": {"p": ["2", "3"]}}, "of 2 values only '2' is compared"),
    ({"url": "__SHOPPING__/items/{id}"}, "has a {id} that is compared as a text; write '^…$' with [^/]+ for it"),
    ({"url": "__SHOPPING__/items/:id/edit"}, "has a :id that is compared as a text"),
    ({"url": "__SHOPPING__/items/<int:id>"}, "has a <int:id> that is compared as a text"),
    ({"url": "__SHOPPING__/static/*.js?v=1"}, "has a * that is compared as a text"),
    ({"url": "__SHOPPING__*"}, "has a * that is compared as a text"),
    ({"url": "^__SHOPPING__/cart?id=1$"}, "never matches: its ? means that what is before it may be missing"),
    ({"url": "^__SHOPPING__/items/[0-9]?p=1$"}, "never matches: its ? means that what is before it may be missing"),
    ({"url": "^__SHOPPING__/(a|b)/x?p=1$"}, "never matches: its ? means that what is before it may be missing"),
    (POST | {"http_method": "move"}, "unknown method 'move'; use MOVE"),
    (POST | {"http_method": "foo"}, "unknown method 'foo'; use one of GET"),
    (
        POST | {"response_cookies": {"a": "__SHOPPING__/x"}},
        "never matches here, for recorded addresses are not replaced",
    ),
]
# Of a forbidden URL any reading counts, and of its headers only a referer.
MISTAKES_OF_REQUIRED = [
    ({"url": "^__SHOPPING__/cart/$"}, "never matches: a recorded URL has no slash at its end"),
    ({"url": r"^__SHOPPING__/cart\?a=1$"}, "it is compared without the query"),
    ({"url": "^__SHOPPING__/s[?]q=1$"}, "it is compared without the query"),
    (POST | {"headers": {}}, "an empty headers never matches"),
]


@pytest.fixture
def scored(bench):
    """The result of the second expectation, of a run that posted something, and the warnings."""

    def score(expected, rules="strict", **config):
        bench.record(
            {"task_type": "MUTATE", "status": "SUCCESS"},
            [{"url": f"{PAGE}/cart", "method": "POST", "post": FORM, "headers": {"x-b": "1"}}, {"url": f"{PAGE}/x"}],
        )
        network = {"evaluator": "NetworkEventEvaluator", "expected": expected, **config}
        whole = bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network), rules)
        return whole.evaluators_results[1], whole.webeval["warnings"]

    return score


@pytest.mark.parametrize(("expected", "text"), [*MISTAKES, *MISTAKES_OF_REQUIRED])
def test_a_mistake_is_an_error_in_one_line_where_a_request_is_missing(scored, expected, text):
    result, _ = scored(expected)
    assert (result.status, result.explanation) == (Status.ERROR, None)
    assert text in result.error_msg
    assert result.error_msg.startswith("invalid task definition: ")
    assert result.error_msg.endswith("; fix the definition")
    assert "\n" not in result.error_msg
    assert " @ eval[1]." in result.error_msg


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        *((expected, "error") for expected, _ in MISTAKES if expected["url"] != POST["url"]),  # nothing was seen
        (GET | {"post_data": {"qty": "2"}}, "error"),  # a POST was meant
        (POST | {"http_method": "PSOT"}, "error"),
        (POST | {"http_method": "post"}, "failure"),  # capitals do not count here
        (POST | {"url": "__SHOPPING__/x", "http_method": "post"}, "success"),
        (POST | {"response_status": 302}, "failure"),
        (POST | {"headers": {}}, "failure"),
        (POST | {"headers": {"referer": "__SHOPPING__/x"}}, "failure"),
        # It forbids more than it says.
        (POST | {"post_data": {"qty": "9"}}, "error"),
        (POST | {"query_params": {"qty": ["9"]}}, "error"),
        (POST | {"response_content": {"id": 9}}, "error"),
        (POST | {"headers": {"accept": "x"}}, "error"),
        (POST | {"post_data": {}, "query_params": {}}, "failure"),
    ],
)
def test_of_a_forbidden_request_a_mistake_counts_where_it_can_have_decided(scored, expected, status):
    result, _ = scored(expected, should_not_exist=True)
    assert str(result.status) == status


HONEST = [
    {"url": "__SHOPPING__/a/b/-/blob/main/__init__.py"},
    {"url": "__SHOPPING__/__webpack_hmr__"},
    {"url": "__SHOPPING__/s?f=__b__"},
    {"url": "__SHOPPING__/s?next=__GITLAB__/a"},
    {"url": f"{PAGE}/s?next=__SHOPPING__/a"},
    {"url": "^__SHOPPING__/a/__init__[.]py$"},
    {"url": "__SHOPPING__/search?price=[0-100]"},
    {"url": "__SHOPPING__/search?q=a.*b"},
    {"url": "__SHOPPING__/search?path=/*/{id}"},
    {"url": "__SHOPPING__/wiki/Sagittarius_A*"},
    {"url": "__SHOPPING__/wiki/Sagittarius_A*/edit"},
    {"url": "__SHOPPING__/wiki/Talk:Lamp"},
    {"url": "^__SHOPPING__/.*?/items/?$"},
    {"url": "^__SHOPPING__/items(?=/1).*$"},
    *(POST | {"http_method": method} for method in ("MOVE", "PROPPATCH", "QUERY", "REPORT", "PURGE", "NOTIFY")),
    POST | {"post_data": {"file_name": "__gitlab__.py"}},
    POST | {"post_data": {"note": "use __Shopping__ now"}},
    POST | {"post_data": {"note": "^привет.*$"}},
    POST | {"headers": {"x-a": "^привет.*$"}},
    POST | {"response_cookies": {"a": "^日本.*$"}},
    *(POST | {"post_data": {name: "1"}} for name in ("rules.*.max", "a.*b", "^", "^qty")),
    POST | {"response_status": 0},
    GET | {"query_params": {"p": ["2", " 2"]}},
]


@pytest.mark.parametrize("expected", HONEST)
def test_an_agent_is_to_blame_for_missing_an_honest_expectation(scored, expected):
    result, warnings = scored(expected)
    assert (result.status, warnings) == (Status.FAILURE, [])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "email"},
        {"type": "string", "format": "date-time"},
        {"type": ["string", "null"]},
        {"type": "text"},
    ],
)
@pytest.mark.parametrize(("quantity", "status"), [("2", Status.SUCCESS), ("3", Status.FAILURE)])
def test_a_type_that_does_not_exist_is_a_string(scored, schema, quantity, status):
    types = {"type": "object", "properties": {"qty": schema}}
    result, _ = scored(POST | {"post_data": {"qty": quantity}}, post_data_schema=types)
    assert result.status is status


def test_a_slip_in_a_type_is_a_mistake(scored):
    types = {"type": "object", "properties": {"qty": {"type": "numbr"}}}
    result, _ = scored(POST | {"post_data": {"qty": "3"}}, post_data_schema=types)
    assert "unknown type 'numbr'; use number" in result.error_msg


@pytest.mark.parametrize(
    "config",
    [
        {"expected": POST, "ignored_query_params_patterns": ["("]},
        {"expected": POST, "ignored_post_data_params_patterns": ["("]},
        {"expected": POST | {"query_params": {}, "response_status": 200}},
    ],
)
def test_a_success_shows_that_an_expectation_can_be_met(scored, config):
    result, warnings = scored(**config)
    assert (result.status, warnings) == (Status.SUCCESS, [])


class Stricter(NetworkEventEvaluator):
    """An evaluator of a user, who builds on ours."""


@pytest.mark.parametrize(("expected", "status"), [(POST, "success"), (POST | {"http_method": "PSOT"}, "error")])
def test_an_evaluator_that_builds_on_ours_blames_as_ours(bench, expected, status):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": f"{PAGE}/cart", "method": "POST"}])
    task = bench.task({"evaluator": "NetworkEventEvaluator", "expected": expected})
    evaluators = [each for each in default_evaluators() if each.name != Stricter.name]
    (result,) = score(bench.case(task, "strict"), [*evaluators, Stricter()]).evaluators_results
    assert str(result.status) == status


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"url_pattern": "__SHOPPING__/cart"}, "__SHOPPING__ never matches here"),
        ({"url_pattern": "^__GITLAB__/cart$"}, "__GITLAB__ never matches here"),
        ({"url_pattern": "/cart?id=1"}, "its ? means that what is before it may be missing"),
        ({"url_pattern": "/cart", "method": "post"}, "unknown method 'post'; use POST"),
        ({"url_pattern": "/cart", "params": {"next": "__SHOPPING__/x"}}, "__SHOPPING__ never matches here"),
        ({"url_pattern": "/carts", "method": "MOVE"}, None),
        ({"url_pattern": "/__init__.py"}, None),
    ],
)
def test_mistakes_in_patterns_of_requests(bench, expected, text):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [{"url": f"{PAGE}/cart", "method": "POST"}])
    task = bench.task({"evaluator": "RequestPatternEvaluator", "expected": expected})
    (result,) = bench.score(task, "strict").evaluators_results
    assert result.status is (Status.ERROR if text else Status.FAILURE)
    assert (text or "") in (result.error_msg or "")


@pytest.mark.parametrize(
    ("required", "forbidden", "contradicts"),
    [
        ({}, {}, True),
        ({"headers": {"referer": "__SHOPPING__/a"}}, {}, True),
        ({"headers": {"referer": "__SHOPPING__/a"}}, {"headers": {"referer": "__SHOPPING__/a"}}, True),
        ({"headers": {"referer": "__SHOPPING__/a"}}, {"headers": {"referer": "__SHOPPING__/b"}}, False),
        ({}, {"headers": {"referer": "__SHOPPING__/b"}}, False),
        ({"headers": {"x-a": "1"}}, {}, True),
        ({}, {"http_method": "PUT"}, False),
    ],
)
def test_a_request_from_another_page_contradicts_nothing(bench, required, forbidden, contradicts):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    network = {"evaluator": "NetworkEventEvaluator"}
    entries = [network | {"expected": POST | required}, network | {"expected": POST | forbidden}]
    results = bench.score(bench.task(entries[0], entries[1] | {"should_not_exist": True}), "strict").evaluators_results
    assert ("contradicts eval[0]" in (results[1].error_msg or "")) is contradicts


def test_a_task_that_no_recording_can_pass_blames_no_agent(bench):
    form = {"url": f"{PAGE}/cart", "method": "POST", "post": FORM}
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, [form])
    network = {"evaluator": "NetworkEventEvaluator"}
    entries = [network | {"expected": POST | {"post_data": {"qty": text}}} for text in ("1", "2")]
    task = bench.task(bench.expecting("MUTATE", schema={"type": "null"}), *entries)
    answer, first, second = bench.score(task, "strict").evaluators_results
    assert [answer.status, first.status, second.status] == [Status.SUCCESS, Status.ERROR, Status.SUCCESS]
    assert "no recording can pass" in first.error_msg


def test_of_two_answers_that_contradict_each_other_none_is_a_success(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    kinds = [bench.expecting(kind, schema={"type": "null"}) for kind in ("RETRIEVE", "MUTATE")]
    assert bench.score(bench.task(*kinds), "strict").status is Status.ERROR


def test_a_message_is_short_whatever_it_quotes(scored):
    result, _ = scored(POST | {"response_status": 10**400})
    assert "impossible status 1000" in result.error_msg
    assert len(result.error_msg) < 250


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


def test_an_address_in_an_answer_may_be_of_a_site(bench):
    wanted = bench.expecting(
        data=[f"{PAGE}/p/1"], schema={"type": "array", "items": {"type": "string", "format": "url"}}
    )
    for answer, status in ((f"{PAGE}/p/1", "success"), (f"{PAGE}/p/2", "failure")):
        response = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [answer]}
        assert bench.answer(response, wanted, rules="strict").status == status
