"""Recordings that differ from the expected one in one thing: each task and evaluator gets the reference's status."""

from __future__ import annotations

import pytest

from tests.parity.harness.mutations import mutations
from tests.parity.harness.sampling import thinned

CHUNKS = 32


@pytest.mark.whole
def test_a_sample_of_mutations(sample, agree):
    agree(thinned(map(mutations, sample), 2))


@pytest.mark.whole
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_mutation(dataset, agree, chunk):
    agree(recording for task in dataset.tasks[chunk::CHUNKS] for recording in mutations(task))
