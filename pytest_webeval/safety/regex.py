"""Regular expressions that a task or an agent wrote, each within a budget of time.

Python's engine may take longer for some than anybody lives: ``^(a+)+$`` doubles its time with each letter.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety.deadline import can_interrupt
from pytest_webeval.safety.deadline import time_limit

SECONDS = 2.0
_START = 5.0  # seconds that a process may take beyond that to start
_BRANCHING = re.compile(r"[*+?{|]")
_ANSWERS = {10: True, 11: False}
_ALONE = """
import json, re, sys
how, pattern, flags, text = json.load(sys.stdin)
sys.exit(10 if getattr(re.compile(pattern, flags), how)(text) else 11)
"""


class InvalidPattern(ValueError):
    """A text that is no regular expression."""


class PatternTooBig(EvaluationError):
    """A regular expression that Python does not compile, such as one with ``a{99999999999}`` in it."""


def match(pattern: str, text: str, flags: int = 0) -> bool:
    """Whether a text begins with what a pattern means.

    Raises `InvalidPattern`, or `EvaluationError` if the search does not end in time.
    """
    return _holds("match", pattern, text, flags)


def fullmatch(pattern: str, text: str, flags: int = 0) -> bool:
    """The same of all of a text."""
    return _holds("fullmatch", pattern, text, flags)


def search(pattern: str, text: str, flags: int = 0) -> bool:
    """The same of any part of a text."""
    return _holds("search", pattern, text, flags)


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        _compiled(text, 0)
    except InvalidPattern:
        return False
    return True


def _holds(how: str, pattern: str, text: str, flags: int) -> bool:
    if _BRANCHING.search(pattern) is None:  # there is only one way through it
        return getattr(_compiled(pattern, flags), how)(text) is not None
    if not can_interrupt():
        return _holds_alone(how, pattern, text, flags)
    with time_limit(SECONDS, _endless(pattern, text)):
        return getattr(_compiled(pattern, flags), how)(text) is not None


def _endless(pattern: str, text: str) -> str:
    told = f"the pattern {pattern[:80]!r} takes more than {SECONDS:g} s for a text of {len(text):,} characters"
    return f"{told}; write one without repetitions within repetitions"


def _holds_alone(how: str, pattern: str, text: str, flags: int) -> bool:
    """The same in a process of its own, which can be ended where this thread cannot be interrupted."""
    import json  # few sessions have other threads
    import subprocess

    _compiled(pattern, flags)
    asked = json.dumps([how, pattern, int(flags), text])
    try:
        command = [sys.executable, "-I", "-S", "-c", _ALONE]  # what a stranger wrote goes in as data
        done = subprocess.run(  # noqa: S603  (same)
            command, input=asked.encode(), timeout=SECONDS + _START, check=False, capture_output=True
        )
    except subprocess.TimeoutExpired:
        raise EvaluationError(_endless(pattern, text)) from None
    if done.returncode not in _ANSWERS:
        told = f"the pattern {pattern[:80]!r} could not be tried: a process for it failed"
        raise EvaluationError(f"{told}; write a plainer one")
    return _ANSWERS[done.returncode]


@lru_cache(maxsize=4096)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise InvalidPattern(f"{pattern[:80]!r} is no regular expression: {error}") from error
    except (OverflowError, RecursionError) as error:
        raise PatternTooBig(f"the pattern {pattern[:80]!r} is too big: {error}; write a smaller one") from error
