"""Many small runs on a cluster, with a worker killed half-way, leave the files that pytest and processes leave."""

from __future__ import annotations

import os

import pytest

from pytest_webeval.commands.score import BATCH
from tests.executors.many_runs import CLUSTER, PROCESSES, PYTEST, ManyRuns

pytest.importorskip("distributed")
COUNT = int(os.environ.get("WEBEVAL_MANY_RUNS", "100_000"))
MOST_TIMES = 1.3  # the processor time of the processes


def score_in_all_ways(directory, count, batch):
    """The cost of each way, whose files are all there and those of pytest."""
    runs = ManyRuns.write(directory, count)
    costs = {way: runs.score(way, batch, is_killed=way == CLUSTER) for way in (PYTEST, PROCESSES, CLUSTER)}
    assert {cost.code for cost in costs.values()} == {1}, runs.printed  # a third of the runs fails
    assert costs[CLUSTER].killed == ["scorer", "worker"]
    assert count // 2 <= costs[CLUSTER].done < count
    assert len(runs.list_results(PYTEST)) == count
    assert (runs.differing(PROCESSES), runs.differing(CLUSTER)) == ([], [])
    return costs


@pytest.mark.whole
def test_a_cluster_that_loses_a_worker_half_way_leaves_the_files_of_pytest(tmp_path):
    score_in_all_ways(tmp_path, 150, 5)


@pytest.mark.whole
def test_a_cluster_that_loses_a_worker_takes_at_most_1_3_times_the_processor_time_of_processes(tmp_path):
    costs = score_in_all_ways(tmp_path, COUNT, BATCH)
    print(*(f"{way}: {cost}" for way, cost in costs.items()), sep="\n")
    assert costs[CLUSTER].cpu <= MOST_TIMES * costs[PROCESSES].cpu
