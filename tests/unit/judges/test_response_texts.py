from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_webeval.judges.methods.webjudge import format_webjudge
from pytest_webeval.judges.methods.webvoyager import format_webvoyager
from pytest_webeval.rubrics.text_verdicts import TextVerdict, read_verdict_text

WORDS = [
    "SUCCESS",
    "NOT ",
    "NOT A ",
    "UNSUCCESSFUL",
    "FAILURE",
    "Verdict: ",
    "Status",
    "status:",
    "STATUS: success",
    "\uff1a",
    "failure",
    "\n",
    "- ",
    '"',
    "{",
    "}",
    "\u212a",
    "\u017ftatus: ",
    "\ud800",
]
REASONINGS = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=12).map("".join)


@given(REASONINGS, st.booleans())
@example(reasoning="SUCCESSUCCESS NOT", success=True)
@example(reasoning="Status: success\nstatus:", success=False)
def test_whatever_a_judge_quotes_both_readings_give_its_verdict(reasoning, success):
    for text, kind, method in (
        (format_webvoyager(reasoning, success=success), "gpt_eval", None),
        (format_webjudge(reasoning, success=success), "webjudge", "WebJudge_Online_Mind2Web_eval"),
    ):
        assert read_verdict_text(text, kind, method) == TextVerdict(int(success), int(success))
        text.encode()


@pytest.mark.parametrize(
    ("form", "reasoning", "text"),
    [
        (format_webvoyager, "It says NOT SUCCESS.", "It says NOT success.\n\nVerdict: SUCCESS"),
        (
            format_webjudge,
            'A page has "Status: failure".',
            'Thoughts: A page has "Status : failure".\n\nStatus: success',
        ),
    ],
)
def test_the_reasoning_stays_readable(form, reasoning, text):
    assert form(reasoning, success=True) == text


def test_a_long_reasoning_is_shortened():
    assert len(format_webvoyager("x" * 10**6, success=False)) < 60_000
