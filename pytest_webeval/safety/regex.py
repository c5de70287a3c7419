"""Regular expressions that a task or an agent wrote, each within a budget of time.

Python's engine may practically never finish for some: ``^(a+)+$`` doubles its time with each letter.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache, partial

from pytest_webeval.errors import EvaluationError
from pytest_webeval.safety.deadline import can_interrupt, time_limit
from pytest_webeval.safety.text import pluralize

SECONDS = 2.0
_START = 5.0  # seconds that a process may take beyond that to start
_BRANCHING = re.compile(r"[*+?{|]")
_EXIT_CODES = {10: True, 11: False}
_CHILD_PROGRAM = """
import json, re, sys
how, pattern, flags, text = json.load(sys.stdin)
sys.exit(10 if getattr(re.compile(pattern, flags), how)(text) else 11)
"""


class InvalidPattern(ValueError):
    """A text that is not a regular expression."""


class PatternTooBig(EvaluationError):
    """A regular expression that Python does not compile, such as one with ``a{99999999999}`` in it."""


def is_pattern(text: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        _compile(text, 0)
    except InvalidPattern:
        return False
    return True


def _holds_in_time(method: str, pattern: str, text: str, flags: int = 0) -> bool:
    """Whether a text, its beginning or a part of it is what a pattern means.

    Raises `InvalidPattern`, or `EvaluationError` if the search does not end in time.
    """
    if _BRANCHING.search(pattern) is None:  # there is only one way through it
        return getattr(_compile(pattern, flags), method)(text) is not None
    if not can_interrupt():
        return _holds_in_child(method, pattern, text, flags)
    with time_limit(SECONDS, _format_timeout(pattern, text)):
        return getattr(_compile(pattern, flags), method)(text) is not None


match, fullmatch, search = (partial(_holds_in_time, method) for method in ("match", "fullmatch", "search"))


def _format_timeout(pattern: str, text: str) -> str:
    size = pluralize(len(text), "character")
    return f"the pattern {pattern[:80]!r} timed out after {SECONDS:g} s on a text of {size}; avoid nested repetitions"


def _holds_in_child(method: str, pattern: str, text: str, flags: int) -> bool:
    """The same in a process of its own, which can be ended where this thread cannot be interrupted."""
    import json  # few sessions have other threads
    import subprocess

    _compile(pattern, flags)
    request = json.dumps([method, pattern, int(flags), text])
    try:
        command = [sys.executable, "-I", "-S", "-c", _CHILD_PROGRAM]  # untrusted text goes in as data
        process = subprocess.run(  # noqa: S603  (same)
            command, input=request.encode(), timeout=SECONDS + _START, check=False, capture_output=True
        )
    except subprocess.TimeoutExpired:
        raise EvaluationError(_format_timeout(pattern, text)) from None
    if process.returncode not in _EXIT_CODES:
        problem = f"cannot test the pattern {pattern[:80]!r}: its process failed"
        raise EvaluationError(f"{problem}; use a simpler pattern")
    return _EXIT_CODES[process.returncode]


@lru_cache(maxsize=4096)
def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise InvalidPattern(f"invalid regular expression {pattern[:80]!r}: {error}") from error
    except (OverflowError, RecursionError) as error:
        raise PatternTooBig(f"the pattern {pattern[:80]!r} is too large: {error}; use a smaller one") from error
