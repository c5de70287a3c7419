"""A value that an option cannot have is refused by the name of the option, or of the ini key that has it."""

from __future__ import annotations

import pytest

NUMBER = "a number of seconds, e.g. 120 (0 for no limit)"
VALUES = [
    ("rules", "lax", "auto, default, reference or strict"),
    ("rules", "", "auto, default, reference or strict"),
    ("redact", "loud", "default, off or strict"),
    ("criterion", "luck", "outcome, process, both or safe_outcome"),
    ("rubric-threshold", "80", "a number from 0 to 1, e.g. 0.8"),
    ("over-budget", "judge", "stored or zero"),
    ("aborted", "pass", "skip, xfail or fail"),
    ("report-embed", "much", "e.g. 25MB"),
    ("durations", "-1", "a non-negative integer (0 shows all runs)"),
    ("timeout", "long", NUMBER),
    ("timeout", "-5", NUMBER),
    ("today", "1.3.", "YYYY-MM-DD, e.g. 2026-01-31"),
]


def usage_error(pytester, *options):
    """The one line of a session that ended with a usage error."""
    pytester.mkdir("runs")
    result = pytester.runpytest("--webeval-runs=runs", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) == 1, lines
    return lines[0]


@pytest.mark.thinned(every=6)
@pytest.mark.parametrize(("name", "value", "advice"), VALUES)
def test_an_invalid_value_names_its_option(pytester, name, value, advice):
    line = usage_error(pytester, f"--webeval-{name}={value}")
    assert line == f"ERROR: invalid --webeval-{name} {value!r}; use {advice}"


@pytest.mark.thinned(every=3)
@pytest.mark.parametrize(("name", "value", "advice"), [VALUES[0], VALUES[4], VALUES[8]])
def test_an_invalid_value_names_its_ini_key(pytester, name, value, advice):
    key = f"webeval_{name.replace('-', '_')}"
    pytester.makeini(f"[pytest]\n{key} = {value}\n")
    assert usage_error(pytester) == f"ERROR: invalid {key} {value!r}; use {advice}"


def test_an_ini_key_that_is_neither_true_nor_false_is_named(pytester):
    pytester.makeini("[pytest]\nwebeval_require_all = maybe\n")
    assert usage_error(pytester) == "ERROR: webeval_require_all: invalid truth value 'maybe'; use true or false"
