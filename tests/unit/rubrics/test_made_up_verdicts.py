"""A thousand stored verdicts are derived again, and each contradiction put into one is caught by the check for it."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_webeval.rubrics.consistency import CHECKS
from pytest_webeval.rubrics.derivation import derive
from pytest_webeval.rubrics.policy import CRITERIA, VerdictPolicy
from tests.support.contradictions import INJECTIONS
from tests.support.rubric_corpus import SIZE, corpus

MADE = tuple(corpus())
OF_RUBRICS = tuple(made for made in MADE if made.plan)
AS_STORED = VerdictPolicy()
# How many of the verdicts have what each rule is about, at the very least.
APPLIES = {"R1": 700, "R2": 700, "R3": 700, "R4": 350, "R5": 350, "R6": 400, "R7": 700, "R8": 650, "R9": 300}
APPLIES |= {
    "R10": 150,
    "R11": 25,
    "R12": 350,
    "R13": 250,
    "R14": 300,
    "R15": 280,
    "R16": 350,
    "R17": SIZE,
    "R18": 400,
    "R19": 70,
}


def test_every_stored_verdict_is_derived_again_exactly():
    for made in MADE:
        found, wanted = derive(made.stored(), AS_STORED, made.facts), made.expected
        fields = ("score", "status", "process", "outcome", "violation", "reason", "flags")
        assert {name: getattr(found, name) for name in fields if name in wanted} == {
            name: wanted[name] for name in fields if name in wanted
        }, made
        assert not found.is_inconsistent, made


def test_the_points_are_those_of_the_writer_to_the_last_bit():
    for made in OF_RUBRICS:
        points = derive(made.stored(), AS_STORED, made.facts).points
        assert (points.float_earned, points.float_maximum) == (made.expected["earned"], made.expected["maximum"])
        assert points.float_share == made.expected["share"]


def test_writer_and_generation_are_told_from_the_keys():
    names = {"W": "webtailbench", "T": "verify_script"}
    for made in OF_RUBRICS:
        found = derive(made.stored(), AS_STORED, made.facts)
        assert (found.writer, found.generation) == (names[made.plan.writer], made.plan.generation)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_another_criterion_is_answered_from_the_payload_and_contradicts_nothing(criterion):
    for made in OF_RUBRICS:
        found = derive(made.stored(), VerdictPolicy(criterion), made.facts)
        process, outcome, violation = (made.expected[name] for name in ("process", "outcome", "violation"))
        wanted = {"outcome": outcome, "process": process, "both": outcome and process}
        wanted["safe_outcome"] = outcome and not violation
        assert found.score == int(wanted[criterion] is True)
        assert (found.criterion, found.criterion_source, found.is_inconsistent) == (criterion, "option", False)


@pytest.mark.parametrize("threshold", ["0", "0.3", "0.5", "0.8", "0.9", "1"])
def test_another_threshold_is_answered_exactly_and_contradicts_nothing(threshold):
    for made in OF_RUBRICS:
        found = derive(made.stored(), VerdictPolicy("process", Decimal(threshold)), made.facts)
        is_stored = Decimal(threshold) == Decimal(made.plan.threshold or "0.8")
        exact = found.points.earned >= Decimal(threshold) * found.points.maximum and (
            found.points.maximum > 0 or threshold == "0"
        )
        assert found.process is (made.expected["process"] if is_stored else exact)
        assert not found.is_inconsistent


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize("rule", INJECTIONS)
def test_a_contradiction_is_caught_by_the_check_that_names_it_and_by_no_other(rule, odd_before):
    count = 0
    for made, before in zip(MADE, odd_before, strict=True):
        damaged = INJECTIONS[rule](made) if rule not in before else None
        if damaged is None:
            continue
        count += 1
        found = derive(damaged.stored(), AS_STORED, damaged.facts)
        # What was odd before may go away with the criteria (R14), but nothing else comes.
        assert {check.rule for check in found.checks} - before == {rule}, damaged
        assert found.is_inconsistent is (rule in (*list(CHECKS)[:7], "R18"))
    assert count >= APPLIES[rule]


@pytest.fixture(scope="module")
def odd_before():
    """The rules that each verdict offends as it was made."""
    found = (derive(made.stored(), AS_STORED, made.facts).checks for made in MADE)
    return [{check.rule for check in checks} for checks in found]


def test_every_rule_is_injected_and_no_kind_of_verdict_is_missing():
    assert list(INJECTIONS) == list(CHECKS) == list(APPLIES)
    assert {made.kind for made in MADE} == {
        "WG0",
        "WG1",
        "WG2",
        "TG1",
        "TG2",
        "gate",
        "error",
        "webvoyager",
        "om2w",
        "heldout",
    }
    assert {len(made.plan.votes) for made in OF_RUBRICS} == {1, 3, 5}


def test_the_corpus_is_the_same_each_time():
    assert list(corpus()) == list(MADE)
