"""Why a check did not succeed, as data: only what the verdict rests on is told, and never more than anybody reads."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import permutations

import pytest

from pytest_webeval.diagnostics.difference import (
    LONGEST,
    bounded_path,
    build_explanation,
    differ,
    differences,
    truncate_json,
)
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.results import TaskResult
from pytest_webeval.scoring.task_result import merge_results
from pytest_webeval.values.comparison import Comparison, failed
from pytest_webeval.values.schema import UnparsedValue

SHOP = "http://shop.test:7770"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
NUMBERS = {"type": "array", "items": {"type": "number"}}
MONEY = {"type": "array", "items": {"type": "string", "format": "currency"}}
PLACES = {"type": "array", "items": {"type": "string", "format": "location-name"}}
OBJECTS = {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}}
NESTED = {"type": "array", "items": {"type": "object", "properties": {"tags": {"type": "array"}}}}


def listed(result):
    """The explanations as the file has them."""
    return result.to_json()["webeval"]["explanations"]


def told(result: TaskResult) -> list:
    """Path, kind, expected and actual of what a result explains."""
    (explained,) = [one for one in listed(result) if one is not None]
    return [(one["path"], one["kind"], one["expected"], one["actual"]) for one in explained["differences"]]


def answered(bench, data, wanted, schema=None, *, ordered=False, rules="default", **fields):
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data} | fields)
    return bench.score(bench.task(bench.expecting(data=wanted, schema=schema, ordered=ordered)), rules)


@pytest.mark.parametrize(
    ("data", "wanted", "schema", "found"),
    [
        (["a"], ["a", "b"], None, [("[1]", "missing", "b", None)]),
        (["b", "x", "a"], ["a", "b"], None, [("[1]", "extra", None, "x")]),
        (["red mag", "green"], ["green", "red mug"], None, [("[1]", "different", "red mug", "red mag")]),
        ([100, 5, 7], [6, 99, 7], NUMBERS, [("[0]", "different", 6.0, 5.0), ("[1]", "different", 99.0, 100.0)]),
        (["$9.95", "$30"], ["10", "20"], MONEY, [("[1]", "different", "20", "30")]),
        (["many", "$9.95"], ["10", "20"], MONEY, [("[1]", "unreadable", "20", "many")]),
        (["Pittsburg", "Rome"], ["Pittsburgh", "Oslo"], PLACES, [("[1]", "different", "oslo", "rome")]),
        (["B", "x"], [["a", "b"], "y"], None, [("[1]", "different", "y", "x")]),
        (["MUG", "x"], ["^m.g$", "y"], None, [("[1]", "different", "y", "x")]),
        (
            [{"name": "mug", "price": 2}, {"name": "cup", "price": 1}],
            [{"name": "cup", "price": 1}, {"name": "mug", "price": 3}],
            OBJECTS,
            [("[1].price", "different", 3.0, 2.0)],
        ),
        ([{"price": 1, "x": "y"}], [{"name": "mug", "price": 1}], OBJECTS, [
            ("[0].name", "missing", "mug", None),
            ("[0].x", "extra", None, "y"),
        ]),
        ([{"tags": ["b", "c"]}], [{"tags": ["a", "b"]}], NESTED, [("[0].tags[0]", "different", "a", "c")]),
        ([{"tags": None}], [{"tags": ["a"]}], NESTED, [("[0].tags", "missing", ["a"], None)]),
        (None, ["a"], None, [("", "missing", ["a"], None)]),
        (["a"], None, None, [("", "extra", None, ["a"])]),
    ],
)  # fmt: skip
def test_of_data_in_any_order_what_found_no_partner_is_told(bench, data, wanted, schema, found):
    expected = [(f"retrieved_data{path}", *others) for path, *others in found]
    assert told(answered(bench, data, wanted, schema)) == expected


@pytest.mark.parametrize(
    ("data", "wanted", "found"),
    [
        (["a", "c", "d"], ["a", "b", "c", "d"], [("[1]", "missing", "b", None)]),
        (["a", "b", "x", "c"], ["a", "b", "c"], [("[2]", "extra", None, "x")]),
        (["a", "x", "c"], ["a", "b", "c"], [("[1]", "different", "b", "x")]),
        (["b", "a"], ["a", "b"], [("[0]", "different", "a", "b"), ("[1]", "different", "b", "a")]),
        (["a", "x", "y", "d"], ["a", "b", "d"], [("[1]", "different", "b", "x"), ("[2]", "extra", None, "y")]),
        (["x", "b", "y"], ["a", "b", "c"], [("[0]", "different", "a", "x"), ("[2]", "different", "c", "y")]),
        (["a", "a"], ["a"], [("[1]", "extra", None, "a")]),
    ],
)
def test_of_data_in_order_an_item_more_or_less_shifts_no_other(bench, data, wanted, found):
    expected = [(f"retrieved_data{path}", *others) for path, *others in found]
    assert told(answered(bench, data, wanted, ordered=True)) == expected


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("", [("agent_response", "missing", {"task_type": "RETRIEVE", "status": "SUCCESS"}, "")]),
        ("no JSON", [("agent_response", "unreadable", {"task_type": "RETRIEVE", "status": "SUCCESS"}, "no JSON")]),
        (
            {"task_type": "navigate", "status": "", "retrieved_data": ["a"]},
            [("task_type", "different", "retrieve", "navigate"), ("status", "missing", "SUCCESS", "")],
        ),
        ({"task_type": "RETRIEVE", "retrieved_data": ["a"]}, [("status", "missing", "SUCCESS", None)]),
    ],
)
def test_of_an_answer_type_and_status_are_told_like_data(bench, response, found):
    bench.record(response)
    assert told(bench.score(bench.task(bench.expecting(data=["a"])))) == found


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"retrieved_data": None}, [("error_details", "extra", None, "none")]),
        ({"retrieved_data": None, "no_data": True}, [("retrieved_data", "extra", None, ["a"])]),
    ],
)
def test_what_a_task_forbids_every_answer_is_extra(bench, changes, found):
    wanted = bench.expecting("NAVIGATE")
    wanted["expected"] |= {"error_details": "none"}
    if changes.get("no_data"):
        wanted["expected"] = {"task_type": "NAVIGATE", "status": "SUCCESS"}
    bench.record({"task_type": "NAVIGATE", "status": "SUCCESS", "retrieved_data": ["a"], "error_details": "none"})
    assert told(bench.score(bench.task(wanted))) == found


def sent(bench, wanted, *events, rules="default", **config):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"}, events)
    network = {"evaluator": "NetworkEventEvaluator", "expected": wanted, **config}
    return bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), network), rules)


def at(path, method="POST", **more):
    return {"url": SHOP + path, "method": method, **more}


WANTED = {"url": "__SHOPPING__/a", "http_method": "POST"}
PRICE = {"type": "object", "properties": {"price": {"type": "array", "items": {"type": "number"}}}}


@pytest.mark.parametrize(
    ("more", "event", "found"),
    [
        ({}, at("/b"), [("url", "different", "__SHOPPING__/a", "__SHOPPING__/b")]),
        (
            {"url": ["__SHOPPING__/a", "__SHOPPING__/c"]},
            at("/b"),
            [("url", "different", ["__SHOPPING__/a", "__SHOPPING__/c"], "__SHOPPING__/b")],
        ),
        ({}, at("/a", "GET"), [("http_method", "different", "POST", "GET")]),
        ({}, at("/a", status=404), [("response_status", "different", 200, 404)]),
        (
            {"url": "__SHOPPING__/a?same=1&sort=up&page=2"},
            at("/a?sort=DOWN&same=1&q=mug&q=cup"),
            [
                ("query_params.page", "missing", "2", None),
                ("query_params.q", "extra", None, ["mug", "cup"]),
                ("query_params.sort", "different", "up", "DOWN"),
            ],
        ),
        (
            {"url": ["__SHOPPING__/a?x=1&y=2", "__SHOPPING__/a?x=3&y=4"]},
            at("/a?x=3&y=5"),
            [("query_params.y", "different", "4", "5")],
        ),
        (
            {"url": "__SHOPPING__/a", "query_params": {"x": ["^1+$"], "y": ["2"]}},
            at("/a?x=11&y=3"),
            [("query_params.y", "different", "2", "3")],
        ),
        (
            {"headers": {"x-kind": "Form", "x-trace": "1", "x-same": "2"}},
            at("/a", headers={"X-Kind": "Ajax", "x-same": "2"}),
            [("headers.x-kind", "different", "form", "ajax"), ("headers.x-trace", "missing", "1", None)],
        ),
        (
            {"headers": {"redirect_url": "__SHOPPING__/b?x=1&y=2"}},
            at("/a", headers={"redirect_url": SHOP + "/b?x=1&y=3"}),
            [("headers.redirect_url.query_params.y", "different", "2", "3")],
        ),
        (
            {"headers": {"redirect_url": "__SHOPPING__/b"}},
            at("/a", headers={"redirect_url": SHOP + "/c"}),
            [("headers.redirect_url", "different", "__SHOPPING__/b", "__SHOPPING__/c")],
        ),
        (
            {"headers": {"redirect_url": "__SHOPPING__/b"}},
            at("/a", headers={"redirect_url": "http://["}),
            [("headers.redirect_url", "unreadable", "__SHOPPING__/b", "http://[")],
        ),
        ({"headers": {}}, at("/a"), [("headers", "different", {}, None)]),
        (
            {"post_data": {"title": "Mug", "qty": "1"}},
            at("/a", post=(FORM, "title=Cup&qty=1&more=2")),
            [("post_data.title", "different", "mug", "cup")],
        ),
        ({"post_data": {"title": "Mug"}}, at("/a"), [("post_data", "missing", {"title": "mug"}, None)]),
        (
            {"post_data": {"user": {"name": "joe"}}},
            at("/a", post=(JSON, '{"user": {"name": "jim"}}')),
            [("post_data.user", "different", "{'name': 'joe'}", "{'name': 'jim'}")],
        ),
        (
            {"response_content": {"items": [{"id": 1}, {"id": 2}], "ok": True}},
            at("/a", content=(JSON, '{"items": [{"id": 2}, {"id": 3}]}')),
            [("response_content.items[0].id", "different", 1, 3), ("response_content.ok", "missing", True, None)],
        ),
        (
            {"response_cookies": {"lang": "en", "sid": "1"}},
            at("/a", cookies={"lang": "de", "other": "2"}),
            [("response_cookies.lang", "different", "en", "de"), ("response_cookies.sid", "missing", "1", None)],
        ),
    ],
)  # fmt: skip
def test_of_the_nearest_event_each_field_that_differs_is_told(bench, more, event, found):
    assert told(sent(bench, WANTED | more, event)) == found


def test_a_typed_parameter_is_told_only_where_its_type_says_that_it_differs(bench):
    wanted = WANTED | {"url": "__SHOPPING__/a?price=1&price=2"}
    config = {"query_params_schema": PRICE}
    assert told(sent(bench, wanted, at("/a?price=1.0&x=2"), **config)) == [("query_params.x", "extra", None, "2")]
    assert told(sent(bench, wanted, at("/a?price=3.0"), **config)) == [
        ("query_params.price", "different", ["1", "2"], "3.0")
    ]


def test_the_event_with_the_fewest_wrong_fields_is_nearest_of_the_candidates(bench):
    events = [at("/x"), at("/a?x=1", status=500), at("/a", status=404), at("/b"), at("/a?x=2", status=404)]
    explained = listed(sent(bench, WANTED, *events, last_event_only=False))[1]
    assert explained["nearest"] == {"index": 2, "of": 5, "method": "POST", "url": "__SHOPPING__/a", "status": 404}
    assert explained["candidates"] == [1, 2, 4]


def test_an_event_that_should_not_be_there_is_extra(bench):
    result = sent(bench, WANTED, at("/b"), at("/a?x=1"), at("/a"), should_not_exist=True, last_event_only=False)
    assert told(result) == [("network_event", "extra", None, "__SHOPPING__/a?x=1")]
    assert listed(result)[1]["nearest"]["index"] == 1
    assert listed(result)[1]["candidates"] == [1, 2]


def test_where_only_the_last_event_counts_no_other_is_considered(bench):
    explained = sent(bench, WANTED, at("/a", status=404), at("/a?x=1", status=404)).to_json()["webeval"][
        "explanations"
    ][1]
    assert (explained["nearest"]["index"], explained["candidates"]) == (1, [1])


def test_where_nothing_can_have_come_near_the_event_is_missing(bench):
    explained = listed(sent(bench, WANTED, at("/a.css"), rules="reference"))[1]
    assert (explained["nearest"], explained["candidates"]) == (None, [])
    (difference,) = explained["differences"]
    assert (difference["path"], difference["kind"], difference["actual"]) == ("network_event", "missing", None)
    assert difference["expected"]["url"] == "__SHOPPING__/a"


def test_of_many_candidates_the_last_are_named_and_the_nearest(bench):
    events = [at("/a?x=1"), at("/a", status=404), *([at("/a?x=1", status=404)] * 150)]
    explained = sent(bench, WANTED | {"response_status": 204}, *events, last_event_only=False).to_json()["webeval"][
        "explanations"
    ][1]
    assert (explained["nearest"]["index"], len(explained["candidates"])) == (1, 100)
    assert explained["candidates"][:2] == [1, 53]


# Where explanations stand


def test_a_success_says_nothing_of_them(bench):
    result = answered(bench, ["a"], ["a"])
    assert result.status == "success"
    assert not {"explanations", "capture"} & result.to_json()["webeval"].keys()


def test_each_result_has_its_own_and_what_is_no_failure_has_none(bench):
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["a"]})
    unknown = {"evaluator": "Nobody"}
    wanted = [bench.expecting(data=one) for one in (["a"], ["b"])]
    result = bench.score(bench.task(wanted[0], unknown, wanted[1]))
    assert [one.status for one in result.evaluators_results] == ["success", "error", "failure"]
    assert [one is None for one in listed(result)] == [True, True, False]


@dataclass(frozen=True)
class Stricter(Evaluator):
    """As the usual one, and never content."""

    name = "AgentResponseEvaluator"

    def evaluate(self, expectation, case):
        return self.adding(ResponseEvaluator().evaluate(expectation, case), failed("never", "content"))


@pytest.mark.parametrize(("data", "count"), [(["a"], None), (["b"], 1)])
def test_an_evaluator_of_somebody_else_has_what_ours_told_on_its_way(bench, data, count):
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data})
    (explained,) = bench.score(bench.task(bench.expecting(data=["a"])), evaluators=[Stricter()]).to_json()["webeval"][
        "explanations"
    ]
    assert (explained and len(explained["differences"])) == count


@dataclass(frozen=True)
class Telling(Evaluator):
    """Fails, and tells what cannot be told."""

    name = "AgentResponseEvaluator"
    raises: type[Exception] = ValueError

    def evaluate(self, expectation, case):  # noqa: ARG002
        return case.explain(self.result([failed("no", "no")]), self.explained)

    def explained(self):
        raise self.raises("cannot be told")


@pytest.mark.parametrize("raises", [ValueError, RecursionError, OverflowError, TypeError])
def test_an_explanation_that_fails_costs_no_verdict(bench, raises):
    bench.record()
    result = bench.score(bench.task(bench.expecting()), evaluators=[Telling(raises)])
    assert (result.status, result.error_msg, listed(result)) == ("failure", None, [None])


@pytest.mark.usefixtures("published")
def test_what_is_noticed_while_explaining_is_warned_of_nowhere(bench):
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["^a$"]})
    wanted = [bench.expecting(data=[one]) for one in ("x", "^a$")]
    result = bench.score(bench.task(*wanted))
    assert [one.status for one in result.evaluators_results] == ["failure", "failure"]
    assert [note.rpartition(", ")[2] for note in result.webeval["warnings"]] == ["eval[0]", "eval[1]"]
    assert [len(one["differences"]) for one in listed(result)] == [1, 1]


@pytest.mark.parametrize(
    ("rules", "found"), [("reference", ("different", "c", "a")), ("strict", ("unreadable", "c", ["a", "b"]))]
)
def test_what_other_rules_would_have_found_is_not_told(bench, rules, found):
    result = sent(bench, WANTED | {"post_data": {"x": "c"}}, at("/a", post=(FORM, "x=a&x=b")), rules=rules)
    assert told(result) == [("post_data.x", *found)]


@pytest.mark.parametrize("rules", ["default", "strict", "reference"])
def test_an_item_that_found_a_partner_is_not_told_whichever_rules_paired_them(bench, rules):
    data, wanted = ["$1.05", "$1.15", "$9"], ["$1.10", "$1.00", "$5"]  # $1.05 is near both that are wanted
    first = [] if rules == "strict" else [("retrieved_data[1]", "different", "1.00", "1.15")]
    assert told(answered(bench, data, wanted, MONEY, rules=rules)) == [
        *first,
        ("retrieved_data[2]", "different", "5", "9"),
    ]


def test_results_of_one_run_are_joined_with_their_explanations(bench):
    one, other = answered(bench, ["a"], ["b"]), answered(bench, ["a"], ["c"])
    good = answered(bench, ["a"], ["a"])
    whole = merge_results([good, other, one, other])
    assert [found.status for found in whole.evaluators_results] == ["success", "failure", "failure"]
    assert listed(whole) == [None, *listed(other), *listed(one)]
    assert "explanations" not in merge_results([good, good]).to_json()["webeval"]


def test_a_check_that_one_of_two_results_explains_is_explained(bench):
    one = answered(bench, ["a"], ["b"])
    unexplained = [each.with_changes(explanation=None) for each in one.evaluators_results]
    for results in permutations([one, one.with_changes(evaluators_results=unexplained)]):
        assert listed(merge_results(results)) == listed(one)


@pytest.mark.parametrize("raw", ["text", [1], None, {}, [{"differences": [{"path": "x"}]}]])
def test_what_somebody_else_wrote_in_their_place_is_joined_as_nothing(bench, raw):
    one = answered(bench, ["a"], ["b"]).to_json()
    other = TaskResult.read(one | {"webeval": one["webeval"] | {"explanations": raw}})
    assert len(listed(merge_results([other]))) == 1


# How much of them there is


def test_huge_arrays_are_told_as_a_whole_in_bounded_time(bench):
    started = time.process_time()
    data = [f"item {number}" for number in range(100_000)]
    result = answered(bench, data, ["x", "y"])
    (found,) = told(result)
    assert found[:3] == ("retrieved_data", "different", ["x", "y"])
    assert len(json.dumps(found[3])) < 2 * LONGEST
    assert time.process_time() - started < 20


def test_many_differences_are_cut(bench):
    data, wanted = [f"found {number}" for number in range(250)], [f"wanted {number}" for number in range(250)]
    found = told(answered(bench, data, wanted))
    assert len(found) == 100
    assert {kind for _, kind, _, _ in found} == {"different", "missing"}


@pytest.mark.parametrize(
    ("tree", "cut"),
    [
        ("x" * 30, "x" * 8 + "…"),
        (["abc", "def", "ghi"], ["abc", "…", "…"]),
        ({"abc": "def", "ghi": "jkl"}, {"abc": "…", "…": "…"}),
        ({"a name that is long": 1}, {"…": "…"}),
        ([1, 2.5, None, True], [1, 2.5, "…"]),
        (float("inf"), "inf"),
        ([10**5000], ["…"]),
        (UnparsedValue("raw", "no"), "raw"),
        ([], []),
    ],
)
def test_values_are_cut_where_they_get_long_and_keep_their_shape(tree, cut):
    assert truncate_json(tree, 10) == cut


def test_a_value_of_any_depth_is_cut():
    tree: list = []
    for _ in range(500):
        tree = [tree]
    assert "…" in json.dumps(truncate_json(tree), ensure_ascii=False)


def test_a_long_path_loses_its_middle():
    assert bounded_path("post_data.a") == "post_data.a"
    path = bounded_path(f"post_data.{'x' * 1000}.password")
    assert path.startswith("post_data.x")
    assert path.endswith("x.password")
    assert len(path) == 300


def test_items_that_nobody_looks_at_are_not_paired():
    found = list(differences(Comparison(), list(range(60)), list(range(100, 160)), "x"))
    assert [one.kind for one in found] == ["different"] * 50 + ["missing"] * 10 + ["extra"] * 10


@pytest.mark.parametrize(
    ("expected", "actual", "pairs"),
    [
        ([10, 20], [19, 9], [(10, 9), (20, 19)]),
        (["kitten", "lamp"], ["lump", "sitting"], [("kitten", "sitting"), ("lamp", "lump")]),
        (["a", "b"], ["x", "y"], [("a", "x"), ("b", "y")]),
        ([1e308, 5], [6, -1e308], [(1e308, -1e308), (5, 6)]),
        ([True, 5], [4, False], [(True, False), (5, 4)]),
        ([float("nan"), 5.0], [4.0, float("inf")], None),
    ],
)
def test_what_is_likest_is_paired_and_of_equals_the_first(expected, actual, pairs):
    found = list(differences(Comparison(), expected, actual, "x"))
    assert all(one.kind == "different" for one in found)
    assert pairs is None or [(one.expected, one.actual) for one in found] == pairs


def test_a_second_empty_list_is_one_whichever_rules_there_are():
    comparison = Comparison(separate_lists=False)
    found = list(differences(comparison, {"a": [], "b": [], "c": 1}, {"a": [], "b": [], "c": 2}, "x"))
    assert [one.path for one in found] == ["x.c"]


def test_an_explanation_without_an_event_names_none():
    told = build_explanation(iter([differ("a", "missing", "b")])).to_json()
    difference = {"path": "a", "kind": "missing", "expected": "b", "actual": None}
    assert told == {"differences": [difference], "nearest": None, "candidates": []}


def test_there_is_nothing_in_them_that_json_lacks(bench):
    result = answered(bench, [[{"a": "b"}], "\ud800", "x"], ["b"])
    assert json.loads(json.dumps(listed(result))) == listed(result)
