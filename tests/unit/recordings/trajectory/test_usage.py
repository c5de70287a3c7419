"""Token usage: every shape of `fara_webeval.md` §2.2, and sums."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.trajectory.answer import Usage, read_usage, total_usage
from pytest_webeval.safety.warning_log import WarningLog


def read(components):
    warnings = WarningLog("answer")
    return read_usage(components, warnings), warnings.texts


TOKENS = {"prompt_tokens": 9100, "completion_tokens": 240}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (TOKENS, Usage(9100, 240)),
        ({**TOKENS, "reasoning_tokens": 7, "num_calls": 3}, Usage(9100, 240, 7, 3)),
        ({**TOKENS, "reasoning_tokens": 0, "num_calls": None}, Usage(9100, 240, 0, None)),
        ({**TOKENS, "num_calls": 0}, Usage(9100, 240, None, None)),  # Q45
        ({**TOKENS, "total_tokens": 9340}, Usage(9100, 240, extra={"total_tokens": 9340})),  # §11, vector 5
        ({**TOKENS, "by_day": [1.5]}, Usage(9100, 240, extra={"by_day": [1.5]})),
        ({"prompt_tokens": 9100.0, "completion_tokens": 0}, Usage(9100, 0)),
        ({"prompt_tokens": 2**53, "completion_tokens": 0}, Usage(2**53, 0)),
    ],
)
def test_each_shape_of_a_component_is_read(fields, expected):
    assert read({"FaraAgent": fields}) == ({"FaraAgent": expected}, ())


def test_no_components_are_no_usage():
    assert read({}) == ({}, ())


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (None, "it is None; expected an object with prompt_tokens and completion_tokens"),
        ([TOKENS], "it is [{"),
        (340, "it is 340; expected an object"),
        ({}, "it has no prompt_tokens; expected a non-negative integer"),
        ({"prompt_tokens": 1}, "it has no completion_tokens; expected a non-negative integer"),
        ({**TOKENS, "prompt_tokens": None}, "prompt_tokens is None; expected a non-negative integer"),
        ({**TOKENS, "prompt_tokens": -1}, "prompt_tokens is -1; expected a non-negative integer"),
        ({**TOKENS, "completion_tokens": 1.5}, "completion_tokens is 1.5; expected a non-negative integer"),
        ({**TOKENS, "completion_tokens": float("nan")}, "completion_tokens is nan; "),
        ({**TOKENS, "completion_tokens": float("inf")}, "completion_tokens is inf; "),
        ({**TOKENS, "completion_tokens": True}, "completion_tokens is True; "),
        ({**TOKENS, "completion_tokens": "240"}, "completion_tokens is '240'; "),
        ({**TOKENS, "completion_tokens": "\n" * 500}, "completion_tokens is '"),
        ({**TOKENS, "completion_tokens": 2**53 + 1}, "completion_tokens is 9007199254740993; "),
        ({**TOKENS, "completion_tokens": 1e300}, "completion_tokens is 1e+300; "),
        ({**TOKENS, "reasoning_tokens": -1}, "reasoning_tokens is -1; "),
        ({**TOKENS, "num_calls": [1]}, "num_calls is [1]; "),
    ],
)
def test_a_component_with_a_number_that_is_none_is_left_out_with_a_warning(fields, told):
    found, texts = read({"Odd\n": fields, "FaraAgent": TOKENS})
    assert found == {"FaraAgent": Usage(9100, 240)}
    assert len(texts) == 1
    assert texts[0].startswith(rf"answer: token_usage of 'Odd\n' is excluded from the sum: {told}")
    assert texts[0].isprintable()
    assert len(texts[0]) < 300


@pytest.mark.parametrize(
    ("components", "expected"),
    [
        ([], Usage(0, 0, None, None)),
        ([Usage(5, 2, 1, 3, {"x": 1})], Usage(5, 2, 1, 3)),
        ([Usage(5, 2, 1, 3), Usage(7, 1, 0, 2)], Usage(12, 3, 1, 5)),
        ([Usage(5, 2, 1, 3), Usage(7, 1)], Usage(12, 3, None, None)),
        ([Usage(5, 2, None, 3), Usage(7, 1, 4, None)], Usage(12, 3, None, None)),
    ],
)
def test_a_sum_knows_what_all_of_its_parts_know(components, expected):
    assert total_usage({str(n): usage for n, usage in enumerate(components)}) == expected


def test_total_tokens_are_prompt_and_completion():
    assert Usage(9100, 240, reasoning_tokens=7).total_tokens == 9340


NUMBERS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
KEYS = st.sampled_from(["prompt_tokens", "completion_tokens", "reasoning_tokens", "num_calls", "total_tokens"])


@given(st.dictionaries(st.text(max_size=5), NUMBERS | st.dictionaries(KEYS, NUMBERS), max_size=4))
def test_any_object_has_a_sum_that_can_be_written_down(components):
    found, _ = read(json.loads(json.dumps(components)))
    total = total_usage(found)
    assert 0 <= total.total_tokens <= 2**56
    assert total.num_calls is None or total.num_calls >= 1
