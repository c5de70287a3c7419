"""Texts that other plugins' reports attach to a run."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.failure_text import answer_text, differences_text
from pytest_webeval.results import EvaluatorResult, Status
from tests.support.stored_results import build


def result(*parts, **webeval):
    evaluations = [
        EvaluatorResult(evaluator_name=name, status=Status.FAILURE, score=0.0, actual=actual) for name, actual in parts
    ]
    return build(evaluations, webeval)


def differences(*listed, name="NetworkEventEvaluator"):
    return result((name, None), explanations=[{"differences": list(listed)}])


DEEP = {"a": 1}
for _ in range(5_000):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("parts", "facts", "text"),
    [
        ([], {}, None),
        ([("NetworkEventEvaluator", {"url": "a"})], {}, None),
        ([("AgentResponseEvaluator", None)], {}, None),
        ([("AgentResponseEvaluator", "lamp")], {}, "lamp"),
        ([("AgentResponseEvaluator", {"status": "é"})], {}, '{\n  "status": "é"\n}'),
        ([("RubricEvaluator", {"final_answer": "12 €"})], {}, "12 €"),
        ([("RubricEvaluator", ["final_answer"])], {}, None),
        ([("RubricEvaluator", {"final_answer": 12})], {}, "12"),
        ([("RubricEvaluator", {}), ("AgentResponseEvaluator", "second")], {}, "second"),
        ([], {"trajectory": {"answer": "of an excluded run"}}, "of an excluded run"),
        ([], {"trajectory": ["answer"]}, None),
        ([("AgentResponseEvaluator", "one\r\ntwo\rthree\x1b\u202e")], {}, "one\ntwo\\u000dthree\\u001b\\u202e"),
        ([("AgentResponseEvaluator", "::error::no")], {}, "\\u003a:error::no"),
        ([("AgentResponseEvaluator", "\ud800")], {}, "\\ud800"),
    ],
)
def test_the_answer_is_that_of_the_first_evaluator_that_read_one(parts, facts, text):
    assert answer_text(result(*parts, **facts), 1_000) == text


def test_a_deep_answer_shows_its_type():
    assert answer_text(result(("AgentResponseEvaluator", DEEP)), 1_000) == "<class 'dict'>"


@pytest.mark.parametrize("text", ["x" * 101, "\x00" * 101, "\r\n" * 101])
def test_a_text_is_no_longer_than_it_may_be(text):
    assert len(answer_text(result(("AgentResponseEvaluator", text)), 100)) <= 100


@pytest.mark.parametrize(
    ("difference", "lines"),
    [
        (
            {"path": "url", "kind": "different", "expected": "a", "actual": "b"},
            ["  url: different", '    expected "a"', '    got      "b"'],
        ),
        ({"path": "q", "kind": "missing", "expected": [1], "actual": None}, ["  q: missing", "    expected [1]"]),
        ({"path": "q", "kind": "extra", "expected": None, "actual": "b"}, ["  q: extra", '    got      "b"']),
        (
            {"path": "q\u202e", "kind": "odd", "expected": None, "actual": None},
            ["  q\\u202e: odd", "    expected null", "    got      null"],
        ),
    ],
)
def test_a_difference_has_the_values_that_there_are(difference, lines):
    assert differences_text(differences(difference), 1_000) == "\n".join(["NetworkEventEvaluator", *lines])


@pytest.mark.parametrize(
    "explanations",
    [
        *(None, 7, "text", [None], [7], [{}], [[], []]),
        *([{"differences": listed}] for listed in ([], "text", ["no object"], [{"path": "q", "kind": ["odd"]}])),
    ],
)
def test_without_differences_there_is_no_text(explanations):
    assert differences_text(result(("NetworkEventEvaluator", None), explanations=explanations), 1_000) is None


def test_a_long_value_is_cut_and_so_is_the_text():
    value = {"path": "p", "kind": "extra", "expected": None, "actual": "x" * 5_000}
    assert len(differences_text(differences(value), 10_000)) < 2_100
    assert len(differences_text(differences(*[value] * 100), 10_000)) == 10_000


def test_differences_of_several_evaluators_are_below_their_names():
    found = result(
        ("AgentResponseEvaluator", None),
        ("NetworkEventEvaluator", None),
        ("NetworkEventEvaluator", None),
        explanations=[
            {"differences": [{"path": "status", "kind": "extra", "expected": None, "actual": 1}]},
            None,
            {"differences": [{"path": "url", "kind": "extra", "expected": None, "actual": 2}]},
        ],
    )
    names = [line for line in differences_text(found, 1_000).splitlines() if not line.startswith(" ")]
    assert names == ["AgentResponseEvaluator", "NetworkEventEvaluator"]
