"""A time budget that interrupts what it is given to: a stranger's data may keep a parser busy for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from types import FrameType
from typing import Any

from pytest_webeval.errors import EvaluationError

AGAIN = 1.0  # seconds until what swallowed the interruption is interrupted once more


class DeadlineExceeded(BaseException):
    """The budget is used up. No child of `Exception`, or a library that catches those would go on for ever."""


@dataclass(slots=True)
class _Clock:
    deadline: float
    is_running: bool = True

    def expire(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002  (the signature of a handler)
        if self.is_running:
            raise DeadlineExceeded(self)


@dataclass(frozen=True, slots=True)
class _Timer:
    """What is set already: until when, how often again, and what it calls."""

    deadline: float
    again: float
    handler: Any

    @classmethod
    def now_set(cls) -> _Timer | None:
        """The timer of whoever has one."""
        left, again = signal.getitimer(signal.ITIMER_REAL)
        if not left:
            return None
        handler = signal.getsignal(signal.SIGALRM)
        ours = getattr(handler, "__self__", None)  # which knows better than a timer that was given back many times
        return cls(ours.deadline if isinstance(ours, _Clock) else time.monotonic() + left, again, handler)


@contextmanager
def time_limit(seconds: float, told: str) -> Iterator[None]:
    """Let what stands in the block take so many seconds. Raises `EvaluationError` with `told` when it takes longer.

    That is also raised when it is over, should it not have let itself be interrupted. A budget within another one never
    extends it. It takes a signal to interrupt a regular expression or a calculation, and only the main thread gets
    one; `can_interrupt` tells whether there is a clock at all.
    """
    deadline = time.monotonic() + seconds
    around = _Timer.now_set() if can_interrupt() else None
    if not can_interrupt() or (around and around.deadline <= deadline):
        yield
        return
    clock = _Clock(deadline)
    before = signal.signal(signal.SIGALRM, clock.expire)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        try:
            yield
        finally:
            clock.is_running = False
        if time.monotonic() > clock.deadline:
            raise EvaluationError(told)
    except DeadlineExceeded as error:
        if error.args[0] is not clock:
            raise
        raise EvaluationError(told) from None
    finally:
        _give_back(around, before)


def _give_back(around: _Timer | None, before: Any) -> None:
    """Leave the timer to whoever had it before, with what is left of its time."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    if before is not None:  # a handler that was not installed from Python cannot be put back
        signal.signal(signal.SIGALRM, before)
    if around is not None:
        signal.setitimer(signal.ITIMER_REAL, max(around.deadline - time.monotonic(), 0.001), around.again)


def can_interrupt() -> bool:
    """Whether there is a signal that interrupts this thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def pause_for_debugger() -> None:
    """Stop the clock that runs, for somebody sits at a debugger and thinks."""
    running = getattr(signal.getsignal(signal.SIGALRM), "__self__", None) if can_interrupt() else None
    if isinstance(running, _Clock):
        signal.setitimer(signal.ITIMER_REAL, 0)
        running.deadline = inf
