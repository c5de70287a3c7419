"""What takes too long is interrupted; regular expressions of strangers above all."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety import regex as patterns
from pytest_webeval.safety.deadline import pause_for_debugger, pause_time_limit, time_limit
from pytest_webeval.safety.regex import InvalidPattern, fullmatch, is_pattern, match, search
from pytest_webeval.values.distance import parse_metres

ENDLESS = ["^(a+)+$", "^(a|a)*$", "^" + "(a|a)" * 40 + "$", "^(a*)*$"]
TEXT = "a" * 40 + "b"


def elsewhere(call):
    """What a call gives or raises in another thread than the main one."""
    found = []

    def run():
        try:
            found.append(call())
        except (EvaluationError, InvalidPattern) as error:
            found.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def _short(monkeypatch):
    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    monkeypatch.setattr(patterns, "_START", 0.5)


@pytest.mark.usefixtures("_short")
@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_never_ends_is_an_error_that_names_it(pattern):
    told = f"the pattern {pattern[:80]!r} timed out after 0.2 s on a text of 41 characters; avoid nested rep"
    with pytest.raises(EvaluationError) as caught:
        fullmatch(pattern, TEXT)
    assert str(caught.value).startswith(told)
    assert elsewhere(lambda: fullmatch(pattern, TEXT)).startswith(told)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("ask", "pattern", "text", "holds"),
    [
        (match, "a+b", "aabc", True),
        (match, "b+", "aabc", False),
        (match, "ab", "abc", True),
        (fullmatch, "a+b", "aabc", False),
        (fullmatch, "a+bc", "aabc", True),
        (fullmatch, "", "\ud800", False),
        (fullmatch, ".?", "\ud800", True),
        (search, "b+", "aabc", True),
        (search, "x+", "aabc", False),
    ],
)
def test_patterns_mean_the_same_in_every_thread(ask, pattern, text, holds):
    assert ask(pattern, text) is holds
    assert elsewhere(lambda: ask(pattern, text)) is holds


@pytest.mark.parametrize("text", ["(", "*", "(?P<", "[z-a]+"])
def test_what_is_no_regular_expression_is_told(text):
    assert not is_pattern(text)
    with pytest.raises(InvalidPattern, match="invalid regular expression"):
        match(text, "a")
    assert "invalid regular expression" in elsewhere(lambda: match(text, "a"))


def test_what_is_too_big_to_be_compiled_is_an_error():
    with pytest.raises(
        EvaluationError, match=r"the pattern 'a\{99999999999\}' is too large: the repetition number is too"
    ):
        match("a{99999999999}", "a")


def test_a_calculation_that_never_ends_is_an_error():
    with pytest.raises((EvaluationError, ValueError)):
        parse_metres("9**9**9**9 km")


def test_who_limits_the_time_knows_the_error_by_its_code():
    with pytest.raises(EvaluationError, match="too late") as raised, time_limit(0.05, "too late", "mine"):
        time.sleep(5)
    assert raised.value.code == "mine"


def test_a_clock_within_another_leaves_it_what_is_left_of_its_time():
    began = time.monotonic()
    with pytest.raises(EvaluationError, match="outer"), time_limit(0.4, "outer"):
        _two_naps()
    assert time.monotonic() - began < 5
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def _two_naps():
    with pytest.raises(EvaluationError, match="inner"), time_limit(0.1, "inner"):
        time.sleep(10)
    with time_limit(5, "longer than what is left"):
        time.sleep(10)


def test_somebody_elses_timer_and_handler_are_given_back():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append("alarm"))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(EvaluationError), time_limit(0.05, "told"):
            time.sleep(10)
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.45
        time.sleep(1)
    finally:
        left = signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (rung, left) == (["alarm"], (0.0, 0.0))


def test_a_library_that_catches_everything_does_not_hold_the_clock_up():
    def swallowing():
        while True:
            try:
                time.sleep(10)
            except Exception:  # noqa: BLE001  (as some do)
                continue

    with pytest.raises(EvaluationError, match="told"), time_limit(0.05, "told"):
        swallowing()


def test_what_is_in_time_is_let_be():
    with time_limit(5, "told"):
        found = "done"
    assert found == "done"
    with pytest.raises(KeyError), time_limit(5, "told"):
        raise KeyError
    assert elsewhere(lambda: time_limit(5, "told").__enter__()) is None


def test_a_clock_that_is_stopped_never_rings():
    with time_limit(0.05, "told"):
        pause_for_debugger()
        time.sleep(0.2)
        left = signal.getitimer(signal.ITIMER_REAL)
    assert left == (0.0, 0.0)


def test_many_clocks_within_another_do_not_extend_it():
    with time_limit(60, "outer"):
        began = time.monotonic()
        for _ in range(5_000):  # a timer that is set again from what is left gains some 0.04 ms each time
            with time_limit(5, "inner"):
                pass
        elapsed = time.monotonic() - began
        left, _ = signal.getitimer(signal.ITIMER_REAL)
    assert 0 < left <= 60 - elapsed + 0.01


def test_what_cannot_be_interrupted_is_too_late_all_the_same():
    with pytest.raises(EvaluationError, match="told"), time_limit(0.05, "told"):
        _stubborn(0.2)


def _stubborn(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            time.sleep(until - time.monotonic())
        except BaseException:  # noqa: BLE001  (as some do)
            continue


def test_a_pause_does_not_count():
    with time_limit(0.2, "too late"), pause_time_limit():
        time.sleep(0.3)


def test_after_a_pause_the_clock_goes_on():
    def work():
        with time_limit(0.2, "too late"):
            with pause_time_limit():
                time.sleep(0.1)
            time.sleep(10)

    with pytest.raises(EvaluationError, match="too late"):
        work()


def test_a_pause_without_a_limit_or_in_another_thread_is_nothing():
    with pause_time_limit():
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0

    def pause():
        with pause_time_limit():
            return "done"

    assert elsewhere(pause) == "done"
