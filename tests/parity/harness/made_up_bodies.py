"""Bodies and answers, and what is expected of them in every notation of a key and every kind of value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.parity.harness.drafts import FORM
from tests.parity.harness.drafts import JSON
from tests.parity.harness.drafts import MULTIPART
from tests.parity.harness.drafts import Body


def _typed(**types: Any) -> dict[str, Any]:
    return {"post_data_schema": {"type": "object", "properties": types}}


_STRINGS = {"type": "array", "items": {"type": "string"}}
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_MONEY = {"type": "number", "format": "currency"}
_MEMBERS = "$.items[?(@.new == 1)].name"

# What is expected of a body, and the options of the evaluator.
EXPECTED_BODIES: tuple[tuple[Any, Mapping[str, Any]], ...] = (
    *(
        ({"n": value}, {})
        for value in ("1", 1, 0, "0", 47.0, True, False, None, "", "Hello", "^h.*$", "^(?!b$).+$", "^[$")
    ),
    *(({"n": value}, {}) for value in (["a", "b"], ["a"], [], {"a": 1, "b": 2}, {}, "__SHOPPING__/x", "__GITLAB__/x")),
    ({"n": "1", "m": "2"}, {}),
    ({"n": "1", "absent": None}, {}),
    ({" n ": "1"}, {}),
    ({"N": "1"}, {}),
    ({"x[y]": "1"}, {}),
    ({}, {}),
    ({"": "1"}, {}),
    ({"$.a.b": "x"}, {}),
    ({"$.a.b": None}, {}),
    ({"$.a.b.c": "1"}, {}),
    ({"$.a[*]": "x"}, {}),
    ({"$.a[0]": "x"}, {}),
    ({"$.a[-1]": "y"}, {}),
    ({"$.a[0:2]": "x"}, {}),
    ({"$..b": "x"}, {}),
    ({"$.a.*": "x"}, {}),
    ({"$['x[y]']": "1"}, {}),
    ({"$": "x"}, {}),
    ({"$.": "x"}, {}),
    ({"$.a[": "x"}, {}),
    ({"$n": "1"}, {}),
    ({"$.n": "1"}, {}),
    ({"$.n": 1}, {}),
    ({_MEMBERS: "x"}, {}),
    ({_MEMBERS: ["x", "y"]}, {}),
    ({_MEMBERS: ["x"]}, _typed(**{_MEMBERS: _STRINGS})),
    ({_MEMBERS: ["x", "y"]}, _typed(**{_MEMBERS: _STRINGS})),
    ({"$.items[?(@.new > 0)].name": "x"}, {}),
    ({"$.items[?(@.name =~ 'x')].new": 1}, {}),
    ({"$.items.`len`": 2}, {}),
    ({"$.^n$": "1"}, {}),
    ({"$.^n|m$": "1"}, {}),
    ({"^n.*$": "1"}, {}),
    ({"$.^k_\\d+$": "x"}, {}),
    ({"$.^[$": "x"}, {}),
    ({"n": 47.0}, _typed(n=_MONEY)),
    ({"n": "$1,234.50"}, _typed(n=_MONEY)),
    ({"n": "x"}, _typed(n=_MONEY)),
    ({"n": 5}, _typed(n={"type": "number"})),
    ({"n": [5, 6]}, _typed(n={"type": "number"})),
    ({"n": [1, 2]}, _typed(n=_NUMBERS)),
    ({"n": ["a", "b"]}, _typed(n=_STRINGS)),
    ({"n": []}, _typed(n=_STRINGS)),
    ({"n": "a,b"}, _typed(n={"type": "string", "format": "string_list"})),
    ({"n": True}, _typed(n={"type": "boolean"})),
    ({"n": "2023-01-05"}, _typed(n={"type": "string", "format": "date"})),
    ({"n": None}, _typed(n={"type": "number"})),
    ({"n": {"a": 1, "b": "X"}}, _typed(n={"type": "object", "properties": {"a": {"type": "number"}}})),
    (
        {"n": [{"a": 1}]},
        _typed(n={"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number"}}}}),
    ),
    ({"n": "x"}, _typed(n={"type": "string", "format": "no such type"})),
    ({"n": "1"}, {"post_data_schema": {"type": "object"}}),
    ({"n": "1"}, {"post_data_schema": {}}),
    ({"n": "1", "form_key": "q"}, {"ignored_post_data_params_patterns": ["^form_key$"]}),
    ({"n": "1"}, {"ignored_post_data_params_patterns": ["n"]}),
    ({"n": "1"}, {"ignored_post_data_params_patterns": ["N"]}),
    ({"n": "1", "m": "2"}, {"ignored_post_data_params_patterns": ["^m", "["]}),
    ({"$.a.b": "x"}, {"ignored_post_data_params_patterns": ["a"]}),
    ({"$.a.b": "x"}, {"ignored_post_data_params_patterns": ["^b$"]}),
    (None, {"ignored_post_data_params_patterns": [".*"]}),
)
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "n 1": {"n": "1"},
    "n number 1": {"n": 1},
    "n 1.0": {"n": 1.0},
    "n 0": {"n": "0"},
    "n number 0": {"n": 0},
    "n true": {"n": True},
    "n false": {"n": False},
    "n null": {"n": None},
    "n empty": {"n": ""},
    "n Hello": {"n": "hello!"},
    "n b": {"n": "b"},
    "n 47": {"n": "47"},
    "n 47.0": {"n": 47.0},
    "n money": {"n": "$1,234.50"},
    "n 5": {"n": "five"},
    "n a list": {"n": ["a", "b"]},
    "n a list turned": {"n": ["b", "a"]},
    "n a longer list": {"n": ["b", "z", "a"]},
    "n one in a list": {"n": ["a"]},
    "n an empty list": {"n": []},
    "n numbers": {"n": [2, 1]},
    "n a list as text": {"n": "[1, 2]"},
    "n texts as text": {"n": '["b", "a"]'},
    "n joined": {"n": "b, a"},
    "n an object": {"n": {"b": 2, "a": 1}},
    "n an object, typed otherwise": {"n": {"a": "1", "b": "x"}},
    "n objects": {"n": [{"a": "1"}]},
    "n a date": {"n": "Jan 5, 2023"},
    "n an address": {"n": "http://shop.test:7770/x"},
    "n another address": {"n": "http://git.test:8023/x"},
    "n two addresses": {"n": "http://shop.test:7770/x http://git.test:8023/x"},
    "n a pattern": {"n": "^.*$"},
    "n and m": {"n": "1", "m": "2"},
    "n and form_key": {"n": "1", "form_key": "z"},
    "capital N": {"N": "1"},
    "n with blanks": {" n ": "1"},
    "x[y]": {"x[y]": "1"},
    "nn and nm": {"nn": "1", "nm": "2"},
    "no name": {"": "1"},
    "k_12": {"k_12": "x"},
    "k_1 and k_2": {"k_1": "x", "k_2": "y"},
    "a.b": {"a": {"b": "X"}},
    "a.b as text": {"a": '{"b": "x"}'},
    "a.b.c as text of text": {"a": '{"b": "{\\"c\\": 1}"}'},
    "a.b null": {"a": {"b": None}},
    "a empty": {"a": {}},
    "a a list": {"a": ["x", "y"]},
    "a one in a list": {"a": ["x"]},
    "a a list as text": {"a": '["x", "y"]'},
    "one new item": {"items": [{"new": 1, "name": "x"}, {"new": 0, "name": "y"}]},
    "two new items": {"items": [{"new": 1, "name": "x"}, {"new": 1, "name": "y"}]},
    "no new item": {"items": [{"new": 0, "name": "x"}]},
    "items as text": {"items": '[{"new": 1, "name": "x"}, {"new": 1, "name": "y"}]'},
    "item new as text": {"items": [{"new": "1", "name": "x"}]},
}
BODIES: Mapping[str, Body | None] = {
    "none": None,
    "empty form": Body({}, FORM),
    "empty JSON": Body({}, JSON),
    **{f"JSON, {name}": Body(fields, JSON) for name, fields in _FIELDS.items()},
    **{
        f"form, {name}": Body(fields, FORM)
        for name, fields in _FIELDS.items()
        if not any(type(value) in {bool, float} for value in fields.values())
    },
    "multipart, n 1": Body({"n": "1", "form_key": "z"}, MULTIPART),
    "form, n twice": Body({"n": "1"}, FORM, "n=1&n=2"),
    "form, n twice, turned": Body({"n": "2"}, FORM, "n=2&n=1"),
    "form, no values": Body({}, FORM, "n"),
}
# What is expected of an answer.
EXPECTED_CONTENTS: tuple[Any, ...] = (
    *({"n": value} for value in (1, "1", 1.0, True, False, 0, None, "", "A b", "^a.*$", ["x", "y"], ["x"], [], {})),
    {"n": {"a": 1}},
    {"n": [{"a": 1}, {"a": 2}]},
    {"n": 1, "m": None},
    {"$.n": 1},
    {"$.a.b": "x"},
    {"$.a[*]": "x"},
    {"$.a[0].b": "x"},
    {"$..b": "x"},
    {"$.^n|m$": 1},
    {"^n.*$": 1},
    {"$.items[?(@.new == 1)].name": "x"},
    {"$.items[?(@.new == 1)].name": ["x", "y"]},
    {"$.absent": None},
    {"absent": None},
    {"n": "__SHOPPING__/x"},
    {},
    None,
)
CONTENTS: Mapping[str, Body | None] = {
    "none": None,
    "empty": Body({}, JSON),
    "HTML": Body({}, "text/html", "<p>1</p>"),
    "list": Body({}, JSON, '[{"n": 1}]'),
    "form": Body({"n": "1"}, FORM),
    "plain": Body({"n": 1}, "text/plain"),
    "n A b": Body({"n": "A b"}, JSON),
    "n a b": Body({"n": "a b"}, JSON),
    "n x and y": Body({"n": ["y", "x"]}, JSON),
    "n x twice": Body({"n": ["x", "x"]}, JSON),
    "n one more": Body({"n": ["x", "y", "z"]}, JSON),
    "n a and more": Body({"n": {"a": 1, "b": 2}}, JSON),
    "n objects": Body({"n": [{"a": 2, "z": 0}, {"a": 1}]}, JSON),
    "m null": Body({"n": 1, "m": None}, JSON),
    "a.0.b": Body({"a": [{"b": "x"}]}, JSON),
    "a and deep b": Body({"a": {"b": "x", "c": {"b": "y"}}}, JSON),
    **{f"JSON, {name}": Body(fields, JSON) for name, fields in _FIELDS.items()},
}
