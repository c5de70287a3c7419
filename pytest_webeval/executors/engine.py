"""The interface of engines, and the engine for any executor with the interface of `concurrent.futures`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import AbstractContextManager, contextmanager
from queue import SimpleQueue
from typing import Any, Protocol
from uuid import uuid4

from msgspec import Struct, field

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import Job, decode_job
from pytest_webeval.safety.text import to_line

LONGEST_REASON = 300  # characters


class Loss(Struct, frozen=True):
    """Workers died with a batch: how, and how many. `is_exact`: no other batch can be the cause.

    `exit_code` is that of the process, negative for a signal, where the engine knows it.
    """

    reason: str
    deaths: int = 1
    is_exact: bool = False
    exit_code: int | None = None


class Workers(Protocol):
    """Workers that have a job. They reply to batches in any order."""

    @property
    def count(self) -> int:
        """How many batches can run at the same time now."""

    def submit(self, number: int, batch: bytes) -> None:
        """Send a batch on its way. Numbers are used once."""

    def take(self) -> tuple[int, bytes | Loss]:
        """Wait for the next reply, and return it with the number of its batch. Raises `ExecutorError`."""


class Engine(Protocol):
    """A place where batches run."""

    @property
    def is_local(self) -> bool:
        """Whether all workers are certainly on this machine."""

    def start(self, job: Job) -> AbstractContextManager[Workers]:
        """Workers for a job, which end with the block. Raises `ExecutorError`."""


def wrap_executor(executor: Executor, workers: int | None = None) -> Engine:
    """The engine for an executor with the interface of `concurrent.futures`, which stays open.

    `workers` is how many batches it runs at the same time, in case the executor does not say so. Time limits of a
    function interrupt only main threads: prefer executors of processes.
    """
    return WrappedExecutor(executor, workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


# Exceptions with which executors report that a worker died and others are left, by module and name.
WORKER_DEATHS = {
    "distributed.scheduler.KilledWorker",
    "ray.exceptions.NodeDiedError",
    "ray.exceptions.OutOfMemoryError",
    "ray.exceptions.RayActorError",
    "ray.exceptions.WorkerCrashedError",
}


def is_worker_death(error: BaseException) -> bool:
    """Whether an exception of a future says that its worker died."""
    return any(f"{kind.__module__}.{kind.__qualname__}" in WORKER_DEATHS for kind in type(error).__mro__)


def describe_error(error: BaseException) -> str:
    """An exception on one line."""
    return to_line(f"{type(error).__name__}: {error}", LONGEST_REASON)


# Jobs in this process by their name. A worker keeps the last one only.
_JOBS: dict[str, Job] = {}


def run_batch(name: str, job: bytes | None, batch: bytes) -> bytes | None:
    """The reply of a worker; None if it does not have the job and did not get it with the batch."""
    current = _JOBS.get(name)
    if current is None and job is not None:
        current = decode_job(job)
        _JOBS.clear()
        _JOBS[name] = current
    return current.run(batch) if current is not None else None


class WrappedExecutor(Struct, frozen=True):
    """The engine for an executor."""

    executor: Executor
    count: int
    is_local: bool = False  # nobody knows

    @contextmanager
    def start(self, job: Job) -> Iterator[Workers]:
        """The workers of the executor. Batches that have not begun are cancelled at the end."""
        workers = FutureWorkers(self.executor, self.count, job.encode())
        try:
            yield workers
        finally:
            workers.cancel()


class FutureWorkers(Struct, eq=False):
    """Workers of an executor. The job travels with a batch only where a worker asked for it."""

    executor: Executor
    count: int
    job: bytes
    _name: str = field(default_factory=lambda: uuid4().hex)
    _batches: dict[int, tuple[bytes, Future[bytes | None]]] = field(default_factory=dict)
    _done: SimpleQueue[int] = field(default_factory=SimpleQueue)

    def submit(self, number: int, batch: bytes) -> None:
        """Send a batch. The first ones bring the job along."""
        self._submit(number, batch, is_first=number < self.count)

    def _submit(self, number: int, batch: bytes, *, is_first: bool) -> None:
        try:
            future = self.executor.submit(run_batch, self._name, self.job if is_first else None, batch)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or shut down
            raise _broken(error) from error
        self._batches[number] = batch, future
        future.add_done_callback(lambda _: self._done.put(number))

    def take(self) -> tuple[int, bytes | Loss]:
        """Wait for the next reply."""
        while True:
            number = self._done.get()
            batch, future = self._batches.pop(number)
            reply = _read(future)
            if reply is not None:
                return number, reply
            self._submit(number, batch, is_first=True)

    def cancel(self) -> None:
        """Cancel what has not begun, and forget the job in this process."""
        for _, future in self._batches.values():
            future.cancel()
        _JOBS.pop(self._name, None)


def _read(future: Future[bytes | None]) -> bytes | Loss | None:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _broken(error) from error
    except Exception as error:
        if is_worker_death(error):
            return Loss(describe_error(error), getattr(error, "allowed_failures", 0) + 1)
        raise ExecutorError(
            f"the executor cannot run a batch: {describe_error(error)}; install the same packages for all workers"
        ) from error


def _broken(error: Any) -> ExecutorError:
    return ExecutorError(f"the executor accepts no work any more: {describe_error(error)}; start another one")
