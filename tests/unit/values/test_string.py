"""Texts: spec §5.1 and §5.2."""

from __future__ import annotations

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext, looks_like_pattern
from pytest_webeval.values.string import Pattern, StringValue
from pytest_webeval.values.text import normalize_text

AS_WRITTEN_BY_AN_AGENT = ParseContext(patterns=False, alternatives=False)


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("Blue Mug", "  blue   MUG ", True),
        ("Café", "Cafe", True),
        ("Buffalo-Niagara", "Buffalo Niagara", True),
        ("123-4567", "123 4567", False),
        ("a\x00b\x1fc", "abc", True),
        ("a\tb\nc", "a b c", True),
        ("Lumaflex™ Band", "Lumaflex Band", True),
        ("naïve \u2013 test", "naive test", False),
        ("“x”", "x", True),
        ("end.", "end", True),
        ("end)", "end", False),
        ("O'Neil", "ONeil", False),
        ("15231", 15231, True),
        ("15231", 15231.0, False),
        ("0", 0, False),
        ("", False, True),
        ("...", None, True),
        ("null", "null", True),
        ("null", None, False),
        ("^b.*$", "BLUE", True),
        ("^blue$", "Blue.", False),
        ("^wh-1000$", "WH-1000", False),
        ("^café$", "café", False),
        ("x", "^.*$", True),
        (["a", "b"], "B", True),
        (["a", "b", "c"], "c", True),
        (["a", "b", "c"], "d", False),
        ("a", ["a", "z"], True),
        ("{'a': 1}", {"a": 1}, True),
        ("5", "½", False),
    ],
)
def test_texts_match_when_their_prepared_forms_do(expected, actual, equal):
    assert StringValue.read(expected, ParseContext()).matches(StringValue.read(actual, ParseContext())) is equal


def test_one_item_is_no_list_of_alternatives():
    with pytest.raises(ValueParseError, match="list of 1"):
        StringValue.read(["x"], ParseContext())


@pytest.mark.parametrize(("expected", "actual"), [("x", "^.*$"), ("", "^.*$"), ("^.*z$", "^.*$")])
def test_a_pattern_of_an_agent_is_plain_text(expected, actual):
    read = StringValue.read(actual, AS_WRITTEN_BY_AN_AGENT)
    assert read.alternatives == ("^.*$",)
    assert not StringValue.read(expected, ParseContext()).matches(read)


def test_a_pattern_does_not_match_its_own_text_written_by_an_agent():
    expected = StringValue.read("^a$", ParseContext())
    assert expected.matches(StringValue.read("A", AS_WRITTEN_BY_AN_AGENT))
    assert not expected.matches(StringValue.read("^a$", AS_WRITTEN_BY_AN_AGENT))


@pytest.mark.parametrize("raw", [["x", "y"], ["x"], []])
def test_a_list_of_an_agent_is_no_text(raw):
    with pytest.raises(ValueParseError, match="is a list instead of one value; write the value alone"):
        StringValue.read(raw, AS_WRITTEN_BY_AN_AGENT)


@pytest.mark.parametrize(
    ("raw", "has_the_form"),
    [
        ("^$", True),
        ("^a$", True),
        ("^", False),
        ("$", False),
        ("", False),
        ("^a", False),
        ("a$", False),
        ("_a$", False),
        ("^a#", False),
        ("^a%", False),
        (" ^a$", False),
        (["^", "$"], False),
        (5, False),
    ],
)
def test_a_pattern_begins_and_ends_with_its_signs(raw, has_the_form):
    assert looks_like_pattern(raw) is has_the_form


@pytest.mark.parametrize(("raw", "form"), [(5, "5"), (None, ""), ({"a": 1}, "{'a': 1}")])
def test_a_datum_of_an_agent_that_is_no_text_is_taken_as_python_writes_it(raw, form):
    assert StringValue.read(raw, AS_WRITTEN_BY_AN_AGENT).alternatives == (form,)


def test_a_datum_too_large_to_be_written_as_a_text_is_refused():
    nest: object = 1
    for _ in range(5000):
        nest = {"a": nest}
    for raw in (nest, 10**5_000):
        with pytest.raises(ValueParseError, match="is too large to convert to a string; write a shorter one"):
            StringValue.read(raw, ParseContext())


@pytest.mark.parametrize("text", ["^($", "^a{99999999999999999999}$"])
def test_an_invalid_pattern_matches_only_itself(text):
    pattern = StringValue.read(text, ParseContext())
    assert not pattern.matches(StringValue.read("a", ParseContext()))
    assert pattern.matches(StringValue.read(text, ParseContext()))


def test_a_pattern_has_to_match_the_whole_text():
    assert not Pattern("^blue|x$").accepts("blue mug")
    assert Pattern("^blue|x$").accepts("X")


def test_equality_is_exact_where_matching_is_not():
    assert StringValue.read("end.", ParseContext()) != StringValue.read("end", ParseContext())


def test_a_text_does_not_match_a_value_of_another_type():
    from pytest_webeval.values.number import NumberValue

    assert not StringValue.read("5", ParseContext()).matches(NumberValue.read("5", ParseContext()))


@pytest.mark.parametrize(("raw", "written"), [("^A.$", "^A.$"), (["B", "c"], "b"), (None, "")])
def test_a_report_shows_the_first_alternative(raw, written):
    assert StringValue.read(raw, ParseContext()).to_json() == written


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", ""),
        ("^ Á $", "^ Á $"),
        (" ^a$", "^a$"),
        ("a\tb\r\nc", "a b c"),
        ("a\u200bb\x00c\ue000d\udc00", "abcd"),
        ("a b\u3000c\u2028d", "a b c d"),
        ("10-Inch a---b 1-2 a - b", "10 inch a - b 1-2 a - b"),
        ("…a\u2013b\u2014c", "...a b c"),
        ("\u22125 \u2264 ₹7", "-5 <= rs7"),
        ("❤️ love 🤖 👍🏽 ok [?]", "love ok [?]"),
        ("Straße", "strasse"),
        ("北京", "bei jing"),
        ("5″", "5''"),
        ("©®™℠", ""),
    ],
)
def test_preparation_keeps_what_two_ways_of_writing_have_in_common(text, form):
    assert normalize_text(text, ParseContext()) == form


def test_site_addresses_become_placeholders_before_the_rest():
    reading = ParseContext(derender=lambda text: text.replace("http://shop.test:7770", "__SHOPPING__"))
    assert normalize_text("See http://shop.test:7770/A", reading) == "see __shopping__/a"


def test_a_text_without_an_address_is_not_searched_for_sites():
    def derender(text: str) -> str:
        raise AssertionError(text)

    assert normalize_text("ftp://shop.test", ParseContext(derender=derender)) == "ftp://shop.test"
