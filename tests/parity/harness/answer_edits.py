"""Answers whose data are written otherwise, hold other items, or have another shape."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.goldens import response_config
from tests.parity.harness.leaves import leaves, replaced
from tests.parity.harness.recording import GUESSES, HONEST, Recording
from tests.parity.harness.spellings import other_spellings, typed_spellings

Shapes = Mapping[str, Callable[[list[Any]], Any]]
TYPED, OTHER, SHAPED, OF_OBJECTS, JUNK = 16, 6, 11, 6, 5  # how many of each family a task gets

SHAPES: Shapes = {
    "reversed": lambda items: items[::-1],
    "rotated": lambda items: [*items[1:], *items[:1]],
    "first two swapped": lambda items: [*items[1::-1], *items[2:]],
    "sorted as text": lambda items: sorted(items, key=repr),
    "first lost": lambda items: items[1:],
    "last lost": lambda items: items[:-1],
    "only the first": lambda items: items[:1],
    "first twice": lambda items: [items[0], *items],
    "all twice": lambda items: items * 2,
    "first for last": lambda items: [*items[:-1], items[0]],
    "text more": lambda items: [*items, "something else"],
    "text before": lambda items: ["something else", *items],
    "null more": lambda items: [*items, None],
    "empty text more": lambda items: [*items, ""],
    "zero more": lambda items: [*items, 0],
    "empty object more": lambda items: [*items, {}],
    "number more": lambda items: [*items, 42],
    "last as null": lambda items: [*items[:-1], None],
    "no list": lambda items: items[0],
    "list in a list": lambda items: [items] if len(items) == 1 else [[item] for item in items],
    "each in a list": lambda items: [[item] for item in items],
    "under a key": lambda items: {"answer": items},
    "each under a key": lambda items: [{"value": item} for item in items],
    "by number": lambda items: {str(index): item for index, item in enumerate(items)},
    "as JSON text": json.dumps,
    "as JSON text in a list": lambda items: [json.dumps(items)],
    "each as JSON text": lambda items: [json.dumps(item) for item in items],
    "as Python text": str,
    "joined by commas": lambda items: ", ".join(map(_plain, items)),
    "joined in a list": lambda items: [", ".join(map(_plain, items))],
    "joined by semicolons": lambda items: ["; ".join(map(_plain, items))],
    "joined by line breaks": lambda items: ["\n".join(map(_plain, items))],
    "joined by and": lambda items: [" and ".join(map(_plain, items))],
    "numbered": lambda items: [f"{index}. {_plain(item)}" for index, item in enumerate(items, 1)],
    "numbered text": lambda items: "\n".join(f"{index}. {_plain(item)}" for index, item in enumerate(items, 1)),
    "sentence": lambda items: f"The answer is {', '.join(map(_plain, items))}.",
    "each as text": lambda items: [_plain(item) for item in items],
    "empty": lambda _: [],
    "null": lambda _: None,
    "empty text": lambda _: "",
    "empty object": lambda _: {},
    "list of null": lambda _: [None],
    "list of empty text": lambda _: [""],
    "list of empty list": lambda _: [[]],
    "list of empty object": lambda _: [{}],
    "two empty lists": lambda _: [[], []],
    "zero": lambda _: 0,
    "false": lambda _: False,
    "true": lambda _: True,
    "as many nulls": lambda items: [None for _ in items],
    "nested forty deep": lambda items: _nested(items, 40),
}
OF_OBJECTS_SHAPES: Shapes = {
    "first key lost": lambda items: [dict(list(item.items())[1:]) for item in items],
    "last key lost in the last": lambda items: [*items[:-1], dict(list(items[-1].items())[:-1])],
    "a key more": lambda items: [{**item, "note": "seen"} for item in items],
    "a null key more": lambda items: [{**item, "note": None} for item in items],
    "an empty key more": lambda items: [{**item, "": ""} for item in items],
    "keys in capitals": lambda items: [{key.upper(): value for key, value in item.items()} for item in items],
    "keys with blanks": lambda items: [{key.replace("_", " "): value for key, value in item.items()} for item in items],
    "keys in camel case": lambda items: [{_camel(key): value for key, value in item.items()} for item in items],
    "keys in other order": lambda items: [dict(reversed(item.items())) for item in items],
    "values as text": lambda items: [{key: _plain(value) for key, value in item.items()} for item in items],
    "values in lists": lambda items: [{key: [value] for key, value in item.items()} for item in items],
    "values as null": lambda items: [dict.fromkeys(item) for item in items],
    "values alone": lambda items: [next(iter(item.values())) for item in items],
    "values as one text": lambda items: [" - ".join(map(_plain, item.values())) for item in items],
    "values swapped": lambda items: [dict(zip(item, list(item.values())[::-1], strict=True)) for item in items],
    "objects as JSON text": lambda items: [json.dumps(item) for item in items],
    "objects as indented JSON text": lambda items: [json.dumps(item, indent=2) for item in items],
    "one object of lists": lambda items: {key: [item.get(key) for item in items] for key in items[0]},
    "first to second value": lambda items: {
        _plain(next(iter(item.values()))): list(item.values())[-1] for item in items
    },
    "object alone": lambda items: items[0],
    "one more level": lambda items: [{"item": item} for item in items],
    "pairs": lambda items: [[[key, value] for key, value in item.items()] for item in items],
}
JUNK_DATA = {
    "text": "done",
    "a text": ["done"],
    "number": 5,
    "zero": 0,
    "false": False,
    "true": [True],
    "null in a list": [None],
    "empty text": "",
    "empty list": [],
    "empty list in a list": [[]],
    "empty object": {},
    "object": {"result": "done"},
    "objects": [{"name": "x", "price": 5}],
    "not found": ["NOT_FOUND"],
    "N/A": "N/A",
    "nested": [[["x"]]],
    "two texts": ["a", "b"],
}


def answer_values(draft: Draft) -> Iterator[Recording]:
    """One value of the data written otherwise."""
    data = draft.answer["retrieved_data"]
    found = [] if data is None else list(leaves(data, response_config(draft.task)["results_schema"]))
    for spellings, count in ((typed_spellings, TYPED), (other_spellings, OTHER)):
        every = [(leaf, name, value) for leaf in found for name, value in spellings(leaf)]
        for leaf, name, value in drawn(every, count, draft.task["task_id"], "spelling"):
            about = f"data{leaf.where} {name}, {leaf.type_name}"
            yield _with_data(draft, replaced(data, leaf.path, value), about)


def answer_shapes(draft: Draft) -> Iterator[Recording]:
    """Items lost, added, in another order, or the whole data in another shape."""
    data = draft.answer["retrieved_data"]
    if not data:
        for name, junk in drawn(JUNK_DATA.items(), JUNK, draft.task["task_id"], "junk"):
            yield _with_data(draft, junk, f"data unasked for: {name}")
        return
    yield from _shaped(draft, data, SHAPES, SHAPED)
    if all(isinstance(item, dict) and len(item) > 1 for item in data):
        yield from _shaped(draft, data, OF_OBJECTS_SHAPES, OF_OBJECTS)


def _shaped(draft: Draft, data: list[Any], shapes: Shapes, count: int) -> Iterator[Recording]:
    made = ((name, shape(data)) for name, shape in shapes.items())
    others = [(name, value) for name, value in made if value != data]
    for name, value in drawn(others, count, draft.task["task_id"], "shape"):
        # Two values where one is expected are two guesses to the reference.
        guesses = name in {"pairs", "one object of lists", "nested forty deep"}
        yield _with_data(draft, value, f"data {name}", GUESSES if guesses else HONEST)


def _with_data(draft: Draft, data: Any, about: str, kind: str = HONEST) -> Recording:
    return replace(draft, answer={**draft.answer, "retrieved_data": data}).recording(about, kind)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)


def _nested(value: Any, depth: int) -> Any:
    return value if depth == 0 else [_nested(value, depth - 1)]
