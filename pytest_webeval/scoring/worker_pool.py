"""Worker processes that score runs ahead of a session, which takes the outcomes in its own order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
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
from pytest_webeval.scoring.worker_process import Starter
from pytest_webeval.scoring.worker_process import Worker
from pytest_webeval.scoring.worker_process import start_workers

MAX_QUEUED_REQUESTS = 2  # requests at one worker, so that it need not wait for the next
MAX_WAITING_OUTCOMES = 16  # outcomes for each worker that may wait to be taken
MAX_UNBLOCKED_BYTES = 2**14  # bytes of a request that fits into the socket beside others
TRIES = 2
KILLED_MESSAGE = (
    "worker processes that scored this run died {tries} times (signal {number}); inspect the run, or lower the limits"
)
# The installation or the machine is at fault, not a run.
EXITED_MESSAGE = (
    "a worker process ended by itself (exit code {code}{reason}), and its runs were scored without it; "
    "check the installation"
)
NOT_STARTED = "cannot start a worker process ({reason}), and the runs were scored without it; use fewer workers"


def count_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerPool(Struct, eq=False):
    """Workers with the requests of a session, which come in the order in which their outcomes are taken.

    `requests` has each run of the session, with None for one that no worker can score.
    """

    count: int
    settings: WorkerSettings
    requests: Iterator[tuple[Path, Request | None]] = field(default_factory=lambda: iter(()))
    taken: int = 0
    left_to_session: int = 0  # runs that the session did not ask for, though a worker could score them
    problem: str | None = None  # why there are fewer workers than requested
    _workers: list[Worker] = field(default_factory=list)
    _starters: list[Starter] = field(default_factory=list)
    _sent: dict[Path, None] = field(default_factory=dict)  # in their order, until their outcome is taken or dropped
    _unsent: set[Path] = field(default_factory=set)  # runs passed over that no worker can score
    _outcomes: dict[Path, Outcome] = field(default_factory=dict)
    _deaths: dict[Path, int] = field(default_factory=dict)

    def start(self) -> None:
        """Start the processes, which load what they need while the session collects."""
        self._start(self.count)

    def _start(self, count: int) -> None:
        try:
            workers = start_workers(count, self.settings)
        except OSError as error:  # no process or no file is left for it
            self.problem = NOT_STARTED.format(reason=error.strerror or error)
            return
        self._workers += workers
        self._starters.append(workers[0].starter)

    def take(self, path: Path) -> Outcome | None:
        """Wait for the outcome of a run; None for one that no worker scores. Those of earlier runs are dropped."""
        if path not in self._sent and path not in self._unsent and not self._request(path):
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

    def _request(self, path: Path) -> bool:
        """Send the request of a run, and none of those before it, which nobody will take; false if there is none."""
        for earlier, request in self.requests:
            if earlier == path:
                self._pass_on(path, request)
                return True
        return False

    def _drop(self, path: Path) -> None:
        self._sent.pop(path, None)
        self._outcomes.pop(path, None)
        self._deaths.pop(path, None)

    def _fill(self) -> None:
        """Send requests to workers that have room for them, as long as few outcomes wait."""
        while len(self._sent) < MAX_WAITING_OUTCOMES * self.count and any(
            len(worker.requests) < MAX_QUEUED_REQUESTS for worker in self._workers
        ):
            if not self._send_next():
                return

    def _send_next(self) -> bool:
        """Send the next request; false if there is none."""
        path, request = next(self.requests, (None, None))
        if path is None:
            return False
        self._pass_on(path, request)
        return True

    def _pass_on(self, path: Path, request: Request | None) -> None:
        content = encode(request) if request is not None else None
        if content is None:
            self._unsent.add(path)
        else:
            self._sent[path] = None
            self._send(path, content)

    def _send(self, path: Path, content: bytes) -> None:
        """Send a request to the worker with the fewest. One that may not fit into the socket waits for an idle worker.

        Otherwise both ends could wait for each other, each with a long message.
        """
        while len(content) > MAX_UNBLOCKED_BYTES and self._workers and all(worker.requests for worker in self._workers):
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

    def _replace(self, dead: Worker) -> None:
        """Start another process for one that was killed, and send it the same requests, unless the first kills again.

        A process that ended by itself could not even start; the next one could not either.
        """
        dead.connection.close()
        code, reason = dead.exit_code, dead.starter.last_words
        self._workers.remove(dead)
        self._end_if_unused(dead.starter)
        if code is not None and code < 0:
            self._start(1)
            self._count_death(dead, -code)
        else:
            self.problem = EXITED_MESSAGE.format(code=code, reason=reason)
        for path, content in dead.requests:
            self._send(path, content)

    def _end_if_unused(self, starter: Starter) -> None:
        """End a process whose workers are all gone: a session may lose very many of them."""
        if all(worker.starter is not starter for worker in self._workers):
            self._starters.remove(starter)
            starter.end()

    def _count_death(self, dead: Worker, number: int) -> None:
        path, _ = dead.requests[0]
        self._deaths[path] = self._deaths.get(path, 0) + 1
        if self._deaths[path] >= TRIES:
            dead.requests.popleft()
            self._keep(path, Outcome(problem=KILLED_MESSAGE.format(tries=TRIES, number=number)))

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.connection.close()
        for starter in self._starters:
            starter.end()
        self._workers.clear()
        self._starters.clear()
