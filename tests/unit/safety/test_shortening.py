"""Shortened texts and values: how long they get, how the cut is marked, and that one module does it."""

import re
from pathlib import Path

import pytest

from pytest_webeval.safety.text import (
    ELLIPSIS_WITH_LENGTH,
    list_first,
    preview,
    shorten_repr,
    to_line,
    truncate,
    truncate_words,
)

PACKAGE = Path(__file__).parents[3] / "pytest_webeval"
# A slice that an f-string joins to an ellipsis: f"{text[:80]}…"
HAND_MADE = re.compile(r":\s*[\w -]*\]\}(?:…|\.\.\.)")


@pytest.mark.parametrize(
    ("text", "options", "shortened"),
    [
        ("", {}, ""),
        ("abcde", {}, "abcde"),
        ("abcdef", {}, "abcd…"),
        ("abcdef", {"marker": "..."}, "ab..."),
        ("abcdef", {"marker": ""}, "abcde"),
        ("abcde", {"is_marker_extra": True}, "abcde"),
        ("abcdef", {"is_marker_extra": True}, "abcde…"),
        ("a" * 1_234, {"marker": ELLIPSIS_WITH_LENGTH, "is_marker_extra": True}, "aaaaa… (1,234 characters)"),
        ("{}{}{}", {}, "{}{}…"),
        ("🐈" * 6, {}, "🐈🐈🐈🐈…"),
        ("\ud800" * 6, {}, "\ud800" * 4 + "…"),
    ],
)
def test_a_text_is_cut_after_whole_characters_and_the_cut_is_marked(text, options, shortened):
    assert truncate(text, 5, **options) == shortened


@pytest.mark.parametrize(
    ("names", "options", "listed"),
    [
        ([], {}, ""),
        (["b", "a"], {}, "b, a"),
        (["b", "a", "c"], {}, "b, a and 1 more"),
        ((7, "a", None, "c"), {"show": repr}, "7, 'a' and 2 more"),
        (["a{}"] * 1_003, {"more": ", … and {:,} more"}, "a{}, a{}, … and 1,001 more"),
    ],
)
def test_the_first_names_are_listed_with_how_many_more_there_are(names, options, listed):
    assert list_first(names, 2, **options) == listed


@pytest.mark.parametrize(
    ("value", "options", "written"),
    [
        ({"a": [1, None]}, {}, '{"a": [1, null]}'),
        ("x" * 18, {}, f'"{"x" * 18}"'),
        ("x" * 19, {}, f'"{"x" * 18}…'),
        ("x" * 21, {}, f'"{"x" * 18}…'),
        ("x" * 10**6, {"marker": ""}, f'"{"x" * 19}'),
        ("é\n\ud800", {"is_ascii": True}, r'"\u00e9\n\ud800"'),
        ("é", {}, '"é"'),
        (1 + 2j, {}, '"(1+2j)"'),
        pytest.param(10**5_000, {}, "<class 'int'>", id="huge"),
    ],
)
def test_a_value_is_written_as_json_on_one_line(value, options, written):
    assert preview(value, 20, **options) == written


def test_a_value_that_holds_itself_is_written_by_its_type():
    circle = []
    circle.append(circle)
    assert preview(circle, 20) == "<class 'list'>"


def test_a_datum_as_python_writes_it_is_short_and_never_an_error():
    assert shorten_repr("x" * 500) == f"'{'x' * 37}...{'x' * 38}'"
    assert len(shorten_repr(["x" * 70] * 5)) == 80
    assert len(shorten_repr(["x" * 70] * 5, limit=None)) == 370
    assert shorten_repr(10**5_000) == "a huge int"


def test_no_other_module_marks_a_cut_by_hand():
    assert HAND_MADE.search('f"{text[: limit - 1]}…"')
    assert HAND_MADE.search('f"{text[:MOST]}..."')
    places = [path.name for path in PACKAGE.rglob("*.py") if HAND_MADE.search(path.read_text("utf-8"))]
    assert places == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" down\r\n\tPASSED\u2028all ", "down PASSED all"),
        ("\x1b[2Ja\ud800", "\\u001b[2Ja\\ud800"),
        ("down\n::error::", "down ::error::"),
        ("::error::", "\\u003a:error::"),
        ("x" * 21, "x" * 19 + "…"),
        ("x" * 20, "x" * 20),
    ],
)
def test_an_untrusted_text_becomes_one_line_without_quotes(text, line):
    assert to_line(text, 20) == line


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("password hunter2", 16, "password hunter2"),
        ("password hunter2 and more", 12, "password … (25 characters)"),
        ("password hunter2 and more", 16, "password hunter2… (25 characters)"),
        ("password hunter2 and more", 17, "password hunter2 … (25 characters)"),
        ("password\nhunter2", 15, "password\n… (16 characters)"),
        ("x" * 300, 250, f"{'x' * 250}… (300 characters)"),
        ("a " + "x" * 300, 250, f"a {'x' * 248}… (302 characters)"),
        ("hunter2hunter2", 5, "hunte… (14 characters)"),
        (" " * 300, 250, f"{' ' * 250}… (300 characters)"),
    ],
)
def test_words_are_not_cut_unless_they_are_very_long(text, limit, expected):
    assert truncate_words(text, limit) == expected
