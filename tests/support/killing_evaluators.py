"""Evaluators that workers load, of which some disturb their process."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_webeval import ResponseEvaluator


@dataclass(frozen=True)
class KillingEvaluator(ResponseEvaluator):
    """Kills its process at one task, and with `once` only as long as that file is not there."""

    killer: int = 0
    once: Path | None = None

    def evaluate(self, expectation, case):
        if case.task.task_id == self.killer and not (self.once and self.once.exists()):
            if self.once:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().evaluate(expectation, case)


@dataclass(frozen=True)
class SlowEvaluator(ResponseEvaluator):
    """Never comes to an end at one task."""

    slow: int = 0

    def evaluate(self, expectation, case):
        while case.task.task_id == self.slow:
            time.sleep(0.01)
        return super().evaluate(expectation, case)


@dataclass(frozen=True)
class WriteKillingEvaluator(ResponseEvaluator):
    """Kills its process while the result of one task is written: its file has no name yet.

    With `once` only as long as that file is not there; with `hangs` it stops there, for others to kill it.
    """

    killer: int = 0
    once: Path | None = None
    hangs: bool = False

    def evaluate(self, expectation, case):
        if case.task.task_id == self.killer and not (self.once and self.once.exists()):
            os.replace = self.end
        return super().evaluate(expectation, case)

    def end(self, *_, **__):
        if self.once:
            self.once.touch()
        time.sleep(300 if self.hangs else 0)
        os.kill(os.getpid(), signal.SIGKILL)
