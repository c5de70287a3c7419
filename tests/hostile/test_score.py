"""`score` comes to the same results over hostile directories as a session of pytest."""

from __future__ import annotations

import os

import pytest

from tests.hostile.corpus.sessions import listed, run_with_score

pytestmark = pytest.mark.whole
EVERY = int(os.environ.get("WEBEVAL_HOSTILE_EVERY", "4"))  # 1 compares all directories, in some minutes


@pytest.fixture(scope="session", params=[EVERY])
def pair(request, tmp_path_factory):
    """A session of `score` and one of pytest, over every so many hostile directories."""
    return run_with_score(tmp_path_factory.mktemp("corpus-score"), request.param)


def test_all_results_and_summaries_are_the_same(pair):
    scored, alone = pair
    found, others = scored.results, alone.results
    assert len(others) > 40
    assert found.keys() == others.keys()
    differing = [name for name in others if found[name] != others[name]]
    assert not differing, listed(differing)
    assert scored.rows == alone.rows
    assert scored.code == alone.code == 1


def test_nothing_but_results_is_written(pair):
    scored, _ = pair
    assert not [name for name in scored.changed if not name.startswith("scored")]
