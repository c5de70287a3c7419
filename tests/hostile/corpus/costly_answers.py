"""Answers that cost much to read: sums, numbers, dates, lists, and marks by the hundred thousand."""

from __future__ import annotations

from typing import Any

from tests.hostile.corpus import honest
from tests.hostile.corpus.cases import EITHER, Case, answering, run
from tests.hostile.corpus.patterns import CATASTROPHES, RUN_OF_A


def nested(depth: int) -> list[Any]:
    """Lists in each other."""
    found: list[Any] = ["lamp"]
    for _ in range(depth):
        found = [found]
    return found


def _answers(what: str, schema: str, wanted: Any, told: Any, outcome: str = EITHER) -> Case:
    return run(f"a {schema} answered with {what}", outcome, answering(told), task=honest.asked((wanted,), schema))


# The type, what the task wants of it, and texts of much work that are none of it.
_TYPES: tuple[tuple[str, Any], ...] = (
    ("string", "lamp"),
    ("number", 5),
    ("boolean", True),
    ("date", "2023-01-31"),
    ("month", "March"),
    ("duration", "2h30m"),
    ("distance", "5 km"),
    ("currency", 1149),
    ("coordinates", [40.44, -79.94]),
    ("location-name", "Pittsburgh"),
    ("url", "http://shop.test/p/1"),
    ("markdown", "# Lamp"),
    ("json", '{"a": 1}'),
    ("string_list", "a, b"),
    ("base64", "bGFtcA=="),
)
_LONG = (
    ("10,000 digits", "7" * 10_000),
    ("a megabyte", "lamp " * 200_000),
    ("100,000 combining marks", "l" + "\u0301" * 100_000 + "amp"),
    ("100,000 signs", "-+" * 50_000 + "1"),
    ("100,000 blanks within", "1" + " " * 100_000 + "x"),
    ("a hundred thousand brackets", "(" * 50_000 + ")" * 50_000),
)
_SAME = {("string", "100,000 combining marks")}  # which are no part of a text, as the reference reads it
_SUMS = (
    "9**9**9**9 km",
    "9" * 4000 + "**9 km",
    "(" * 500 + "5" + ")" * 500 + " km",
    "5 km" + " * 1" * 5000,
    "1e999999999 km",
    "0x" + "f" * 9000 + " km",
    "10 ** 10 ** 10 ** 10 m",
    "2 << 99999999999 km",
    "5 km ** 99999",
    "factorial(99999) km",
)
_NUMBERS = (
    "1e999999",
    "1e-999999",
    "0x" + "f" * 9000,
    "٥" * 5000,
    "one " * 20_000,
    "million " * 5000,
    "1/0",
    "NaN",
    "inf",
    "-Infinity",
    "²" * 5000,
    "1_0" * 5000,
    "5." * 10_000,
)
_DATES = (
    "1" * 100 + "-01-01",
    "99999999999999-01-01",
    "2023-01-31" * 1000,
    "T" * 10_000,
    "31 " * 10_000,
    "2023-W99-9",
    "0000-00-00",
    "today",
    "+999999-12-31",
    "2023-01-31T" + "0" * 10_000,
)
_DURATIONS = (
    "9" * 5000 + "h",
    "1h" * 20_000,
    "1:" * 10_000,
    "1e400 hours",
    "P" + "9" * 5000 + "Y",
    "-" * 10_000 + "1h",
)
_MONEY = (
    "$" + "9," * 5000 + "9",
    "$" * 10_000,
    "$1e999",
    "$ " + "1 " * 20_000,
    "1149" + "0" * 5000,
    "$NaN",
    "$١٬١٤٩" * 500,
)
_PLACES = (
    [1e308, 1e308],
    ["NaN", "NaN"],
    [40.44] * 10_000,
    "40.44, " * 5000,
    [[[[40.44]]]],
    {"lat": "9" * 5000, "lon": 0},
    ["40.44" + "0" * 5000 + "1", "-79.94"],
    "40°" * 5000,
)
_FEW = (
    "string",
    "number",
    "date",
    "duration",
    "distance",
    "currency",
    "coordinates",
    "location-name",
    "url",
    "markdown",
)
CASES: tuple[Case, ...] = (
    *(
        _answers(what, schema, wanted, [text], "success" if (schema, what) in _SAME else EITHER)
        for schema, wanted in _TYPES
        for what, text in _LONG
        if schema in _FEW or what == "a megabyte"
    ),
    *(_answers(f"the sum {text!r:.40}", "distance", "5 km", [text]) for text in _SUMS),
    *(_answers(f"{text!r:.40}", "number", 5, [text]) for text in _NUMBERS),
    *(_answers(f"{text!r:.40}", "date", "2023-01-31", [text]) for text in _DATES),
    *(_answers(f"{text!r:.40}", "duration", "2h30m", [text]) for text in _DURATIONS),
    *(_answers(f"{text!r:.40}", "currency", 1149, [text]) for text in _MONEY),
    *(_answers(f"{place!r:.40}", "coordinates", [40.44, -79.94], [place]) for place in _PLACES),
    *(_answers(f"the pattern {pattern}", "string", RUN_OF_A, [pattern], "failure") for pattern in CATASTROPHES),
    run("an answer of more than 4 MiB", "error", answering(lambda: ["lamp" + "\u0300" * 1_000_000]), "answer_size"),
    run("an answer nested 400 deep", EITHER, answering(lambda: nested(400))),
    run("an answer nested 600 deep", EITHER, answering(lambda: nested(600))),
    run("an answer of a hundred thousand texts", EITHER, answering(lambda: ["chair"] * 100_000)),
    run("an answer of 200 lists with 1,000 texts each", EITHER, answering(lambda: [["chair"] * 1000] * 200)),
    run("an object with a hundred thousand keys", EITHER, answering(lambda: [{f"k{n}": n for n in range(100_000)}])),
    run(
        "200 answers where 200 others are wanted",
        "failure",
        answering([f"chair {n}" for n in range(200)]),
        task=honest.asked([f"lamp {n}" for n in range(200)]),
    ),
    run(
        "an answer with 600,000 combining marks, which are no part of it",
        "success",
        answering(lambda: ["lamp" + "\u0300" * 600_000]),
    ),
    run("an answer of one ligature a hundred thousand times", EITHER, answering(["\ufdfa" * 100_000])),
    run("a type of a megabyte", "failure", answering(["lamp"], task_type="RETRIEVE " * 100_000)),
    run("a status of a megabyte", "failure", answering(["lamp"], status="SUCCESS " * 100_000)),
)
