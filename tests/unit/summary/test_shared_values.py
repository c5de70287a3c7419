"""Rows share equal texts, and equal lists and mappings of texts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Struct, to_builtins

from pytest_webeval.summary.store import shared_values
from pytest_webeval.summary.store.shared_values import SharedValues


class Row(Struct, frozen=True):
    """A row with a field that is shared, and one that is not."""

    value: Any
    other: Any = None


def share_two(first, second):
    """What two rows hold after they were shared."""
    shared = SharedValues(["value"])
    return shared.share(Row(first)).value, shared.share(Row(second)).value


@pytest.mark.parametrize("text", ['"a b"', '["a", "b c"]', '{"a": "b"}', "[]", "{}"])
def test_equal_values_become_the_same(text):
    first, second = share_two(json.loads(text), json.loads(text))
    assert first is second
    assert first == json.loads(text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], {}),
        (["a", "b"], {"a": "b"}),
        ({"a": "b"}, {"b": "a"}),
        ({"a": "b", "c": "d"}, {"c": "d", "a": "b"}),
        (1, True),
        (0.0, -0.0),
        ([1], [True]),
        ({"a": 1}, {"a": 1.0}),
        ([["a"]], ["a"]),
        (None, ""),
    ],
    ids=repr,
)
def test_values_that_differ_stay_as_they_are(first, second):
    found = share_two(first, second)
    assert (repr(found[0]), repr(found[1])) == (repr(first), repr(second))


def test_a_column_without_repetition_is_not_remembered(monkeypatch):
    monkeypatch.setattr(shared_values, "MOST_VALUES", 2)
    shared = SharedValues(["value"])
    texts = [f"text {number % 3}" for number in range(6)]
    found = [shared.share(Row(text)).value for text in texts]
    assert found == texts
    assert [one is other for one, other in zip(found, found[3:], strict=False)] == [True, True, False]


def test_other_fields_are_not_shared():
    shared = SharedValues(["value"])
    rows = [shared.share(Row("a", ["b"])) for _ in range(2)]
    assert rows[0].other is not rows[1].other
    assert list(map(to_builtins, rows)) == [{"value": "a", "other": ["b"]}] * 2
