"""Gates: how they are written, what they find, and which pass."""

from __future__ import annotations

import pytest
from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.summary.comparison.gates import SYNTAX, GateCase, find_baseline_problem, join_gates, parse_gate
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

STATUS = {"+": "success", "-": "failure", "!": "error", "?": "excluded"}


def runs(text, **fields):
    """Runs of words such as `a/1+`."""
    words = [(word[:-1], STATUS[word[-1]]) for word in text.split()]
    return [ScoredRun(run=run, task_id=int(run.rpartition("/")[2]), status=status, **fields) for run, status in words]


def as_runs(rows):
    return rows if isinstance(rows, list) else runs(rows)


def case(rows, before=None, **fields):
    session = ScoredSession("B", as_runs(rows))
    comparison = None if before is None else SessionComparison(ScoredSession("A", as_runs(before)), session)
    return GateCase(session, comparison, **fields)


def check(gate, *rows, **fields):
    result = parse_gate(gate).evaluate(case(*rows, **fields))
    return result.found, result.passed


MIXED = [
    *runs("r/1+ r/2-", sites=["shopping", "map"], type="retrieve", template=7, tags=["smoke"]),
    *runs("r/3+ r/4! r/5?", sites=["my shop"], type="mutate", template=8, group="Hard"),
]
HALF_OF_4 = "50.0% (2 of 4; 95% interval 15.0% to 85.0%)"
HALF_OF_2 = "50.0% (1 of 2; 95% interval 9.5% to 90.5%)"
TWICE = "a/1+ b/1+ a/2- b/2+"
TRIED = "a/1+ b/1+ c/1- a/2+ b/2- c/2- a/3+"


@pytest.mark.parametrize(
    ("gate", "rows", "found", "passed"),
    [
        ("success >= 50%", MIXED, HALF_OF_4, True),
        ("success >= 50.1%", MIXED, HALF_OF_4, False),
        ("success>=50%", TWICE, "75.0% (3 of 4; 95% interval 19.8% to 97.3%, Wilson over 2 tasks)", True),
        ('success  site "my shop" >=50 %', MIXED, HALF_OF_2, True),
        ("success site 'my shop' >= 51%", MIXED, HALF_OF_2, False),
        ("success site map-shopping >= 60%", MIXED, HALF_OF_2, False),
        ("success site map >= 50%", MIXED, "no task on site 'map'; known: map-shopping, my shop", False),
        ("success site map-shoping >= 0%", MIXED, "no task on site 'map-shoping'; did you mean 'map-shopping'?", False),
        ("success type Mutate >= 50%", MIXED, HALF_OF_2, True),
        ("success type mutata >= 50%", MIXED, "no task of type 'mutata'; did you mean 'mutate'?", False),
        ("success template 7 >= 51%", MIXED, HALF_OF_2, False),
        ("success template 9 >= 1%", MIXED, "no task of template '9'; known: 7, 8", False),
        ("success template -1 >= 1%", "r/1+", "no task of template '-1'", False),
        ("success tag smoke >= 50%", MIXED, HALF_OF_2, True),
        ("success tag sanity >= 0%", MIXED, "no run with tag 'sanity'; known: smoke", False),
        ("success level hard >= 50%", MIXED, HALF_OF_2, True),
        ("success agent a >= 60%", TRIED, "100.0% (3 of 3; 95% interval 43.9% to 100.0%)", True),
        ("success agent a/b >= 60%", TRIED, "no run of agent 'a/b'; known: a, b, c", False),
        ("success >= 0%", "r/1?", "no judged run", False),
        ("errors <= 1", MIXED, "1 error: 4", True),
        ("errors <= 0", MIXED, "1 error: 4", False),
        ("errors <= 0", "r/1+", "0 errors", True),
        ("errors <= 25%", MIXED, "1 error (25.0% of 4 runs): 4", True),
        ("errors <= 24.9%", MIXED, "1 error (25.0% of 4 runs): 4", False),
        ("errors site map-shopping <= 0", MIXED, "0 errors", True),
        ("errors site m <= 3", MIXED, "no task on site 'm'; known: map-shopping, my shop", False),
        ("errors <= 2", "a/4! b/4! a/7! b/7+", "3 errors in 2 tasks: 4, 7", False),
        ("errors <= 5%", [], "no judged run", False),
        ("excluded <= 1", MIXED, "1 excluded run: 5", True),
        ("excluded <= 0", MIXED, "1 excluded run: 5", False),
        ("excluded level hard <= 30%", MIXED, "1 excluded run (33.3% of 3 runs): 5", False),
        ("complete", MIXED, "5 runs scored", True),
        ("complete", [], "no run", False),
        ("complete", runs("r/1?", excluded_as="aborted"), "1 run scored", True),
        ("complete", runs("r/1?", excluded_as="ungraded"), "1 run without a verdict: 1", False),
        ("complete", runs("r/1?", excluded_as="skipped"), "1 run without a verdict: 1", False),
        ("complete", "r/1!", "1 run scored", True),
        ("must-pass 1, 3", MIXED, "2 of 2 tasks solved", True),
        ("must-pass 1,2,9", MIXED, "1 of 3 tasks solved; not solved: 2, 9", False),
        ("must-pass 5", MIXED, "0 of 1 task solved; not solved: 5", False),
        ("must-pass book_7", [ScoredRun(run="r/7", task_id="books_7", status="success")],
         "0 of 1 task solved; not solved: book_7; did you mean 'books_7'?", False),
        ("must-pass 2", TRIED, "0 of 1 task solved; not solved: 2", False),
        ("attempts 2 of 3 >= 30%", TRIED, "33.3% (1 of 3 tasks; 1 task with fewer attempts)", True),
        ("attempts 1 of 3 >= 100%", "a/1+ b/1+ c/1- a/2- b/2- c/2-", "50.0% (1 of 2 tasks)", False),
        ("attempts 1 of 3 >= 0%", "a/1- b/1-", "0.0% (0 of 1 task; 1 task with fewer attempts)", True),
        ("attempts 1 of 1 type mutate >= 50%", MIXED, "50.0% (1 of 2 tasks)", True),
        ("attempts 1 of 1 type navigate >= 0%", MIXED, "no task of type 'navigate'; known: mutate, retrieve", False),
        ("no-regression", "r/1+", "no baseline; make it with a session without this gate", False),
        ("no-regression beyond noise", "r/1+", "no baseline; make it with a session without this gate", False),
        ("errors <= 0", [], "no judged run", False),
        ("excluded <= 0", [], "no judged run", False),
        # nobody knows of what site, type or level a broken run is
        ("success site a >= 100%", [*runs("r/1+", sites=["a"]), *runs("r/2!")],
         "50.0% (1 of 2; 95% interval 9.5% to 90.5%)", False),
        ("errors level hard <= 0", [*runs("r/1+", group="hard"), *runs("r/2!")], "1 error: 2", False),
        ("errors tag smoke <= 0", [*runs("r/1+", tags=["smoke"]), *runs("r/2!")], "0 errors", True),
        ("certificate", "r/1+", "no judge was asked", True),
    ],
)  # fmt: skip
def test_gates_find_what_they_check(gate, rows, found, passed):
    assert check(gate, rows) == (found, passed)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"missing": [2, 3, 4, 5, 6, 7, 8]}, "7 tasks without a run: 2, 3, 4, 5, 6, … and 2 more"),
        ({"unscored": 2}, "2 runs not scored"),
        ({"missing": [2], "unscored": 1}, "1 task without a run: 2; 1 run not scored"),
    ],
)
def test_a_gate_on_completeness_names_what_is_missing(fields, found):
    assert check("complete", "r/1+", **fields) == (found, False)


def test_a_partial_session_is_not_complete():
    partial = GateCase(ScoredSession("B", runs("r/1+"), partial=True))
    assert parse_gate("complete").evaluate(partial).found == "a partial session"


@pytest.mark.parametrize(
    ("judging", "found", "passed"),
    [
        ({}, "no certificate", False),
        ({"certificate": {"problem": "version was 0 and is 1", "labelled": 60}}, "version was 0 and is 1", False),
        ({"certificate": {"problem": None, "labelled": 60}}, "60 labelled runs", True),
    ],
)
def test_a_judge_needs_a_valid_certificate(judging, found, passed):
    assert check("certificate", "r/1+", judging=judging) == (found, passed)


def some(count):
    """So many successes."""
    return " ".join(f"r/{number}+" for number in range(1, count + 1))


EIGHT = some(8)


@pytest.mark.parametrize(
    ("gate", "before", "after", "passed"),
    [
        ("no-regression beyond noise", EIGHT, EIGHT.replace("r/1+", "r/1-"), True),
        ("no-regression beyond noise", EIGHT, EIGHT.replace("+", "-"), False),
        ("no-regression beyond noise", EIGHT, EIGHT.replace("r/1+", ""), False),
        ("no-regression", EIGHT, EIGHT, True),
        ("no-regression", EIGHT, EIGHT.replace("r/1+", "r/1-"), False),
        ("no-regression", EIGHT, EIGHT.replace("r/1+", "r/1!"), False),
        ("no-regression", EIGHT.replace("r/1+", "r/1-"), EIGHT.replace("r/1+", "r/1!"), True),
        ("no-regression", EIGHT, EIGHT.replace("r/1+", ""), False),
    ],
)
def test_gates_against_a_baseline(gate, before, after, passed):
    assert check(gate, after, before)[1] is passed


def on(site, text, **fields):
    return runs(text, sites=[site], **fields)


@pytest.mark.parametrize(
    ("gate", "before", "after", "passed"),
    [
        ("no-regression site a", [*on("a", "r/1+"), *on("b", "r/2+")], [*on("a", "r/1+"), *on("b", "r/2-")], True),
        ("no-regression site b", [*on("a", "r/1+"), *on("b", "r/2+")], [*on("a", "r/1+"), *on("b", "r/2-")], False),
        ("no-regression site a", [*on("a", "r/1+ r/3+"), *on("b", "r/2+")], on("a", "r/3+"), False),
        ("no-regression site a", [*on("a", "r/1+ r/3+")], [*on("a", "r/1+"), *runs("r/3!")], False),
        ("no-regression tag smoke", on("a", "r/1+", tags=["smoke"]), on("a", "r/1-"), False),
        ("no-regression tag smoke", on("a", "r/1+"), on("a", "r/1-", tags=["smoke"]), False),
        ("no-regression tag smoke", on("a", "r/1+", tags=["smoke"]), on("a", "r/1+"), True),
        ("no-regression tag smoke", on("a", "r/1+"), on("a", "r/1+", tags=["smoke"]), True),
        ("no-regression agent x", "x/1+ y/1+", "x/1+ y/1-", True),
        ("no-regression agent y", "x/1+ y/1+", "x/1+ y/1-", False),
    ],
)  # fmt: skip
def test_a_selector_restricts_a_comparison_to_its_tasks(gate, before, after, passed):
    assert check(gate, after, before)[1] is passed


@pytest.mark.parametrize(
    ("gate", "before", "after", "found"),
    [
        ("no-regression site aa", on("aaa", "r/1+"), on("aaa", "r/1+"), "no task on site 'aa'; did you mean 'aaa'?"),
        ("no-regression", "r/1+ r/2+", "r/3+", "no common task; check the path"),
        ("no-regression", [], "r/3+", "no common task; check the path"),
        ("no-regression site a", on("a", "r/1+"), on("a", "r/2+"), "no common task; check the path"),
        ("no-regression beyond noise", some(5), some(5).replace("+", "-"),
         "this gate cannot fail: 5 common tasks succeeded in the baseline, 6 regressions needed"),
    ],
)  # fmt: skip
def test_a_comparison_that_cannot_fail_fails(gate, before, after, found):
    assert check(gate, after, before) == (found, False)


REASON = "cannot fail: {} common tasks succeeded in the baseline, 6 regressions needed; use no-regression"
POWERLESS = f"gate 'no-regression beyond noise' {REASON}"
NOT_COMMON = "--webeval-baseline: no common task; check the path"


@pytest.mark.parametrize(
    ("gate", "baseline", "ids", "problem"),
    [
        ("no-regression", "r/1+", None, None),
        ("no-regression", "r/1+", "1", None),
        ("no-regression", "r/1+", "2 3", NOT_COMMON),
        ("errors <= 1", "r/1+", "2 3", NOT_COMMON),
        ("no-regression", "r/1+", "", None),
        ("no-regression beyond noise", some(6), None, None),
        ("no-regression beyond noise", f"{some(5)} r/6- r/7!", None, POWERLESS.format(5)),
        ("no-regression beyond noise", f"{some(5)} s/1+ s/2+", None, POWERLESS.format(5)),
        ("no-regression beyond noise", some(9), "90 1 2 3 4 5 80", POWERLESS.format(5)),
        ("no-regression beyond noise", some(9), "1 1 2 2 3 4", POWERLESS.format(4)),
        ("no-regression beyond noise", f"{some(6)} r/7-", "1 2 3 7 8", POWERLESS.format(3)),
        ("no-regression beyond noise", some(9), "18 19", NOT_COMMON),
        ("no-regression beyond noise", some(9), "9 8 7 6 5 4", None),
        ("no-regression tag smoke beyond noise", some(3), "1 2 3", None),  # which the new session may have
        ("no-regression agent r beyond noise", f"{some(5)} s/6+", None,
         f"gate 'no-regression agent r beyond noise' {REASON.format(5)}"),
    ],
)  # fmt: skip
def test_a_baseline_that_cannot_serve_is_refused(gate, baseline, ids, problem):
    session = ScoredSession("A", runs(baseline))
    ids = None if ids is None else ids.split()
    assert find_baseline_problem([parse_gate(gate)], session, None, ids) == problem


def test_no_more_ids_are_read_than_needed():
    session, ids = ScoredSession("A", runs(some(8))), iter("1234567")
    assert find_baseline_problem([parse_gate("no-regression beyond noise")], session, None, ids) is None
    assert next(ids) == "7"


def test_all_forms_that_a_message_shows_are_valid():
    assert [parse_gate(form).text for form in SYNTAX] == list(SYNTAX)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("success", "incomplete; quote it: --webeval-gate='success >= 60%'"),
        ("success site a", "incomplete; quote it: --webeval-gate='success site a >= 60%'"),
        ("success >=", "incomplete; quote it: --webeval-gate='success >= 60%'"),
        ("errors", "incomplete; quote it: --webeval-gate='errors <= 2'"),
        ("attempts 2 of 3", "incomplete; quote it: --webeval-gate='attempts 2 of 3 >= 60%'"),
        ("attempts >= 60%", "incomplete; use e.g. 'attempts 2 of 3 >= 60%'"),
        ("success >= 60", "not a percentage; use 60%"),
        ("success >= 0.6", "not a percentage; use 60%"),
        ("success >= 1", "not a percentage; use 100%"),
        ("success site a >= .5", "not a percentage; use 50%"),
        ("attempts 2 of 3 >= 60", "not a percentage; use 60%"),
        ("success >= sixty", "not a percentage; use e.g. 60%"),
        ("success >= 101%", "101% is more than 100%; use e.g. 60%"),
        ("errors <= 2.5", "not a number or a percentage; use e.g. 2"),
        ("errors <= -1", "not a number or a percentage; use e.g. 2"),
        ("success > 60%", "unknown sign '>'; use '>='"),
        ("success ≥ 60%", "unknown sign '≥'; use '>='"),
        ("success <= 60%", "wrong sign '<='; use '>='"),
        ("errors < 2", "unknown sign '<'; use '<='"),
        ("errors >= 1", "wrong sign '>='; use '<='"),
        ("success 60%", "no sign; use 'success >= 60%'"),
        ("success sit a >= 1%", "unknown selector 'sit'; did you mean 'site'?"),
        ("success page a >= 1%", "unknown selector 'page'; use site, type, template, tag, agent or level"),
        ("success site >= 1%", "no name of the site; use e.g. site NAME"),
        ("success site my shop >= 1%", 'a name with blanks; use site "my shop"'),
        ("no-regression site my shop", 'a name with blanks; use site "my shop"'),
        ("must-pass", "no task; use e.g. must-pass 12, 107"),
        ("must-pass 12 107", "'12 107'; separate ids by commas"),
        ("must-pass 1,,2", "'1,,2'; separate ids by commas"),
        ("attempts 3 of 2 >= 60%", "3 of 2 attempts; use e.g. 2 of 3"),
        ("attempts 0 of 2 >= 60%", "0 of 2 attempts; use e.g. 2 of 3"),
        ("complete now", "words after the gate; use complete"),
        ("completed", "unknown gate 'completed'; did you mean 'complete'?"),
        ("sucess >= 60%", "unknown gate 'sucess'; did you mean 'success'?"),
        ("tasks", "unknown gate 'tasks'; use success, attempts, errors, *"),
        ("", "unknown gate ''; use success, *"),
        ("no-regression >= 5%", "not a gate on the baseline; use e.g. 'no-regression beyond noise'"),
        ("no-regression beyond", "unknown selector 'beyond'; use site, type, template, tag, agent or level"),
        ("audit <= 0", "it is about findings of the audit; run webeval audit RUNS"),
        ("none", "it drops the gates of a file; pass --webeval-gate=none"),
        ("p95 duration <= 120", "gates on duration are not available yet; use success, *"),
        ("p95 duration > 120s", "gates on duration are not available yet; use success, *"),
        ("median steps <= few", "gates on steps are not available yet; use success, *"),
        ("mean <= 3", "gates on mean are not available yet; use success, *"),
        ("p95 duration site a <= 120s", "gates on duration are not available yet; use success, *"),
        ("cost per success <= $0.20", "gates on cost are not available yet; use success, *"),
        ("max cost tag smoke <= $1", "gates on cost are not available yet; use success, *"),
        ("median steps <= 15", "gates on steps are not available yet; use success, *"),
        ("mean tokens <= 1000", "gates on tokens are not available yet; use success, *"),
        ("cause blocked <= 5%", "gates on cause are not available yet; use success, *"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_what_to_write(text, message):
    with pytest.raises(SettingsError) as raised:
        parse_gate(text)
    start, _, end = f"invalid gate {text!r}: {message}".partition("*")
    assert str(raised.value).startswith(start) if end or message.endswith("*") else str(raised.value) == start


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no-regressed", "invalid gate 'no-regressed'; use no-regression (formerly beyond noise, now per task)"),
        ("any-regressed", "invalid gate 'any-regressed'; use no-regression"),
        ("regression", "invalid gate 'regression'; use 'no-regression beyond noise'"),
    ],
)
def test_an_old_name_names_its_successor(text, message):
    with pytest.raises(SettingsError) as raised:
        parse_gate(text)
    assert str(raised.value) == message


def test_a_long_text_is_shortened():
    with pytest.raises(SettingsError) as raised:
        parse_gate("x" * 5_000)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("configured", "typed", "gates"),
    [
        (["errors <= 1"], [], ["errors <= 1"]),
        (["errors <= 1"], ["complete", "errors <= 1"], ["errors <= 1", "complete"]),
        (["errors <= 1"], ["none"], []),
        (["errors <= 1"], ["complete", "none"], ["complete"]),
        ([], ["none"], []),
    ],
)
def test_gates_of_file_and_command_line_add_up(configured, typed, gates):
    assert [gate.text for gate in join_gates(configured, typed)] == gates


def test_a_mistake_in_a_file_names_the_key():
    with pytest.raises(SettingsError, match=r"^webeval_gate: invalid gate 'errors'"):
        join_gates(["errors"], [])


def test_a_gate_knows_whether_somebody_typed_it():
    assert [gate.is_typed for gate in join_gates(["errors <= 1"], ["complete"])] == [False, True]


def test_each_agent_has_to_reach_the_threshold_of_attempts():
    rows = "a/try-1/1+ a/try-2/1+ b/try-1/1- b/try-2/1+"
    found = "a: 100.0% (1 of 1 task); b: 0.0% (0 of 1 task)"
    assert check("attempts 2 of 2 >= 100%", rows, attempts="try-*") == (found, False)
    assert check("attempts 1 of 2 >= 100%", rows, attempts="try-*")[1]
    assert check("attempts 2 of 2 agent a >= 100%", rows, attempts="try-*") == ("a: 100.0% (1 of 1 task)", True)
    assert check("attempts 2 of 2 >= 100%", "a/r1/traj/1+ a/r2/traj/1+", attempts="r*")[0] == "a: 100.0% (1 of 1 task)"


def test_an_agent_is_named_by_the_run_folder_above_the_task():
    rows = [
        ScoredRun(run=f"{agent}/try-{number}/tea/2026-11-24", task_id="tea", status=status, is_named_by_run=True)
        for agent, status in (("a", "success"), ("b", "failure"))
        for number in (1, 2)
    ]
    found = "a: 100.0% (1 of 1 task); b: 0.0% (0 of 1 task)"
    assert check("attempts 2 of 2 >= 50%", rows, attempts="try-*") == (found, False)


def test_the_same_id_in_two_formats_has_no_second_attempt():
    rows = [*runs("a/7+", format="x"), *runs("b/7+", format="y")]
    assert check("attempts 2 of 2 >= 50%", rows) == ("0.0% (0 of 2 tasks; 2 tasks with fewer attempts)", False)
    assert not check("must-pass 7", [*runs("a/7+", format="x"), *runs("b/7-", format="y")])[1]


@pytest.mark.parametrize("gate", ["success >= 0%", "errors <= 9", "excluded <= 9", "must-pass 1", "no-regression"])
def test_a_partial_session_passes_no_gate(gate):
    whole = ScoredSession("B", runs("r/1+"))
    partial = structs.replace(whole, partial=True)
    assert parse_gate(gate).evaluate(GateCase(whole, SessionComparison(whole, whole))).passed
    result = parse_gate(gate).evaluate(GateCase(partial, SessionComparison(whole, partial)))
    assert (result.passed, result.found.endswith("; a partial session")) == (False, True)
