"""JSON without blanks, and copies of small JSON."""

from __future__ import annotations

import json
from math import inf, nan

import pytest
from hypothesis import given, strategies

from pytest_webeval.safety.json import copy_small, to_compact_json

TREES = strategies.recursive(
    strategies.one_of(
        strategies.none(),
        strategies.booleans(),
        strategies.integers(),
        strategies.floats(),
        strategies.text(strategies.characters()),
    ),
    lambda inner: strategies.one_of(strategies.lists(inner), strategies.dictionaries(strategies.text(), inner)),
)


@given(TREES)
def test_what_has_bytes_is_read_as_what_it_was(tree):
    encoded = to_compact_json(tree)
    if encoded is not None:
        assert json.loads(encoded) == tree


@pytest.mark.parametrize("value", [nan, inf, -inf, [{"a": nan}], 2**70, "\ud800", {"a": object()}])
def test_what_json_cannot_say_has_no_bytes(value):
    assert to_compact_json(value) is None


@pytest.mark.parametrize("value", [{"a": [1, 0.5, None, True, "é <b>"]}, [], "\u03cb\u007f\u00f0", 107])
def test_all_else_has_bytes(value):
    encoded = to_compact_json(value)
    assert encoded == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("tree", "copy"),
    [
        ({"a": ({"b": 1},)}, {"a": [{"b": 1}]}),
        ({}, {}),
        ("x" * 18, "x" * 18),
        ("x" * 19, None),
        ([[[]]], [[[]]]),
        ([[[[]]]], None),
        ({"a": nan}, None),
    ],
)
def test_a_copy_is_there_of_what_is_small(tree, copy):
    assert copy_small(tree, longest=20, deepest=3) == copy
