"""Executors of `concurrent.futures` that others have made."""

from __future__ import annotations

import multiprocessing
import os
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors import job
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.placement import wrap_executor
from tests.support import batch_functions


def run(engine, function, shared, items, size=10):
    return list(map_batches(engine, function, shared, items, size=size, lost=batch_functions.name_loss))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("forkserver")) as executor:
        yield executor


def test_threads_run_batches():
    with ThreadPoolExecutor(3) as executor:
        assert run(wrap_executor(executor), batch_functions.multiply, 3, range(1000)) == list(range(0, 3000, 3))


def test_an_executor_stays_open_for_another_session(processes):
    engine = wrap_executor(processes)
    assert run(engine, batch_functions.multiply, 3, range(100)) == list(range(0, 300, 3))
    assert run(engine, batch_functions.multiply, 2, range(100)) == list(range(0, 200, 2))


def test_settings_reach_each_process_of_an_executor_once(processes, tmp_path):
    shared = batch_functions.Counted(str(tmp_path / "loaded"))
    run(wrap_executor(processes), batch_functions.echo, shared, range(1000), size=5)
    loaded = (tmp_path / "loaded").read_text().split()
    assert 1 <= len(loaded) == len(set(loaded)) <= 2


def test_a_process_that_was_left_out_at_first_asks_for_the_settings():
    class Late(ThreadPoolExecutor):
        """Takes the settings away, as a worker would lack them that comes late."""

        def submit(self, function, name, job, batch):
            jobs.append(job)
            return super().submit(function, name, None if len(jobs) == 1 else job, batch)

    jobs = []
    with Late(1) as executor:
        assert run(wrap_executor(executor), batch_functions.multiply, 3, range(100)) == list(range(0, 300, 3))
    assert len([job for job in jobs if job]) <= 5


@pytest.mark.parametrize(
    ("executor", "workers", "count"),
    [(ThreadPoolExecutor(3), None, 3), (ThreadPoolExecutor(3), 7, 7), (Executor(), None, os.cpu_count())],
)
def test_the_number_of_workers_is_that_of_the_executor_if_it_says_so(executor, workers, count):
    assert wrap_executor(executor, workers).count_workers() == count


def test_an_executor_that_loses_a_process_is_broken_for_good():
    executor = ProcessPoolExecutor(1, multiprocessing.get_context("forkserver"))
    with executor, pytest.raises(ExecutorError) as caught:
        run(wrap_executor(executor), batch_functions.kill_all, None, range(5))
    assert str(caught.value).startswith("the executor accepts no work any more: BrokenProcessPool: A process in the ")
    assert str(caught.value).endswith("; start another one")


def test_an_executor_that_is_shut_down_is_refused_on_one_line():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ExecutorError, match=r"^the executor accepts no work any more: RuntimeError: cannot schedule"):
        run(wrap_executor(executor), batch_functions.multiply, 3, range(5))


class WorkerCrashedError(Exception):
    """As Ray has it."""


WorkerCrashedError.__module__ = "ray.exceptions"


class Crashing(Executor):
    """Loses the worker of one batch so many times, as Ray reports it."""

    def __init__(self, crashes, error):
        self.crashes, self.error = crashes, error

    def submit(self, function, *arguments):
        future = Future()
        if self.crashes:
            self.crashes -= 1
            threading.Thread(target=future.set_exception, args=[self.error]).start()
        else:
            future.set_result(function(*arguments))
        return future


def test_a_worker_that_an_executor_has_lost_costs_no_item():
    executor = Crashing(1, WorkerCrashedError("node gone"))
    assert run(wrap_executor(executor, 2), batch_functions.multiply, 3, range(100)) == list(range(0, 300, 3))


def test_an_item_that_an_executor_loses_twice_is_lost():
    ((item, reason),) = run(wrap_executor(Crashing(2, WorkerCrashedError("gone")), 2), batch_functions.echo, 3, "a")
    assert (item, "died 2 times (WorkerCrashedError: gone)" in reason) == ("a", True)


def test_an_executor_that_cannot_run_our_code_is_named_on_one_line():
    executor = Crashing(1, ModuleNotFoundError("No module named\n'pytest_webeval'"))
    with pytest.raises(ExecutorError) as caught:
        run(wrap_executor(executor, 2), batch_functions.multiply, 3, range(5))
    assert str(caught.value) == (
        "the executor cannot run a batch: ModuleNotFoundError: No module named 'pytest_webeval'; "
        "install the same packages for all workers"
    )


def test_batches_that_have_not_begun_are_cancelled(tmp_path):
    trace = tmp_path / "trace"
    with ThreadPoolExecutor(1) as executor:
        engine = wrap_executor(executor)
        results = map_batches(
            engine, batch_functions.leave_trace, str(trace), range(100), size=20, lost=lambda *_: None
        )
        assert next(results) == 1
        results.close()
    assert 20 <= len(trace.read_text().splitlines()) <= 60  # of the 80 that were on their way


class Idle(Executor):
    """Runs the first call alone."""

    def __init__(self):
        self.futures = []

    def submit(self, function, *arguments):
        self.futures.append(Future())
        if len(self.futures) == 1:
            self.futures[0].set_result(function(*arguments))
        return self.futures[-1]


def test_calls_of_a_session_that_ends_are_cancelled_and_its_settings_dropped():
    executor = Idle()
    results = map_batches(executor, batch_functions.echo, None, range(9), size=1, lost=None)
    assert next(results) == 0
    assert len(job._LOADED) == 1
    results.close()
    assert [future.cancelled() for future in executor.futures[1:]] == [True] * (len(executor.futures) - 1)
    assert job._LOADED == {}
