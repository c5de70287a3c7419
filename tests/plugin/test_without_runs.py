"""Sessions without recorded runs: options about runs are refused there, and everything else is as pytest does it."""

from __future__ import annotations

import pytest

from pytest_webeval.sessions.settings.options import OPTIONS

ADVICE = "pass --webeval-runs=DIR, or --webeval-record=DIR for live tests"
NEEDING_RUNS = [
    option for option in OPTIONS if option.is_flag and option.is_ini_key and option.name not in {"runs", "record"}
]


def usage_error(result):
    """The one line of a session that ended with a usage error."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) == 1, lines
    return lines[0]


def test_an_option_about_runs_needs_runs(pytester):
    line = usage_error(pytester.runpytest("--webeval-report=report"))
    assert line == f"ERROR: --webeval-report requires recorded runs; {ADVICE}"
    assert not (pytester.path / "report").exists()


def test_all_options_without_runs_are_named_in_one_line(pytester):
    given = [option.flag if option.is_switch else f"{option.flag}=1" for option in NEEDING_RUNS]
    line = usage_error(pytester.runpytest(*reversed(given)))
    flags = ", ".join(option.flag for option in NEEDING_RUNS)
    assert line == f"ERROR: {flags} require recorded runs; {ADVICE}"


def test_an_option_without_runs_is_refused_in_the_environment_as_well(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", "--webeval-rules=strict")
    line = usage_error(pytester.runpytest())
    assert line == f"ERROR: --webeval-rules requires recorded runs; {ADVICE}"


def test_options_without_runs_are_refused_before_workers_start(pytester):
    line = usage_error(pytester.runpytest_subprocess("-n1", "--webeval-rules=strict"))
    assert line == f"ERROR: --webeval-rules requires recorded runs; {ADVICE}"


@pytest.mark.parametrize(
    "configured",
    ["webeval_rules = strict\nwebeval_require_all = true", "addopts = --webeval-rules strict --webeval-report=report"],
    ids=["ini keys", "addopts"],
)
def test_configuration_of_runs_is_no_error_in_a_session_without_runs(pytester, configured):
    pytester.makeini(f"[pytest]\n{configured}\n")
    pytester.makepyfile("def test_pass(): pass")
    pytester.runpytest().assert_outcomes(passed=1)
    assert not (pytester.path / "report").exists()


def test_an_option_beside_configured_runs_is_no_error(pytester, runs):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_runs = runs\n")
    pytester.runpytest("--webeval-rules=strict").assert_outcomes(passed=1)


def test_the_help_is_shown_whatever_else_is_asked_for(pytester):
    result = pytester.runpytest("--webeval-rules=strict", "--help")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*--webeval-runs=DIR*"])
