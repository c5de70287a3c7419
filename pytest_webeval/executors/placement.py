"""Where batches run: an executor whose workers load a job, or any other executor of `concurrent.futures`."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, TypeVar

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import Job
from pytest_webeval.safety.text import to_line

T = TypeVar("T")

LONGEST_REASON = 300  # characters
LOST_MESSAGE = (
    "a worker process that scored this run died {deaths} times ({reason}); inspect the run, or lower the limits"
)
# Exceptions with which executors report that a worker died and others are left, by module and name.
WORKER_DEATHS = {
    "distributed.scheduler.KilledWorker",
    "ray.exceptions.NodeDiedError",
    "ray.exceptions.OutOfMemoryError",
    "ray.exceptions.RayActorError",
    "ray.exceptions.WorkerCrashedError",
}


class WorkerDied(Exception):
    """Workers died with a call: how, and how many. `is_exact`: no other call can be the cause.

    `exit_code` is that of the process, negative for a signal, where the executor knows it.
    """

    def __init__(self, reason: str, deaths: int = 1, exit_code: int | None = None, *, is_exact: bool = False) -> None:
        super().__init__(reason, deaths, exit_code)
        self.reason, self.deaths, self.exit_code, self.is_exact = reason, deaths, exit_code, is_exact

    @property
    def message(self) -> str:
        """The error of a run that was lost with them."""
        return LOST_MESSAGE.format(deaths=self.deaths, reason=self.reason)


class JobExecutor(Executor):
    """An executor for one job, which is loaded first. It ends its workers, and what they do, at the end of its block.

    `is_local`: all workers are certainly on this machine. `has_job`: its workers get the job by `load` alone.
    """

    is_local = True
    has_job = True

    def load(self, job: Job) -> None:
        """Start the workers, which load the job. Raises `ExecutorError`."""

    def count_workers(self) -> int:
        """How many calls can run at the same time now."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise `ExecutorError` if no reply will come any more. Called from time to time while one is awaited."""

    def is_repeated(self, future: Future[Any]) -> bool:  # noqa: ARG002  (some executors know)
        """Whether a call was run again by the executor itself, since its first worker died. Asked once."""
        return False

    def read(self, future: Future[T]) -> T:
        """What a call has returned. Raises `WorkerDied`, and `ExecutorError`."""
        try:
            return future.result()
        except (WorkerDied, ExecutorError):
            raise
        except (BrokenExecutor, CancelledError) as error:
            raise self.describe_end(error) from error
        except Exception as error:
            if any(f"{kind.__module__}.{kind.__qualname__}" in WORKER_DEATHS for kind in type(error).__mro__):
                raise WorkerDied(describe_error(error), getattr(error, "allowed_failures", 0) + 1) from error
            raise ExecutorError(
                f"the executor cannot run a batch: {describe_error(error)}; install the same packages for all workers"
            ) from error

    def describe_end(self, error: BaseException) -> ExecutorError:
        """Why no call is run any more."""
        return ExecutorError(f"the executor accepts no work any more: {describe_error(error)}; start another one")


def wrap_executor(executor: Executor, workers: int | None = None) -> JobExecutor:
    """An executor of `concurrent.futures`, or one with that interface, as one for jobs. It stays open.

    `workers` is how many calls it runs at the same time, in case the executor does not say so. Time limits of a
    function interrupt only main threads: prefer executors of processes.
    """
    return WrappedExecutor(executor, workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


class WrappedExecutor(JobExecutor):
    """An executor whose workers get the job with the first batches."""

    is_local = False  # nobody knows
    has_job = False

    def __init__(self, executor: Executor, count: int) -> None:
        self._executor, self._count = executor, count

    def count_workers(self) -> int:
        """As many as somebody has said."""
        return self._count

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a call. Raises `ExecutorError` if the executor is broken, or shut down."""
        try:
            return self._executor.submit(fn, *args, **kwargs)
        except (BrokenExecutor, RuntimeError) as error:
            raise self.describe_end(error) from error

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Leave the executor to who made it."""


def describe_error(error: BaseException) -> str:
    """An exception on one line."""
    return to_line(f"{type(error).__name__}: {error}", LONGEST_REASON)
