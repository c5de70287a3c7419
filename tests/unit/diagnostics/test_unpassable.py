"""Tasks that no natural recording can pass are recognized by their definitions (spec §10.2)."""

from __future__ import annotations

import pytest

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.tasks.task import read_task


def check(wanted, **config):
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/a", **wanted}, **config}


def posting(**data):
    return check({"http_method": "POST", "post_data": data})


def elsewhere(value):
    return check({"url": "__SHOPPING__/b", "http_method": "POST", "post_data": {"a": value}})


MARKDOWN = {"post_data_schema": {"properties": {"a": {"type": "string", "format": "markdown"}}}}
LIST = {"post_data_schema": {"properties": {"a": {"type": "array"}}}}


def reason(bench, *evaluators, kind="MUTATE"):
    return unpassable_reason(
        read_task(bench.task(bench.expecting(kind, schema={"type": "null"}), *evaluators), "a test")
    )


@pytest.mark.parametrize(
    ("quirk", "kind", "evaluators"),
    [
        ("Q15", "MUTATE", [posting(a="1"), posting(a="2")]),
        ("Q17", "NAVIGATE", [check({}), check({"url": "__SHOPPING__/b"})]),
        ("Q18", "MUTATE", [{**posting(a="see __REDDIT__/f"), **MARKDOWN}]),
        ("Q29", "MUTATE", [check({"post_data": {"a": "1"}, "response_status": 302})]),
        ("Q35", "MUTATE", [posting(a=[1])]),
    ],
)
def test_a_definition_that_defeats_itself_is_named(bench, quirk, kind, evaluators):
    assert reason(bench, *evaluators, kind=kind).startswith(f"{quirk}: ")


def test_a_response_without_retrieved_data_in_its_definition_is_named(bench):
    config = bench.expecting("MUTATE", schema={"type": "null"})
    del config["expected"]["retrieved_data"]
    assert unpassable_reason(read_task(bench.task(config), "a test")).startswith("Q16: ")


@pytest.mark.parametrize(
    ("kind", "evaluators"),
    [
        ("MUTATE", []),
        ("MUTATE", [posting(a="1"), posting(a="1")]),
        ("MUTATE", [posting(a="1"), posting(b="2")]),
        ("MUTATE", [posting(a="1"), posting(a="^2$")]),
        ("MUTATE", [posting(a="1"), elsewhere("2")]),
        ("MUTATE", [{**posting(a="1"), "last_event_only": False}, {**posting(a="2"), "last_event_only": False}]),
        ("MUTATE", [posting(a="1"), {**posting(a="2"), "should_not_exist": True}]),
        ("NAVIGATE", [check({}), check({})]),
        ("NAVIGATE", [check({}), check({"url": "__SHOPPING__/b", "http_method": "POST"})]),
        ("RETRIEVE", [check({}), check({"url": "__SHOPPING__/b"})]),
        ("MUTATE", [{**posting(a="see __REDDIT__, all of it"), **MARKDOWN}]),
        ("MUTATE", [posting(a="see __REDDIT__/f")]),
        ("MUTATE", [check({"post_data": {"a": "1"}})]),
        ("MUTATE", [{**posting(a=[1]), **LIST}]),
        ("MUTATE", [posting(a=[1, 2])]),
    ],
)
def test_any_other_definition_is_not(bench, kind, evaluators):
    assert reason(bench, *evaluators, kind=kind) is None


def test_a_result_says_that_its_task_cannot_be_passed(bench):
    bench.record({"task_type": "MUTATE", "status": "SUCCESS"})
    result = bench.score(bench.task(bench.expecting("MUTATE", schema={"type": "null"}), posting(a=[1])))
    assert result.webeval["unpassable"].startswith("Q35: a is a list of one item")


@pytest.mark.parametrize("properties", [5, ["a"], {"a": 5}, {"a": ["markdown"]}])
def test_a_schema_that_is_none_says_nothing(bench, properties):
    assert reason(bench, {**posting(a=[1]), "post_data_schema": {"properties": properties}}) is None


def test_of_very_many_expectations_not_each_is_held_against_each_other(bench):
    far = [check({"url": f"__SHOPPING__/{number}"}) for number in range(2_000)]
    assert reason(bench, *far, kind="MUTATE") is None
