"""How far a session is: a bar on a terminal, lines where rich is not installed, nothing without a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, TextIO

from pytest_webeval.safety.text import pluralize

LINE_SECONDS = 5.0  # between two lines
REFRESH_RATE = 4  # of the bar, in a second


class Progress:
    """Counts of a session, which are shown nowhere. `total` is None where nobody knows it."""

    def __init__(self, total: int | None = None, done: int = 0) -> None:
        """`done` items are of an earlier session."""
        self.total, self.done = total, done
        self.failed = self.lost_workers = 0
        self._began, self._first = time.monotonic(), done

    def add(self, count: int) -> None:
        """So many more items are done."""
        self.done += count
        self.show()

    def add_failures(self, count: int = 1) -> None:
        """So many of the items that are done have failed."""
        self.failed += count
        self.show()

    def lose_worker(self, reason: str) -> None:  # noqa: ARG002  (the callback has it)
        """A worker has died."""
        self.lost_workers += 1
        self.show()

    def show(self) -> None:
        """Show the counts. Called at each change."""

    def describe(self) -> str:
        """The counts on one line."""
        seconds = max(time.monotonic() - self._began, 0.001)
        rate = (self.done - self._first) / seconds
        parts = [f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}", f"{rate:,.1f}/s"]
        if self.total is not None and rate:
            parts.append(f"{timedelta(seconds=round(max(self.total - self.done, 0) / rate))} left")
        parts.append(f"{self.failed:,} failed")
        if self.lost_workers:
            parts.append(f"{pluralize(self.lost_workers, 'worker')} lost")
        return ", ".join(parts)


class LineProgress(Progress):
    """A line every few seconds."""

    def __init__(self, total: int | None, done: int, stream: TextIO) -> None:
        super().__init__(total, done)
        self._stream, self._next = stream, time.monotonic() + LINE_SECONDS

    def show(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_SECONDS
            print(self.describe(), file=self._stream, flush=True)


class BarProgress(Progress):
    """A bar of rich."""

    def __init__(self, total: int | None, done: int, bar: Any) -> None:
        super().__init__(total, done)
        self._bar = bar
        self._task = bar.add_task("", total=total, completed=done, counts=self.describe())

    def show(self) -> None:
        self._bar.update(self._task, completed=self.done, counts=self.describe())


@contextmanager
def show_progress(total: int | None = None, done: int = 0, stream: TextIO | None = None) -> Iterator[Progress]:
    """The progress of the block on `stream`, which is the standard error."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield Progress(total, done)
    elif find_spec("rich") is None:
        yield LineProgress(total, done, stream)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = BarColumn(), TextColumn("{task.fields[counts]}", markup=False)
        with Bar(*columns, console=Console(file=stream), refresh_per_second=REFRESH_RATE) as bar:
            yield BarProgress(total, done, bar)
