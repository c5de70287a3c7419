"""What a Dask worker does with a job: it hands batches to processes of its own.

Dask runs tasks in threads, where no time limit interrupts a function, and a task that kills its process takes the other
tasks of the worker along. A process for each thread has neither problem.
"""

from __future__ import annotations

import platform
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module, metadata
from typing import Any

from msgspec import Struct

from pytest_webeval.executors.engine import Loss
from pytest_webeval.executors.processes import ProcessPool

UNUSED_SECONDS = 30.0  # until the processes of a session that was killed end

Identity = Callable[[], str]
Versions = dict[str, str]  # by name


class Refusal(Struct, frozen=True):
    """A worker that must not take part: its address, and how it differs."""

    worker: str
    difference: str


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

    def __init__(self, job: bytes, versions: Versions, identity: Identity) -> None:
        self._job = job
        self._difference = describe_difference(list_versions(identity), versions)
        self._pools: list[ProcessPool] = []  # all, each with one process
        self._idle: list[ProcessPool] = []
        self.handles = 0
        weakref.finalize(self, close_all, self._pools)

    def run(self, batch: bytes) -> bytes | Loss | Refusal:
        """The reply to a batch. Other threads do the same at the same time."""
        if self._difference is not None:
            return Refusal(_own_address(), self._difference)
        pool = self._take_pool()
        pool.submit(0, batch)
        _, reply = pool.take()
        self._idle.append(pool)
        return reply

    def _take_pool(self) -> ProcessPool:
        with suppress(IndexError):
            return self._idle.pop()
        pool = ProcessPool(1, (), self._job)
        self._pools.append(pool)
        pool.start()
        return pool

    def end(self) -> None:
        """End the processes. Those that run a batch are killed, and their threads notice."""
        while self._idle:
            self._idle.pop().close()
        for pool in self._pools:
            pool.kill()


def close_all(pools: Iterable[ProcessPool]) -> None:
    """End processes."""
    for pool in pools:
        pool.close()


_JOBS: dict[str, WorkerJob] = {}  # by the name of their session
_LOCK = threading.RLock()  # a finalizer may run in the thread that holds it


class JobHandle:
    """What Dask sends to a worker as the job.

    Dask drops copies of it and sends them again as it likes; the settings are loaded and the processes started once. A
    job whose last copy is gone for long belongs to a session that is gone.
    """

    def __init__(self, name: str, job: bytes, versions: Versions, identity: Identity) -> None:
        self._parts = name, job, versions, identity
        with _LOCK:
            self.job = _JOBS.get(name) or WorkerJob(job, versions, identity)
            self.job.handles += 1
            _JOBS[name] = self.job
        weakref.finalize(self, release_handle, name, self.job).atexit = False

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


def run_batch(handle: JobHandle, batch: bytes) -> bytes | Loss | Refusal:
    """A task of Dask."""
    return handle.job.run(batch)


def _own_address() -> str:
    address: str = import_module("distributed").get_worker().address
    return address
