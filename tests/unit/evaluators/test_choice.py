"""The names of chosen evaluators, and whether these require a trace."""

from __future__ import annotations

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import SHORT_NAMES, find_unknown, parse_choice

ANSWER, REQUEST, PATTERN, RUBRIC = (
    "AgentResponseEvaluator",
    "NetworkEventEvaluator",
    "RequestPatternEvaluator",
    "RubricEvaluator",
)


def test_each_evaluator_has_a_short_name():
    assert sorted(SHORT_NAMES.values()) == sorted(EVALUATORS)


@pytest.mark.parametrize(
    ("texts", "choice"),
    [
        ([], ()),
        (["", " , "], ()),
        (["response"], (ANSWER,)),
        (["response", "response,AgentResponseEvaluator"], (ANSWER,)),
        (["rubric,network", " request "], (REQUEST, PATTERN, RUBRIC)),
        (["Visits,response"], (ANSWER, "Visits")),
        (["Response"], ("Response",)),
        ("response,rubric", (ANSWER, RUBRIC)),
    ],
)
def test_a_choice_is_sorted_and_names_each_evaluator_once(texts, choice):
    assert parse_choice(texts) == choice


@pytest.mark.parametrize(
    ("choice", "known", "problem"),
    [
        ([ANSWER, RUBRIC], [], None),
        (["Visits"], ["Visits"], None),
        ([ANSWER, "Visit"], [], "unknown evaluator 'Visit'; use response, network, rubric or request"),
        (["Visit"], [ANSWER, "Visits"], "unknown evaluator 'Visit'; use response, network, rubric, request or Visits"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(choice, known, problem):
    assert find_unknown(choice, known) == problem


@pytest.mark.parametrize(
    ("choice", "requires_trace"),
    [
        ((), True),
        ((REQUEST,), True),
        ((PATTERN,), True),
        ((ANSWER, REQUEST), True),
        ((ANSWER,), False),
        ((RUBRIC,), False),
        (("Visits",), False),
    ],
)
def test_a_trace_is_required_by_the_evaluators_of_traces(bench, choice, requires_trace):
    run = load_run(bench.record(events=[{"url": "http://shop.test/a"}])).choosing(choice)
    assert run.requires_trace is requires_trace
    run.check()
    assert run.repairs is None
    assert run.is_trace_loaded is requires_trace
