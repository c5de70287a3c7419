from __future__ import annotations

import contextlib
import json
import re
from decimal import Decimal
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.conclusions import LONGEST_REPLY, STATUS, Conclusion, parse_last_line
from pytest_webeval.judges.methods.replies import ReplyObject, parse_json_object

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
    assert parse_json_object(text) == ReplyObject({"a": Decimal("1.5")}, source='{"a": 1.5}')


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
        ('{"a": "' + "x" * LONGEST_REPLY + '"}', "use at most 200,000"),
    ],
)
def test_what_is_not_one_object_is_sent_back(text, problem):
    with pytest.raises(InvalidReply, match=re.escape(problem)):
        parse_json_object(text)


@given(st.text())
def test_any_text_is_read_or_sent_back(text):
    for parse in (parse_json_object, lambda reply: parse_last_line(reply, "Status", STATUS)):
        with contextlib.suppress(InvalidReply):
            parse(text)


@given(st.dictionaries(st.text(), st.text(), min_size=1), st.text(alphabet=st.characters(exclude_characters="{}")))
def test_a_text_without_braces_around_an_object_does_not_matter(fields, around):
    source = json.dumps(fields)
    plain = {key.encode("utf-8", "backslashreplace").decode(): value for key, value in fields.items()}
    if len(plain) == len(fields):
        assert parse_json_object(f"{around}{source}{around}").fields.keys() == plain.keys()


FIELDS = ReplyObject({"text": "a", "empty": " ", "flag": True, "null": None, "number": Decimal("1.25"), "list": [{}]})


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda reply: reply.text("text"), "a"),
        (lambda reply: reply.text("empty", may_be_empty=True), " "),
        (lambda reply: reply.text_or_null("text"), "a"),
        (lambda reply: reply.text_or_null("null"), None),
        (lambda reply: reply.flag("flag"), True),
        (lambda reply: reply.flag_or_null("null"), None),
        (lambda reply: reply.points("number", Decimal(2)), Decimal("1.25")),
        (lambda reply: reply.choice("text", {"a": 7}), 7),
        (lambda reply: reply.objects("list", 1), [ReplyObject({}, "list[0].")]),
    ],
    ids=count(),
)
def test_members_have_their_types(read, value):
    assert read(FIELDS) == value


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (lambda reply: reply.text("other"), "the key other is missing; add it"),
        (lambda reply: reply.text("empty"), 'invalid empty " "; use a text that is not empty'),
        (lambda reply: reply.text("flag", may_be_empty=True), "invalid flag true; use a text"),
        (lambda reply: reply.flag("text"), 'invalid text "a"; use true or false'),
        (lambda reply: reply.flag("null"), "invalid null null; use true or false"),
        (lambda reply: reply.flag_or_null("number"), "invalid number 1.25; use true, false or null"),
        (lambda reply: reply.points("number", Decimal(1)), "invalid number 1.25; use a number from 0 to 1 with"),
        (lambda reply: reply.points("flag", Decimal(1)), "invalid flag true; use a number"),
        (lambda reply: reply.choice("text", {"yes": 1, "no": 2}), 'invalid text "a"; use one of "yes", "no"'),
        (lambda reply: reply.choice("list", {"yes": 1}), "invalid list a list of 1; use one of"),
        (lambda reply: reply.objects("list", 0), "invalid list a list of 1; use a list of 1 to 0 objects"),
        (lambda reply: reply.objects("list", 1)[0].text("a"), "the key list[0].a is missing"),
    ],
    ids=count(),
)
def test_a_member_of_another_type_is_named_with_what_to_write(read, problem):
    with pytest.raises(InvalidReply, match=re.escape(problem)):
        read(FIELDS)


@pytest.mark.parametrize("number", ["-1", "0.00001", "3", '"2"', "null", "1e30"])
def test_points_that_are_no_exact_share_of_the_maximum_are_sent_back(number):
    with pytest.raises(InvalidReply, match="use a number from 0 to 2 with at most 4 decimals"):
        parse_json_object(f'{{"points": {number}}}').points("points", Decimal(2))
