"""Results as anybody's evaluators make them, and what is written of them."""

from __future__ import annotations

import gc
import json
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from msgspec import Struct
from pydantic import BaseModel

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.evaluators.readers import actual_reading, expected_reading
from pytest_webeval.results import Assertion, Difference, EvaluatorResult, Explanation, NamedEvent, Status, TaskResult
from pytest_webeval.scoring.score import validate_result
from tests.support.stored_results import build


class Model(BaseModel):
    """What a judge may answer."""

    points: int = 3


@dataclass
class Data:
    """The same as a dataclass."""

    points: int = 3


@dataclass
class Holder:
    """A dataclass with anything in it."""

    held: Any


class Number(float):
    """As numpy's numbers are."""


class Record(Struct):
    """The same as a struct of msgspec."""

    points: int = 3
    more: Any = None


NOTE = Assertion.of("a", True, "b")  # noqa: FBT003  (that it holds)


def result(**fields):
    return EvaluatorResult(**{"evaluator_name": "Own", "status": Status.SUCCESS, "score": 1.0} | fields)


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"score": True}, {"score": 1.0}),
        ({"score": 1}, {"score": 1.0}),
        ({"score": Number(0.5)}, {"score": 0.5}),
        ({"score": Fraction(1, 4)}, {"score": 0.25}),
        ({"score": "0.5"}, {"score": 0.5}),
        ({"status": "failure"}, {"status": "failure"}),
        ({"actual": Model()}, {"actual": {"points": 3}}),
        ({"actual": {"x": [Data(), (Model(),)]}}, {"actual": {"x": [{"points": 3}, [{"points": 3}]]}}),
        ({"actual": Record(more=(Record(),))}, {"actual": {"points": 3, "more": [{"points": 3, "more": None}]}}),
        ({"actual": Holder(Record())}, {"actual": {"held": {"points": 3, "more": None}}}),
        ({"actual": OrderedDict(a=1)}, {"actual": {"a": 1}}),
        ({"expected": ("a", NOTE)}, {"expected": ["a", NOTE.to_json()]}),
        ({"assertions": (NOTE,)}, {"assertions": [NOTE.to_json()]}),
        ({"assertions": [NOTE.to_json()]}, {"assertions": [NOTE.to_json()]}),
    ],
    ids=str,
)
def test_what_an_evaluator_may_find_is_written_as_json(fields, written):
    checked = validate_result(result(**fields), "Own")
    found = json.loads(json.dumps(checked.to_json()))
    assert {name: found[name] for name in written} == written
    assert type(found["score"]) is float
    assert type(checked.status) is Status
    assert {type(one) for one in checked.assertions or ()} <= {Assertion}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"score": "x"}, "Expected `float`, got `str` @ score"),
        ({"score": None}, "Expected `float`, got `null` @ score"),
        ({"status": "succes"}, "Invalid enum value 'succes' @ status"),
        ({"assertions": [1]}, "Expected `object`, got `int` @ assertions[0]"),
        ({"error_msg": 3}, "Expected `str | null`, got `int` @ error_msg"),
    ],
    ids=str,
)
def test_what_it_may_not_find_is_told_with_its_place(fields, told):
    with pytest.raises(EvaluationError) as caught:
        validate_result(result(**fields), "Own")
    assert str(caught.value) == f"Own returned an invalid EvaluatorResult: {told}"


@pytest.mark.parametrize("found", [object(), {1, 2}, Model, {"a": b"bytes"}], ids=["object", "set", "class", "bytes"])
def test_what_json_cannot_hold_is_refused(found):
    with pytest.raises(TypeError, match="is not JSON serializable"):
        validate_result(result(actual=found), "Own")


@pytest.mark.parametrize("raw", [None, [], {}, {"status": "success"}, "\ud800"], ids=ascii)
def test_what_is_no_result_is_not_read_as_one(raw):
    with pytest.raises(ValueError, match=r"."):
        TaskResult.read(raw)


def test_a_result_cannot_be_changed_and_may_have_other_versions():
    found = result()
    with pytest.raises(AttributeError, match="immutable"):
        found.score = 0.0
    other = found.with_changes(score=0.0)
    assert (found.score, other.score, other.evaluator_name) == (1.0, 0.0, "Own")


@pytest.mark.parametrize(
    ("name", "path", "kind"),
    [
        ("retrieved_data[3].name_match", "retrieved_data[3].name", "match"),
        ("retrieved_data[3].name_mismatch", "retrieved_data[3].name", "different"),
        ("a.b_array_values_mismatch", "a.b", "elements"),
        ("a.b_none_mismatch", "a.b", "missing"),
        ("a.b_keys_mismatch", "a.b", "keys"),
        ("a_missing_or_null", "a", "missing"),
        ("a_invalid_format", "a", "malformed"),
        ("a_unexpected", "a", "unexpected"),
        ("a_unavailable", "a", "unreadable"),
        ("rubric.outcome_noted", "rubric.outcome", "noted"),
        ("a_match_mismatch", "a_match", "different"),
        ("match", "match", None),
        ("evaluator.fail", "evaluator.fail", None),
        ("", "", None),
    ],
)
def test_an_assertion_has_the_path_and_the_kind_of_its_name_and_files_have_neither(name, path, kind):
    assertion = Assertion.of(name, False, "expected 1")  # noqa: FBT003  (that it does not hold)
    read_back = Assertion.read(json.loads(json.dumps(assertion.to_json())))
    assert (assertion.path, assertion.kind) == (read_back.path, read_back.kind) == (path, kind)
    assert list(assertion.to_json()) == ["assertion_name", "status", "assertion_msgs", "error_msg"]


def test_a_recording_is_let_go_of_with_its_run(bench):
    bench.record()
    gc.collect()
    gc.disable()
    try:
        case = bench.case(bench.task({"evaluator": "AgentResponseEvaluator"}))
        assert expected_reading(case)
        assert actual_reading(case)
        run = weakref.ref(case.run)
        del case
        assert run() is None
    finally:
        gc.enable()


FOUND = Explanation([Difference("url", "missing", "/cart", None)], NamedEvent(3, 9, "GET", "/", None), [3])


def failure(**fields):
    return result(status=Status.FAILURE, score=0.0, **fields)


def test_a_file_has_explanations_before_the_problems_of_the_recording():
    stored = build([failure(explanation=FOUND), failure()], {"run": "1", "capture": [], "wall_time": 0.5})
    raw = stored.with_changes(evaluators_results=[failure(explanation=FOUND), failure()]).to_json()
    assert list(raw["webeval"]) == ["run", "explanations", "capture", "wall_time"]
    assert raw["webeval"]["explanations"] == [FOUND.to_json(), None]
    assert all("explanation" not in each for each in raw["evaluators_results"])
    assert [each.explanation for each in TaskResult.read(raw).evaluators_results] == [FOUND, None]
    assert TaskResult.read(raw).to_json() == raw


def test_a_file_of_another_tool_keeps_its_explanations_and_a_success_has_none():
    raw = build([failure()], {"run": "1"}).to_json()
    assert "explanations" not in raw["webeval"]
    read = TaskResult.read(raw | {"webeval": {"run": "1", "explanations": [FOUND.to_json()]}})
    assert read.to_json()["webeval"] == {"run": "1", "explanations": [FOUND.to_json()]}


@pytest.mark.parametrize("forged", [FOUND.to_json(), "text", {"differences": 3}])
def test_an_explanation_in_the_place_of_another_field_is_not_read(forged):
    raw = build([failure()], {"run": "1", "capture": []}).to_json()
    raw["evaluators_results"][0]["explanation"] = forged
    assert [each.explanation for each in TaskResult.read(raw).evaluators_results] == [None]


@pytest.mark.parametrize(
    ("listed", "read"),
    [
        ([FOUND.to_json()], [None, None]),
        ([FOUND.to_json()] * 3, [None, None]),
        (7, [None, None]),
        ([FOUND.to_json(), 7], [FOUND, None]),
        ([{"differences": 3}, FOUND.to_json()], [None, FOUND]),
    ],
)
def test_as_many_explanations_as_evaluations_are_read_each_for_itself(listed, read):
    raw = build([failure(), failure()], {"run": "1", "capture": []}).to_json()
    raw["webeval"]["explanations"] = listed
    assert [each.explanation for each in TaskResult.read(raw).evaluators_results] == read


def test_only_a_failure_is_explained():
    assert validate_result(failure(explanation=FOUND), "Own").explanation == FOUND
    assert validate_result(result(explanation=FOUND), "Own").explanation is None
    with pytest.raises(EvaluationError, match=r"Own returned an invalid EvaluatorResult: .*differences"):
        validate_result(failure(explanation=Explanation(["text"])), "Own")


def test_an_error_has_the_parts_of_its_message():
    error = WebEvalError("no score", advice="judge the run", where="x.json", code="score_missing")
    assert str(error) == "no score; judge the run @ x.json"
    assert (error.problem, error.advice, error.where, error.code) == (
        "no score", "judge the run", "x.json", "score_missing",
    )  # fmt: skip
    assert (str(WebEvalError("no score")), WebEvalError("no score").problem) == ("no score", "no score")
