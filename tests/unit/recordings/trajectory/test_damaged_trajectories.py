"""No damage makes a run vanish or a session crash: fara_webeval.md §2, §8, over 2,000 seeded accidents."""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random

import pytest

from pytest_webeval import find_runs, score, summarize
from pytest_webeval.errors import RecordingError
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.storage import to_json_bytes
from tests.support import recorded
from tests.support.damage import damaged
from tests.support.default_run import first_by_default

BATCHES, EACH = 20, 100
CRASH = re.compile(r"RubricEvaluator: \w+: .* @ eval\[0\]", re.DOTALL)  # how an exception is told that is not ours


def scored(run):
    """The result of a run, as a session would write it."""
    try:
        return score(run)
    except RecordingError as error:
        return build_error_result(run, None, str(error))


@pytest.mark.parametrize("seed", first_by_default(range(BATCHES), 4))
def test_damaged_trajectories_are_all_found_and_none_crashes(tmp_path, seed):
    random = Random(seed)
    names = [f"task_{number:02}" for number in range(EACH)]
    for number, name in enumerate(names):
        damaged(tmp_path / recorded.RUN, name, random, outcome=number % 2 == 0)
    runs = list(find_runs(tmp_path))
    assert [run.task_id for run in runs] == names
    results = [scored(run) for run in runs]
    statuses = [result.status for result in results]
    assert "success" in statuses[::2]
    assert "success" not in statuses[1::2]  # no damage makes a success of a failure
    for result in results:
        assert "\n" not in (result.error_msg or "")
        json.loads(to_json_bytes(result.to_json()))
    summary = summarize(results)
    assert summary.total + summary.webeval["excluded_count"] == EACH
    assert summary.webeval["trajectories"]["trajectories"] == EACH
    kinds = Counter(result.webeval["trajectory"]["class"] for result in results)
    assert kinds["completed"] > 20
    assert kinds["unreadable"] > 5
    assert [one.error_msg for one in results if CRASH.match(one.error_msg or "")] == []
