"""The table of value types, and what all of them promise."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_webeval.errors import ValueParseError
from pytest_webeval.values import VALUE_TYPES, value_type
from pytest_webeval.values.base import ParseContext, Value
from pytest_webeval.values.base64 import ContentPattern
from pytest_webeval.values.string import Pattern

# The libraries behind URLs and points warn of their own; scoring lets no warning decide a verdict.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Latitude normalization:UserWarning"),
]

NAMES = list(VALUE_TYPES)
PARSERS = [
    "dateutil",
    "geopy",
    "pint",
    "price_parser",
    "scourgify",
    "text_unidecode",
    "thefuzz",
    "url_normalize",
    "us",
    "usaddress",
    "word2number",
]
READINGS = [ParseContext(), ParseContext(patterns=False, alternatives=False)]

SIGNS = [*"123-/.,:+$%()^ ezté\u2212\ufe0f"]
DATE_WORDS = ["2023", "am", "jan", "may", "mon", "th", "utc", "of"]
NUMBER_WORDS = ["one", "thousand", "point", "million", "free", "n/a"]

telling_texts = st.lists(st.sampled_from([*SIGNS, *DATE_WORDS, *NUMBER_WORDS]), max_size=8).map("".join)
spaced_texts = telling_texts.map(" ".join)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | telling_texts | spaced_texts
json_data = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=6
)


def readable(name: str, raw: object, reading: ParseContext) -> Value | None:
    kind = value_type(name)
    assert kind is not None
    try:
        return kind.read(raw, reading)
    except ValueParseError:
        return None


@pytest.mark.thinned
@pytest.mark.parametrize("reading", READINGS, ids=["task", "agent"])
@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)  # the first example waits for a parser to be imported
@given(raw=json_data)
def test_a_datum_is_a_value_that_json_can_hold_or_unreadable(name, reading, raw):
    value = readable(name, raw, reading)
    if value is not None:
        assert type(value) is value_type(name)
        json.dumps(value.to_json())
        hash(value)


@pytest.mark.parametrize("name", NAMES)
def test_a_deep_nest_is_at_worst_unreadable(name):
    nest: object = 1
    for _ in range(5000):
        nest = {"a": nest}
    assert readable(name, nest, ParseContext(patterns=False, alternatives=False)) is None


@pytest.mark.thinned
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["1" * 9_999 + "%", "1 " * 4_999 + "%", "a-" * 5_000, "/ " * 5_000, "1:" * 5_000])
def test_a_long_text_is_read_or_refused(name, text):
    assert isinstance(readable(name, text, ParseContext()), Value | None)


def test_a_type_has_to_say_what_its_canonical_form_is():
    with pytest.raises(TypeError, match="canonical"):
        Value(("a",))


@pytest.mark.parametrize("name", NAMES)
def test_a_value_cannot_be_changed(name):
    kind = value_type(name)
    assert kind is not None
    value = kind(("a",))
    with pytest.raises(FrozenInstanceError):
        value.alternatives = ()
    with pytest.raises(AttributeError):
        object.__setattr__(value, "more", 1)  # past what a frozen dataclass refuses


@pytest.mark.parametrize("pattern", [Pattern("^a$"), ContentPattern("^a$", encoded=True)])
def test_a_pattern_cannot_be_changed_and_has_a_hash(pattern):
    with pytest.raises(FrozenInstanceError):
        pattern.text = ""
    with pytest.raises(AttributeError):
        object.__setattr__(pattern, "more", 1)  # past what a frozen dataclass refuses
    assert hash(pattern) == hash(replace(pattern))


def test_integer_is_another_name_of_number():
    assert value_type("integer") is value_type("number")


@pytest.mark.parametrize("name", ["text", "String", ""])
def test_an_unknown_name_has_no_type(name):
    assert value_type(name) is None


def test_each_line_of_the_table_names_a_module_and_a_class():
    assert all(location.count(":") == 1 for location in VALUE_TYPES.values())


def test_importing_the_types_imports_no_third_party_parser():
    program = f"""
import sys
from pytest_webeval.values import value_type
for name in {NAMES!r}:
    value_type(name)
print([one for one in {PARSERS!r} if one in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
