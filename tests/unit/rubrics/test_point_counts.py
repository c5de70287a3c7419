"""Numbers of points as strangers write them: `fara_webeval.md` §6.1, §6.2."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.rubrics.payload import parse_binary_score, point_count, quote_value

D = Decimal
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.decimals()
JSON = SCALARS | st.lists(SCALARS) | st.dictionaries(st.text(), SCALARS)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (0, 0),
        (4, 4),
        (D("2.50"), D("2.5")),
        (2.5, D("2.5")),
        (0.1, D("0.1")),
        (-1, -1),
        (10**9, 10**9),
        (D("1e9"), 10**9),
        (10**9 + 1, None),
        (-(10**9) - 1, None),
        (D("1000000000.01"), None),
        (D("0." + "1" * 30), D("0." + "1" * 30)),
        (D("0." + "1" * 31), None),
        (D("0e-999999999"), None),
        (D("0e999999999"), None),
        (D("sNaN"), None),
        (D("Infinity"), None),
        (float("inf"), None),
        (5e-324, None),
        (True, None),
        ("4", None),
        (None, None),
        ([4], None),
    ],
)
def test_a_number_of_points_is_exact_and_bounded(raw, wanted):
    assert point_count(raw) == wanted


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (1, True),
        (D("1.0"), True),
        (True, True),
        (0, False),
        (0.0, False),
        (False, False),
        (2, None),
        ("1", None),
        (None, None),
    ],
)
def test_a_verdict_is_one_or_zero(raw, wanted):
    assert parse_binary_score(raw) is wanted


@given(JSON)
def test_what_a_stranger_wrote_is_quoted_in_a_short_line(raw):
    assert quote_value(raw).isprintable()
    assert len(quote_value(raw)) <= 81
    if isinstance(raw, bool | str) and len(str(raw)) < 10:
        assert json.loads(quote_value(raw)) == raw


def test_a_number_too_long_to_print_is_only_called_huge():
    assert [quote_value(10**18), quote_value(10**18 + 1), quote_value(-(10**5000))] == [
        str(10**18),
        "a huge number",
        "a huge number",
    ]
