"""What a Dask worker does with a job: it hands calls to processes of its own.

Dask runs tasks in threads, where no time limit interrupts a function, and a task that kills its process takes the other
tasks of the worker along. A process for each thread has neither problem.
"""

from __future__ import annotations

import platform
import threading
import weakref
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any, TypeVar

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.job import Job
from pytest_webeval.executors.processes import ProcessExecutor

T = TypeVar("T")

SAME_ENVIRONMENT = "start the workers in the environment of the session"
UNUSED_SECONDS = 30.0  # until the processes of a session that was killed end

Identity = Callable[[], str]
Versions = dict[str, str]  # by name


def list_versions(identity: Identity) -> Versions:
    """What must be the same in the session and in all its workers."""
    try:
        own = metadata.version("pytest-webeval")
    except metadata.PackageNotFoundError:
        own = "of unknown version"
    return {"Python": platform.python_version(), "pytest-webeval": own, "scoring code": identity()}


def describe_difference(theirs: Versions, ours: Versions) -> str | None:
    """The first version that differs, both values; None if all agree."""
    for name, version in ours.items():
        if theirs.get(name) != version:
            return f"has {name} {theirs.get(name, 'of unknown version')}, and this session has {version}"
    return None


class WorkerJob:
    """The job in a Dask worker, with a process for each thread. It checks this worker by its versions."""

    def __init__(self, job: Job, versions: Versions, identity: Identity) -> None:
        self._job = job
        self._difference = describe_difference(list_versions(identity), versions)
        self._executor: ProcessExecutor | None = None
        self._lock = threading.Lock()
        self.handles = 0

    def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Make a call in a process. Other threads do the same at the same time. Raises `WorkerDied`."""
        if self._difference is not None:
            raise refuse(_own_worker().address, self._difference)
        with self._lock:
            if self._executor is None:
                self._executor = ProcessExecutor(_count_threads())
                weakref.finalize(self, self._executor.shutdown)
                self._executor.load(self._job)
        return self._executor.submit(function, *arguments).result()

    def end(self) -> None:
        """Kill the processes. Threads that await them notice."""
        if self._executor is not None:
            self._executor.shutdown()


def refuse(worker: str, difference: str) -> ExecutorError:
    """Why a worker must not take part: its address, and how it differs."""
    return ExecutorError(f"worker {worker} {difference}; {SAME_ENVIRONMENT}")


_JOBS: dict[str, WorkerJob] = {}  # by their names
_LOCK = threading.RLock()  # a finalizer may run in the thread that holds it


class JobHandle:
    """What Dask sends to a worker as the job.

    Dask drops copies of it and sends them again as it likes; the settings are loaded and the processes started once. A
    job whose last copy is gone for long belongs to a session that is gone.
    """

    def __init__(self, job: Job, versions: Versions, identity: Identity) -> None:
        self._parts = job, versions, identity
        with _LOCK:
            self.job = _JOBS.get(job.name) or WorkerJob(job, versions, identity)
            self.job.handles += 1
            _JOBS[job.name] = self.job
        weakref.finalize(self, release_handle, job.name, self.job).atexit = False

    def __reduce__(self) -> tuple[Any, ...]:
        return JobHandle, self._parts


def release_handle(name: str, job: WorkerJob) -> None:
    """End a job some time after its last handle is gone."""
    with _LOCK:
        job.handles -= 1
        if not job.handles:
            timer = threading.Timer(UNUSED_SECONDS, end_unused, [name])
            timer.daemon = True
            timer.start()


def end_unused(name: str) -> None:
    """End a job that nobody has a handle of."""
    with _LOCK:
        is_unused = name in _JOBS and not _JOBS[name].handles
    if is_unused:
        end_job(name)


def end_job(name: str) -> None:
    """End the processes of a job in this worker."""
    with _LOCK:
        job = _JOBS.pop(name, None)
    if job is not None:
        job.end()


def run_in_process(handle: JobHandle, function: Callable[..., T], *arguments: Any) -> T:
    """A task of Dask."""
    return handle.job.run(function, *arguments)


def _own_worker() -> Any:
    return import_module("distributed").get_worker()


def _count_threads() -> int:
    try:
        return int(_own_worker().state.nthreads)
    except ValueError:  # not in a worker
        return 1
