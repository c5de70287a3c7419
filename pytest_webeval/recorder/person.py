"""A person at the terminal while a browser is recorded: lines that are typed, Ctrl-C, and when the person is done."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TextIO

from msgspec import Struct

PATIENCE = 0.1  # seconds between two looks at the terminal
MOST_INTERRUPTS = 3  # more of them end the program


class TypedLines:
    """Lines of a stream. A thread waits for them, so that the browser's events do not have to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.is_echoed = stream.isatty()  # Enter begins a line
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self.is_finished = False
        Thread(target=self._read, daemon=True).start()

    def take(self) -> str | None:
        """The next line, or None if there is none yet, or none any more."""
        if self.is_finished:
            return None
        try:
            line = self._queue.get_nowait()
        except Empty:
            return None
        self.is_finished = line is None
        return line

    def _read(self) -> None:
        try:
            for line in self._stream:
                self._queue.put(line.rstrip("\r\n"))
        except (OSError, ValueError):  # closed, or no text
            pass
        self._queue.put(None)


class Interrupts(Struct):
    """Counts Ctrl-C. An exception in the middle of a call would break the connection to the browser."""

    count: int = 0

    def add(self, _number: int, _frame: FrameType | None) -> None:
        """Count one. Raises `KeyboardInterrupt` for the impatient."""
        self.count += 1
        if self.count > MOST_INTERRUPTS:
            raise KeyboardInterrupt


@contextmanager
def count_interrupts() -> Iterator[Interrupts]:
    """Count Ctrl-C instead of ending at it. Only the main thread gets signals; in others nothing is counted."""
    interrupts = Interrupts()
    if current_thread() is not main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.add)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


class Person(Struct):
    """Who browses and answers. `wait` lets the browser work for some seconds, and returns whether it is still open."""

    lines: TypedLines
    interrupts: Interrupts
    wait: Callable[[float], bool]

    def wait_until_done(self) -> None:
        """Return when the last window is closed, or Enter or Ctrl-C is pressed."""
        while not self.interrupts.count and self.lines.take() is None and self.wait(PATIENCE):
            pass

    def ask(self, question: str) -> str | None:
        """The line that the person types, or None for Ctrl-C and where nobody can type any more."""
        before = self.interrupts.count  # it may be pressed as soon as the question can be read
        sys.stdout.write(f"{question}: ")
        sys.stdout.flush()
        while self.interrupts.count == before:
            line = self.lines.take()
            if line is not None:
                sys.stdout.write("" if self.lines.is_echoed else "\n")
                return line.strip()
            if self.lines.is_finished:
                break
            if not self.wait(PATIENCE):
                time.sleep(PATIENCE)
        sys.stdout.write("\n")
        return None
