"""What evaluators make of a run as a whole: spec §4.2 and §4.7 for events, and the rubric beside a recording."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import pytest
from msgspec import Struct, structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators import EVALUATORS, default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.results import Assertion
from pytest_webeval.tasks.expectations import RubricExpectation
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.comparison import Comparison, failed, passed

SHOP = "http://shop.test:7770"
PAGE = {"accept": "text/html"}
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
A_POST = {"url": "__SHOPPING__/a", "http_method": "POST"}


def at(path, method="POST", status=200, **more):
    return {"url": SHOP + path, "method": method, "status": status, **more}


# Every evaluator


@pytest.mark.parametrize(
    ("statuses", "status", "score"),
    [
        ([], "success", 1.0),
        (["success"], "success", 1.0),
        (["success", "failure"], "failure", 0.0),
        (["success", "partial_match"], "partial_match", 0.0),
        (["error", "failure"], "error", 0.0),
    ],
)
def test_a_result_is_as_good_as_its_worst_assertion(statuses, status, score):
    result = ResponseEvaluator().result([Assertion(assertion_name="x", status=one) for one in statuses])
    assert (result.evaluator_name, result.status, result.score) == ("AgentResponseEvaluator", status, score)


@pytest.mark.parametrize("usual", [[], [passed("a", "fine")]], ids=["nothing", "something"])
def test_an_evaluator_can_add_to_what_another_found(usual):
    evaluator = ResponseEvaluator()
    more = failed("b", "wrong")
    result = evaluator.adding(evaluator.result(usual, actual="x", expected="y"), more)
    assert result.assertions == [*usual, more]
    assert (result.status, result.score, result.actual, result.expected) == ("failure", 0.0, "x", "y")


@pytest.mark.parametrize(("score", "expected"), [(0.5, 0.5), (1.0, 0.0), (None, 0.0)])
def test_a_partial_score_stays_when_an_evaluator_adds_to_the_result(score, expected):
    evaluator = ResponseEvaluator()
    result = evaluator.adding(evaluator.result([passed("a", "fine")], score=score), failed("b", "wrong"))
    assert (result.status, result.score) == ("failure", expected)


def test_an_evaluator_without_a_method_cannot_be_made():
    class Idle(Evaluator):
        name = "Idle"

    with pytest.raises(TypeError, match="evaluate"):
        Idle()


def test_there_is_one_evaluator_of_each_kind():
    assert [one.name for one in default_evaluators()] == list(EVALUATORS)
    assert list(EVALUATORS) == [
        "AgentResponseEvaluator",
        "NetworkEventEvaluator",
        "RubricEvaluator",
        "RequestPatternEvaluator",
    ]


@pytest.mark.parametrize(
    "one", [Comparison(), ParseContext(), *default_evaluators()], ids=lambda one: type(one).__name__
)
def test_what_decides_a_verdict_cannot_be_changed(one):
    with pytest.raises((AttributeError, TypeError)):
        one.ordered = True


@pytest.mark.parametrize("one", [Comparison(), ParseContext()], ids=lambda one: type(one).__name__)
def test_settings_have_no_place_for_anything_else(one):
    with pytest.raises(AttributeError):
        structs.force_setattr(one, "more", 1)  # past what a frozen struct refuses


CHANGED_WHILE_EVALUATING = {"ComparisonState", "EvaluationLog", "EvaluatorCalls"}


def test_no_other_class_of_evaluators_and_values_can_be_changed():
    rooms = [f"pytest_webeval.{room}" for room in ("evaluators", "values")]
    names = [name for room in rooms for _, name, _ in walk_packages(import_module(room).__path__, f"{room}.")]
    members = {each for name in names for each in vars(import_module(name)).values() if isinstance(each, type)}
    ours = {each for each in members if each.__module__.startswith(tuple(rooms))}
    dataclasses = {each: each.__dataclass_params__.frozen for each in ours if is_dataclass(each)}
    frozen = dataclasses | {each: each.__struct_config__.frozen for each in ours if issubclass(each, Struct)}
    assert len(frozen) > 40
    assert {each.__name__ for each, is_frozen in frozen.items() if not is_frozen} == CHANGED_WHILE_EVALUATING


def test_a_case_cannot_be_changed(bench):
    bench.record()
    case = bench.case(bench.task(bench.expecting()))
    with pytest.raises(FrozenInstanceError):
        case.today = None


NOWHERE = Sites({})


def test_sites_that_are_not_configured_are_guessed_once_with_a_warning(bench):
    bench.record()
    configured = bench.case(bench.task(bench.expecting()))
    case = Case(configured.run, configured.task, NOWHERE)
    assert configured.sites is bench.sites
    assert case.sites.derender(f"{SHOP}/a", ["shopping"]) == "__SHOPPING__/a"
    assert case.sites is case.sites
    assert (configured.warnings, len(case.warnings)) == ((), 1)
    assert case.log.warnings[0].kind == "guessed_sites"
    assert case.warnings[0].startswith("no URL configured for shopping; ")
    assert case.warnings[0].endswith("pass a file with the site URLs: --webeval-config=FILE")


def test_a_run_whose_sites_cannot_be_guessed_cannot_be_scored(bench):
    bench.record(events=[at("/a.css")])
    configured = bench.case(bench.task(bench.expecting()), "reference")
    configured.check()
    with pytest.raises(RecordingError, match="cannot infer site URLs"):
        Case(configured.run, configured.task, NOWHERE).check()


# The response evaluator


def test_type_and_status_are_shown_in_the_documented_spelling(bench):
    result = bench.answer(
        {"task_type": " Mutate", "status": "success ", "error_details": "x"}, bench.expecting("MUTATE")
    )
    shown = {"action": "mutate", "status": "SUCCESS", "results": None, "error_details": "x"}
    assert (result.status, result.actual_normalized) == ("success", shown)


@pytest.mark.parametrize("kind", ["MUTATE", "NAVIGATE"])
@pytest.mark.parametrize("data", [None, ["y"]], ids=repr)
def test_data_count_for_a_retrieve_task_alone_but_are_shown(bench, kind, data):
    answer = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data}
    result = bench.answer(answer, bench.expecting(kind, data=["x"]))
    assert (result.status, result.expected["results"], result.actual_normalized["results"]) == ("success", ["x"], data)


MUTATED = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None}


def test_of_several_expectations_the_first_says_whether_data_count(bench, failures):
    bench.record(MUTATED)
    results = bench.score(bench.task(bench.expecting("MUTATE"), bench.expecting(data=["x"]))).evaluators_results
    assert [failures(one) for one in results] == [[], ["agent_response.task_type_mismatch"]]


def test_an_expectation_from_elsewhere_says_itself_whether_data_count(bench, failures):
    bench.record(MUTATED)
    elsewhere = Expectation("AgentResponseEvaluator", 0, bench.expecting(data=["x"]))
    result = ResponseEvaluator().evaluate(elsewhere, bench.case(bench.task(bench.expecting("MUTATE"))))
    assert failures(result) == ["agent_response.task_type_mismatch", "retrieved_data_missing_or_null"]


@pytest.mark.parametrize(("url", "status"), [(f"{SHOP}/b", "success"), ("http://b.test/b", "error")])
def test_a_url_that_a_task_expects_is_one_of_its_sites(bench, url, status):
    wanted = bench.expecting(data=[url], schema={"type": "array", "items": {"type": "string", "format": "url"}})
    assert bench.answer({**MUTATED, "task_type": "RETRIEVE", "retrieved_data": [url]}, wanted).status == status


@pytest.mark.parametrize("kind", ["array", "object", "string", "nothing"])
def test_data_where_none_is_expected_is_a_failure_whatever_the_schema_says_it_were(bench, failures, kind):
    answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["x"]}
    result = bench.answer(answer, bench.expecting(schema={"type": kind}))
    assert failures(result) == ["retrieved_data_unexpected"]
    assert result.assertions[-1].assertion_msgs == ["expected no data", 'got ["x"]']


# The network-event evaluator


@pytest.mark.parametrize(
    ("kind", "method", "status"),
    [
        ("NAVIGATE", "GET", "failure"),
        ("NAVIGATE", "POST", "success"),
        ("NAVIGATE", "DELETE", "success"),
        ("MUTATE", "GET", "success"),
        ("RETRIEVE", "GET", "success"),
    ],
)
def test_the_last_page_decides_a_get_of_a_navigate_task_alone(bench, kind, method, status):
    events = [at("/a", method), at("/b", "GET", headers=PAGE)]
    assert bench.network({"url": "__SHOPPING__/a", "http_method": method}, *events, kind=kind).status == status


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH"])
def test_only_an_event_of_the_wanted_method_is_a_candidate(bench, method):
    assert bench.network(A_POST, at("/a"), at("/a", method)).status == "success"


@pytest.mark.parametrize("referer", ["http://[::1/r", f"{SHOP}/s", "r"])
def test_an_event_that_comes_from_elsewhere_is_no_candidate(bench, referer):
    wanted = {**A_POST, "headers": {"referer": "__SHOPPING__/r"}}
    here, elsewhere = at("/a", headers={"referer": f"{SHOP}/r"}), at("/a", headers={"referer": referer})
    assert bench.network(wanted, here, elsewhere).status == "success"


@pytest.mark.parametrize(
    ("config", "rules"), [({"last_event_only": False}, "default"), ({"should_not_exist": True}, "reference")]
)
def test_a_damaged_candidate_is_an_error_though_another_would_decide(bench, config, rules):
    result = bench.network(A_POST, at("/a"), at("/a", status=None), rules=rules, **config)
    assert (result.status, result.error_msg) == (
        "error",
        "event 2 of the trace is damaged: no readable status; re-record the run",
    )


ANY_EVENT = {"last_event_only": False}


def nearest(result) -> str:
    return result.assertions[0].assertion_msgs[1].removeprefix("nearest is event ")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([at("/b", status=500), at("/b", "PUT"), at("/b", "GET")], "1 of 3: POST __SHOPPING__/b (500)"),
        ([at("/b", "GET"), at("/b", "GET", 500)], "1 of 2: GET __SHOPPING__/b (200)"),
        ([at("/b"), at("/c"), at("/d", status=500)], "2 of 3: POST __SHOPPING__/c (200)"),
        ([at("/b", "GET"), {"url": ""}], "1 of 2: GET __SHOPPING__/b (200)"),
    ],
)
def test_without_a_candidate_the_nearest_miss_is_sought_among_events_of_the_method(bench, events, told):
    assert nearest(bench.network(A_POST, *events)) == told


def test_a_candidate_is_nearer_than_any_other_event(bench):
    result = bench.network({**A_POST, "post_data": {"n": "1"}}, at("/a", status=500), at("/b", post=(FORM, "n=1")))
    assert nearest(result) == "1 of 2: POST __SHOPPING__/a (500)"


@pytest.mark.parametrize(("before", "number"), [(1, 2), (0, 501)])
def test_the_nearest_miss_is_sought_among_the_last_500_events(bench, before, number):
    far = [at("/b", status=500) for _ in range(500)]
    far.insert(before, at("/b"))
    assert nearest(bench.network(A_POST, *far)).startswith(f"{number} of 501:")


def test_a_failure_tells_how_many_candidates_there_were(bench):
    result = bench.network({**A_POST, "url": ["__SHOPPING__/a", "__SHOPPING__/b"]}, at("/a", status=500))
    told = "no matching POST __SHOPPING__/a or __SHOPPING__/b (1 candidate)"
    assert result.assertions[0].assertion_msgs[0] == told


@pytest.mark.parametrize(
    ("config", "count"),
    [
        ({}, "the last of 3 requests"),
        ({"last_event_only": True}, "the last of 3 requests"),
        (ANY_EVENT, "3 candidates"),
    ],
)
def test_a_failure_tells_that_the_last_of_several_requests_decided(bench, config, count):
    events = [at("/a", status=500), at("/a", status=200), at("/b"), at("/a", status=404)]
    result = bench.network({**A_POST, "response_status": 201}, *events, **config)
    assert result.assertions[0].assertion_msgs[0] == f"no matching POST __SHOPPING__/a ({count})"


@pytest.mark.parametrize(
    ("rules", "config", "order", "number"),
    [("reference", {}, "last", 3), ("reference", ANY_EVENT, "first", 1), ("default", {}, "first", 1)],
)
def test_all_forbidden_requests_are_counted(bench, rules, config, order, number):
    events = [at("/a"), at("/b"), at("/a")]
    result = bench.network(A_POST, *events, rules=rules, should_not_exist=True, **config)
    count, position = result.assertions[0].assertion_msgs
    assert count == "2 matching POST __SHOPPING__/a, expected none"
    assert position == f"the {order} is event {number} of 3: POST __SHOPPING__/a (200)"


NO_PAGE = ": no request has an Accept header that starts with text/html, as pages have"


@pytest.mark.parametrize(
    ("kind", "event", "told"),
    [
        ("NAVIGATE", at("/a", "GET", headers={"accept": "*/*"}), f"(0 candidates){NO_PAGE}"),
        ("NAVIGATE", at("/b", "GET"), f"(0 candidates){NO_PAGE}"),
        ("NAVIGATE", at("/b", "GET", headers=PAGE), "(1 candidate)"),
        ("MUTATE", at("/b", "GET"), "(0 candidates)"),
    ],
)
def test_where_no_request_of_a_navigate_task_is_a_page_a_failure_says_so(bench, kind, event, told):
    result = bench.network({"url": "__SHOPPING__/a"}, event, kind=kind)
    assert result.assertions[0].assertion_msgs[0] == f"no matching GET __SHOPPING__/a {told}"


def test_a_header_is_shown_as_it_was_sent_and_with_its_site_named(bench):
    wanted = {**A_POST, "headers": {"x-from": "__SHOPPING__/r", "x-none": "a"}}
    result = bench.network(wanted, at("/a", headers={"X-From": f"{SHOP}/r"}))
    assert result.actual["headers"] == {"x-from": f"{SHOP}/r", "x-none": None}
    assert result.actual_normalized["headers"] == {"x-from": "__SHOPPING__/r", "x-none": None}


def test_of_alternatives_the_first_is_shown_with_its_parameters(bench):
    result = bench.network({**A_POST, "url": ["__SHOPPING__/a?x=1", "__SHOPPING__/a?x=2"]}, at("/a?x=2"))
    assert (result.status, result.expected["query_string"]) == ("success", {"x": "1"})


def test_a_parameter_is_shown_as_a_list_where_it_has_several_values(bench):
    wanted = {**A_POST, "query_params": {"b": ["1", "2"], "a": ["x"]}}
    result = bench.network(wanted, at("/a?b=1&b=2&a=y"))
    assert result.expected["query_string"] == {"a": "x", "b": ["1", "2"]}
    assert result.actual["query_string"] == {"a": "y", "b": ["1", "2"]}
    assert list(result.actual["query_string"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("__SHOPPING__/a", "__SHOPPING__/a"),
        (["__SHOPPING__/a", "__SHOPPING__/b"], ["__SHOPPING__/a", "__SHOPPING__/b"]),
    ],
)
def test_an_expected_url_is_shown_as_a_list_where_it_has_alternatives(bench, url, shown):
    assert bench.network({**A_POST, "url": url}, at("/a")).expected["url"] == shown


@pytest.mark.parametrize(
    ("kind", "event", "expected", "actual"),
    [
        ("NAVIGATE", at("/a", "GET", headers=PAGE), "navigation", "navigation"),
        ("MUTATE", at("/a", "GET", headers=PAGE), "request", "navigation"),
        ("RETRIEVE", at("/a", "GET"), "request", "request"),
    ],
)
def test_events_are_shown_as_navigations_or_requests(bench, kind, event, expected, actual):
    result = bench.network({"url": "__SHOPPING__/a"}, event, kind=kind)
    assert (result.expected["event_type"], result.actual["event_type"]) == (expected, actual)


@pytest.mark.parametrize(
    ("events", "told"), [([], "no POST __SHOPPING__/a, as expected"), ([at("/a")], "1 matching POST")]
)
def test_a_forbidden_event_is_told_by_what_was_expected(bench, events, told):
    result = bench.network(A_POST, at("/z"), *events, should_not_exist=True)
    assert result.assertions[0].assertion_msgs[0].startswith(told)
    assert (result.actual is None) is (events == [])


def test_of_forbidden_events_the_first_is_shown(bench):
    result = bench.network(A_POST, at("/a"), at("/a", status=500), should_not_exist=True, last_event_only=False)
    assert result.assertions[0].assertion_msgs[1] == "the first is event 1 of 2: POST __SHOPPING__/a (200)"
    assert result.actual["response_status"] == 200


# The rubric


def judged(bench, items, **config):
    directory = bench.record()
    (directory / "rubric.json").write_text(items if isinstance(items, str) else json.dumps({"items": items}))
    return bench.score(bench.task({"evaluator": "RubricEvaluator", **config})).evaluators_results[0]


def item(earned, most, criterion="tidy"):
    return {"criterion": criterion, "max_points": most, "earned_points": earned}


def test_what_is_odd_about_a_rubric_is_a_warning_of_the_result(bench):
    directory = bench.record()
    twice = '{"items": [{"criterion": "tidy", "max_points": 5, "earned_points": 1, "earned_points": 5}]}'
    (directory / "rubric.json").write_text(twice)
    result = bench.score(bench.task({"evaluator": "RubricEvaluator"}))
    assert result.status == "success"
    assert result.webeval["warnings"] == [
        'rubric.json: duplicate key "earned_points" in one object; the last value counts'
    ]


@pytest.mark.parametrize(
    ("items", "config", "name", "told"),
    [
        ([item(4, 5)], {}, "rubric.points_match", "4 of 5 points (80%); 80% required"),
        ([item(5, 5)], {}, "rubric.points_match", "5 of 5 points (100%); 80% required"),
        ([item(3.9, 5)], {}, "rubric.points_mismatch", "3.9 of 5 points (78%); 80% required"),
        ([item(5, 5), item(3, 5)], {}, "rubric.points_match", "8 of 10 points (80%); 80% required"),
        ([item(1, 2)], {"threshold": 0.5}, "rubric.points_match", "1 of 2 points (50%); 50% required"),
        ([item(0, 0.5)], {"threshold": 0}, "rubric.points_match", "0 of 0.5 points (0%); 0% required"),
        ([item(0.5, 0.5)], {"threshold": 1}, "rubric.points_match", "0.5 of 0.5 points (100%); 100% required"),
    ],
)
def test_a_rubric_is_passed_with_the_wanted_share_of_its_points(bench, items, config, name, told):
    result = judged(bench, items, **config)
    assert result.evaluator_name == "RubricEvaluator"
    assert (result.assertions[0].assertion_name, result.assertions[0].assertion_msgs[0]) == (name, told)
    assert (result.status, result.score) == (("success", 1.0) if name.endswith("_match") else ("failure", 0.0))


def test_each_criterion_is_noted_with_its_points(bench):
    result = judged(bench, [item(2, 4), item(1, 1, "x" * 300)], threshold=0.6)
    notes = [(one.assertion_name, one.status, one.assertion_msgs) for one in result.assertions[1:]]
    assert notes == [
        ("rubric.items[0]_noted", "success", ["tidy: 2 of 4 points"]),
        ("rubric.items[1]_noted", "success", [f"{'x' * 199}…: 1 of 1 points"]),
    ]
    assert result.actual == result.actual_normalized
    found = {key: result.actual[key] for key in ("earned_points", "max_points", "process_score", "score", "source")}
    assert found == dict(zip(found, (3, 5, 0.6, 1, "rubric.json"), strict=True))
    assert result.expected == {"criterion": "process", "threshold": 0.6}


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([], 'rubric.json has a list of 0 for items, expected a rubric {"items": [{"criterion": '),
        ([item(1, 1), item(-1, 1)], "inconsistent: rubric.json contradicts itself: R8: items[1]: more points than"),
        ([item(float("inf"), 1)], 'the rubric\'s items[0].earned_points is "Infinity"; expected a number of points'),
        ([item(1, float("inf"))], 'the rubric\'s items[0].max_points is "Infinity"; expected a number of points'),
        (
            [{"criterion": "tidy"}],
            "the rubric's items[0].max_points is null; expected a number of points; judge the run",
        ),
        ("{}", 'rubric.json has no items, expected a rubric {"items": '),
        ("{", "rubric.json is not valid JSON: "),
        ("[" * 100_000, "rubric.json is not valid JSON: "),
        ([item(2, 1)], "inconsistent: rubric.json contradicts itself: R8: items[0]: more points than the maximum"),
        ([item("", 1)], "rubric.json: the rubric has no points; judge the run"),
    ],
    ids=lambda one: str(one)[-30:],
)
def test_a_rubric_that_cannot_be_is_an_error(bench, items, told):
    result = judged(bench, items)
    assert result.status == "error"
    assert told in result.error_msg
    assert "rubric.json" in result.error_msg


def test_what_was_read_of_an_expectation_cannot_be_changed():
    with pytest.raises(AttributeError, match="immutable"):
        RubricExpectation(evaluator="RubricEvaluator").threshold = 1


def test_a_run_without_a_rubric_is_an_error(bench):
    bench.record()
    result = bench.score(bench.task({"evaluator": "RubricEvaluator"})).evaluators_results[0]
    assert result.status == "error"
    assert "rubric.json" in result.error_msg


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"threshold": -0.1}, "@ eval[0].threshold"),
        ({"threshold": 1.1}, "@ eval[0].threshold"),
        ({"treshold": 0.5}, "'treshold' @ eval[0];"),
    ],
    ids=repr,
)
def test_a_task_may_want_no_share_but_one_from_0_to_1(bench, config, place):
    result = judged(bench, [item(1, 1)], **config)
    assert result.status == "error"
    assert place in result.error_msg
