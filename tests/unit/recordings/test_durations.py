"""Phases of a run: each has the time that was spent in it and in no other."""

from __future__ import annotations

import itertools

import pytest

from pytest_webeval.recordings import inputs as durations
from pytest_webeval.recordings.inputs import DECODE, EVALUATE, READ, PhaseTimer


@pytest.fixture(autouse=True)
def _ticking(monkeypatch):
    """A clock that goes on by one second whenever somebody looks at it."""
    monkeypatch.setattr(durations.time, "perf_counter", itertools.count().__next__)


def test_a_phase_within_another_stops_the_clock_of_that_other():
    phases = PhaseTimer()
    with phases.phase(EVALUATE), phases.phase(DECODE), phases.phase(READ):
        pass
    assert phases.seconds == {READ: 1, DECODE: 2, EVALUATE: 2}


def test_time_between_phases_is_counted_to_none():
    phases = PhaseTimer()
    with phases.phase(READ):
        pass
    with phases.phase(READ):
        pass
    assert phases.seconds == {READ: 2}


def test_a_phase_that_raises_has_ended():
    phases = PhaseTimer()
    with pytest.raises(ValueError, match="odd"), phases.phase(DECODE):
        raise ValueError("odd")
    with phases.phase(READ):
        pass
    assert phases.seconds == {DECODE: 1, READ: 1}
