"""Ctrl-C and SIGTERM, with which a session ends early and sums up what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM, which batch systems send some time before they kill."""


@contextmanager
def stop_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does."""

    def stop(*_: object) -> NoReturn:
        raise Terminated

    previous = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextmanager
def hold_interruptions() -> Iterator[None]:
    """Let both wait until the end of the block, so that nothing in it is done by half."""
    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    held: list[int] = []
    previous = {
        number: signal.signal(number, lambda number, _: held.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, action in previous.items():
            signal.signal(number, action)
    if held:
        signal.raise_signal(held[0])
