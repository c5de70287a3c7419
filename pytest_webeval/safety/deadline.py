"""A time budget that interrupts the code in its block: untrusted data may keep a parser busy for ever."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from types import FrameType
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError

REPEAT_INTERVAL = 1.0  # seconds until what swallowed the interruption is interrupted once more


class DeadlineExceeded(BaseException):
    """The budget is used up. No child of `Exception`, or a library that catches those would go on for ever."""


class _Clock(Struct):
    deadline: float
    is_running: bool = True

    def expire(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002  (the signature of a handler)
        if self.is_running:
            raise DeadlineExceeded(self)


class _Timer(Struct, frozen=True):
    """A timer that is set already: its deadline, its interval and its handler."""

    deadline: float
    interval: float
    handler: Any

    @classmethod
    def current(cls) -> _Timer | None:
        remaining, interval = signal.getitimer(signal.ITIMER_REAL)
        if not remaining:
            return None
        handler = signal.getsignal(signal.SIGALRM)
        clock = getattr(handler, "__self__", None)  # which knows better than a timer that was given back many times
        return cls(clock.deadline if isinstance(clock, _Clock) else time.monotonic() + remaining, interval, handler)


@contextmanager
def time_limit(seconds: float, message: str, code: str = "") -> Iterator[None]:
    """Let what stands in the block take so many seconds. Raises `EvaluationError` with that message when it is longer.

    That is also raised when it is over, should it not have let itself be interrupted. A budget within another one never
    extends it. It takes a signal to interrupt a regular expression or a calculation, and only the main thread gets
    one; `can_interrupt` says whether there is a clock at all.
    """
    deadline = time.monotonic() + seconds
    outer = _Timer.current() if can_interrupt() else None
    if not can_interrupt() or (outer and outer.deadline <= deadline):
        yield
        return
    clock = _Clock(deadline)
    previous_handler = signal.signal(signal.SIGALRM, clock.expire)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_INTERVAL)
        try:
            yield
        finally:
            clock.is_running = False
        if time.monotonic() > clock.deadline:
            raise EvaluationError(message, code=code)
    except DeadlineExceeded as error:
        if error.args[0] is not clock:
            raise
        raise EvaluationError(message, code=code) from None
    finally:
        _restore_timer(outer, previous_handler)


def _restore_timer(outer: _Timer | None, previous_handler: Any) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)
    if previous_handler is not None:  # a handler that was not installed from Python cannot be put back
        signal.signal(signal.SIGALRM, previous_handler)
    if outer is not None:
        signal.setitimer(signal.ITIMER_REAL, max(outer.deadline - time.monotonic(), 0.001), outer.interval)


def can_interrupt() -> bool:
    """Whether there is a signal that interrupts this thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def pause_for_debugger() -> None:
    """Stop the clock that runs, for somebody sits at a debugger and thinks."""
    clock = getattr(signal.getsignal(signal.SIGALRM), "__self__", None) if can_interrupt() else None
    if isinstance(clock, _Clock):
        signal.setitimer(signal.ITIMER_REAL, 0)
        clock.deadline = inf


@contextmanager
def pause_time_limit() -> Iterator[None]:
    """Let the block take any time: it waits for somebody else, such as a server, who has limits of its own."""
    handler = signal.getsignal(signal.SIGALRM) if can_interrupt() else None
    clock = getattr(handler, "__self__", None)
    if not isinstance(clock, _Clock):
        yield
        return
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        clock.deadline += time.monotonic() - began
        signal.setitimer(signal.ITIMER_REAL, max(clock.deadline - time.monotonic(), 0.001), REPEAT_INTERVAL)


LEAST = 0.01  # seconds for a step after one that used them all up


class TimeBudget(Struct):
    """Seconds that several steps share, 0 for no limit. `message` says that they are used up."""

    seconds: float
    message: str
    _used: float = 0.0

    @contextmanager
    def limit(self) -> Iterator[None]:
        """Let a step take what is left. Raises `EvaluationError` when it takes longer."""
        if not self.seconds:
            yield
            return
        used, began = self._used, time.monotonic()
        try:
            with time_limit(max(self.seconds - used, LEAST), self.message):
                yield
        finally:
            self._used = used + time.monotonic() - began
