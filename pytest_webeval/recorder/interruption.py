"""Interrupts an agent at the end of its time, or with Ctrl-C, so that its recording can still be closed.

Playwright's blocking calls wait in a greenlet that runs an event loop. An exception raised by a signal there would
break the loop, and with it the connection to the browser. So it is raised in the greenlet of the agent instead. An
agent that awaits its browser has its task cancelled.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from msgspec import Struct

from pytest_webeval.recorder.recording import Recording
from pytest_webeval.recordings.recording_state import Outcome
from pytest_webeval.safety.deadline import can_interrupt

REPEAT_INTERVAL = 5.0  # seconds until an agent that goes on all the same is interrupted once more


class TimeLimitExceeded(BaseException):
    """The time of an agent is used up. No `Exception`, which agents catch to go on."""


class Interrupter(Struct):
    """Interrupts the agent of a recording, unless it `is_paused`."""

    recording: Recording
    reason: str
    count: int = 0
    is_paused: bool = False
    error: BaseException | None = None  # the latest interruption

    def expire(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002  (the signature of a handler)
        self.recording.stop(Outcome.TIMEOUT, self.reason)
        self._interrupt(TimeLimitExceeded(self.reason))

    def cancel(self, signum: int, frame: FrameType | None) -> None:  # noqa: ARG002  (same)
        self.recording.stop(Outcome.INTERRUPTED)
        self._interrupt(KeyboardInterrupt())

    def _interrupt(self, error: BaseException) -> None:
        """Raise an error where the agent is. What does not end soon gets it where it is."""
        self.error = error
        if self.is_paused:
            return
        self.count += 1
        loop = asyncio._get_running_loop()  # noqa: SLF001  (None where none runs, also in a signal handler)
        task, waiting = self.recording.agent_task, _find_waiting()
        if loop is None or self.count > 2 or (task is None and waiting is None):
            raise error
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
        elif waiting is not None:
            loop.call_soon_threadsafe(waiting.throw, error)


def _find_waiting() -> Any:
    """The main greenlet if another one runs, as in Playwright's blocking calls; otherwise None."""
    greenlet = sys.modules.get("greenlet")
    if greenlet is None:
        return None
    current = main = greenlet.getcurrent()
    while main.parent is not None:
        main = main.parent
    return None if main is current else main


@contextmanager
def interruptible(recording: Recording, seconds: float = 0.0) -> Iterator[None]:
    """Let the agent in the block take so many seconds, 0 for no limit. Raises `TimeLimitExceeded`.

    Only the main thread gets signals. There is no limit in another one.
    """
    if not can_interrupt():
        yield
        return
    interrupter = recording.interrupter = Interrupter(recording, f"the time limit of {seconds:g} s was exceeded")
    handlers = {signal.SIGALRM: interrupter.expire} if seconds else {}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        handlers[signal.SIGINT] = interrupter.cancel
    previous = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    if seconds:
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_INTERVAL)
    try:
        yield
    except asyncio.CancelledError as error:
        if interrupter.error is None:
            raise
        raise interrupter.error from error
    finally:
        recording.interrupter = None
        if seconds:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in previous.items():
            signal.signal(number, handler)


def pause_for_debugger() -> None:
    """Stop the time of the agent, for somebody sits at a debugger and thinks. There is no limit any more."""
    handler = signal.getsignal(signal.SIGALRM) if can_interrupt() else None
    if isinstance(getattr(handler, "__self__", None), Interrupter):
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def uninterrupted(recording: Recording) -> Iterator[None]:
    """Let the block end, which opens a browser, for half of one could not be closed. It takes none of the agent's time.

    Raises what was to interrupt it, afterwards.
    """
    interrupter = recording.interrupter
    if interrupter is None:
        yield
        return
    interrupter.is_paused = True
    timer = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        interrupter.is_paused = False
        signal.setitimer(signal.ITIMER_REAL, *timer)
    if interrupter.error is not None:
        raise interrupter.error
