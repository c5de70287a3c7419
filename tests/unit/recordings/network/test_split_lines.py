"""Lines of traces are read one at a time, and are those that Python splits a text into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.recordings.network.playwright import _split_lines

BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
TEXTS = st.lists(st.sampled_from([*BREAKS, "a", " ", "\N{GRINNING FACE}", "{}", "\ufeff"])).map("".join)


@given(TEXTS)
def test_lines_are_those_of_python(text):
    lines = [line.decode() for line in _split_lines(text.encode())]
    assert [line.removesuffix("\n").removesuffix("\r") for line in lines] == text.splitlines()


@given(TEXTS, TEXTS)
def test_what_is_not_utf_8_is_named_by_its_place_in_the_file(before, after):
    content = before.encode() + b"\xff" + after.encode()
    with pytest.raises(UnicodeDecodeError) as expected:
        content.decode()
    with pytest.raises(UnicodeDecodeError) as raised:
        list(_split_lines(content))
    assert str(raised.value) == str(expected.value)
