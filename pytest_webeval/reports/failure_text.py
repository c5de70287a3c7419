"""Why a task did not succeed, as a person reads it: evaluator, field, expected, actual."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult

# Terminals and CI systems obey control characters; an agent's text must not reach them raw.
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
# What CI systems obey: `::error::` at the beginning of a line, `##[…]`, `##vso[…]` and `##teamcity[…]` anywhere in it.
_COMMAND = r"(?mi)^([^\S\n]*):(?=:)|#(?=#(?:vso|teamcity)?\[)"
LONGEST_LINE, MOST_LINES = 1_000, 200
_SUFFIX = r"_(?:none_|keys_|array_values_)?mismatch$|_invalid_format$|_unexpected$|_missing_or_null$"


def harmless(text: str) -> str:
    """The text with control and direction characters spelled out, and with commands to CI systems made none."""
    if not text.isprintable():  # as most is, for which the pattern need not even be compiled
        text = re.sub(_CONTROLS, lambda found: f"\\u{ord(found.group()):04x}", text)
    return re.sub(_COMMAND, _disarmed, text) if "::" in text or "##" in text else text


def _disarmed(found: re.Match[str]) -> str:
    return "\\u0023" if found[1] is None else f"{found[1]}\\u003a"


def _shortened(text: str) -> str:
    """One line of it, as long as anybody reads."""
    line = text.replace("\n", " ")
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line):,} characters)"


def failure_text(result: TaskResult) -> str:
    """The reason in one line, then all that went wrong, a block for each evaluator. Empty for a success."""
    if not result.evaluators_results and result.error_msg:
        return harmless(_shortened(result.error_msg))
    blocks = [evaluator_text(one) for one in result.evaluators_results if one.status is not Status.SUCCESS]
    return "\n".join(dict.fromkeys(filter(None, [reason(result), *blocks])))  # an error is its own reason


def evaluator_text(result: EvaluatorResult) -> str:
    """What one evaluator found wrong."""
    if result.error_msg:
        return harmless(_shortened(f"{result.evaluator_name}: {result.error_msg}"))
    wrong = [one for one in result.assertions or () if one.status is not Status.SUCCESS]
    lines = [line for one in wrong for line in _lines(one)]
    more = [f"  … and {len(lines) - MOST_LINES:,} lines more in eval_result.json"] if len(lines) > MOST_LINES else []
    return "\n".join([harmless(_shortened(result.evaluator_name)), *lines[:MOST_LINES], *more])


def _lines(assertion: Assertion) -> Iterator[str]:
    yield harmless(_shortened(f"  {assertion.assertion_name}"))
    for message in assertion.assertion_msgs or ():
        yield harmless(_shortened(f"    {message}"))


def reason(result: TaskResult) -> str | None:
    """What went wrong first, in one line that names the field; None for a success."""
    if result.status is Status.SUCCESS:
        return None
    for one in result.evaluators_results:
        if one.error_msg:
            return harmless(_shortened(f"{one.evaluator_name}: {one.error_msg}"))
        if wrong := [found for found in one.assertions or () if found.status is not Status.SUCCESS]:
            return harmless(_shortened(_told(wrong)))
    return harmless(_shortened(result.error_msg or result.status.value))


def _told(wrong: list[Assertion]) -> str:
    """The first assertion; where an event of the right place differs in a field, rather that field."""
    first, *others = wrong
    elsewhere = any(one.assertion_name == "network_event.url_mismatch" for one in others)
    if first.assertion_name == "missing_navigation_event" and others and not elsewhere:
        nearest = (first.assertion_msgs or [""])[-1]
        return f"{_one_line(others[0])}; {nearest}"
    return _one_line(first)


def _one_line(assertion: Assertion) -> str:
    field = re.sub(_SUFFIX, "", assertion.assertion_name)
    return f"{field}: {'; '.join(assertion.assertion_msgs or ())}"
