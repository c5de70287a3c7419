"""The executor of Dask: an existing cluster, or one of this machine that ends with the session."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.dask_job import (
    SAME_ENVIRONMENT,
    Identity,
    JobHandle,
    Versions,
    describe_difference,
    end_job,
    list_versions,
    refuse,
    run_in_process,
)
from pytest_webeval.executors.job import Job
from pytest_webeval.executors.placement import JobExecutor, describe_error

T = TypeVar("T")

KEY = "score-runs"  # the name of the tasks on the dashboard
CONNECT_SECONDS = 10.0
PATIENCE = 120.0  # seconds without any worker, in which a queue or an operator may start some
CHECK_SECONDS = 2.0  # between looks at the number of workers
CLOSE_SECONDS = 10
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


class DaskExecutor(JobExecutor):
    """A cluster that exists, by the address of its scheduler or by its scheduler file. It is left as it was.

    `identity` runs on each worker and must have the same value there as here. Some workers may come and go.
    """

    is_local = False

    def __init__(
        self,
        address: str,
        identity: Identity,
        scheduler_file: str | None = None,
        patience: float = PATIENCE,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self.address, self.identity, self.scheduler_file = address, identity, scheduler_file
        self.patience, self.connect_seconds = patience, connect_seconds
        self._stack = ExitStack()
        self._keys: dict[Future[Any], str] = {}
        self._repeated: set[str] = set()  # calls that the cluster runs again, since their worker died
        self._submitted = self._threads = 0
        self._checked = 0.0  # when the workers were counted

    def load(self, job: Job) -> None:
        """Connect to the cluster, and check its workers. They drop the job at the end, and kill what still runs."""
        client = self._client = self._connect()
        self._stack.callback(client.close, timeout=CLOSE_SECONDS)
        versions = self._check_versions()
        self._job_name, self._name = job.name, job.name[:8]
        # A task and not scattered data: what is lost with its worker is then computed again.
        key = f"load-settings-{self._name}"
        self._loaded = client.submit(JobHandle, job, versions, self.identity, key=key, pure=False)
        self._stack.callback(self._end_job)
        client.subscribe_topic("all", self._note_repeated)
        self._executor = client.get_executor(pure=False)
        self._seen = time.monotonic()  # when there was a worker

    def _connect(self) -> Any:
        configure(self._stack, CONFIGURATION)
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

    def _check_versions(self) -> Versions:
        """The versions here, which are those of all workers. Raises `ExecutorError` for the first that differs."""
        try:
            self._client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError as error:
            raise self._without_workers() from error
        ours = list_versions(self.identity)
        replies = self._client.run(list_versions, self.identity, on_error="return")
        for worker, theirs in sorted(replies.items()):
            if isinstance(theirs, BaseException):
                raise ExecutorError(
                    f"worker {worker} cannot run pytest-webeval ({describe_error(theirs)}); {SAME_ENVIRONMENT}"
                )
            if difference := describe_difference(theirs, ours):
                raise refuse(worker, difference)
        return ours

    def _end_job(self) -> None:
        if self._client.status == "running":
            self._executor.shutdown(wait=False)
            with suppress(Exception):  # whatever Dask raises while it ends
                self._client.run(end_job, self._job_name, on_error="ignore")
        self._loaded.release()

    def count_workers(self) -> int:
        """The number of threads of all workers, as of some seconds ago."""
        if time.monotonic() - self._checked > CHECK_SECONDS:
            self.check()
        return self._threads

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Submit a task with a name that nobody else on the cluster has."""
        key = f"{KEY}-{self._submitted:06}-{self._name}"
        self._submitted += 1
        future: Future[T] = self._executor.submit(run_in_process, self._loaded, fn, *args, **kwargs, key=key)
        self._keys[future] = key
        return future

    def is_repeated(self, future: Future[Any]) -> bool:
        """Whether the cluster has run a call again."""
        return self._keys.pop(future) in self._repeated

    def _note_repeated(self, event: tuple[float, Any]) -> None:
        """Note the calls of a worker that has gone, of whatever the scheduler tells its clients."""
        message = event[1] if isinstance(event[1], dict) else {}
        if message.get("action") == "remove-worker":
            self._repeated.update(map(str, message.get("processing-tasks", ())))

    def check(self) -> None:
        """Count the workers. Raises `ExecutorError` if there are none for too long, or no scheduler."""
        now = self._checked = time.monotonic()
        is_connected = self._client.status == "running"
        self._threads = self._client.scheduler_info(n_workers=0).get("total_threads", 0) if is_connected else 0
        if self._threads:
            self._seen = now
        elif not is_connected and self._client.status != "connecting":
            raise self._disconnected()
        elif now - self._seen > self.patience:
            raise self._without_workers()

    def describe_end(self, error: BaseException) -> ExecutorError:
        """What Dask does to tasks without a scheduler is to cancel them."""
        return self._disconnected() if isinstance(error, CancelledError) else super().describe_end(error)

    def _without_workers(self) -> ExecutorError:
        problem = f"the Dask cluster at {self._place} has no worker for {self.patience:g} s"
        return ExecutorError(f"{problem}; start workers there")

    def _disconnected(self) -> ExecutorError:
        return ExecutorError(
            f"lost the connection to the Dask scheduler at {self._place}; start it again, and reuse results"
        )

    @property
    def _place(self) -> str:
        return self._client.scheduler.address if self._client.scheduler else "the scheduler"

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002
        """End all calls, and leave the cluster."""
        self._stack.close()
        self._keys.clear()


class LocalDaskExecutor(DaskExecutor):
    """A cluster of so many processes of this machine, which only listens on loopback and ends with the block."""

    is_local = True

    def __init__(self, count: int, identity: Identity, patience: float = PATIENCE) -> None:
        super().__init__("", identity, patience=patience)
        self.count = count

    def _connect(self) -> Any:
        distributed = load_distributed()
        self._stack.enter_context(keep_environment())
        os.environ["PYTHONSAFEPATH"] = "1"  # no process that it starts imports from the current directory
        configure(self._stack, CONFIGURATION | LOCAL_CONFIGURATION)
        try:
            cluster = distributed.LocalCluster(
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
        self._stack.callback(cluster.close, timeout=CLOSE_SECONDS)
        return distributed.Client(cluster, set_as_default=False)

    def _check_versions(self) -> Versions:
        return list_versions(self.identity)


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
