"""What Dask costs beyond the processes of this machine, and that memory does not grow with the items."""

from __future__ import annotations

import pytest

from tests.executors.measure_engines import measure_alone

pytestmark = pytest.mark.whole
NUMBER = 100_000
SECONDS = 0.0003  # far less than a run takes
SIZE = 500


def test_a_local_cluster_takes_at_most_1_3_times_the_processor_time_of_processes():
    processes, cluster = (measure_alone(name, SECONDS, NUMBER, SIZE) for name in ("process", "local"))
    assert processes["workers"] > NUMBER * SECONDS  # all workers are counted
    totals = [measured["session"] + measured["workers"] for measured in (processes, cluster)]
    assert totals[1] <= 1.3 * totals[0]


@pytest.mark.parametrize(("name", "most"), [("process", 5), ("local", 60)])
def test_memory_does_not_grow_with_the_items(name, most):
    few, many = (measure_alone(name, 0, number, 1000)["memory"] for number in (20_000, 1_000_000))
    assert many - few < most  # MB
