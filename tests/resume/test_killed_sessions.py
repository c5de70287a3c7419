"""kill -9 at random moments: no file is invalid, no result is lost, and another session completes what is missing.

A few moments with the other tests; 50 with `pytest tests/resume -m whole`.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.resume.killing import Killing

MANNERS = ((), ("-n2",))


def killed(place, moments: int, seed: int) -> Killing:
    killing = Killing(place, Random(seed))
    killing.prepare()
    for options in MANNERS:
        killing.undisturbed(*options)
    for number in range(moments):
        killing.kill_one(*MANNERS[number % len(MANNERS)])
    return killing


@pytest.mark.parametrize(
    ("moments", "seed"),
    [pytest.param(6, 1, id="some", marks=pytest.mark.whole), pytest.param(50, 2, id="fifty", marks=pytest.mark.whole)],
)
def test_a_session_that_is_killed_at_any_moment_loses_nothing(tmp_path, capsys, moments, seed):
    killing = killed(tmp_path, moments, seed)
    with capsys.disabled():
        print(f"\n{killing.counts}")
    assert killing.counts.moments >= moments
    assert len(killing.wanted) > 60
    assert killing.counts.resumed > 0
