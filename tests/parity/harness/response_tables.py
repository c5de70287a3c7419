"""Responses and how they are compared, with the verdict (spec §1.4, §6.1, §6.2)."""

from __future__ import annotations

import json

from tests.parity.harness.synthetic import STRINGS
from tests.parity.harness.verdicts import ERROR, FAILURE, SUCCESS

RIGHT = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Blue Mug"], "error_details": None}
TEXT = json.dumps(RIGHT)
DIGITS = "9" * 5000  # of an integer that Python does not read


def right(**fields):
    """The right answer with other fields; None takes a field away."""
    return {name: value for name, value in {**RIGHT, **fields}.items() if value is not None}


def typed(**fields):
    """The right answer with other fields, null where they are None."""
    return {**RIGHT, **fields}


# What the response file holds, as JSON, text or bytes, and the verdict; the number is the row of §1.4.
RESPONSES = [
    (1, RIGHT, SUCCESS),
    (2, {"task_type": " retrieve ", "status": "success", "retrieved_data": ["Blue Mug"], "x": 1}, SUCCESS),
    (2, right(error_details="something"), SUCCESS),
    (3, right(task_type=None, performed_operation="RETRIEVE"), SUCCESS),
    (4, right(task_type="MUTATE", performed_operation="RETRIEVE"), FAILURE),
    (5, right(task_type="", performed_operation="RETRIEVE"), FAILURE),
    (6, {"action": "retrieve", "status": "SUCCESS", "results": ["Blue Mug"]}, FAILURE),
    (7, {"action": "retrieve", "status": "SUCCESS", "retrieved_data": ["Blue Mug"]}, FAILURE),
    (8, {"task_type": "retrieve", "status": "SUCCESS", "results": ["Blue Mug"]}, FAILURE),
    (9, {"Task_Type": "RETRIEVE", "Status": "SUCCESS", "Retrieved_Data": ["Blue Mug"]}, FAILURE),
    (10, right(task_type=None), FAILURE),
    (10, right(status=None), FAILURE),
    *((11, typed(**{name: value}), ERROR) for name in ("task_type", "status") for value in (None, 3, ["RETRIEVE"])),
    (12, right(task_type=""), FAILURE),
    (12, right(status=""), FAILURE),
    (13, right(task_type="READ"), FAILURE),
    (13, right(status="DONE"), FAILURE),
    (14, right(task_type="'RETRIEVE'", status="SUCCESS!"), SUCCESS),
    (15, right(task_type="^.*$", status="^.*$", retrieved_data=["^.*$"]), SUCCESS),
    *((16, typed(retrieved_data=data), FAILURE) for data in (None, [], "", {})),
    (16, right(retrieved_data=None), FAILURE),
    *((17, right(retrieved_data=data), FAILURE) for data in ([None], 0, False, 5, 0.0, {"name": "Blue Mug"})),
    (18, right(retrieved_data="Blue Mug"), SUCCESS),
    (18, right(retrieved_data='["Blue Mug"]'), FAILURE),
    (19, right(retrieved_data=[["Blue Mug"]]), FAILURE),
    (20, right(retrieved_data=[["Blue Mug", "Red Mug"]]), SUCCESS),
    (21, right(retrieved_data=["Blue Mug", "Red Mug"]), FAILURE),
    (21, right(retrieved_data=["Blue Mug", "Blue Mug"]), FAILURE),
    (22, f"\n  {TEXT}\t \n", SUCCESS),
    (23, f"\ufeff{TEXT}", FAILURE),
    *((24, text, SUCCESS) for text in (f"```json\n{TEXT}\n```", f"So: ```\n{TEXT}\n``` done", f"```{TEXT}```")),
    (25, f"```JSON\n{TEXT}\n```", FAILURE),
    (25, f"```json5\n{TEXT}\n```", FAILURE),
    (25, f"```json\n{TEXT}\n", FAILURE),
    (25, f"```\nlook\n```\n```json\n{TEXT}\n```", FAILURE),
    (26, f"The answer: {TEXT}", FAILURE),
    (26, f"{TEXT} That is all.", FAILURE),
    (26, TEXT.replace('"', "'"), FAILURE),
    (26, TEXT[:-1] + ",}", FAILURE),
    (26, "Blue Mug", FAILURE),
    (26, json.dumps(TEXT), FAILURE),
    (27, right(retrieved_data=["Blue ```Mug```"]), FAILURE),
    *((28, text, FAILURE) for text in ('["Blue Mug"]', "5", '"Blue Mug"', "true", "NaN")),
    *((29, text, FAILURE) for text in ("", "  \n", "null", "[]", "{}", "0", "false", '""')),
    (30, TEXT[:-5], FAILURE),
    (30, f'{{"x": {DIGITS}, {TEXT[1:]}', ERROR),
    (30, f"```{{{DIGITS}}}``` {TEXT}", FAILURE),
    *((30, text, ERROR) for text in (DIGITS, f"[{DIGITS}]", f"{TEXT} ```[-{DIGITS}]```")),
    (30, TEXT.replace('"Blue Mug"', DIGITS), ERROR),
    (31, TEXT.encode("utf-16"), ERROR),
    (31, b'{"task_type": "RETRIEVE\xff"}', ERROR),
]

# The same for a task that navigates: what it retrieved is nobody's business.
NAVIGATIONS = [
    ({"task_type": "navigate", "status": "SUCCESS"}, SUCCESS),
    ({"task_type": "navigate", "status": "SUCCESS", "retrieved_data": [1, {"a": []}]}, SUCCESS),
    ({"task_type": "navigate", "status": "SUCCESS", "retrieved_data": "junk"}, SUCCESS),
    ({"action": "navigate", "status": "SUCCESS"}, FAILURE),
]


def items(**schema):
    """A schema of an array of these."""
    return {"type": "array", "items": schema}


PRICE = {"type": "number", "format": "currency"}
MUG = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "number"},
        "price": PRICE,
        "tags": {"type": "array", "items": {"type": "string"}},
        "maker": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
WANTED = {"name": "Mug", "count": 1, "price": 9.99, "tags": ["x", "y"], "maker": {"city": "Bonn"}}
OTHERWISE = {"maker": {"city": "bonn"}, "tags": ["Y", "X"], "price": "$9.95", "count": "1", "name": "mug"}
MAIL = {"type": "object", "properties": {"a": {"type": "string", "format": "email"}}}
TWO = [{"name": "A"}, {"name": "B"}]
EMPTY_TAGS = [{"name": "A", "tags": []}, {"name": "B", "tags": []}]

# Schema, expected data, actual data and verdict.
SCHEMAS = [
    (items(**MUG), [WANTED], [OTHERWISE], SUCCESS),
    (items(**MUG), [WANTED], [{**WANTED, "more": 1}], FAILURE),
    (items(**MUG), [WANTED], [{"name": "Mug"}], FAILURE),
    (items(**MUG), [{"name": "Mug"}], [{"Name": "Mug"}], FAILURE),
    (items(**MUG), [{"name": None}], [{"name": None}], SUCCESS),
    (items(**MUG), [{"name": None}], [{}], FAILURE),
    (items(**MUG), [{"count": None}], [{"count": 0}], FAILURE),
    (items(**MUG), [WANTED], [json.dumps(WANTED)], SUCCESS),
    (items(**MUG), [WANTED], WANTED, SUCCESS),
    (items(**MUG), TWO, json.dumps(TWO), FAILURE),
    (items(**MUG), [{"name": ["A", "B"]}], [{"name": "b"}], SUCCESS),
    (items(**MUG), [{"name": ["A"]}], [{"name": "A"}], ERROR),
    (items(**MUG), [TWO], [{"name": "A"}], FAILURE),
    (items(**MUG), [TWO], [TWO], SUCCESS),
    (items(**MUG), [{"tags": ["x", "y"]}], [{"tags": "x, y"}], FAILURE),
    (items(**MUG), [{"tags": ["x", "y"]}], [{"tags": '["x", "y"]'}], SUCCESS),
    (items(**MUG), [{}], [{}], ERROR),
    *((STRINGS, [None], [data], SUCCESS) for data in (None, "", 0, False)),
    (items(type="number"), [None], [None], ERROR),
    (items(type="number"), [None], [0], ERROR),
    (items(**MAIL), [{"a": "a."}], [{"a": "A"}], SUCCESS),
    (items(type="string", format="email"), ["a"], ["a"], ERROR),
    (items(type=["string", "null"]), ["a"], ["a"], ERROR),
    (items(type="array"), [["a", "b"]], [["a", "b"]], ERROR),
    ({"type": "object"}, ["a"], ["a"], ERROR),
    ({"items": {"type": "number"}}, [1], ["1.0"], SUCCESS),
    ({"type": "array", "items": {}}, ["A"], ["a"], SUCCESS),
    (items(**MUG), EMPTY_TAGS, EMPTY_TAGS, ERROR),
    ({"type": "null"}, None, ["x"], ERROR),
    (STRINGS, None, ["x"], FAILURE),
    (STRINGS, [], None, SUCCESS),
    (STRINGS, None, [], SUCCESS),
    (STRINGS, None, 0, FAILURE),
]

# Schema, expected data, actual data and verdict without order, verdict with it.
ORDERS = [
    (STRINGS, ["a", "b"], ["a", "b"], SUCCESS, SUCCESS),
    (STRINGS, ["a", "b"], ["b", "a"], SUCCESS, FAILURE),
    (STRINGS, ["a", "b"], ["a"], FAILURE, FAILURE),
    (STRINGS, ["a", "a"], ["a", "a"], SUCCESS, SUCCESS),
    (STRINGS, ["a", "a"], ["a", "b"], FAILURE, FAILURE),
    (STRINGS, [["a", "b"], "a"], ["a", "b"], FAILURE, FAILURE),
    (STRINGS, [["a", "b"], "a"], ["b", "a"], SUCCESS, SUCCESS),
    (STRINGS, ["^.*$", "x"], ["x", "y"], FAILURE, FAILURE),
    (STRINGS, ["^.*$", "x"], ["y", "x"], SUCCESS, SUCCESS),
    (items(**PRICE), [10.0, 10.15], [10.08, 9.95], FAILURE, FAILURE),
    (items(**PRICE), [10.15, 10.0], [10.08, 9.95], SUCCESS, SUCCESS),
    (items(**MUG), [{"tags": ["x", "y"]}], [{"tags": ["y", "x"]}], SUCCESS, FAILURE),
]
