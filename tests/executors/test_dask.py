"""Dask clusters as executors: an existing one, and one that a session starts."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from importlib import metadata
from threading import Timer

import pytest

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors import dask_job
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.dask_executor import DaskExecutor, LocalDaskExecutor
from pytest_webeval.executors.dask_job import JobHandle, describe_difference, list_versions, run_in_process
from pytest_webeval.executors.job import Job, decode_reply, encode, run_batch
from pytest_webeval.executors.placement import wrap_executor
from tests.executors.clusters import kill, start_cluster
from tests.support import batch_functions
from tests.support.batch_functions import name_loss, name_version

distributed, psutil = pytest.importorskip("distributed"), pytest.importorskip("psutil")
pytestmark = pytest.mark.whole
LOST = "a worker process that scored this run died 2 times (signal 9); inspect the run, or lower the limits"


def run(engine, function, shared, items, size=10, **listeners):
    return list(map_batches(engine, function, shared, items, size=size, lost=name_loss, **listeners))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster with two workers, which has no nannies and so starts faster."""
    with start_cluster(tmp_path_factory.mktemp("cluster"), 2, "--no-nanny") as cluster:
        yield cluster


@pytest.fixture
def engine(cluster):
    return DaskExecutor(cluster.address, name_version)


def list_workers(cluster):
    """The processes that run batches."""
    trees = [psutil.Process(worker.pid).children(recursive=True) for worker in cluster.workers]
    return [process for tree in trees for process in tree]


def test_a_cluster_runs_batches(engine):
    assert run(engine, batch_functions.multiply, 3, range(5000)) == list(range(0, 15000, 3))


def test_a_cluster_is_known_by_its_scheduler_file(cluster):
    engine = DaskExecutor("", name_version, scheduler_file=str(cluster.scheduler_file))
    assert run(engine, batch_functions.multiply, 3, range(5)) == [0, 3, 6, 9, 12]


def test_functions_run_in_main_threads_where_time_limits_work(engine):
    assert run(engine, batch_functions.is_interruptible, None, range(3)) == [True] * 3


def test_only_the_item_that_kills_its_process_is_lost(engine):
    reasons = []
    results = run(engine, batch_functions.kill_itself, 500, range(1000), size=100, on_loss=reasons.append)
    assert results == [2 * item if item != 500 else (500, LOST) for item in range(1000)]
    assert reasons == ["signal 9"] * 5


def test_a_bug_ends_the_session_with_its_traceback(engine):
    with pytest.raises(ZeroDivisionError) as caught:
        run(engine, batch_functions.divide_by, 1, [1, 2, 0])
    assert "in divide_by" in caught.value.__notes__[0]


def test_settings_are_loaded_once_by_the_process_of_each_worker(engine, tmp_path):
    shared = batch_functions.Counted(str(tmp_path / "loaded"))
    run(engine, batch_functions.sleep_and_echo, shared, range(400), size=1)
    loaded = (tmp_path / "loaded").read_text().split()
    assert len(loaded) == len(set(loaded)) == 2


def test_a_session_leaves_the_cluster_without_its_tasks_and_processes(cluster, engine):
    results = map_batches(engine, batch_functions.sleep, 30, range(100), size=1, lost=name_loss)
    Timer(2, signal.raise_signal, [signal.SIGINT]).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert time.monotonic() - began < 15
    until = time.monotonic() + 10
    with distributed.Client(cluster.address, set_as_default=False) as client:
        while (list_workers(cluster) or client.run_on_scheduler(count_tasks)) and time.monotonic() < until:
            time.sleep(0.1)
        assert (list_workers(cluster), client.run_on_scheduler(count_tasks)) == ([], 0)


def count_tasks(dask_scheduler=None):
    return len(dask_scheduler.tasks)


def test_tasks_have_a_name_that_reads_well_and_is_released(cluster, engine):
    seen = set()

    def look(_):
        seen.update(client.run_on_scheduler(list_keys))

    with distributed.Client(cluster.address, set_as_default=False) as client:
        run(engine, batch_functions.multiply, 3, range(2000), size=10, on_done=look)
        prefixes = client.run_on_scheduler(list_prefixes)
    names = {key.rpartition("-")[0] for key in seen if key.startswith("score")}
    assert names >= {"score-runs-000050", "score-runs-000100"}
    assert {"score-runs", "load-settings"} <= set(prefixes)


def test_the_processes_of_a_session_that_was_killed_end_when_dask_has_dropped_its_job(monkeypatch):
    monkeypatch.setattr(dask_job, "UNUSED_SECONDS", 0.1)
    job = Job.of(batch_functions.multiply, 3)
    handle, copy = (JobHandle(job, list_versions(name_version), name_version) for _ in range(2))
    assert handle.job is copy.job
    assert decode_reply(run_in_process(copy, run_batch, job.name, None, encode([1, 2]))) == [3, 6]
    starters = [child for child in psutil.Process().children() if "executors.starter" in str(child.cmdline())]
    (worker,) = starters[-1].children()
    del handle
    time.sleep(0.3)
    assert worker.is_running()
    del copy
    assert psutil.wait_procs([worker], 10)[1] == []


def list_keys(dask_scheduler=None):
    return list(map(str, dask_scheduler.tasks))


def list_prefixes(dask_scheduler=None):
    return list(dask_scheduler.task_prefixes)


def test_its_own_executor_runs_batches_too(cluster):
    with distributed.Client(cluster.address, set_as_default=False) as client:
        engine = wrap_executor(client.get_executor(), 2)
        assert run(engine, batch_functions.multiply, 3, range(500)) == list(range(0, 1500, 3))


def test_a_worker_of_another_version_is_refused_at_the_start(tmp_path):
    with start_cluster(tmp_path, 1, "--no-nanny") as cluster:
        cluster.start_worker("--no-nanny", "--name=old", TEST_IDENTITY="different")
        with pytest.raises(ExecutorError) as caught:
            run(DaskExecutor(cluster.address, name_version), batch_functions.multiply, 3, range(100))
    worker, _, text = str(caught.value).removeprefix("worker ").partition(" ")
    assert worker.startswith("tcp://127.0.0.1:")
    assert text == (
        "has scoring code different, and this session has same; start the workers in the environment of the session"
    )


def test_a_worker_of_another_version_that_joins_later_is_refused(tmp_path):
    with start_cluster(tmp_path, 1, "--no-nanny") as cluster:
        joined = []

        def join(_):
            if not joined:
                joined.append(cluster.start_worker("--no-nanny", TEST_IDENTITY="different"))

        with pytest.raises(ExecutorError, match=r"^worker tcp://\S+ has scoring code different, and this session has"):
            run(DaskExecutor(cluster.address, name_version), batch_functions.sleep, 0.05, range(400), 1, on_done=join)


@pytest.mark.parametrize(
    ("name", "version"), [("Python", "3.9.0"), ("pytest-webeval", "0.0.1"), ("scoring code", "0123abc")]
)
def test_the_first_version_that_differs_is_named_with_both_values(name, version):
    ours = list_versions(name_version)
    assert describe_difference(ours, ours) is None
    assert describe_difference({**ours, name: version}, ours) == (
        f"has {name} {version}, and this session has {ours[name]}"
    )


def test_versions_are_those_of_this_process():
    assert list_versions(name_version) == {
        "Python": ".".join(map(str, sys.version_info[:3])),
        "pytest-webeval": metadata.version("pytest-webeval"),
        "scoring code": "same",
    }


def test_a_scheduler_that_is_not_there_is_named_on_one_line():
    with pytest.raises(ExecutorError) as caught:
        run(DaskExecutor("tcp://127.0.0.1:1", name_version, connect_seconds=1), batch_functions.echo, None, range(3))
    assert str(caught.value).startswith("cannot reach a Dask scheduler at tcp://127.0.0.1:1 (")
    assert str(caught.value).endswith("; check that it runs there")
    assert "\n" not in str(caught.value)


def test_a_scheduler_file_that_is_not_there_is_named_on_one_line(tmp_path):
    path = tmp_path / "absent.json"
    with pytest.raises(ExecutorError) as caught:
        run(DaskExecutor("", name_version, str(path)), batch_functions.echo, None, range(3))
    assert str(caught.value) == f"no scheduler file at {path}; start a Dask scheduler that writes it"


@pytest.mark.parametrize("content", ["", "{", "{}", "[]", '{"address": 5}', '{"address": "tcp://'])
def test_a_scheduler_file_that_is_not_complete_is_named_on_one_line(tmp_path, content):
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    with pytest.raises(ExecutorError) as caught:
        run(DaskExecutor("", name_version, str(path)), batch_functions.echo, None, range(3))
    assert str(caught.value).startswith(f"cannot read scheduler file {path} (")
    assert str(caught.value).endswith("; wait until the scheduler has written it")


def test_a_cluster_without_workers_is_named_on_one_line(tmp_path):
    with start_cluster(tmp_path, 0) as cluster, pytest.raises(ExecutorError) as caught:
        run(DaskExecutor(cluster.address, name_version, patience=0.5), batch_functions.echo, None, range(3))
    assert str(caught.value) == (f"the Dask cluster at {cluster.address} has no worker for 0.5 s; start workers there")


def test_a_cluster_that_loses_all_workers_for_good_ends_the_session(tmp_path):
    with start_cluster(tmp_path, 1, "--no-nanny") as cluster:

        def end_worker(_):
            with suppress(ProcessLookupError):
                os.killpg(cluster.workers[0].pid, signal.SIGKILL)

        engine = DaskExecutor(cluster.address, name_version, patience=1)
        with pytest.raises(ExecutorError, match=r"has no worker for 1 s; start workers there$"):
            run(engine, batch_functions.sleep, 0.05, range(400), 1, on_done=end_worker)


def test_the_items_of_a_worker_that_the_cluster_replaces_by_itself_are_named_at_the_end(tmp_path):
    with start_cluster(tmp_path, 2, "--no-nanny") as cluster:
        losses, ends, engine = [], [], DaskExecutor(cluster.address, name_version)

        def end_worker(_):
            if len(cluster.workers) == 2:
                kill(cluster.workers.pop())

        listeners = {"on_done": end_worker, "on_loss": losses.append, "on_end": ends.append}
        results = run(engine, batch_functions.sleep, 0.2, range(12), 1, **listeners)
    assert (len(results), losses) == (12, [])
    (in_hand,) = ends
    assert set(in_hand) < set(range(12))
    assert in_hand


def test_a_scheduler_that_ends_ends_the_session(tmp_path):
    with start_cluster(tmp_path, 1, "--no-nanny") as cluster:
        engine = DaskExecutor(cluster.address, name_version, patience=3)
        with pytest.raises(ExecutorError, match=r"; start it again, and reuse results$|has no worker for 3 s"):
            run(engine, batch_functions.sleep, 0.05, range(400), 1, on_done=lambda _: kill(cluster.scheduler))


def test_a_local_cluster_runs_batches_and_listens_on_loopback_only(capfd):
    addresses, others = set(), {child.pid for child in psutil.Process().children(recursive=True)}

    def look(_):
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            if process.pid in others:
                continue
            with suppress(psutil.Error):
                connections = process.net_connections("inet")
                addresses.update(each.laddr.ip for each in connections if each.status == psutil.CONN_LISTEN)

    engine, environment = LocalDaskExecutor(2, name_version), dict(os.environ)
    assert run(engine, batch_functions.multiply, 3, range(40), 10, on_done=look) == list(range(0, 120, 3))
    assert dict(os.environ) == environment
    assert addresses == {"127.0.0.1"}
    assert capfd.readouterr() == ("", "")


def test_a_local_cluster_loses_only_the_item_that_kills_its_process(capfd):
    results = run(LocalDaskExecutor(2, name_version), batch_functions.kill_itself, 5, range(40), 10)
    assert results == [2 * item if item != 5 else (5, LOST) for item in range(40)]
    assert capfd.readouterr() == ("", "")
