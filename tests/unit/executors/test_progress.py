"""What is shown of a session while it runs."""

from __future__ import annotations

import io
import re

import pytest

from pytest_webeval.executors import progress
from pytest_webeval.executors.progress import Progress, show_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Sets the time of the module, in seconds."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return lambda seconds: now.__setitem__(0, 100.0 + seconds)


@pytest.mark.parametrize(
    ("total", "before", "done", "failed", "lost", "seconds", "text"),
    [
        (10_000, 0, 1_200, 3, 0, 5, "1,200 of 10,000, 240.0/s, 0:00:37 left, 3 failed"),
        (None, 0, 1_200, 0, 1, 5, "1,200, 240.0/s, 0 failed, 1 worker lost"),
        (100, 50, 25, 0, 2, 5, "75 of 100, 5.0/s, 0:00:05 left, 0 failed, 2 workers lost"),
        (100, 0, 0, 0, 0, 5, "0 of 100, 0.0/s, 0 failed"),
        (10**8, 0, 1000, 0, 0, 1, "1,000 of 100,000,000, 1,000.0/s, 1 day, 3:46:39 left, 0 failed"),
        (100, 0, 120, 0, 0, 1, "120 of 100, 120.0/s, 0:00:00 left, 0 failed"),
    ],
)
def test_counts_have_rate_and_remaining_time(clock, total, before, done, failed, lost, seconds, text):
    counts = Progress(total, before)
    counts.add(done)
    counts.add_failures(failed)
    for _ in range(lost):
        counts.lose_worker("signal 9")
    clock(seconds)
    assert counts.describe() == text


def test_without_a_terminal_nothing_is_shown():
    stream = io.StringIO()
    with show_progress(10, stream=stream) as counts:
        counts.add(10)
    assert stream.getvalue() == ""
    assert counts.done == 10


def test_without_rich_there_is_a_line_every_few_seconds(clock, monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    stream = Terminal()
    with show_progress(100, stream=stream) as counts:
        for second in range(12):
            clock(second)
            counts.add(2)
    assert stream.getvalue() == ("12 of 100, 2.4/s, 0:00:37 left, 0 failed\n22 of 100, 2.2/s, 0:00:35 left, 0 failed\n")


@pytest.mark.parametrize("total", [100, None])
def test_with_rich_there_is_a_bar(total, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()
    with show_progress(total, stream=stream) as counts:
        counts.add(25)
        counts.add_failures()
        counts.lose_worker("signal 9")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert re.search(r"25( of 100)?, [\d,.]+/s, (.* left, )?1 failed, 1 worker lost", text)
    assert "━" in text
