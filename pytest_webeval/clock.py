"""A time budget that interrupts what it is given to: a stranger's data may keep a parser busy for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from pytest_webeval.errors import EvaluationError

AGAIN = 1.0  # seconds until what swallowed the interruption is interrupted once more


class OutOfTime(BaseException):
    """The budget is used up. No child of `Exception`, or a library that catches those would go on for ever."""


@dataclass(slots=True)
class _Clock:
    is_running: bool = True

    def expire(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002  (the signature of a handler)
        if self.is_running:
            raise OutOfTime(self)


@contextmanager
def at_most(seconds: float, told: str) -> Iterator[None]:
    """Let what stands in the block take so many seconds. Raises `EvaluationError` with `told` when it takes longer.

    A budget within another one never extends it. It takes a signal to interrupt a regular expression or a calculation,
    and only the main thread gets one; `can_interrupt` tells whether there is a clock at all.
    """
    began = time.monotonic()
    around, again = signal.getitimer(signal.ITIMER_REAL) if can_interrupt() else (-1.0, 0.0)
    if around < 0 or 0 < around <= seconds:
        yield
        return
    clock = _Clock()
    before = signal.signal(signal.SIGALRM, clock.expire)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        try:
            yield
        finally:
            clock.is_running = False
    except OutOfTime as error:
        if error.args[0] is not clock:
            raise
        raise EvaluationError(told) from None
    finally:
        _give_back(around and around - (time.monotonic() - began), again, before)


def _give_back(left: float, again: float, before: object) -> None:
    """Leave the timer to whoever had it before, with what is `left` of its time; 0 for nobody."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    if before is not None:  # a handler that was not installed from Python cannot be put back
        signal.signal(signal.SIGALRM, before)  # type: ignore[arg-type]
    if left:
        signal.setitimer(signal.ITIMER_REAL, max(left, 0.001), again)


def can_interrupt() -> bool:
    """Whether there is a signal that interrupts this thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def stop() -> None:
    """Stop the clock that runs, for somebody sits at a debugger and thinks."""
    if can_interrupt():
        signal.setitimer(signal.ITIMER_REAL, 0)
