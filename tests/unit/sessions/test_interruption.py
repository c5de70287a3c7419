"""Ctrl-C and SIGTERM end a session between two runs."""

from __future__ import annotations

import signal
import threading

import pytest

from pytest_webeval.sessions.interruption import Terminated, open_hold, stop_on_sigterm

STOPS = pytest.mark.parametrize(("number", "kind"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)])


def hold_signal(number, done):
    with stop_on_sigterm(), open_hold() as hold:
        with hold:
            signal.raise_signal(number)
            signal.raise_signal(number)
            done.append("the block")
        done.append("what follows")


def raise_between_blocks(number, done):
    with stop_on_sigterm(), open_hold() as hold:
        with hold:
            done.append("the block")
        signal.raise_signal(number)
        done.append("what follows")


def fail_in_a_block():
    with open_hold() as hold, hold:
        signal.raise_signal(signal.SIGINT)
        raise LookupError


@STOPS
@pytest.mark.parametrize("session", [hold_signal, raise_between_blocks])
def test_a_signal_waits_until_the_end_of_a_block_and_no_longer(session, number, kind):
    done = []
    with pytest.raises(KeyboardInterrupt) as caught:
        session(number, done)
    assert (caught.type, done) == (kind, ["the block"])


def test_an_error_in_the_block_counts_before_a_signal():
    with pytest.raises(LookupError):
        fail_in_a_block()


def test_a_signal_that_is_ignored_stays_ignored():
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with open_hold() as hold:
            with hold:
                signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, previous)


def test_what_signals_did_before_they_do_again():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with stop_on_sigterm(), open_hold() as hold, hold:
        pass
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_a_thread_there_is_nothing_to_hold():
    done = []

    def work():
        with open_hold() as hold, hold:
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]
