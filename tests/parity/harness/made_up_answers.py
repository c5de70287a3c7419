"""Tasks whose response evaluators use options, shapes and schemas that the data set rarely or never uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.goldens import golden_answer
from tests.parity.harness.grids import HOME
from tests.parity.harness.recording import GUESSES, HONEST, PATTERN, UNKNOWN_KEY, Recording
from tests.parity.harness.synthetic import answering, task

FIRST, MOST = 130_000, 26


def _items(items: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "array", **({} if items is None else {"items": items}), **more}


def _objects(**properties: Any) -> dict[str, Any]:
    return _items({"type": "object", "properties": properties})


_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}
_MONEY = {"type": "number", "format": "currency"}
_PRICED = _objects(name=_TEXT, price=_MONEY, tags=_items(_TEXT), at={"type": "object", "properties": {"n": _NUMBER}})
_ONE = {"name": "A", "price": 9.99, "tags": ["x", "y"], "at": {"n": 1}}
_TWO = {"name": "B", "price": 5, "tags": [], "at": {"n": 2}}
# Expected data, their schema, and options of the evaluator.
EXPECTED: tuple[tuple[Any, Any, Mapping[str, Any]], ...] = (
    (["a", "b", "c"], _items(_TEXT), {}),
    (["a", "b", "c"], _items(_TEXT), {"ordered": True}),
    (["a", "a", "b"], _items(_TEXT), {}),
    ([["a", "b"], "a"], _items(_TEXT), {}),
    (["a", ["a", "b"]], _items(_TEXT), {}),
    (["^.*$", "a"], _items(_TEXT), {}),
    (["a", None], _items(_TEXT), {}),
    ([None], _items(_NUMBER), {}),
    ([[]], _items(_TEXT), {}),
    ([["a"]], _items(_TEXT), {}),
    (["a"], _items(), {}),
    (["a"], {"items": _TEXT}, {}),
    (["a"], {}, {}),
    (["a"], _items({}), {}),
    (["a"], _items({"type": ["string", "null"]}), {}),
    (["a"], _items({"type": "string", "format": "email"}), {}),
    (["a"], _items({"format": "no such type"}), {}),
    (["a"], _items(_items(_TEXT)), {}),
    (["a"], {"type": "object"}, {}),
    (["a"], {"type": "string"}, {}),
    (["a"], {"type": "null"}, {}),
    ([], _items(_TEXT), {}),
    (None, _items(_TEXT), {}),
    (None, {"type": "null"}, {}),
    ([10.0, 10.15], _items(_MONEY), {}),
    ([10.0, 10.15], _items(_MONEY), {"ordered": True}),
    ([1, 2, 3], _items(_NUMBER), {}),
    ([[1, 2], [3, 4]], _items({"format": "coordinates"}), {}),
    ([{"latitude": 1, "longitude": 2}], _items({"format": "coordinates"}), {}),
    ([_ONE], _PRICED, {}),
    ([_ONE, _TWO], _PRICED, {}),
    ([_ONE, _TWO], _PRICED, {"ordered": True}),
    ([_TWO, {**_TWO, "name": "C"}], _PRICED, {}),
    ([{**_ONE, "tags": None}], _PRICED, {}),
    ([{**_ONE, "name": ["A", "Z"]}], _PRICED, {}),
    ([{**_ONE, "name": ["A"]}], _PRICED, {}),
    ([{**_ONE, "price": None}], _PRICED, {}),
    ([{**_ONE, "more": "x-y"}], _PRICED, {}),
    ([[_ONE, _TWO]], _PRICED, {}),
    ([{}], _PRICED, {}),
    ([{"x": 5}], _items({"type": "object"}), {}),
    ([_ONE], _items(_TEXT), {}),
    ([{"x": "5"}], _objects(x={"type": "no such type"}), {}),
    ([{"x": "5"}], _objects(x={"type": ["number", "null"]}), {}),
    ([{"x": [[1, 2], [3]]}], _objects(x=_items(_items(_NUMBER))), {}),
    ([{"x": {"y": [{"z": 1}]}}], _objects(x={"type": "object", "properties": {"y": _objects(z=_NUMBER)}}), {}),
    (["a", 5, True, None, {"x": 1}], _items(_TEXT), {}),
)
DATA: Mapping[str, Any] = {
    "null": None,
    "empty": [],
    "an empty list": [[]],
    "an empty object": [{}],
    "a": ["a"],
    "a alone": "a",
    "A with a stop": ["A."],
    "a null": ["a", None],
    "a empty": ["a", ""],
    "a b": ["a", "b"],
    "b a": ["b", "a"],
    "a a": ["a", "a"],
    "a b c": ["a", "b", "c"],
    "c b a": ["c", "b", "a"],
    "a a b": ["a", "a", "b"],
    "a b b": ["a", "b", "b"],
    "a b c d": ["a", "b", "c", "d"],
    "a x": ["a", "x"],
    "a in a list": [["a"]],
    "text of a list": '["a"]',
    "text of a list in a list": ['["a"]'],
    "a 5 true null object": ["a", 5, True, None, {"x": 1}],
    "null alone": [None],
    "zero": 0,
    "false": [False],
    "money": [10.08, 9.95],
    "money turned": [9.95, 10.08],
    "money as text": ["$10.15", "$10.00"],
    "numbers": [3, 1, 2],
    "numbers as text": ["1", "two", "3.0"],
    "points": [[3, 4], [1, 2]],
    "first point": [[1, 2]],
    "point as object": [{"lat": "1", "lng": "2"}],
    "one": [_ONE],
    "one alone": _ONE,
    "one, other order": [{"at": {"n": 1}, "tags": ["y", "x"], "price": "$9.95", "name": "a"}],
    "one, as text": [str(_ONE)],
    "one, as JSON text": ['{"name": "A", "price": 9.99, "tags": ["x", "y"], "at": {"n": 1}}'],
    "one, tags joined": [{**_ONE, "tags": "x, y"}],
    "one, tags as JSON text": [{**_ONE, "tags": '["y", "x"]'}],
    "one, tags as one": [{**_ONE, "tags": "x"}],
    "one, tags null": [{**_ONE, "tags": None}],
    "one, tags more": [{**_ONE, "tags": ["x", "y", "z"]}],
    "one, at as JSON text": [{**_ONE, "at": '{"n": 1}'}],
    "one, at more": [{**_ONE, "at": {"n": 1, "m": 2}}],
    "one, price null": [{**_ONE, "price": None}],
    "one, price lost": [{"name": "A", "tags": ["x", "y"], "at": {"n": 1}}],
    "one, name Z": [{**_ONE, "name": "z"}],
    "one, name null": [{**_ONE, "name": None}],
    "one, more": [{**_ONE, "more": "X Y"}],
    "one, capitals": [{name.upper(): value for name, value in _ONE.items()}],
    "both": [_ONE, _TWO],
    "both turned": [_TWO, _ONE],
    "both as one text": '[{"name": "A"}, {"name": "B"}]',
    "both in a list": [[_ONE, _TWO]],
    "second": [_TWO],
    "second twice": [_TWO, {**_TWO, "name": "C"}],
    "second and one": [_TWO, _ONE, _ONE],
    "x 5": [{"x": 5}],
    "x text 5": [{"x": "5."}],
    "x lists": [{"x": [[3], [2, 1]]}],
    "x y z": [{"x": {"y": [{"z": "1"}]}}],
    "x y z and more": [{"x": {"y": [{"z": "1"}, {"z": 2}]}}],
    "x null": [{"x": None}],
}
GUESSED: Mapping[str, Any] = {
    "guesses": [["a", "b", "c"]],
    "a guess and a": [["b", "c"], "a"],
    "guesses of objects": [[_ONE, {**_ONE, "name": "Z"}]],
    "a guess in an object": [{**_ONE, "name": ["A", "B"]}],
    "guesses of numbers": [[1, 2], [2, 3], [3, 1]],
}
PATTERNS: Mapping[str, Any] = {
    "a pattern": ["^.*$"],
    "three patterns": ["^.*$", "^.*$", "^.*$"],
    "a pattern in an object": [{**_ONE, "name": "^.*$"}],
}
# What is expected beside the data, and what is answered beside them.
ENVELOPES: tuple[Mapping[str, Any], ...] = (
    {"task_type": "retrieve", "status": "success"},
    {"performed_operation": "retrieve", "status": "SUCCESS"},
    {"task_type": "NAVIGATE", "status": "NOT_FOUND_ERROR"},
    {"task_type": "mutate", "status": "Permission_Denied_Error"},
    {"task_type": "retrieve", "status": "SUCCESS", "error_details": None},
    {"task_type": "retrieve", "status": "SUCCESS", "error_details": "x"},
    {"task_type": "retrieve", "status": "SUCCESS", "note": "x"},
    {"task_type": "mutate", "status": "unknown_error"},
    {"task_type": "retrieve", "status": "DATA_VALIDATION_ERROR"},
)
SAID: Mapping[str, Mapping[str, Any]] = {
    "retrieved": {"task_type": "RETRIEVE", "status": "SUCCESS"},
    "retrieved, legacy": {"performed_operation": "retrieve", "status": "success"},
    "retrieved, details null": {"task_type": "RETRIEVE", "status": "SUCCESS", "error_details": None},
    "retrieved, details": {"task_type": "RETRIEVE", "status": "SUCCESS", "error_details": "X"},
    "retrieved, other details": {"task_type": "RETRIEVE", "status": "SUCCESS", "error_details": "y"},
    "retrieved, a note": {"task_type": "RETRIEVE", "status": "SUCCESS", "note": "x"},
    "navigated": {"task_type": "navigate", "status": "NOT_FOUND_ERROR"},
    "mutated": {"task_type": "mutate", "status": "PERMISSION_DENIED_ERROR"},
    "mutated, unknown": {"task_type": "MUTATE", "status": "unknown error"},
    "invalid": {"task_type": "RETRIEVE", "status": "data-validation-error"},
}


def made_up_answers() -> Iterator[Recording]:
    """Expected data against answered ones, expected envelopes against answered ones, and two evaluators at once."""
    number = FIRST
    for data, schema, options in EXPECTED:
        yield from _with_data(number, [answering("RETRIEVE", data, schema, **options)])
        number += 1
    for envelope in ENVELOPES:
        yield from _in_envelopes(number, envelope)
        number += 1
    for first, second in (("RETRIEVE", "RETRIEVE"), ("RETRIEVE", "MUTATE"), ("NAVIGATE", "RETRIEVE")):
        both = [answering(first, ["a"], _items(_TEXT)), answering(second, ["a", "b"], _items(_TEXT))]
        yield from _with_data(number, both)
        number += 1


def _with_data(number: int, evaluators: list[Mapping[str, Any]]) -> Iterator[Recording]:
    definition = {**task(*evaluators, sites=("shopping",)), "task_id": number}
    given = [
        ("as expected", golden_answer(definition)["retrieved_data"], HONEST),
        *((name, data, HONEST) for name, data in drawn(DATA.items(), MOST, number)),
        *((name, data, GUESSES) for name, data in GUESSED.items()),
        *((name, data, PATTERN) for name, data in PATTERNS.items()),
    ]
    for name, data, kind in given:
        answer = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": data}
        yield Draft(definition, answer, (HOME,)).recording(f"data: {name}", kind)


def _in_envelopes(number: int, envelope: Mapping[str, Any]) -> Iterator[Recording]:
    evaluator = {**answering("RETRIEVE", None), "expected": {**envelope, "retrieved_data": None}}
    definition = {**task(evaluator, sites=("shopping",)), "task_id": number}
    kind = UNKNOWN_KEY if "note" in envelope else HONEST
    for name, said in SAID.items():
        for data in (None, ["x"]):
            about = f"envelope: {name}, data {data}"
            yield Draft(definition, {**said, "retrieved_data": data}, (HOME,)).recording(about, kind)
