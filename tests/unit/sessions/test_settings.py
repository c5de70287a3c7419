"""Values that options cannot have are refused by name, and each is what the parser of its row says."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.sessions.settings import options
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.settings import read_settings

NUMBER = "use a number of seconds, e.g. 120 (0 for no limit)"
SHARE = "use a number from 0 to 1, e.g. 0.8"
RULES = "use auto, default, reference or strict"
USD = "use an amount in USD, e.g. 2.50"


def read(**values):
    """The settings of a command line on which options have these values."""
    lists = {option.name for option in options.OPTIONS if option.is_repeatable}
    given = {f"webeval_{name}": [value] if name in lists else value for name, value in values.items()}
    return read_settings(CommandSource(argparse.Namespace(**given)))


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("rules", "lax", RULES),
        ("rules", "", RULES),
        ("redact", "loud", "use default, off or strict"),
        ("criterion", "luck", "use outcome, process, both or safe_outcome"),
        ("rubric_threshold", "80", SHARE),
        ("rubric_threshold", "much", SHARE),
        ("rubric_threshold", "nan", SHARE),
        ("over_budget", "judge", "use stored or zero"),
        ("aborted", "pass", "use skip, xfail or fail"),
        ("report_embed", "much", "use e.g. 25MB"),
        ("durations", "-1", "use a non-negative integer (0 shows all runs)"),
        *(("timeout", value, NUMBER) for value in ("long", "-5", "soon", "-1", "inf", "1e10", "nan")),
        ("today", "1.3.", "use YYYY-MM-DD, e.g. 2026-01-31"),
        *(("judge_votes", value, "use 1, 3, 5 or so, at most 99") for value in ("2", "101", "", "one")),
        ("judge_max_usd", "much", USD),
        ("judge_max_usd", "nan", USD),
        *(("judge_concurrency", value, "use a number from 1 to 256") for value in ("0", "257", "")),
        *(("audit_most", value, "use a non-negative integer") for value in ("-1", "9999999999", "x")),
        ("record_timeout", "soon", NUMBER),
        ("shard", "3/2", "use e.g. 2/8 for the second of eight"),
        ("cache_size", "much", "use e.g. 25MB"),
        ("judge_mode", "x", "use cached, live or off"),
    ],
)
def test_an_invalid_value_is_named_with_what_to_write(name, value, advice):
    flag = f"--webeval-{name.replace('_', '-')}"
    with pytest.raises(SettingsError, match=f"^{re.escape(f'invalid {flag} {value!r}; {advice}')}$"):
        read(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("report", "file", "not a directory: {here}/file; choose another directory"),
        ("verdicts", "none", "not found: {here}/none; check the path"),
        ("config", "none", "file not found: {here}/none; check the path"),
        ("config", ".", "file not found: {here}; check the path"),
        ("history", "none", "not found: {here}/none; name a summary or a directory of results"),
        ("subset", "none", "file not found: {here}/none; check the path, or use hard or non-hard"),
        ("tasks", "none", "file not found: {here}/none; check the path, or use webarena-verified or clawbench-v1 or "),
    ],
)
def test_a_path_that_cannot_be_used_is_named_with_what_to_do(tmp_path, monkeypatch, name, value, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    message = f"--webeval-{name}: {problem.format(here=tmp_path)}"
    with pytest.raises(SettingsError, match=f"^{re.escape(message)}"):
        read(**{name: value})


@pytest.mark.parametrize("name", ["report", "config", "subset", "tasks", "verdicts", "history", "baseline"])
def test_a_store_is_no_path_and_its_location_is_not_repeated(name):
    message = rf"^--webeval-{name} cannot use a store \(s3://…\); pass a local path, since only --webeval-runs and "
    with pytest.raises(SettingsError, match=message):
        read(**{name: "s3://user:hunter2@bucket"})


def test_a_path_is_absolute_and_a_word_stays_a_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    assert (read(report="new").report, read(baseline="new").baseline) == (tmp_path / "new", tmp_path / "new")
    assert (read(subset="hard").subset, read(subset="file").subset) == ("hard", str(tmp_path / "file"))
    assert read(tasks="webarena-verified").tasks == ("webarena-verified",)
    assert (read(tasks=".").tasks, read(history="file").history) == ((str(tmp_path),), (str(tmp_path / "file"),))


def test_a_method_of_judging_is_one_of_those_that_there_are():
    with pytest.raises(SettingsError, match=r"^invalid --webeval-judge-method 'x'; use rubric, "):
        read(judge_method="x")


def test_an_invalid_gate_is_one_of_an_option():
    with pytest.raises(SettingsError, match=r"^invalid gate 'success': incomplete; quote it: --webeval-gate="):
        read(gate="success")


@pytest.mark.parametrize(
    ("name", "value", "setting"),
    [
        ("redact", "off", "off"),
        ("criterion", "both", "both"),
        ("rubric_threshold", "0.5", 0.5),
        ("timeout", "90", 90.0),
        ("durations", "0", 0),
        ("judge_concurrency", "9", 9),
        ("audit_most", "3", 3),
        ("record_timeout", "30", 30.0),
        ("cache_size", "2kB", 2_000),
        ("judge_max_usd", "2.50", Decimal("2.50")),
        ("judge_votes", "5", 5),
        ("judge_mode", "live", "live"),
    ],
)
def test_a_value_is_what_its_parser_makes_of_it(name, value, setting):
    assert getattr(read(**{name: value}), name) == setting
    assert getattr(read(), name) != setting
