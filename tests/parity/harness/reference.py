"""The reference as a process that answers questions about run directories."""

from __future__ import annotations

import json
import queue
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from threading import Thread
from typing import IO, Any

from tests.parity.harness.run_directories import RunDirectory
from tests.parity.harness.verdicts import Verdict

WORKER = Path(__file__).with_name("oracle_worker.py")
PATIENCE = 60.0  # longer than the worker's own time limit
# Nothing of our environment reaches the worker (what -E would do, but for the hash seed, which decides the order of
# the reference's assertions and which of two errors it names).
VARIABLES = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}


class ReferenceFailed(Exception):
    """The worker could not answer at all: a fault of the suite, not a verdict."""


@dataclass
class Reference:
    """webarena-verified in its own interpreter. `ask` ahead of `answer`, so that it works while we do."""

    python: Path
    log: Path
    _tickets: Iterator[int] = field(default_factory=count)

    def ask(self, **request: Any) -> int:
        """Send a request. Gives a ticket for its answer."""
        ticket = next(self._tickets)
        self._worker.send(json.dumps({"ticket": ticket, **request}) + "\n")
        return ticket

    def answer(self, ticket: int) -> dict[str, Any]:
        """The answer to a request; those to older ones, which nobody fetched, are lost. Raises `ReferenceFailed`."""
        found: dict[str, Any] = {}
        while found.get("ticket") != ticket:
            found = json.loads(self._received())
        if "failed" in found:
            raise ReferenceFailed(found["failed"])
        return found

    def now(self, **request: Any) -> dict[str, Any]:
        """The answer to a request."""
        return self.answer(self.ask(**request))

    def ask_verdict(self, run: RunDirectory) -> int:
        """Ask what it says about a run. Gives a ticket for `verdict`."""
        where = {"directory": str(run.path), "trace_name": run.trace_name, "config": str(run.config)}
        return self.ask(command="verdict", task=run.task, **where)

    def verdict(self, ticket: int) -> Verdict:
        """What it says about the run."""
        found = self.answer(ticket)
        reasons = [found["error"]] if found["error"] else found["reasons"]
        evaluators = tuple((name, status) for name, status in found["evaluators"])
        return Verdict(found["status"], evaluators, tuple(reasons), refused=found.get("refused", False))

    def close(self) -> None:
        """End the process; another is started when something is asked again."""
        if worker := self.__dict__.pop("_worker", None):
            worker.close()

    def _received(self) -> str:
        if not (line := self._worker.received()):
            self.close()
            raise ReferenceFailed(f"no answer; the worker wrote last: {self.log.read_text()[-2000:]}")
        return line

    @cached_property
    def _worker(self) -> _Worker:
        return _Worker(self.python, self.log)


class _Worker:
    def __init__(self, python: Path, log: Path) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
        with log.open("w") as errors:
            self.process = subprocess.Popen([python, "-s", "-P", WORKER], env=VARIABLES, stderr=errors, **pipes)
        self.answers: queue.Queue[str] = queue.Queue()
        self.reader = Thread(target=_relay, args=(self.process.stdout, self.answers), daemon=True)
        self.reader.start()

    def send(self, request: str) -> None:
        with suppress(BrokenPipeError):  # told when the answer is missing, with what the worker wrote last
            self.process.stdin.write(request)
            self.process.stdin.flush()

    def received(self) -> str:
        """One answer; nothing where the process ended or is stuck."""
        with suppress(queue.Empty):
            return self.answers.get(timeout=PATIENCE)
        return ""

    def close(self) -> None:
        self.process.kill()
        self.reader.join()
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def _relay(answers: Iterable[str] | IO[str], into: queue.Queue[str]) -> None:
    """Hand on answers as they come, so that the worker never waits for a full pipe; an empty text at the end."""
    for line in answers:
        into.put(line)
    into.put("")
