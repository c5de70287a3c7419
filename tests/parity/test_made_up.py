"""Made-up tasks, for options and value types that the data set seldom uses: the reference's status in every case."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.parity.harness.mutations import SYNTHETIC, synthetic

CHUNKS, ONE_IN = 48, 97


@pytest.mark.whole
@pytest.mark.parametrize("family", SYNTHETIC, ids=lambda family: family.__name__)
def test_a_sample_of_made_up_tasks(agree, family):
    agree(islice(family(), 0, None, ONE_IN))


@pytest.mark.whole
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_made_up_task(agree, chunk):
    agree(islice(synthetic(), chunk, None, CHUNKS))
