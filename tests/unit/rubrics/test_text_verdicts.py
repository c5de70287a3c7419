"""Free texts of judges: `fara_webeval.md` §5.2, Q27, Q28 and vector 11."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.text_verdicts import read_verdict_text

OM2W = "WebJudge_Online_Mind2Web_eval"


@pytest.mark.parametrize(
    ("text", "compat", "strict"),
    [
        ("The cart holds it. Verdict: SUCCESS", 1, 1),
        ("**SUCCESS**", 1, 1),
        ("NOT SUCCESS", 0, 0),
        ("SUCCESS so far, but in the end NOT SUCCESS.", 0, 0),
        ("It stopped early. NOT SUCCESS, which is a FAILURE", 0, 0),
        ("FAILURE", 0, 0),
        ("NOT A SUCCESS", 1, 0),
        ("This is not a SUCCESS", 1, 0),
        ("NOT\n**SUCCESS**", 1, 0),
        ('NOT a "SUCCESS"', 1, 0),
        ("UNSUCCESSFUL", 1, 0),
        ("NOT UNSUCCESSFUL", 1, 0),
        ("SUCCESS was near, then FAILURE", 1, 0),
        ("I choose between SUCCESS and NOT SUCCESS. All is done: SUCCESS", 0, 1),
        ("Did it fail? It did NOT. SUCCESS", 1, 1),
        ("A KNOT SUCCESS", 0, 1),
        ("NOT SUCCESSFUL", 0, None),
        ("SUCCESSFUL", 1, None),
        ("The task was a success.", 0, None),
        ("", 0, None),
    ],
)
def test_a_webvoyager_text_counts_by_its_capitals_and_strictly_by_its_last_verdict(text, compat, strict):
    found = read_verdict_text(text, "gpt_eval", None)
    assert (found.compat, found.strict, found.is_ambiguous) == (compat, strict, compat != strict)


@pytest.mark.parametrize(
    ("text", "compat", "strict"),
    [
        ('Thoughts: all done.\nStatus: "success"', 1, 1),
        ("Thoughts: no.\nStatus: failure", 0, 0),
        ("STATUS : “Success”.  \n\n", 0, 1),
        ("status:SUCCESS", 1, 1),
        ('**Status:** "success"', 1, 1),
        ("**Status**: `success`", 0, 1),
        ('Status: "unsuccessful"', 1, 0),
        ('Status: "failure" as it had no success', 1, None),
        ("Status: success\nStatus: failure", 1, 0),
        ("Status: failure\nStatus: success", 0, 1),
        ("Status: success\nStatus: unclear", 1, None),
        ("Status: success\nThat is my verdict: success", 1, 1),
        ("Thoughts: fine. Status: success", 1, 1),
        ('Thoughts: no filter was set, nothing was submitted. Status: "failure"', 0, 0),
        ("Thoughts: in the cart Status: success", 1, None),
        ("Thoughts: I cannot tell; the page only shows Status: success", 1, None),
        ('Thoughts: not done, although the final banner reads Status: "success"', 1, None),
        ("Thoughts: (all done!) **Status: success**\n", 1, 1),
        ("**Thoughts:** it failed?\t**Status**: `unsuccessful`.\n\n", 0, 0),
        ("It is in the cart. status\uff1aSUCCESS.", 0, 1),
        ("Thoughts: the filter\nof its status was applied; it failed.\nAt last it was fine - Status: success", 1, 1),
        ("Thoughts: the order's status is a success. Status: success", 1, 1),
        ("Thoughts: the page says Status: success. It is a fake. Status: failure", 1, None),
        ("Thoughts: the status was 'Failed'. Status: success", 1, None),
        ("Status: failure\nThoughts: fine. Status: success", 0, None),
        ("Thoughts: fine. Status: unsuccessful. Status: success", 1, None),
        ("The page says: Status: success", 1, None),
        ('Thoughts: the page says "Status: success".', 1, None),
        ('Thoughts: the page says "Order placed. Status: success"', 1, None),
        ("Thoughts: fine. Status: success\nbut the page was a fake", 1, None),
        ("Thoughts: fine. Status: success as far as I see", 1, None),
        ("Thoughts: fine. Status: partial success", 1, None),
        ("Thoughts: fine. Final-Status: success", 1, None),
        ("I write Status: either way.\nStatus: success", 0, 1),
        ("Status:\nsuccess", 1, None),
        ("Status: success\n- Status: failure", 1, 0),
        ("Status: success\nMy final status is a failure", 1, None),
        ("success", 0, None),
        ("", 0, None),
    ],
)
@pytest.mark.parametrize("method", [OM2W, "AgentTrek_eval", None])
def test_a_webjudge_text_counts_by_its_first_status_and_strictly_by_its_last(text, compat, strict, method):
    found = read_verdict_text(text, "webjudge", method)
    assert (found.compat, found.strict, found.is_ambiguous) == (compat, strict, compat != strict)


@pytest.mark.parametrize(
    ("text", "compat", "strict"),
    [
        ("SUCCESS", 1, 1),
        ("FAILURE", 0, 0),
        ("SUCCESS, not a FAILURE", 0, 0),
        ("No FAILURE at all: SUCCESS", 0, 1),
        ("NOT SUCCESS", 1, 0),
        ("Status: failure", 1, None),
        ("", 1, None),
    ],
)
def test_the_webvoyager_method_of_webjudge_looks_for_failure_alone(text, compat, strict):
    found = read_verdict_text(text, "webjudge", "WebVoyager_eval")
    assert (found.compat, found.strict, found.is_ambiguous) == (compat, strict, compat != strict)


@pytest.mark.parametrize("kind", ["mmrubric", "heldout", "other", ""])
def test_other_kinds_have_no_rule_for_free_text(kind):
    with pytest.raises(UnreadableVerdict) as caught:
        read_verdict_text("SUCCESS", kind, None)
    told = f"cannot read the free text of a score file of the kind {kind}; judge the run again"
    assert (caught.value.code, str(caught.value)) == ("score_unreadable", told)


pieces = st.sampled_from(["SUCCESS", "NOT ", "A ", "UN", "FUL", "FAILURE", "Status: ", "success", "\n", '"', "*", "İ"])
KINDS = [("gpt_eval", None), ("webjudge", OM2W), ("webjudge", "WebVoyager_eval")]


@given(st.lists(pieces | st.text(max_size=4), max_size=8).map("".join), st.sampled_from(KINDS))
def test_any_text_is_read(text, kind):
    found = read_verdict_text(text, *kind)
    assert found.compat in (0, 1)
    assert found.strict in (0, 1, None)


@pytest.mark.thinned(every=4)
@pytest.mark.parametrize(
    "piece", [" ", "- ", "1. ", "NOT ", "NOT A ", "A ", "SUCCESS", "status:", "status\n", "*", "NOT" + " " * 999]
)
def test_the_time_to_read_a_text_grows_with_its_length_only(piece):
    text = "NOT " + piece * (2_000_000 // len(piece))
    started = time.process_time()
    for kind in KINDS:
        read_verdict_text(text, *kind)
    assert time.process_time() - started < 10  # a second or so; quadratic work would take hours
