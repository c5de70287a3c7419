"""Worker processes that score runs ahead of a session, which takes the outcomes in its own order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from pickle import PicklingError

from msgspec import Struct, field

from pytest_webeval.executors.engine import Loss
from pytest_webeval.executors.job import Job, decode_reply, encode_batch
from pytest_webeval.executors.processes import MAX_AHEAD, ProcessPool, StartError, describe_exit
from pytest_webeval.scoring.worker import NO_RESULT, PRELOADED_MODULES, Outcome, Request, WorkerSettings, score_requests

MAX_WAITING_OUTCOMES = 16  # outcomes for each worker that may wait to be taken
TRIES = 2
KILLED_MESSAGE = (
    "worker processes that scored this run died {tries} times ({reason}); inspect the run, or lower the limits"
)
# The installation or the machine is at fault, not a run.
EXITED_MESSAGE = (
    "a worker process ended by itself ({reason}), and its runs were scored without it; check the installation"
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
    _processes: ProcessPool | None = None  # None if there are none (any more)
    _running: dict[int, tuple[Path, bytes]] = field(default_factory=dict)  # what no worker has answered, by its number
    _submitted: int = 0
    _sent: dict[Path, None] = field(default_factory=dict)  # in their order, until their outcome is taken or dropped
    _unsent: set[Path] = field(default_factory=set)  # runs passed over that no worker can score
    _outcomes: dict[Path, Outcome] = field(default_factory=dict)
    _deaths: dict[Path, int] = field(default_factory=dict)

    def start(self) -> None:
        """Start the processes, which load what they need while the session collects."""
        self._processes = ProcessPool(self.count, PRELOADED_MODULES, Job(score_requests, self.settings).encode())
        try:
            self._processes.start()
        except StartError as error:
            self._go_on_without(error)

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
        while self._processes is not None and path not in self._outcomes:
            self._receive(self._processes)
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
        """Send requests as long as workers have room for them and few outcomes wait."""
        while len(self._sent) < MAX_WAITING_OUTCOMES * self.count and len(self._running) < MAX_AHEAD * self.count:
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
        content = _encode(request) if request is not None else None
        if content is None:
            self._unsent.add(path)
        else:
            self._sent[path] = None
            self._send(path, content)

    def _send(self, path: Path, content: bytes) -> None:
        if self._processes is None:
            self._keep(path, NO_RESULT)
            return
        self._submitted += 1
        self._running[self._submitted] = path, content
        self._processes.submit(self._submitted, content)

    def _receive(self, processes: ProcessPool) -> None:
        """Wait for an answer."""
        try:
            number, reply = processes.take()
        except StartError as error:
            self._go_on_without(error)
            return
        if processes.shortage is not None:
            self.problem = _describe(processes.shortage)
        path, content = self._running.pop(number)
        if not isinstance(reply, Loss):
            self._keep(path, _decode(reply))
        elif reply.exit_code is None or reply.exit_code < 0:
            self._try_again(path, content, reply)
        else:
            self.problem = _describe_end(reply.exit_code, processes.last_words)
            self._keep(path, NO_RESULT)

    def _keep(self, path: Path, outcome: Outcome) -> None:
        if path in self._sent:
            self._outcomes[path] = outcome

    def _try_again(self, path: Path, content: bytes, loss: Loss) -> None:
        """Send the request of a worker that was killed once more, unless the first kills again."""
        if path not in self._sent:
            return
        self._deaths[path] = self._deaths.get(path, 0) + 1
        if self._deaths[path] < TRIES:
            self._send(path, content)
        else:
            self._keep(path, Outcome(problem=KILLED_MESSAGE.format(tries=TRIES, reason=loss.reason)))

    def _go_on_without(self, error: StartError) -> None:
        """Leave all runs to the session."""
        self.problem = _describe(error)
        self.close()
        for path, _ in self._running.values():
            self._keep(path, NO_RESULT)
        self._running.clear()

    def close(self) -> None:
        """End the processes."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None


def _describe(error: StartError) -> str:
    """Why there are fewer processes than requested."""
    if error.exit_code is None:
        return NOT_STARTED.format(reason=error.reason)
    return _describe_end(error.exit_code, error.reason)


def _describe_end(exit_code: int, last_words: str) -> str:
    reason = describe_exit(exit_code)
    return EXITED_MESSAGE.format(reason=f"{reason}: {last_words}" if last_words else reason)


def _encode(request: Request) -> bytes | None:
    """The bytes of a request; None for one that is nested too deep."""
    try:
        return encode_batch((request,))
    except (RecursionError, ValueError, TypeError, AttributeError, PicklingError):
        return None


def _decode(reply: bytes) -> Outcome:
    """The outcome that a worker sent. Whatever went wrong with it, such as too deep a nest, the session meets again."""
    try:
        (outcome,) = decode_reply(reply, 1)
    except Exception:  # noqa: BLE001  (also what the worker met)
        return NO_RESULT
    return outcome  # type: ignore[no-any-return]
