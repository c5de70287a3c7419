"""Ctrl-C and SIGTERM, with which a session ends early and sums up what it has."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn


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


class Hold:
    """Lets signals wait until the end of its block, so that nothing in it is done by half."""

    def __init__(self) -> None:
        self.actions: dict[int, Any] = {}  # what each signal would do
        self._is_on = False
        self._waiting: list[int] = []

    def __enter__(self) -> None:
        self._is_on = True

    def __exit__(self, kind: object, *_: object) -> None:
        self._is_on = False
        if self._waiting and kind is None:
            self._act(self._waiting.pop(), None)

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Note a signal, or act on it."""
        if self._is_on:
            self._waiting.append(number)
        else:
            self._act(number, frame)

    def _act(self, number: int, frame: FrameType | None) -> None:
        action = self.actions[number]
        if callable(action):
            action(number, frame)
        else:  # that of the system
            signal.signal(number, action)
            signal.raise_signal(number)


@contextmanager
def open_hold() -> Iterator[Hold]:
    """A hold for Ctrl-C and SIGTERM, to be used for many short blocks. A thread gets no signals, and needs none."""
    hold = Hold()
    if threading.current_thread() is threading.main_thread():
        actions = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        hold.actions |= {number: action for number, action in actions.items() if action is not None}  # of Python
    for number in hold.actions:
        signal.signal(number, hold.receive)
    try:
        yield hold
    finally:
        for number, action in hold.actions.items():
            signal.signal(number, action)
