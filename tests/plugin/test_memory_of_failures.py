"""What stays to the end of a session is not searched for garbage again and again, and only as long as it lasts."""

from __future__ import annotations

import gc

import pytest

from pytest_webeval.plugin import performance as garbage
from pytest_webeval.plugin.performance import gc_paused

# What each test finds: whether Python searches for garbage at all, and whether it spares anything.
TELLING = """
import gc

def pytest_runtest_setup(item):
    print("searched", gc.isenabled(), "spared", gc.get_freeze_count() > 0)

def pytest_unconfigure():
    print("in the end", gc.get_freeze_count() > 0)
"""


def test_what_is_there_when_the_tests_begin_is_spared_until_the_session_is_over(pytester, runs, webeval):
    runs.add(107)
    pytester.makeconftest(TELLING)
    before = gc.get_freeze_count()
    webeval("-s").stdout.fnmatch_lines(["*searched True spared True", "*in the end True"])
    assert gc.get_freeze_count() == before


def test_what_somebody_else_spares_stays_spared(runs, webeval):
    runs.add(107)
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        webeval().assert_outcomes(passed=1)
        assert 0 < gc.get_freeze_count() <= before
    finally:
        gc.unfreeze()


def test_a_session_that_scores_nothing_spares_nothing(pytester, runs, webeval):
    runs.add(107)
    pytester.makeconftest(TELLING)
    webeval("-s", "--collect-only").stdout.fnmatch_lines(["*in the end False"])


@pytest.mark.parametrize("is_on", [True, False])
def test_a_search_that_was_off_stays_off(is_on):
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        with gc_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is is_on
    finally:
        (gc.enable if was_on else gc.disable)()


CIRCLE = """
import gc, weakref, pytest
import pytest_webeval as webeval

class Large:
    pass

found = []

class Circular(webeval.ResponseEvaluator):
    def evaluate(self, expectation, case):
        large = Large()
        large.itself = large
        found.append(weakref.ref(large))
        return super().evaluate(expectation, case)

@pytest.fixture
def webeval_response(webeval_response):
    return webeval_response.using(Circular())

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart():
    gc.disable()

@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_makereport(call):
    call.duration = {seconds}  # as pytest would have measured it
    return (yield)

def pytest_unconfigure():
    print("alive", sum(one() is not None for one in found))
    gc.enable()
"""
LIMIT = garbage.LONG


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(
    ("passes", "seconds", "alive"),
    [(False, LIMIT * 1.01, 0), (False, LIMIT, 2), (True, LIMIT * 1.01, 2)],
    ids=["long", "short", "passed"],
)
def test_garbage_is_searched_for_after_a_long_failure_alone(pytester, runs, webeval_apart, passes, seconds, alive):
    for number in (107, 108):
        runs.add(number, passes=passes)
    pytester.makeconftest(CIRCLE.format(seconds=seconds))
    webeval_apart("-s").stdout.fnmatch_lines([f"*alive {alive}"])
