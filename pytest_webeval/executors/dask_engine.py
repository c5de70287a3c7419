"""The engine of Dask: an existing cluster, or one of this machine that ends with the session."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct, field

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.dask_job import (
    Identity,
    JobHandle,
    Refusal,
    describe_difference,
    end_job,
    list_versions,
    run_batch,
)
from pytest_webeval.executors.engine import Loss, Workers, describe_error, is_worker_death
from pytest_webeval.executors.job import Job

KEY = "score-runs"  # the name of the tasks on the dashboard
CONNECT_SECONDS = 10.0
PATIENCE = 120.0  # seconds without any worker, in which a queue or an operator may start some
CHECK_SECONDS = 2.0  # between looks at the number of workers
CLOSE_SECONDS = 10
SAME_ENVIRONMENT = "start the workers in the environment of the session"
# Of the session, and of the workers of a local cluster. Profiles, ticks and monitors wake each process up to a hundred
# times a second, which takes 3% of a processor; nobody sees them there.
QUIET = {"distributed": "critical", "distributed.client": "critical", "tornado": "critical"}
LOCAL_CONFIGURATION = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.worker-saturation": 2.0,  # the next batch is there when one is done
    "logging": QUIET,
}
CONFIGURATION = {"distributed.admin.large-graph-warning-threshold": "1GB"}  # some MB of settings are fine


class DaskEngine(Struct, frozen=True):
    """A cluster that exists, by the address of its scheduler or by its scheduler file.

    `identity` runs on each worker and must have the same value there as here.
    """

    address: str
    identity: Identity
    scheduler_file: str | None = None
    patience: float = PATIENCE
    connect_seconds: float = CONNECT_SECONDS
    is_local: bool = False

    @contextmanager
    def start(self, job: Job) -> Iterator[Workers]:
        """The workers of the cluster. It is left as it was."""
        with ExitStack() as stack:
            configure(stack, CONFIGURATION)
            client = self._connect()
            stack.callback(client.close, timeout=CLOSE_SECONDS)
            wait_for_worker(client, self.patience)
            versions = check_versions(client, self.identity)
            yield stack.enter_context(submit_job(client, job, versions, self))

    def _connect(self) -> Any:
        if self.scheduler_file:
            check_scheduler_file(Path(self.scheduler_file))
        options = {"scheduler_file": self.scheduler_file} if self.scheduler_file else {"address": self.address}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # versions of libraries differ: what matters is checked
                return load_distributed().Client(**options, timeout=self.connect_seconds, set_as_default=False)
        except (OSError, ValueError) as error:
            place = self.scheduler_file or self.address
            raise ExecutorError(
                f"cannot reach a Dask scheduler at {place} ({describe_error(error)}); check that it runs there"
            ) from error


class SchedulerFile(Struct, frozen=True):
    """The part of a scheduler file that must be there."""

    address: str


def check_scheduler_file(path: Path) -> None:
    """Raise `ExecutorError` where Dask would wait for the file for ever, or fail without a message."""
    if not path.is_file():
        raise ExecutorError(f"no scheduler file at {path}; start a Dask scheduler that writes it")
    try:
        msgspec.json.decode(path.read_bytes(), type=SchedulerFile)
    except (OSError, msgspec.DecodeError) as error:
        raise ExecutorError(
            f"cannot read scheduler file {path} ({describe_error(error)}); wait until the scheduler has written it"
        ) from error


class LocalDaskEngine(Struct, frozen=True):
    """A cluster of so many processes of this machine, which only listens on loopback."""

    count: int
    identity: Identity
    patience: float = PATIENCE
    is_local: bool = True

    @contextmanager
    def start(self, job: Job) -> Iterator[Workers]:
        """The workers of a new cluster, which ends with the block."""
        distributed = load_distributed()
        with ExitStack() as stack:
            stack.enter_context(keep_environment())
            os.environ["PYTHONSAFEPATH"] = "1"  # no process that it starts imports from the current directory
            configure(stack, CONFIGURATION | LOCAL_CONFIGURATION)
            cluster = self._start_cluster(distributed)
            stack.callback(cluster.close, timeout=CLOSE_SECONDS)
            client = distributed.Client(cluster, set_as_default=False)
            stack.callback(client.close, timeout=CLOSE_SECONDS)
            yield stack.enter_context(submit_job(client, job, list_versions(self.identity), self))

    def _start_cluster(self, distributed: Any) -> Any:
        try:
            return distributed.LocalCluster(
                n_workers=self.count,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
                # Its page is off, but a port is open all the same: any free one of loopback.
                scheduler_kwargs={"allowed_failures": 0, "dashboard_address": "127.0.0.1:0"},
            )
        except (OSError, RuntimeError) as error:
            raise ExecutorError(
                f"cannot start a Dask cluster ({describe_error(error)}); use fewer processes, or process:{self.count}"
            ) from error


@contextmanager
def keep_environment() -> Iterator[None]:
    """Undo what the block changes: Dask sets the variables of its workers in this process as well."""
    before = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def load_distributed() -> Any:
    """The library, which sets the levels of its loggers when it is loaded. It takes a second."""
    return import_module("distributed")


def configure(stack: ExitStack, configuration: dict[str, Any]) -> None:
    """Configure Dask for the block of `stack`, and let it write nothing to the terminal."""
    load_distributed()
    stack.enter_context(import_module("dask.config").set(configuration))
    for name in QUIET:
        logger = logging.getLogger(name)
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL + 1)


def wait_for_worker(client: Any, seconds: float) -> None:
    """Wait until there is a worker. Raises `ExecutorError`."""
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError as error:
        raise _without_workers(client, seconds) from error


def check_versions(client: Any, identity: Identity) -> dict[str, str]:
    """The versions here, which are those of all workers. Raises `ExecutorError` for the first that differs."""
    ours = list_versions(identity)
    replies = client.run(list_versions, identity, on_error="return")
    for worker, theirs in sorted(replies.items()):
        if isinstance(theirs, BaseException):
            raise ExecutorError(
                f"worker {worker} cannot run pytest-webeval ({describe_error(theirs)}); {SAME_ENVIRONMENT}"
            )
        if difference := describe_difference(theirs, ours):
            raise _refused(worker, difference)
    return ours


@contextmanager
def submit_job(
    client: Any, job: Job, versions: dict[str, str], engine: DaskEngine | LocalDaskEngine
) -> Iterator[DaskWorkers]:
    """Workers with a job. They drop it at the end, and kill what still runs."""
    name = uuid4().hex[:8]
    # A task and not scattered data: what is lost with its worker is then computed again.
    loaded = client.submit(
        JobHandle, name, job.encode(), versions, engine.identity, key=f"load-settings-{name}", pure=False
    )
    workers = DaskWorkers(client, loaded, name, engine.patience)
    client.subscribe_topic("all", workers.note_repeated)
    try:
        yield workers
    finally:
        workers.release()
        if client.status == "running":
            with suppress(Exception):  # whatever Dask raises while it ends
                client.run(end_job, name, on_error="ignore")
        loaded.release()


class DaskWorkers(Struct, eq=False):
    """Workers of a cluster, of which some may come and go."""

    client: Any
    job: Any  # the future of a `JobHandle`
    name: str
    patience: float
    repeated: set[int] = field(default_factory=set)  # batches that the cluster runs again, since their worker died
    _futures: dict[int, Any] = field(default_factory=dict)
    _done: SimpleQueue[int] = field(default_factory=SimpleQueue)
    _count: int = 0
    _checked: float = 0.0
    _seen: float = field(default_factory=time.monotonic)  # when there was a worker

    @property
    def count(self) -> int:
        """The number of threads of all workers, as of some seconds ago."""
        if time.monotonic() - self._checked > CHECK_SECONDS:
            self._check()
        return self._count

    def submit(self, number: int, batch: bytes) -> None:
        """Submit a task with a name that nobody else on the cluster has."""
        key = f"{KEY}-{number:06}-{self.name}"
        future = self.client.submit(run_batch, self.job, batch, key=key, pure=False)
        self._futures[number] = future
        future.add_done_callback(_notice(self._done, number))

    def take(self) -> tuple[int, bytes | Loss]:
        """Wait for the next reply."""
        while True:
            try:
                number = self._done.get(timeout=CHECK_SECONDS)
            except Empty:
                self._check()
                continue
            future = self._futures.pop(number)
            reply = read_reply(future)
            future.release()
            return number, reply

    def note_repeated(self, event: tuple[float, Any]) -> None:
        """Note the batches of a worker that has gone, of whatever the scheduler tells its clients."""
        message = event[1] if isinstance(event[1], dict) else {}
        if message.get("action") == "remove-worker":
            keys = (str(key).split("-") for key in message.get("processing-tasks", ()))
            self.repeated.update(int(number) for *_, number, name in keys if name == self.name and number.isdigit())

    def release(self) -> None:
        """Give up all batches."""
        for future in self._futures.values():
            future.release()
        self._futures.clear()

    def _check(self) -> None:
        """Count the workers. Raises `ExecutorError` if there are none for too long, or no scheduler."""
        now = self._checked = time.monotonic()
        is_connected = self.client.status == "running"
        self._count = self.client.scheduler_info(n_workers=0).get("total_threads", 0) if is_connected else 0
        if self._count:
            self._seen = now
        elif not is_connected and self.client.status != "connecting":
            raise _disconnected(self.client)
        elif now - self._seen > self.patience:
            raise _without_workers(self.client, self.patience)


def _notice(done: SimpleQueue[int], number: int) -> Callable[[Any], None]:
    return lambda _: done.put(number)


def read_reply(future: Any) -> bytes | Loss:
    """The reply that a task returned. Raises `ExecutorError`."""
    try:
        reply: bytes | Loss | Refusal = future.result()
    except CancelledError as error:
        raise _disconnected(future.client) from error
    except Exception as error:
        if is_worker_death(error):
            return Loss("with its Dask worker", getattr(error, "allowed_failures", 0) + 1)
        raise ExecutorError(f"a worker cannot run a batch ({describe_error(error)}); {SAME_ENVIRONMENT}") from error
    if isinstance(reply, Refusal):
        raise _refused(reply.worker, reply.difference)
    return reply


def _refused(worker: str, difference: str) -> ExecutorError:
    return ExecutorError(f"worker {worker} {difference}; {SAME_ENVIRONMENT}")


def _without_workers(client: Any, seconds: float) -> ExecutorError:
    place = client.scheduler.address if client.scheduler else "the scheduler"
    return ExecutorError(f"the Dask cluster at {place} has no worker for {seconds:g} s; start workers there")


def _disconnected(client: Any) -> ExecutorError:
    place = client.scheduler.address if client.scheduler else "the scheduler"
    return ExecutorError(f"lost the connection to the Dask scheduler at {place}; start it again, and reuse results")
