"""Worker processes that score runs ahead of a session, which takes the outcomes in its own order."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.connection import Pipe
from multiprocessing.connection import wait
from pathlib import Path

from msgspec import Struct
from msgspec import field

from pytest_webeval.scoring.worker import NO_RESULT
from pytest_webeval.scoring.worker import Outcome
from pytest_webeval.scoring.worker import Request
from pytest_webeval.scoring.worker import WorkerSettings
from pytest_webeval.scoring.worker import decode
from pytest_webeval.scoring.worker import encode

# -P: what lies in the current directory, which may be a run, is not imported.
START = "import sys; sys.path[:] = {path!r}; from pytest_webeval.scoring.worker import main; main({handle})"
QUEUED = 2  # requests at one worker, so that it need not wait for the next
AHEAD = 16  # outcomes for each worker that may wait to be taken
SHORT = 2**14  # bytes of a request that fits into the socket beside others
TRIES = 2
LOST = "worker processes that scored this run died {tries} times ({status}); inspect the run, or lower the limits"
# The installation or the machine is at fault, not a run.
ENDED = (
    "a worker process ended by itself ({status}), and its runs were scored without it; to see why, run "
    'python -P -c "import pytest_webeval.scoring.worker"'
)
NOT_STARTED = "cannot start a worker process ({reason}), and the runs were scored without it; use fewer workers"


class Worker(Struct, eq=False):
    """A process with the requests that it has not answered, the oldest first."""

    process: subprocess.Popen[bytes]
    connection: Connection
    requests: deque[tuple[Path, bytes]] = field(default_factory=deque)

    @classmethod
    def start(cls, settings: WorkerSettings) -> Worker:
        """A new process."""
        ours, theirs = Pipe()
        with theirs:
            program = START.format(path=[path for path in sys.path if path], handle=theirs.fileno())
            process = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-P", "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        worker = cls(process, ours)
        with suppress(OSError):  # it has died, which is noticed when its answer is awaited
            ours.send(settings)
        return worker

    def end(self, seconds: float = 0) -> str:
        """End the process, which has so much time to do that itself. Returns how it ended, in a few words."""
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        self.process.kill()
        self.process.wait()
        return f"signal {-self.process.returncode}" if self.was_killed else f"exit code {self.process.returncode}"

    @property
    def was_killed(self) -> bool:
        """Whether a signal ended the process, as it does where a run takes too much memory."""
        return self.process.returncode is not None and self.process.returncode < 0


class WorkerPool(Struct, eq=False):
    """Workers with the requests of a session, which come in the order in which their outcomes are taken.

    `requests` has each run of the session, with None for one that no worker can score.
    """

    count: int
    settings: WorkerSettings
    requests: Iterator[tuple[Path, Request | None]] = field(default_factory=lambda: iter(()))
    taken: int = 0
    problem: str | None = None  # why there are fewer workers than requested
    _workers: list[Worker] = field(default_factory=list)
    _sent: dict[Path, None] = field(default_factory=dict)  # in their order, until their outcome is taken or dropped
    _unsent: set[Path] = field(default_factory=set)  # runs passed over that no worker can score
    _outcomes: dict[Path, Outcome] = field(default_factory=dict)
    _deaths: dict[Path, int] = field(default_factory=dict)

    def start(self) -> None:
        """Start the processes, which load what they need while the session collects."""
        for _ in range(self.count):
            self._start_worker()

    def _start_worker(self) -> None:
        try:
            self._workers.append(Worker.start(self.settings))
        except OSError as error:  # no process or no file is left for it
            self.problem = NOT_STARTED.format(reason=error.strerror or error)

    def take(self, path: Path) -> Outcome | None:
        """Wait for the outcome of a run; None for one that no worker scores. Those of earlier runs are dropped."""
        while path not in self._sent and path not in self._unsent:
            if not self._send_next():
                return None
        if path in self._unsent:
            self._unsent.remove(path)
            return None
        for earlier in list(self._sent):
            if earlier == path:
                break
            self._drop(earlier)
        self._fill()
        while path not in self._outcomes:
            self._receive()
            self._fill()
        outcome = self._outcomes[path]
        self.taken += 1
        self._drop(path)
        self._fill()
        return outcome

    def _drop(self, path: Path) -> None:
        self._sent.pop(path, None)
        self._outcomes.pop(path, None)
        self._deaths.pop(path, None)

    def _fill(self) -> None:
        """Send requests to workers that have room for them, as long as few outcomes wait."""
        while len(self._sent) < AHEAD * self.count and any(len(worker.requests) < QUEUED for worker in self._workers):
            if not self._send_next():
                return

    def _send_next(self) -> bool:
        """Send the next request; false if there is none."""
        path, request = next(self.requests, (None, None))
        if path is None:
            return False
        content = encode(request) if request is not None else None
        if content is None:
            self._unsent.add(path)
        else:
            self._sent[path] = None
            self._send(path, content)
        return True

    def _send(self, path: Path, content: bytes) -> None:
        """Send a request to the worker with the fewest. One that may not fit into the socket waits for an idle worker.

        Otherwise both ends could wait for each other, each with a long message.
        """
        while len(content) > SHORT and self._workers and all(worker.requests for worker in self._workers):
            self._receive()
        if not self._workers:
            self._keep(path, NO_RESULT)
            return
        worker = min(self._workers, key=lambda each: len(each.requests))
        worker.requests.append((path, content))
        with suppress(OSError):  # it has died, which is noticed when its answer is awaited
            worker.connection.send_bytes(content)

    def _receive(self) -> None:
        """Wait for an answer, and take no second one: to replace a worker may have taken it already."""
        busy = {worker.connection: worker for worker in self._workers if worker.requests}
        worker = busy[wait(list(busy))[0]]  # type: ignore[index]
        try:
            content = worker.connection.recv_bytes()
        except (EOFError, OSError):
            self._replace(worker)
            return
        path, _ = worker.requests.popleft()
        self._keep(path, decode(content) or NO_RESULT)

    def _keep(self, path: Path, outcome: Outcome) -> None:
        if path in self._sent:
            self._outcomes[path] = outcome

    def _replace(self, lost: Worker) -> None:
        """Start another process for one that was killed, and send it the same requests, unless the first kills again.

        A process that ended by itself could not even start; the next one could not either.
        """
        status = lost.end(1)
        self._workers.remove(lost)
        if lost.was_killed:
            self._start_worker()
            self._count_death(lost, status)
        else:
            self.problem = ENDED.format(status=status)
        for path, content in lost.requests:
            self._send(path, content)

    def _count_death(self, lost: Worker, status: str) -> None:
        path, _ = lost.requests[0]
        self._deaths[path] = self._deaths.get(path, 0) + 1
        if self._deaths[path] >= TRIES:
            lost.requests.popleft()
            self._keep(path, Outcome(problem=LOST.format(tries=TRIES, status=status)))

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()
