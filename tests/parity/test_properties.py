"""Recordings that nobody thought of: drawn at random, the same in every session."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.parity.harness.properties import recordings

FEW, MANY, CHUNKS = 400, 500, 16


def drawn(tasks, examples):
    """So many recordings of some of the tasks. They are compared afterwards, and made smaller by `parity.shrinking`."""
    found = []

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(tasks).flatmap(recordings))
    def draw(recording):
        found.append(recording)

    draw()
    return found


@pytest.mark.whole
def test_a_few_drawn_recordings(sample, agree):
    agree(drawn(sample, FEW))


@pytest.mark.whole
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_thousands_of_drawn_recordings(dataset, agree, chunk):
    agree(drawn(dataset.tasks[chunk::CHUNKS], MANY))
