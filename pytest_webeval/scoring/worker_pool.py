"""Worker processes that score runs ahead of a session, which takes the outcomes in its own order."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.batches import Batches
from pytest_webeval.executors.job import Job, pack
from pytest_webeval.executors.placement import WorkerDied
from pytest_webeval.executors.processes import ProcessExecutor
from pytest_webeval.executors.starting import StartError, describe_exit
from pytest_webeval.scoring.worker import (
    PRELOADED_MODULES,
    Outcome,
    Request,
    WorkerSettings,
    score_requests,
)

MAX_WAITING_OUTCOMES = 16  # outcomes for each worker that may wait to be taken
# The installation or the machine is at fault, not a run.
EXITED_MESSAGE = (
    "a worker process ended by itself ({reason}), and its runs were scored without it; check the installation"
)
NOT_STARTED = "cannot start a worker process ({reason}), and the runs were scored without it; use fewer workers"


class WorkerPool(Struct, eq=False):
    """Workers with the requests of a session, which come in the order in which their outcomes are taken.

    `requests` has each run of the session, whose paths are `expected`, with None for one that no worker can score.
    """

    count: int
    settings: WorkerSettings
    requests: Iterator[tuple[Path, Request | None]] = field(default_factory=lambda: iter(()))
    expected: set[Path] = field(default_factory=set)
    taken: int = 0
    left_to_session: int = 0  # runs that the session did not ask for, though a worker could score them
    _problem: str | None = None
    _executor: ProcessExecutor | None = None  # None if there are no processes (any more)
    _job: Job | None = None
    _sent: deque[Path] = field(default_factory=deque)
    _outcomes: Iterator[bytes | None] | None = None  # of the runs sent, in their order; None before the first is taken

    def start(self) -> None:
        """Start the processes, which load what they need while the session collects."""
        self._job = Job.of(score_requests, self.settings)
        self._executor = ProcessExecutor(self.count, PRELOADED_MODULES)
        try:
            self._executor.load(self._job)
        except StartError as error:
            self._go_on_without(error)

    def take(self, path: Path) -> Outcome | None:
        """Wait for the outcome of a run; None for one that no worker scores. Those of earlier runs are dropped."""
        if path not in self.expected:
            return None
        try:
            for content in self._await_outcomes(path):
                sent = self._sent.popleft()
                self.expected.discard(sent)
                if sent == path:
                    return self._unpack(content)
        except ExecutorError as error:
            self._go_on_without(error)
        return None

    def _unpack(self, content: bytes | None) -> Outcome | None:
        if content is None:
            return None
        self.taken += 1
        outcome: Outcome = pickle.loads(content)  # noqa: S301  (from a process of the same session)
        return outcome

    def _await_outcomes(self, path: Path) -> Iterator[bytes | None]:
        """The outcomes from the first run on that the session takes."""
        if self._outcomes is None and self._executor is not None and self._job is not None:
            wanted = dropwhile(lambda pair: pair[0] != path, self.requests)
            self._outcomes = Batches(
                self._executor, self._job, self._encode(wanted), 1, self._give_up, window=MAX_WAITING_OUTCOMES
            ).results()
        return self._outcomes or iter(())

    def _encode(self, requests: Iterator[tuple[Path, Request | None]]) -> Iterator[bytes | None]:
        """The bytes of requests; None for one that is nested too deep."""
        for path, request in requests:
            self._sent.append(path)
            yield None if request is None else pack(request)

    def _give_up(self, _: bytes, deaths: WorkerDied) -> bytes | None:
        """The outcome of a run whose workers died: its error, if they were killed."""
        if deaths.exit_code is None or deaths.exit_code < 0:
            return pack(Outcome(problem=deaths.message))
        self._problem = _describe_end(deaths.exit_code, self._executor.last_words if self._executor else "")
        return None

    @property
    def problem(self) -> str | None:
        """Why there are fewer workers than requested."""
        shortage = self._executor.shortage if self._executor is not None else None
        return _describe(shortage) if shortage is not None else self._problem

    def _go_on_without(self, error: ExecutorError) -> None:
        """Leave all runs to the session."""
        self.close()
        self._problem = _describe(error)

    def close(self) -> None:
        """End the processes."""
        if self._executor is not None:
            self._problem = self.problem
            self._executor.shutdown()
            self._executor, self._outcomes = None, iter(())


def _describe(error: ExecutorError) -> str:
    """Why there are fewer processes than requested."""
    if isinstance(error, StartError) and error.exit_code is not None:
        return _describe_end(error.exit_code, error.reason)
    return NOT_STARTED.format(reason=error.reason if isinstance(error, StartError) else error)


def _describe_end(exit_code: int, last_words: str) -> str:
    reason = describe_exit(exit_code)
    return EXITED_MESSAGE.format(reason=f"{reason}: {last_words}" if last_words else reason)
