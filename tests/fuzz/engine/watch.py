"""The parent process: it watches a child that feeds a target, and ends it when it hangs or takes too much memory."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import IO

from tests.fuzz.engine.child import Work, work
from tests.fuzz.engine.corpus import Corpus
from tests.fuzz.engine.findings import Finding
from tests.fuzz.engine.progress import Present, Progress
from tests.fuzz.targets.definition import forget

MEMORY = 512 * 2**20  # bytes
MOST_FINDINGS = 20
_GLANCE = 0.05  # seconds between two looks at a child
_LAST_WORDS = 0.3  # seconds to write a stack
_PAGE = os.sysconf("SC_PAGE_SIZE")
_FORK = multiprocessing.get_context("fork")


@dataclass(slots=True)
class Report:
    """What became of one target."""

    target: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    slowest_number: int = 0
    peak: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """All of it on one line."""
        rate = self.inputs / self.seconds if self.seconds else 0.0
        slowest = f"slowest {self.slowest * 1000:,.0f} ms (input {self.slowest_number})"
        peak = f"peak {self.peak / 2**20:,.0f} MiB"
        head = f"{self.target:15} {self.inputs:>8,} inputs {self.seconds:>7.1f} s {rate:>8,.0f}/s"
        return f"{head}  {slowest:32}  {peak}  {len(self.findings)} findings"


def watched(corpus: Corpus, inputs: int, seconds: float, memory: int = MEMORY) -> Report:
    """Feed a target until the inputs are read or the time is up, with another child after each that was ended."""
    report, began = Report(corpus.target.name), time.monotonic()
    _ = corpus.documents  # once, for all children
    while report.inputs < inputs and len(report.findings) < MOST_FINDINGS:
        left = seconds - (time.monotonic() - began)
        if left <= 0:
            break
        _Child(Work(corpus, report.inputs, inputs, left, memory), report).watch()
    report.seconds = time.monotonic() - began
    return report


class _Child:
    """One child, from its start to its end."""

    def __init__(self, task: Work, report: Report) -> None:
        self.task, self.report, self.progress = task, report, Progress()
        self.ended_for: str | None = None
        self.culprit: Present | None = None

    def watch(self) -> None:
        """Start it and wait for its end, however it comes."""
        receiving, sending = _FORK.Pipe(duplex=False)
        with tempfile.TemporaryFile() as stacks:
            work_of_it = (self.task, self.progress, sending, stacks.fileno())
            process = _FORK.Process(target=work, args=work_of_it, daemon=True)
            process.start()
            sending.close()
            is_done = self._follow(process, receiving)
            process.join()
            forget(process.pid)
            self._conclude(process, stacks, is_done=is_done)

    def _follow(self, process: BaseProcess, receiving: Connection) -> bool:
        """Whether the child came to its end by itself."""
        while True:
            try:
                while receiving.poll(_GLANCE):
                    told = receiving.recv()
                    if isinstance(told, int):
                        self.report.peak = max(self.report.peak, told)
                        return True
                    self.report.findings.setdefault(told.signature, told)
            except EOFError:
                return False
            if self._problem(process):
                os.kill(process.pid, signal.SIGSTOP)  # so that what it has and what it reads belong together
                self.ended_for, self.culprit = self._problem(process), self.progress.present
                os.kill(process.pid, signal.SIGCONT)
                if self.ended_for:
                    _end(process)
                    return False

    def _problem(self, process: BaseProcess) -> str | None:
        present = self.progress.present
        if present.began and time.monotonic() - present.began > self.task.corpus.target.seconds:
            return "hang"
        size = resident(process.pid)
        self.report.peak = max(self.report.peak, size)
        return "memory" if size > self.task.memory else None

    def _conclude(self, process: BaseProcess, stacks: IO[bytes], *, is_done: bool) -> None:
        present, report = self.culprit if self.ended_for and self.culprit else self.progress.present, self.report
        if present.slowest > report.slowest:
            report.slowest, report.slowest_number = present.slowest, present.slowest_number
        report.inputs = present.number if is_done else max(present.number, self.task.first) + 1
        if not is_done:
            stacks.seek(0)
            stack = stacks.read().decode("utf-8", "replace")
            kind = self.ended_for or "death"
            signature = f"{kind} {process.exitcode} @ {' '.join(_places(stack))}"
            found = Finding(report.target, kind, signature, stack, present.content)
            report.findings.setdefault(signature, found)


def _end(process: BaseProcess) -> None:
    """Ask for a stack, then end it."""
    os.kill(process.pid, signal.SIGUSR1)
    time.sleep(_LAST_WORDS)
    process.kill()


def resident(pid: int) -> int:
    """Bytes of memory that a process has now; of one that is gone, none."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as found:  # noqa: PTH123  (twenty times a second)
            return int(found.read().split()[1]) * _PAGE
    except OSError:
        return 0


def _places(stack: str) -> Iterator[str]:
    """Where our code stood, from the inside."""
    ours = [line.strip() for line in stack.splitlines() if "pytest_webeval" in line]
    return (line.rpartition("/")[2] for line in ours[:3])
