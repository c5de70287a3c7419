"""Worker processes come to the same results over hostile directories as a session that scores them itself."""

from __future__ import annotations

import pytest

from tests.hostile.corpus.sessions import listed, run_with_workers

pytestmark = pytest.mark.whole


@pytest.fixture(scope="session", params=[8])
def pair(request, tmp_path_factory):
    """A session with workers and one without, over every so many hostile directories."""
    return run_with_workers(tmp_path_factory.mktemp("workers"), request.param)


def test_all_results_are_the_same(pair):
    ahead, alone = pair
    found, others = ahead.results, alone.results
    assert len(others) > 40
    assert found.keys() == others.keys()
    differing = [name for name in others if found[name] != others[name]]
    assert not differing, listed(differing)
    assert ahead.rows == alone.rows
    assert ahead.code == alone.code == 1


def test_workers_did_score_them(pair):
    ahead, _ = pair
    assert b"webeval: 2 worker processes" in ahead.output
    assert b"had no effect" not in ahead.output
    assert b"ended by itself" not in ahead.output
