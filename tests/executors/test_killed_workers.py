"""Workers that are killed at random moments: each item has one result, in its place."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress
from random import Random

import pytest

from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.dask_engine import DaskEngine, LocalDaskEngine
from pytest_webeval.executors.processes import ProcessEngine
from tests.executors.clusters import kill, start_cluster
from tests.support import batch_functions
from tests.support.batch_functions import name_version

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.whole


@contextmanager
def repeat(function, random, shortest, longest):
    """Call a function after random times, as long as the block takes; counts the calls that returned something."""
    ended, calls = threading.Event(), []

    def loop():
        while not ended.wait(random.uniform(shortest, longest)):
            if function():
                calls.append(time.monotonic())

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield calls
    finally:
        ended.set()
        thread.join()


def killing(random, is_target, tmp_path):
    """Kills a random process below this one that is a target, once the first item is done."""

    def kill_one():
        if not (tmp_path / "trace").exists():
            return False
        with suppress(psutil.Error, ProcessLookupError):
            targets = [child for child in psutil.Process().children(recursive=True) if is_target(child)]
            if targets:
                os.kill(random.choice(targets).pid, signal.SIGKILL)
                return True
        return False

    return kill_one


def is_worker(process):
    """A process that a starter has forked."""
    return "executors.starter" in str(process.parent().cmdline())


def is_starter(process):
    return "executors.starter" in str(process.cmdline()) and "executors.starter" not in str(process.parent().cmdline())


def is_any(process):
    return is_worker(process) or is_starter(process)


def is_dask_worker(process):
    return "spawn_main" in str(process.cmdline())


def run(engine, tmp_path, number, size, **listeners):
    function, shared = batch_functions.leave_trace, str(tmp_path / "trace")
    lost = lambda item, reason: f"{item} {reason}"  # noqa: E731
    return list(map_batches(engine, function, shared, range(number), size=size, lost=lost, **listeners))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("is_target", "longest", "least"), [(is_worker, 0.3, 3), (is_starter, 0.8, 1), (is_any, 0.8, 1)]
)
def test_processes_that_are_killed_cost_no_item(tmp_path, seed, is_target, longest, least):
    random = Random(seed)
    with repeat(killing(random, is_target, tmp_path), random, 0.05, longest) as kills:
        assert run(ProcessEngine(2), tmp_path, 8000, 25) == list(range(1, 8001))
    assert len(kills) >= least


@pytest.mark.parametrize("is_target", [is_dask_worker, is_worker])
def test_workers_of_a_local_cluster_that_are_killed_cost_no_item(tmp_path, is_target, capfd):
    random, losses = Random(1), []
    with repeat(killing(random, is_target, tmp_path), random, 2, 4) as kills:
        results = run(LocalDaskEngine(2, name_version), tmp_path, 20000, 100, on_loss=losses.append)
    assert results == list(range(1, 20001))
    assert len(kills) >= 2
    assert losses
    assert capfd.readouterr() == ("", "")


def test_workers_of_a_cluster_that_are_killed_and_replaced_cost_no_item(tmp_path):
    random = Random(2)
    with start_cluster(tmp_path, 2, "--no-nanny") as cluster:

        def replace():
            kill(cluster.workers.pop(random.randrange(len(cluster.workers))))
            return cluster.start_worker("--no-nanny")

        with repeat(replace, random, 2, 3) as kills:
            assert run(DaskEngine(cluster.address, name_version), tmp_path, 20000, 100) == list(range(1, 20001))
        assert len(kills) >= 2


def test_a_worker_that_is_killed_for_good_costs_no_item(tmp_path):
    with start_cluster(tmp_path, 2, "--no-nanny") as cluster:
        done = []

        def kill_one(count):
            done.append(count)
            if sum(done) >= 4000 and len(cluster.workers) == 2:
                kill(cluster.workers.pop())

        results = run(DaskEngine(cluster.address, name_version), tmp_path, 8000, 100, on_done=kill_one)
    assert results == list(range(1, 8001))
