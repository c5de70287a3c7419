"""An agent is interrupted at the end of its time or by Ctrl-C, wherever it is, and no browser while it opens."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest

from pytest_webeval.recorder.interruption import TimeLimitExceeded, interruptible, uninterrupted
from pytest_webeval.recorder.recording import Recording

SECONDS = 0.05
AGES = 30  # seconds


@pytest.fixture
def recording(tmp_path):
    return Recording.create(tmp_path, name="first")


async def wait_for_ever(recording):
    recording.agent_task = asyncio.current_task()
    await asyncio.sleep(AGES)


def test_an_agent_that_sleeps_is_interrupted(recording):
    with pytest.raises(TimeLimitExceeded), interruptible(recording, SECONDS):
        time.sleep(AGES)
    assert (recording.outcome, recording.state.reason) == ("timeout", "the time limit of 0.05 s was exceeded")


def test_an_agent_that_awaits_is_cancelled(recording):
    with pytest.raises(TimeLimitExceeded), interruptible(recording, SECONDS):
        asyncio.run(wait_for_ever(recording))
    assert recording.outcome == "timeout"


def test_an_agent_that_cancels_itself_is_not_interrupted(recording):
    with pytest.raises(asyncio.CancelledError), interruptible(recording, AGES):
        raise asyncio.CancelledError
    assert recording.outcome == "recording"


@pytest.mark.parametrize("is_awaiting", [True, False])
def test_ctrl_c_interrupts_an_agent(recording, is_awaiting):
    timer = threading.Timer(SECONDS, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt), interruptible(recording):
        asyncio.run(wait_for_ever(recording)) if is_awaiting else time.sleep(AGES)
    assert recording.outcome == "interrupted"


def test_a_browser_that_opens_is_not_interrupted_and_takes_no_time(recording):
    steps = []
    with interruptible(recording, 0.2):
        with uninterrupted(recording):
            time.sleep(0.3)
            steps.append("open")
        steps.append("agent")
    assert (steps, recording.outcome) == (["open", "agent"], "recording")


def test_ctrl_c_while_a_browser_opens_interrupts_the_agent_afterwards(recording):
    steps = []

    def act():
        with uninterrupted(recording):
            signal.raise_signal(signal.SIGINT)
            steps.append("open")
        steps.append("agent")

    with pytest.raises(KeyboardInterrupt), interruptible(recording):
        act()
    assert steps == ["open"]


def test_handlers_and_timer_are_restored(recording):
    before = signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT)
    with interruptible(recording, AGES):
        assert signal.getsignal(signal.SIGALRM) is not before[0]
    assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGINT)) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert recording.interrupter is None


def test_another_thread_has_no_limit(recording):
    ended = []

    def act():
        with interruptible(recording, SECONDS), uninterrupted(recording):
            time.sleep(2 * SECONDS)
            ended.append(True)

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    assert ended
