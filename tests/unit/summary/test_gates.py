"""Gates: how they are written, what they find, and which pass."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.summary.gates import SYNTAX
from pytest_webeval.summary.gates import GateCase
from pytest_webeval.summary.gates import build_gates
from pytest_webeval.summary.gates import parse_gate
from pytest_webeval.summary.gates import parse_percentage
from pytest_webeval.summary.scored_session import ScoredRun
from pytest_webeval.summary.scored_session import ScoredSession
from pytest_webeval.summary.session_comparison import SessionComparison

STATUS = {"+": "success", "-": "failure", "!": "error", "?": "excluded"}


def runs(text, **fields):
    """Runs of words such as `a/1+`."""
    words = [(word[:-1], STATUS[word[-1]]) for word in text.split()]
    return [ScoredRun(run=run, task_id=int(run.rpartition("/")[2]), status=status, **fields) for run, status in words]


def case(text, before=None, **fields):
    session = ScoredSession("B", text if isinstance(text, list) else runs(text))
    comparison = None if before is None else SessionComparison(ScoredSession("A", runs(before)), session)
    return GateCase(session, comparison, **fields)


MIXED = [
    *runs("r/1+ r/2-", sites=["shopping", "map"], type="retrieve", template=7, tags=["smoke"]),
    *runs("r/3+ r/4! r/5?", sites=["gitlab"], type="mutate", template=8),
]


TRIED = "a/1+ b/1+ c/1- a/2+ b/2- c/2- a/3+"


@pytest.mark.parametrize(
    ("gate", "session", "found", "passed"),
    [
        ("success >= 50%", MIXED, "50.0% (2 of 4; 95% interval 15.0% to 85.0%)", True),
        ("success >= 50.1%", MIXED, "50.0% (2 of 4; 95% interval 15.0% to 85.0%)", False),
        ("success  site  gitlab >=50%", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", True),
        ("success site map >= 50%", MIXED, "no judged run; known: gitlab, map-shopping", False),
        ("success type Mutate >= 50%", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", True),
        (
            "success >= 50%",
            "a/1+ b/1+ a/2- b/2+",
            "75.0% (3 of 4; 95% interval 19.8% to 97.3%, Wilson over 2 tasks)",
            True,
        ),
        ("success site map-shopping >= 60 %", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", False),
        ("success type mutate >= 50%", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", True),
        ("success template 7 >= 51%", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", False),
        ("success tag smoke >= 50%", MIXED, "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", True),
        ("success tag sanity >= 0%", MIXED, "no judged run; known: smoke", False),
        ("errors <= 1", MIXED, "1 error: 4", True),
        ("errors <= 0", MIXED, "1 error: 4", False),
        ("errors <= 0", "r/1+", "0 errors", True),
        ("errors <= 2", "a/4! b/4! a/7! b/7+", "3 errors in 2 tasks: 4, 7", False),
        ("complete", MIXED, "5 runs scored", True),
        ("must-pass 1, 3", MIXED, "2 of 2 tasks solved", True),
        ("must-pass 1,2,9", MIXED, "1 of 3 tasks solved; not solved: 2, 9", False),
        ("must-pass 5", MIXED, "0 of 1 task solved; not solved: 5", False),
        (
            "attempts 2 of 3 >= 30%",
            "a/1+ b/1+ c/1- a/2+ b/2- c/2- a/3+",
            "33.3% (1 of 3 tasks; 1 task with fewer attempts)",
            True,
        ),
        ("attempts 1 of 3 >= 100%", "a/1+ b/1+ c/1- a/2- b/2- c/2-", "50.0% (1 of 2 tasks)", False),
        ("attempts 1 of 3 >= 0%", "a/1- b/1-", "0.0% (0 of 1 task; 1 task with fewer attempts)", True),
        ("no-regression", "r/1+", "no baseline", False),
        ("no-regressed", "r/1+", "no baseline", False),
    ],
)
def test_gates_find_what_they_check(gate, session, found, passed):
    told = parse_gate(gate).evaluate(case(session))
    assert (told.found, told.passed) == (found, passed)


def test_a_gate_on_completeness_names_the_tasks_without_a_verdict():
    told = parse_gate("complete").evaluate(case("r/1+", missing=list(range(2, 9))))
    assert (told.found, told.passed) == ("7 tasks without a verdict: 2, 3, 4, 5, 6, … and 2 more", False)
    partial = GateCase(ScoredSession("B", runs("r/1+"), partial=True))
    assert parse_gate("complete").evaluate(partial).found == "a partial session"


EIGHT = " ".join(f"r/{number}+" for number in range(8))


@pytest.mark.parametrize(
    ("gate", "before", "after", "passed"),
    [
        ("no-regression", EIGHT, EIGHT.replace("r/1+", "r/1-"), True),
        ("no-regression", EIGHT, EIGHT.replace("+", "-"), False),
        ("no-regression", EIGHT.replace("+", "-"), EIGHT, False),  # it could not fail
        ("no-regression", "r/1+", "r/1+", False),
        ("no-regressed", EIGHT, EIGHT.replace("r/1+", "r/1-"), False),
        ("no-regressed", EIGHT, EIGHT.replace("r/1+", "r/1!"), False),
        ("no-regressed", EIGHT.replace("r/1+", "r/1-"), EIGHT.replace("r/1+", "r/1!"), True),
        ("no-regressed", EIGHT, EIGHT.replace("r/1+", ""), False),
        ("no-regression", EIGHT, EIGHT.replace("r/1+", ""), False),
        ("no-regressed", EIGHT.replace("r/1+", "r/1?"), EIGHT.replace("r/1+", ""), True),
        ("no-regressed", EIGHT, EIGHT.replace("r/1+", "r/1?"), False),
        ("no-regressed", "a/1+ b/1+ a/2+", "c/1- d/1- e/1- a/2+", False),
        ("no-regressed", "a/1+ b/1+ a/2+", "c/1+ d/1+ e/1+ a/2+", True),
    ],
)
def test_gates_against_a_baseline(gate, before, after, passed):
    assert parse_gate(gate).evaluate(case(after, before)).passed is passed


def test_all_forms_that_a_message_shows_are_valid():
    assert [parse_gate(form).text for form in SYNTAX] == list(SYNTAX)


@pytest.mark.parametrize(
    "text",
    ["", "sucess >= 60%", "success > 60%", "success >= 60", "success >= 101%", "success page x >= 1%", "errors <= -1",
     "errors >= 1", "must-pass", "must-pass 1,,2", "must-pass 1 2",
     "complet", "attempts 3 of 2 >= 1%", "attempts 0 of 2 >= 1%",
     "x" * 500],
)  # fmt: skip
def test_a_misspelt_gate_is_named_with_the_valid_forms(text):
    with pytest.raises(SettingsError, match="invalid gate '") as raised:
        parse_gate(text)
    assert f"{text[:20]}" in str(raised.value)
    assert "use e.g. 'success >= 60%'" in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("text", "share"),
    [("60%", "3/5"), (" 7.5 % ", "3/40"), ("0.6", "3/5"), ("1", "1"), (".5", "1/2"), ("60", None), ("101%", None),
     ("1.1", None), ("-1%", None), ("nan", None), ("", None)],
)  # fmt: skip
def test_shares_are_percentages_or_fractions(text, share):
    assert parse_percentage(text) == (share and Fraction(share))


def test_options_become_gates_each_once():
    written = map(parse_gate, ["success >= 60%", "complete", "no-regression"])
    gates = build_gates(written, Fraction(3, 5), "regression")
    assert [gate.text for gate in gates] == ["success >= 60%", "complete", "no-regression"]
    assert [gate.text for gate in build_gates([], None, "any-regressed")] == ["no-regressed"]
    assert build_gates([], Fraction("0.00000001"))[0].text == "success >= 0.000001%"
    assert build_gates([], Fraction("0.6666666"))[0].text == "success >= 66.66666%"
    assert build_gates([], None, "none") == build_gates([], None, "failure") == []


def test_each_agent_has_to_reach_the_threshold_of_attempts():
    session = case("a/try-1/1+ a/try-2/1+ b/try-1/1- b/try-2/1+", attempts="try-*")
    told = parse_gate("attempts 2 of 2 >= 100%").evaluate(session)
    assert (told.found, told.passed) == ("a: 100.0% (1 of 1 task); b: 0.0% (0 of 1 task)", False)
    assert parse_gate("attempts 1 of 2 >= 100%").evaluate(session).passed
    trajectories = case("a/r1/traj/1+ a/r2/traj/1+", attempts="r*")
    assert parse_gate("attempts 2 of 2 >= 100%").evaluate(trajectories).found == "a: 100.0% (1 of 1 task)"


def test_an_agent_is_named_by_the_run_folder_above_the_task():
    listed = [
        ScoredRun(run=f"{agent}/try-{number}/tea/2026-11-24", task_id="tea", status=status, is_named_by_run=True)
        for agent, status in (("a", "success"), ("b", "failure"))
        for number in (1, 2)
    ]
    told = parse_gate("attempts 2 of 2 >= 50%").evaluate(case(listed, attempts="try-*"))
    assert (told.found, told.passed) == ("a: 100.0% (1 of 1 task); b: 0.0% (0 of 1 task)", False)


def test_the_same_id_in_two_formats_has_no_second_attempt():
    listed = [*runs("a/7+", format="x"), *runs("b/7+", format="y")]
    told = parse_gate("attempts 2 of 2 >= 50%").evaluate(case(listed))
    assert (told.found, told.passed) == ("0.0% (0 of 2 tasks; 2 tasks with fewer attempts)", False)
    failed = [*runs("a/7+", format="x"), *runs("b/7-", format="y")]
    assert not parse_gate("must-pass 7").evaluate(case(failed)).passed
