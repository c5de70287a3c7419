"""Texts in base64: spec §5.13."""

from __future__ import annotations

from base64 import b64encode

import pytest

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values.base import ParseContext
from pytest_webeval.values.base64 import Base64Value

AS_WRITTEN_BY_AN_AGENT = ParseContext(patterns=False, alternatives=False)


def encoded(content: str) -> str:
    return b64encode(content.encode()).decode()


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("SGVsbG8=", "SGVsbG8gICA=", True),
        ("SGVsbG8=", "aGVsbG8=", False),
        ("YQpi", "YQ0KYg==", True),
        ("YQpi", "YQ1i", True),
        ("SGVsbG8=", " SGVsbG8=\n", True),
        (encoded(" "), encoded("\t\n"), True),
        (encoded("é"), encoded("e"), False),
        ("^.*MIT.*$", "VGhlIE1JVApMaWNlbnNl", True),
        ("^mit$", "TUlU", False),
        ("^a|b$", encoded("xb"), False),
        ("^.*$", "^a$", True),
        ("^.$", "^a$", False),
        (encoded("^.*$"), encoded("a"), True),
        (encoded("^a$"), encoded("^a$"), True),
        (encoded("^a$"), encoded("^b$"), False),
        (encoded("^b$"), encoded("^a$"), False),
        ("^a$", encoded("^a$"), True),
        (["YQ==", "Yg=="], "Yg==", True),
    ],
)
def test_contents_match_character_by_character_or_by_pattern(expected, actual, equal):
    assert Base64Value.read(expected, ParseContext()).matches(Base64Value.read(actual, ParseContext())) is equal


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("^.*MIT.*$", encoded("the MIT license"), True),
        ("^a$", encoded("^a$"), False),
        (encoded("^a$"), encoded("^a$"), True),
        (encoded("a"), encoded("^.*$"), False),
    ],
)
def test_what_an_agent_encodes_is_no_pattern(expected, actual, equal):
    assert Base64Value.read(expected, ParseContext()).matches(Base64Value.read(actual, AS_WRITTEN_BY_AN_AGENT)) is equal


@pytest.mark.parametrize("pattern", ["^($", "^a{99999999999}$"])
def test_an_invalid_pattern_matches_only_itself(pattern):
    expected = Base64Value.read(pattern, ParseContext())
    assert not expected.matches(Base64Value.read(encoded("a"), ParseContext()))
    assert expected.matches(Base64Value.read(pattern, ParseContext()))


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " ",
        "not base64!",
        "TUlUIExpY2Vuc2U",
        "YQ==YQ==",
        "-_-_",
        "Y Q==",
        "/w==",
        "\uff39\uff31==",
        "=",
        5,
        None,
        {},
        ["YQ=="],
    ],
)
def test_anything_but_padded_base64_of_a_text_is_refused(raw):
    with pytest.raises(ValueParseError, match=r"is not base64|list of 1"):
        Base64Value.read(raw, ParseContext())


@pytest.mark.parametrize("raw", [["YQ==", "Yg=="], "^.*$", " ^.*$ "])
def test_neither_a_list_nor_a_pattern_of_an_agent_is_base64(raw):
    with pytest.raises(ValueParseError, match="is not base64"):
        Base64Value.read(raw, AS_WRITTEN_BY_AN_AGENT)


@pytest.mark.parametrize(
    ("raw", "shown"), [("YQ0KYg==", "a\nb"), (" ^a$ ", "^a$"), (encoded("^a$"), "^a$"), (["YQ==", "Yg=="], "a")]
)
def test_a_report_shows_the_content(raw, shown):
    assert Base64Value.read(raw, ParseContext()).to_json() == shown
