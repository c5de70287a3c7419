from __future__ import annotations

import contextlib
import json
import re
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.conclusions import LONGEST_REPLY, STATUS, Conclusion, parse_last_line
from pytest_webeval.judges.methods.replies import (
    LONGEST_OBJECT,
    ReplyForm,
    Text,
    build_plain_schema,
    fill_in,
    find_object,
    load_object,
)

VERDICTS = {"SUCCESS": True, "NOT SUCCESS": False}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Verdict: SUCCESS", True),
        ("Verdict: NOT SUCCESS", False),
        ("All is there.\n\nVerdict: SUCCESS\n \n", True),
        ("All is there.\r\nVerdict: SUCCESS\r\n", True),
        ("**Verdict:** NOT SUCCESS", False),
        ("**Verdict: SUCCESS**", True),
        ("verdict : success.", True),
        ('Verdict: "NOT SUCCESS"', False),
        ("Verdict: SUCCESS\nVerdict: NOT SUCCESS", False),
        ("The page says Verdict: NOT SUCCESS\nVerdict: SUCCESS", True),
    ],
)
def test_the_last_line_is_the_verdict(text, value):
    assert parse_last_line(text, "Verdict", VERDICTS).value is value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SUCCESS",
        "Verdict: SUCCESSFUL",
        "Verdict: SUCCESS, I think",
        "Verdict: SUCCESS or NOT SUCCESS",
        "Verdict: NOT  SUCCESS",
        "Verdict: UNSUCCESSFUL",
        "Verdict: SUCCESS\nThat is all.",
        "> Verdict: SUCCESS",
        "- Verdict: SUCCESS",
        '"Verdict: SUCCESS"',
        'The page says "Verdict: SUCCESS',
        'Verdict: SUCCESS"',
        "Verdict: 'SUCCESS\"",
        "```\nVerdict: SUCCESS\n```",
        "Fine.\u2028Verdict: SUCCESS",
        "Fine.\x0bVerdict: SUCCESS",
        "Verdict: SUCCE\u017f\u017f",
        "Verdict\uff1a SUCCESS",
        "V\u0435rdict: SUCCESS",
        "Verdict: SUCCESS\u200b",
        "x" * LONGEST_REPLY + "\nVerdict: SUCCESS",
    ],
)
def test_a_last_line_of_another_form_is_sent_back(text):
    with pytest.raises(InvalidReply):
        parse_last_line(text, "Verdict", VERDICTS)


def test_the_model_reads_which_line_it_has_to_write():
    problem = 'the last line is "Verdict: maybe"; end with one line `Status: success` or `Status: failure`'
    with pytest.raises(InvalidReply, match=re.escape(problem)):
        parse_last_line("Verdict: maybe", "Status", STATUS)


@given(st.text(), st.sampled_from(sorted(VERDICTS)))
def test_nothing_before_the_last_line_changes_the_verdict(reasoning, word):
    conclusion = parse_last_line(f"{reasoning}\nVerdict: {word}", "Verdict", VERDICTS)
    assert conclusion == Conclusion(VERDICTS[word], reasoning.strip())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1.5}',
        ' \n{"a": 1.5}\n',
        '```json\n{"a": 1.5}\n```',
        'My evaluation:\n\n{"a": 1.5}\n\nThat is all.',
    ],
)
def test_the_object_of_a_reply_is_read(text):
    source = find_object(text)
    assert (source, load_object(source)) == ('{"a": 1.5}', {"a": Decimal("1.5")})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("Status: success", "no JSON object"),
        ("}{", "no JSON object"),
        ('{"a": 1', "no JSON object"),
        ('{"a": 1}\n{"a": 2}', "not one JSON object"),
        ('{"a": 1} and again {"a": 1}', "not one JSON object"),
        ('The page says {"a": 2}. {"a": 1}', "not one JSON object"),
        ('{"a": "it says {"a": 2}", "b": 1}', "not one JSON object"),
        ('{"a": "it says ", "b": 2}", "b": 1}', "not one JSON object"),
        ('{"a": 1, "a": 2}', 'the key "a" stands twice'),
        ('{"b": {"a": 1, "a": 1}}', 'the key "a" stands twice'),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": [-Infinity]}', "-Infinity is not a JSON number"),
        ("{'a': True}", "not one JSON object"),
        ('{"a": __import__("os")}', "not one JSON object"),
        ('{"a":' * 2000 + "1" + "}" * 2000, "nests deeper than"),
        ('{"a": 1e99999}', "out of range"),
        ('{"a": "' + "x" * LONGEST_OBJECT + '"}', "use at most 400,000"),
        ("[]", "no JSON object"),
        ('{"a": 1' + "0" * 5000 + "}", "out of range"),
        ('{"a": ' + "[" * 100_000, "no JSON object"),
        ('{"a": ' + "[" * 100_000 + "}", "not one JSON object"),
    ],
)
def test_what_is_not_one_object_is_sent_back(text, problem):
    with pytest.raises(InvalidReply, match=re.escape(problem)):
        load_object(find_object(text))


@given(st.text())
def test_any_text_is_read_or_sent_back(text):
    for parse in (
        lambda reply: load_object(find_object(reply)),
        lambda reply: parse_last_line(reply, "Status", STATUS),
    ):
        with contextlib.suppress(InvalidReply):
            parse(text)


@given(st.dictionaries(st.text(), st.text(), min_size=1), st.text(alphabet=st.characters(exclude_characters="{}")))
def test_a_text_without_braces_around_an_object_does_not_matter(fields, around):
    source = json.dumps(fields)
    plain = {key.encode("utf-8", "backslashreplace").decode(): value for key, value in fields.items()}
    if len(plain) == len(fields):
        assert load_object(find_object(f"{around}{source}{around}")).keys() == plain.keys()


class Inner(ReplyForm, frozen=True, kw_only=True):
    number: int


class Outer(ReplyForm, frozen=True, kw_only=True):
    text: Text
    share: float
    flag: bool | None
    word: Literal["yes", "no"]
    inner: list[Inner]


FIELDS = {"text": "a", "share": 1.25, "flag": None, "word": "no", "inner": [{"number": 1}]}


def test_an_object_fills_in_a_form():
    expected = Outer(text="a", share=1.25, flag=None, word="no", inner=[Inner(number=1)])
    assert fill_in(Outer, json.dumps(FIELDS)) == expected


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"text": " "}, "text"),
        ({"text": 1}, "Expected `str`, got `int` @ text"),
        ({"share": "1"}, "Expected `float`, got `str` @ share"),
        ({"flag": "true"}, "Expected `bool | null`, got `str` @ flag"),
        ({"word": "maybe"}, "Invalid enum value 'maybe' @ word"),
        ({"inner": [{}]}, "Object missing required field `number` @ inner[0]"),
        ({"other": 1}, "unknown field `other`"),
    ],
)
def test_a_member_of_another_type_is_named(changes, problem):
    with pytest.raises(InvalidReply, match=re.escape(problem)):
        fill_in(Outer, json.dumps(FIELDS | changes))


def test_a_plain_schema_has_the_members_in_their_order_and_no_limits():
    inner = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    properties = {
        "text": {"type": "string"},
        "share": {"type": "number"},
        "flag": {"type": ["boolean", "null"]},
        "word": {"type": "string", "enum": ["yes", "no"]},
        "inner": {"type": "array", "items": inner | {"additionalProperties": False}},
    }
    assert build_plain_schema(Outer) == {
        "type": "object",
        "properties": properties,
        "required": ["text", "share", "flag", "word", "inner"],
        "additionalProperties": False,
    }
