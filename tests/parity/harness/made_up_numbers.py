"""NaN, infinities and numbers of many digits, in answers and in JSON bodies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import JSON, Body, Draft, Event
from tests.parity.harness.grids import HOME, SHOP
from tests.parity.harness.recording import INFINITE, LONG_NUMBER, Recording
from tests.parity.harness.synthetic import answering, requesting, task
from tests.parity.harness.value_examples import VALUES

FIRST = 140_000
NAN, INFINITY = float("nan"), float("inf")
NONFINITE: tuple[Any, ...] = (NAN, INFINITY, -INFINITY, "NaN", "nan", "Infinity", "inf", "-inf", "1e999", "null")
SHAPES = {
    "alone": lambda number: number,
    "in a list": lambda number: [number],
    "in a list of two": lambda number: [1, number],
    "in an object": lambda number: {"x": number, "n": 1},
    "latitude": lambda number: {"latitude": number, "longitude": 1},
    "pair": lambda number: [number, 1],
    "JSON text": json.dumps,
    "object as JSON text": lambda number: json.dumps({"x": number}),
}
WANTED = {
    **{name: values[:3] for name, values in VALUES.items()},
    "string": ("nan", "inf", "null", "", "[nan]"),
    "location-name": ("nan", "inf"),
    "string_list": ("nan", "inf, nan"),
    "json": ("null", '{"x": null}'),
    "boolean": (True, False),
    "null": (None,),
}
LONG: tuple[Any, ...] = (
    *("12345678901234567890", "12345678901234567891", "12345678901234567990", "123456789012345678"),
    *("1234567890123456789.05", "1234567890123456789.5", "$1,234,567,890,123,456,789.00", "1234567890123456.7"),
    *("10.00000000000000000001", "9.9", "0.3000000000000000000001", "0.2", "-12345678901234567890", "5e20"),
    *(12345678901234567890, 12345678901234567891, 1234567890123456.7, 1e19, 9.9, 0.2, 5, 10**30, 10**30 + 1),
    *(
        "9" * 400,
        "8" * 400,
        "-" + "9" * 400,
        "1" * 309,
        "1" * 308,
        1e300,
        "1" * 17,
        "1" * 18,
        "€ 1.234.567.890.123.456.789,5",
    ),
)
TYPED = ("number", "integer", "currency", "string", "distance")
# Texts of JSON bodies. What Python reads as a number without end is null to the reference.
TEXTS = (
    *('{"n": NaN}', '{"n": Infinity}', '{"n": -Infinity}', '{"n": 1e999}', '{"n": -1e999}', '{"n": null}'),
    *('{"n": "NaN"}', '{"n": [NaN]}', '{"n": [NaN, 1]}', '{"n": {"x": NaN}}', '{"n": {"x": [Infinity]}}'),
    *(
        '{"n": "[NaN]"}',
        '{"n": "{\\"x\\": NaN}"}',
        '{"n": "NaN", "m": NaN}',
        '{"n": 1e308}',
        '{"n": 12345678901234567890}',
    ),
    *('{"n": 0.1234567890123456789}', '{"n": nan}', '{"n": +1}', "NaN", "{}", '{"n": 1' + "0" * 400 + "}"),
)
BODY_WANTED: tuple[Any, ...] = (
    *(None, "nan", "inf", "-inf", "", 0, 1, True, ["nan", "x"], "^.*$", 12345678901234567890, "null", 1e308),
)
KEYS = ("n", "$.n", "$.n.x", "$.n[*]", "$..x", "$.^n$")
SCHEMAS = (None, "number", "boolean", "currency", "null", "string_list")


def made_up_numbers() -> Iterator[Recording]:
    """Numbers where each type is expected, and in bodies under each notation of a key."""
    for number, (draft, about, kind) in enumerate((*_answers(), *_bodies()), FIRST):
        yield replace(draft, task={**draft.task, "task_id": number}).recording(about, kind)


def _answers() -> Iterator[tuple[Draft, str, str]]:
    for name, wanted in WANTED.items():
        for place, one in enumerate(wanted):
            given = [(about, shape(number)) for number in NONFINITE for about, shape in SHAPES.items()]
            for about, value in drawn(given, 30, name, place):
                yield _answered(name, one, value), f"{name}: {about} {value!r}", INFINITE
    for name in TYPED:
        for one, other in drawn(product(LONG, LONG), 1000 if name == "currency" else 120, name):
            yield _answered(name, one, other), f"{name}: {other!s:.30}", LONG_NUMBER


def _answered(name: str, wanted: Any, given: Any) -> Draft:
    schema = {"type": "array", "items": {"type": "string", "format": name}}
    definition = task(answering("RETRIEVE", [wanted], schema), sites=("shopping",))
    return Draft(definition, {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [given]}, (HOME,))


def _bodies() -> Iterator[tuple[Draft, str, str]]:
    every = [
        (text, wanted, key, schema) for text in TEXTS for wanted in BODY_WANTED for key in KEYS for schema in SCHEMAS
    ]
    for text, wanted, key, schema in drawn(every, 3000, "bodies"):
        config = {} if schema is None else {"post_data_schema": _object(key, schema)}
        event = Event(f"{SHOP}/a", "POST", 200, {"accept": "*/*"}, Body({}, JSON, text))
        yield _requested(event, {"post_data": {key: wanted}}, config), f"body {text:.40}", INFINITE
    for text, wanted, key in drawn(product(TEXTS, BODY_WANTED, KEYS), 1000, "answers"):
        event = Event(f"{SHOP}/a", "POST", 200, {"accept": "*/*"}, content=Body({}, JSON, text))
        yield _requested(event, {"response_content": {key: wanted}}, {}), f"content {text:.40}", INFINITE


def _object(key: str, name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {key: {"type": "string", "format": name}}}


def _requested(event: Event, expected: dict[str, Any], config: dict[str, Any]) -> Draft:
    wanted = {"url": "__SHOPPING__/a", "http_method": "POST", **expected}
    definition = task(answering("MUTATE"), requesting(wanted, **config), sites=("shopping",))
    return Draft(definition, {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None}, (HOME, event))
