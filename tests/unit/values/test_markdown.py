"""Markdown: spec §5.13."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.markdown import MarkdownValue


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("# A\n\nB", "#   A\r\n\r\nB", True),
        ("# A", "#A", False),
        ("####### A", "#######  A", False),
        ("- x\n- y", "* x\n+ y", True),
        ("  - x", "\t- x", True),
        ("a\n  - x", "a\n      - x", True),
        ("- x", "-  x", False),
        ("a\n\nb", "a\n\n\n\nb", True),
        ("a\n\nb", "a\n \t\n\n  \nb", True),
        ("a\n\nb", "a\nb", False),
        ("[a b](u)", "[ a\n b ]( u )", True),
        ("(a)", "(\ta\n)", True),
        ("(a", "( a", False),
        ("Hello", "hello", False),
        ("café", "cafe", False),
        ("**b**", "__b__", False),
        ("^a.*$", "abc", False),
        ("[x](__REDDIT__/f)", "[x](http://red.test:9999/f)", False),
        (["a", "b"], " b ", True),
    ],
    ids=repr,
)
def test_markdown_matches_but_for_how_it_is_laid_out(expected, actual, equal):
    reading = ParseContext(derender=lambda text: text.replace("http://red.test:9999", "__REDDIT__"))
    assert MarkdownValue.read(expected, reading).matches(MarkdownValue.read(actual, reading)) is equal


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a\rb", "a\nb"),
        ("a \t\nb", "a\nb"),
        ("a\u00a0\nb", "a\u00a0\nb"),
        ("\u00a0a", "a"),
        ("a\n\u3000#   b", "a\n\u3000# b"),
        ("#", "#"),
        ("#\nb", "#\nb"),
        ("*\tx", "- x"),
        ("* * *", "- * *"),
        ("*x*", "*x*"),
        ("a\n -x", "a\n  -x"),
        ("[ ](u)", "[](u)"),
        ("[]( )", "[]( )"),
        ("(  )", "( )"),
        ("( \t)", "(\t)"),
        ("(\t )", "( )"),
        ("(( a ))", "(( a))"),
        ("[ a ( b", "[ a ( b"),
        ("[ a [ b ] c ]", "[a [ b] c ]"),
        ("```\n* a\n```", "```\n- a\n```"),
        ("> #  x", "> #  x"),
        ("^ a$", "^ a$"),
    ],
)
def test_the_layout_is_written_one_way(text, form):
    assert MarkdownValue.read(text, ParseContext()).to_json() == form


@pytest.mark.parametrize("raw", [None, "", " \n", 5, True, {}, ["a"], [1, 2]])
def test_anything_but_a_text_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"is not Markdown; write it as a string|list of 1"):
        MarkdownValue.read(raw, ParseContext())


def test_a_list_of_an_agent_is_no_markdown():
    with pytest.raises(ValueParseError, match="is not Markdown"):
        MarkdownValue.read(["a", "b"], ParseContext(patterns=False, alternatives=False))


@pytest.mark.parametrize("part", ["(", "[", "( ", "\n\x0b", "\x0b", "a \t", "* ", "#", "- (["])
def test_a_long_text_is_read_in_a_moment(part):
    assert MarkdownValue.read("x" + part * 300_000 + "x", ParseContext()).to_json()
