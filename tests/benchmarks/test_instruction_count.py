"""Scoring a recording must not become dearer unnoticed."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import pytest

from tests.benchmarks.harness import instruction_counts
from tests.benchmarks.harness.counters import CALLGRIND, PERF, CannotCount, InstructionCounter
from tests.benchmarks.harness.instruction_counts import Conditions, check, complaint, record, recorded, recorded_under

ELSEWHERE = Conditions("3.11", "aarch64", "callgrind")


@pytest.mark.whole
def test_scoring_a_recording_takes_no_more_instructions_than_recorded(tmp_path, skip_or_fail):
    try:
        wrong = check(tmp_path, recorded())
    except CannotCount as error:
        skip_or_fail(error)
    assert not wrong


@pytest.mark.parametrize("instructions", [1, 900_000, 1_100_000])
def test_a_tenth_more_is_allowed_and_less_is_welcome(instructions):
    assert complaint(instructions, 1_000_000) == ""


def test_a_count_beyond_that_is_told_with_what_was_recorded_and_how_to_record_it_anew():
    assert complaint(1_100_001, 1_000_000) == (
        "scoring a recording takes 1,100,001 instructions; recorded are 1,000,000, and 10 % more is allowed. Make it "
        "cheaper, or say why it costs more and record the new count with python -m tests.benchmarks.instructions"
    )


@pytest.mark.parametrize("other", [{"python": "3.12"}, {"machine": "x86_64"}, {"counter": "perf"}])
def test_counts_under_other_conditions_are_not_compared(other):
    assert recorded_under(ELSEWHERE, {ELSEWHERE: 5}) == 5
    with pytest.raises(CannotCount, match=r"no count of .* is recorded; record one with python "):
        recorded_under(replace(ELSEWHERE, **other), {ELSEWHERE: 5})


def test_where_nothing_is_recorded_nothing_is_counted(tmp_path):
    with pytest.raises(CannotCount, match=r"no count of callgrind on .*; no count of perf on "):
        check(tmp_path, {ELSEWHERE: 5})
    assert list(tmp_path.iterdir()) == []


def test_a_new_count_takes_the_place_of_the_one_under_the_same_conditions(tmp_path, monkeypatch):
    monkeypatch.setattr(instruction_counts, "RECORDED", tmp_path / "instructions.json")
    (tmp_path / "instructions.json").write_text("[]")
    other = replace(ELSEWHERE, machine="x86_64")
    for conditions, count in ((ELSEWHERE, 1), (other, 2), (ELSEWHERE, 3)):
        record(conditions, count)
    assert recorded() == {ELSEWHERE: 3, other: 2}


@pytest.mark.parametrize(
    ("counter", "printed", "instructions"),
    [
        (CALLGRIND, "==7429== Events    : Ir\n==7429== Collected : 1305120535\n==7429==\n", 1_305_120_535),
        (PERF, "a warning of the program\n2345678;;instructions:u;901234;100.00;;\n", 2_345_678),
    ],
)
def test_what_a_counter_prints_is_read(counter, printed, instructions):
    assert said_by(counter, printed).count([], {}) == instructions


def said_by(counter, printed, code=0):
    """The counter, as if its program had printed that."""
    program = f"import sys; sys.stderr.write({printed!r}); sys.exit({code})"
    return InstructionCounter(counter.name, (sys.executable, "-c", program), counter.printed)


@pytest.mark.parametrize(
    ("counter", "told"),
    [
        (said_by(PERF, "<not supported>;;instructions:u;0;100.00;;\n"), "counts nothing here: <not supported>"),
        (said_by(CALLGRIND, "Collected : 5", 1), "counts nothing here: Collected : 5"),
        (InstructionCounter("none", ("no-such-counter",), re.compile("")), "there is no no-such-counter here"),
    ],
)
def test_a_counter_that_is_of_no_use_says_why(counter, told):
    with pytest.raises(CannotCount, match=re.escape(told)):
        counter.count([], {})
