"""Definitions of tasks: plain ones are read by msgspec, the others by pydantic, and nobody can tell which did."""

from __future__ import annotations

from collections import OrderedDict
from typing import Annotated

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.tasks import expectations, task
from pytest_webeval.tasks.lenient_models import LENIENT, _format_problem, describe_unknown_fields, find_model
from pytest_webeval.tasks.task import decode_definition

TASK = {
    "sites": ["shopping"],
    "task_id": 107,
    "intent_template_id": 1,
    "start_urls": ["__SHOPPING__"],
    "intent": "Buy a kettle",
    "intent_template": "Buy a {{thing}}",
    "eval": [{"evaluator": "AgentResponseEvaluator"}],
    "instantiation_dict": {"thing": "kettle"},
    "revision": 2,
}
RESPONSE = {
    "evaluator": "AgentResponseEvaluator",
    "expected": {"task_type": "retrieve", "status": "success", "retrieved_data": ["a", ["b", "c"]]},
    "results_schema": {"type": "array"},
}
EVENT = {
    "evaluator": "NetworkEventEvaluator",
    "expected": {"url": "__SHOPPING__/cart", "http_method": "POST", "post_data": {"quantity": [1, None]}},
    "ignored_query_params": ["_"],
}
RUBRIC = {"evaluator": "RubricEvaluator", "threshold": 0.8, "criterion": "both"}
KINDS = (
    (task.NumberedTask, TASK),
    (task.NamedTask, TASK | {"task_id": "tea"}),
    (expectations.ResponseExpectation, RESPONSE),
    (expectations.NetworkExpectation, EVENT),
    (expectations.RubricExpectation, RUBRIC),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.just(10**40),
    st.floats(),
    st.sampled_from(["", "1", "yes", "GITLAB", "_gitlab_", "mutate", "unknown_error", "\ud800", "x"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=2).map(tuple),
        st.dictionaries(st.sampled_from(["evaluator", "url", "task_type", "status", "x", 1]), inner, max_size=3),
    ),
    max_leaves=6,
)


def seen(found):
    """What of a definition anybody can see, whether it is a struct or a model."""
    if isinstance(found, BaseModel):
        shown = {name: seen(getattr(found, name)) for name in type(found).model_fields}
        is_given = found.model_fields_set.__contains__
        extra = {"data": is_given("retrieved_data"), "details": is_given("error_details")}
    elif isinstance(found, msgspec.Struct):
        shown = {one.encode_name: seen(getattr(found, one.name)) for one in msgspec.structs.fields(found)}
        shown = {name: None if value is msgspec.UNSET else value for name, value in shown.items()}
        is_response = isinstance(found, expectations.ExpectedResponse)
        extra = {"data": is_response and found.has_data, "details": is_response and found.has_details}
        if is_response:
            shown |= {name: getattr(found, name) for name in ("task_type", "status", "retrieved_data")}
    else:
        return found
    return shown | extra


def as_struct(kind, raw):
    """What we make of a definition, or what we say to be wrong with it, as a text: NaN equals nothing."""
    try:
        return repr(seen(decode_definition(kind, raw, "eval[0]")))
    except ValueError as error:
        return str(error)


STRUCTS = [getattr(expectations, name, None) or getattr(task, name) for name in LENIENT]


def as_model(kind, raw):
    """What pydantic makes of it."""
    try:
        return repr(seen(find_model(kind).model_validate(raw)))
    except ValidationError as error:
        return _format_problem(error, "eval[0]", describe_unknown_fields(kind, raw, "eval[0]"))


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_structs_and_models_have_the_same_fields(kind):
    structs = {one.encode_name: default_of(one) for one in msgspec.structs.fields(kind)}
    models = {
        name: ... if one.is_required() else one.get_default(call_default_factory=True)
        for name, one in find_model(kind).model_fields.items()
    }
    assert list(structs.items()) == list(models.items())


def default_of(field):
    """What a field is where a definition leaves it out; `...` if it must not."""
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return ... if field.required else None if field.default is msgspec.UNSET else field.default


@pytest.mark.parametrize(("kind", "raw"), KINDS, ids=lambda one: getattr(one, "__name__", ""))
def test_plain_definitions_need_no_model(kind, raw, monkeypatch):
    monkeypatch.setattr("pytest_webeval.tasks.lenient_models.read_leniently", None)
    assert decode_definition(kind, raw, "") == msgspec.convert(raw, kind)


@given(
    which=st.sampled_from(KINDS),
    inside=st.booleans(),
    name=st.integers(0, 12),
    value=st.one_of(VALUES, st.just(...)),
    more=st.sampled_from([(), ("performed_operation", "retrieve"), ("error_details", None), ("unknown", 1)]),
)
@example(which=KINDS[0], inside=False, name=4, value="\ud800", more=())
@example(which=KINDS[0], inside=False, name=0, value="\ud800", more=())
@example(which=KINDS[0], inside=False, name=0, value=["GITLAB"], more=())
@example(which=KINDS[0], inside=False, name=6, value=[], more=())
@example(which=KINDS[0], inside=False, name=6, value=[{}], more=())
@example(which=KINDS[1], inside=True, name=0, value=..., more=("performed_operation", "retrieve"))
@example(which=KINDS[1], inside=True, name=2, value=..., more=("error_details", None))
@example(which=KINDS[1], inside=True, name=2, value=[[["a"]]], more=())
@example(which=KINDS[2], inside=True, name=2, value={"a": ("b",)}, more=())
@example(which=KINDS[2], inside=True, name=2, value={"a": {1: "b"}}, more=())
@example(which=KINDS[1], inside=False, name=0, value=RESPONSE["evaluator"], more=("unknown", 1))
@example(which=KINDS[1], inside=True, name=1, value="finished", more=())
@example(which=KINDS[1], inside=True, name=0, value="wait", more=())
@example(which=KINDS[2], inside=True, name=2, value={"a": [("b",)]}, more=())
@example(which=KINDS[2], inside=True, name=2, value={"a": OrderedDict(b=1)}, more=())
def test_both_ways_come_to_the_same(which, inside, name, value, more):
    kind, raw = which
    part = dict(raw["expected"] if inside and "expected" in raw else raw)
    chosen = list(part)[name % len(part)]
    if value is ...:
        del part[chosen]
    else:
        part[chosen] = value
    part |= dict([more] if more else [])
    changed = raw | {"expected": part} if inside and "expected" in raw else part
    assert as_struct(kind, changed) == as_model(kind, changed)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"threshold": -0.1}, "Input should be greater than or equal to 0 @ eval[0].threshold"),
        ({"threshold": 1.1}, "Input should be less than or equal to 1 @ eval[0].threshold"),
        ({"threshold": float("nan")}, "Input should be less than or equal to 1 @ eval[0].threshold"),
        ({"threshold": [1]}, "Input should be a valid number @ eval[0].threshold"),
        ({"criterion": "all"}, "Input should be 'outcome', 'process', 'both' or 'safe_outcome' @ eval[0].criterion"),
    ],
    ids=lambda value: repr(value) if isinstance(value, dict) else "",
)
def test_a_rubric_is_not_configured_by_anything_else(change, problem):
    with pytest.raises(EvaluationError) as caught:
        task.Expectation("R", 0, RUBRIC | change).read_as(expectations.RubricExpectation)
    assert str(caught.value) == f"invalid task definition: {problem}"


@pytest.mark.parametrize(("written", "threshold"), [("0.8", 0.8), (True, 1.0), (1, 1.0), (None, None)])
def test_a_threshold_may_be_written_as_a_text(written, threshold):
    found = task.Expectation("R", 0, RUBRIC | {"threshold": written}).read_as(expectations.RubricExpectation)
    assert (found.threshold, found.criterion) == (threshold, "both")


@pytest.mark.parametrize("depth", [10, 99, 100, 101, 200, 254, 255, 5_000])
def test_both_ways_allow_the_same_depth(depth):
    deep: object = 1
    for _ in range(depth):
        deep = {"a": deep}
    event = EVENT | {"expected": EVENT["expected"] | {"post_data": {"q": deep}}}
    found = read_by(decode_definition, expectations.NetworkExpectation, event, "eval[0]")
    assert found == read_by(
        lambda kind, raw, _: find_model(kind).model_validate(raw), expectations.NetworkExpectation, event, ""
    )


def read_by(read, *arguments):
    """Whether a definition is taken."""
    try:
        read(*arguments)
    except ValueError:
        return False
    return True


def test_a_type_and_a_status_may_be_written_in_any_case():
    expected = {"task_type": "Navigate", "status": "not_found_error"}
    found = (
        task.Expectation("A", 0, RESPONSE | {"expected": expected}).read_as(expectations.ResponseExpectation).expected
    )
    assert (found.task_type, found.status) == ("NAVIGATE", "NOT_FOUND_ERROR")


def test_what_is_not_plain_is_taken_as_the_reference_takes_it():
    found = task.read_task(TASK | {"task_id": "107", "sites": ["GITLAB"], "revision": 2.0}, "a test")
    assert (found.task_id, found.sites, found.revision) == (107, ["gitlab"], 2)
    read = task.Expectation("N", 0, EVENT | {"last_event_only": "no"}).read_as(expectations.NetworkExpectation)
    assert read.last_event_only is False
    legacy = {"performed_operation": "mutate", "status": "success"}
    answer = (
        task.Expectation("A", 0, RESPONSE | {"expected": legacy}).read_as(expectations.ResponseExpectation).expected
    )
    assert (answer.task_type, answer.status, answer.has_data, answer.has_details) == (
        "MUTATE",
        "SUCCESS",
        False,
        False,
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"task_id": [1]}, "Input should be a valid integer @ task_id"),
        ({"task_id": ""}, "String should have at least 1 character @ task_id"),
        ({"intent": ""}, "String should have at least 1 character @ intent"),
        ({"eval": []}, "eval is empty: a task that checks nothing would always pass"),
        ({"eval": [{}]}, "eval[0] has no evaluator"),
        ({"sites": ["Mars"]}, "invalid site 'Mars'; use lower-case letters, digits and single underscores, such as "),
        ({"revision": 0}, "Input should be greater than or equal to 1 @ revision"),
        ({"intent_template": ""}, "String should have at least 1 character @ intent_template"),
        ({"more": 1}, "unknown key 'more' @ the definition; known: sites, task_id, intent_template_id, "),
        ({"intnt": 1}, "unknown key 'intnt' @ the definition; did you mean 'intent'? known: sites, task_id, "),
        ({"revision": 0, "intnt": 1}, " @ revision; unknown key 'intnt' @ the definition; did you mean 'intent'? "),
    ],
    ids=repr,
)
def test_what_is_wrong_is_told_with_its_place(changes, told):
    with pytest.raises(TaskDefinitionError) as caught:
        task.read_task(TASK | changes, "a test")
    assert told in str(caught.value)
    assert str(caught.value).startswith("invalid task in a test: ")


@pytest.mark.parametrize("name", ["post_data", "headers", "response_content", "response_cookies"])
def test_what_no_json_can_hold_is_expected_of_no_event(name):
    event = EVENT | {"expected": {"url": "__SHOPPING__", name: {"a": ("b",)}}}
    with pytest.raises(EvaluationError, match=rf"not a valid JSON value @ eval\[2\]\.expected\.{name}\.a"):
        task.Expectation("N", 2, event).read_as(expectations.NetworkExpectation)


@pytest.mark.parametrize(("kind", "raw"), KINDS[2:], ids=["response", "network", "rubric"])
def test_a_misspelt_field_of_an_expectation_is_refused(kind, raw):
    with pytest.raises(
        EvaluationError, match=r"^invalid task definition: unknown key 'x' @ eval\[2\]; known: evaluator, "
    ):
        task.Expectation("N", 2, raw | {"x": 1}).read_as(kind)


REQUEST = {"evaluator": "R", "expected": {"url_pattern": "/cart"}}


@pytest.mark.parametrize(
    ("kind", "raw", "told"),
    [
        (
            expectations.RubricExpectation,
            {"evaluator": "R", "treshold": 0.5},
            "unknown key 'treshold' @ eval[2]; did you mean 'threshold'? known: evaluator, threshold, criterion",
        ),
        (
            expectations.NetworkExpectation,
            EVENT | {"should_not_exists": True},
            "unknown key 'should_not_exists' @ eval[2]; did you mean 'should_not_exist'? known: ",
        ),
        (
            expectations.RequestPatternExpectation,
            REQUEST | {"expected": {"url_pattern": "/cart", "bodi": {}}},
            "unknown key 'bodi' @ eval[2].expected; did you mean 'body'? known: url_pattern, method, body, params",
        ),
        (
            expectations.RequestPatternExpectation,
            REQUEST | {"expected": {"url_patern": "/cart"}},
            "unknown key 'url_patern' @ eval[2].expected; did you mean 'url_pattern'? known: ",
        ),
        (
            expectations.ResponseExpectation,
            {"evaluator": "R", "expected": KINDS[2][1]["expected"], "result_schema": {}},
            "unknown key 'result_schema' @ eval[2]; did you mean 'results_schema'? known: evaluator, expected, ",
        ),
    ],
)
def test_a_misspelt_option_of_an_evaluator_is_told_with_the_right_one(kind, raw, told):
    with pytest.raises(EvaluationError) as caught:
        task.Expectation("N", 2, raw).read_as(kind)
    assert told in str(caught.value)


def test_a_field_that_is_missing_because_it_is_misspelt_is_told_with_the_right_one():
    raw = {name: value for name, value in TASK.items() if name != "intent"} | {"intnt": "Buy it"}
    with pytest.raises(TaskDefinitionError) as caught:
        task.read_task(raw, "a test")
    told = "lacks the field 'intent'; unknown key 'intnt' @ the definition; did you mean 'intent'? known: sites, "
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "raw", "told"),
    [
        (int, "a", "Expected `int`, got `str`"),
        (list[int], [1, "a"], "Expected `int`, got `str` @ [1]"),
        (dict[int, int], {"a": 1}, "Expected `int`, got `str` @ eval"),
        (dict[str, int], {"a": "b"}, "Expected `int`, got `str` @ eval[...]"),
    ],
    ids=str,
)
def test_what_msgspec_tells_has_its_place_in_our_words(kind, raw, told):
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(raw, kind)
    assert format_validation_error(caught.value, "eval" if "eval" in told else "") == told


@pytest.mark.parametrize(
    ("checks", "told"), [([], "eval is empty"), ([{"evaluator": "A"}, {}], r"eval\[1\] has no evaluator")], ids=repr
)
def test_no_task_checks_nothing_however_it_is_made(checks, told):
    with pytest.raises(ValueError, match=told):
        task.Task(**TASK | {"eval": checks})


class OwnStruct(msgspec.Struct):
    """What somebody's evaluator is told."""

    evaluator: str
    limit: Annotated[int, msgspec.Meta(ge=0)] = 3


class OwnModel(BaseModel):
    """The same, with the other library."""

    evaluator: str
    limit: Annotated[int, Field(ge=0)] = 3


@pytest.mark.parametrize("model", [OwnStruct, OwnModel])
def test_an_evaluator_of_ones_own_may_read_its_expectation_with_either_library(model):
    expectation = task.Expectation("Own", 4, {"evaluator": "Own", "limit": 2})
    found = expectation.read_as(model)
    assert (type(found), found.limit) == (model, 2)
    assert expectation.read_as(model) is found
    with pytest.raises(EvaluationError, match=r"^invalid task definition: .* @ eval\[4\]\.limit$"):
        task.Expectation("Own", 4, {"evaluator": "Own", "limit": -1}).read_as(model)
