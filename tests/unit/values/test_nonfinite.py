"""NaN and infinities, which are no data where somebody else than the task's author wrote them (Q56)."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values import VALUE_TYPES, value_type
from pytest_webeval.values.base import ParseContext

NAN, INFINITY = float("nan"), float("inf")
FINITE = ParseContext(nonfinite=False)


@pytest.mark.parametrize("name", VALUE_TYPES)
@pytest.mark.parametrize("raw", [NAN, INFINITY, -INFINITY, {"a": [NAN]}, ({"a": INFINITY},)], ids=repr)
def test_no_type_has_them(name, raw):
    with pytest.raises(ValueParseError):
        value_type(name).read(raw, ParseContext(nonfinite=False, alternatives=False))


@pytest.mark.parametrize("name", ["string", "number", "boolean", "string_list", "location-name"])
def test_the_types_that_would_have_them_say_why_not(name):
    with pytest.raises(ValueParseError) as refusal:
        value_type(name).read(NAN, FINITE)
    assert str(refusal.value) == "nan is or contains NaN or an infinity; write a finite number"
    assert refusal.value.rule == "finite_numbers"
    value_type(name).read(NAN, ParseContext())


@pytest.mark.parametrize(
    ("name", "raw"), [("number", 1e308), ("boolean", 0.0), ("string", "NaN"), ("string", {"a": 1})]
)
def test_everything_else_is_read_as_ever(name, raw):
    assert value_type(name).read(raw, FINITE) == value_type(name).read(raw, ParseContext())
