"""Options and ini values as one frozen object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.limits import Limits
from pytest_webeval.limits import amount
from pytest_webeval.limits import read_limits
from pytest_webeval.redaction.policy import MODES
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import allowed_names
from pytest_webeval.rubrics.base import CRITERIA
from pytest_webeval.rubrics.base import OVER_BUDGET
from pytest_webeval.rubrics.base import VerdictPolicy
from pytest_webeval.rubrics.base import share
from pytest_webeval.rules import Rules
from pytest_webeval.rules import rules_named
from pytest_webeval.task_sets import BUNDLED
from pytest_webeval.task_sets import REFERENCE_NAME
from pytest_webeval.values.base import present_day
from pytest_webeval.writing import Sync

# Options whose values are words or numbers, never paths, and those of which some values name no file.
PLAIN = (
    "webeval_aborted",
    "webeval_criterion",
    "webeval_durations",
    "webeval_over_budget",
    "webeval_redact",
    "webeval_report_embed",
    "webeval_rubric_threshold",
    "webeval_rules",
    "webeval_score_file",
    "webeval_timeout",
    "webeval_today",
)
TIMEOUT, LONGEST = 60.0, 1e8  # seconds
ABORTED = ("skip", "xfail", "fail")
WORDS = {"webeval_tasks": (REFERENCE_NAME,), "webeval_subset": tuple(BUNDLED)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a session was asked to do. Paths are absolute, links in them are kept."""

    roots: tuple[Path, ...]
    tasks: tuple[str, ...]
    subset: str | None
    expect: bool
    config: Path | None
    output: Path | None
    rules: Rules
    today: date
    policy: VerdictPolicy
    aborted: str
    metrics: Path | None
    baseline: Path | None
    gitlab_metrics: Path | None
    durations: int | None  # how many runs to show, 0 for all
    limits: Limits
    timeout: float  # seconds for each run, 0 for no limit
    resume: bool
    fsync: bool
    report: Path | None
    embed: int | None  # bytes of screenshots that the report has in itself

    @property
    def sync(self) -> Sync | None:
        """What makes sure that a file is on the disk, if that is asked for."""
        return os.fsync if self.fsync else None

    redaction: RedactionPolicy


def read_settings(config: pytest.Config) -> Settings:
    """The settings of a session. Raises `pytest.UsageError`."""
    try:
        return Settings(
            roots=run_roots(config, config.option.webeval_runs),
            tasks=tuple(_word_or_file("webeval_tasks", one) for one in _values(config, "webeval_tasks")),
            subset=_word_or_file("webeval_subset", one) if (one := _value(config, "webeval_subset")) else None,
            expect=_is_on(config, "webeval_expect"),
            config=_file(path, "--webeval-config") if (path := _value(config, "webeval_config")) else None,
            output=_absolute(path) if (path := _value(config, "webeval_output")) else None,
            rules=rules_named(_value(config, "webeval_rules") or "default"),
            today=_day(_value(config, "webeval_today")),
            policy=_policy(config),
            aborted=_word(config, "webeval_aborted", ABORTED) or ABORTED[0],
            metrics=_directory(path, "--webeval-metrics") if (path := _value(config, "webeval_metrics")) else None,
            baseline=_file(path, "--webeval-baseline") if (path := _value(config, "webeval_baseline")) else None,
            gitlab_metrics=_absolute(path) if (path := _value(config, "webeval_gitlab_metrics")) else None,
            durations=_count(given) if (given := _value(config, "webeval_durations")) else None,
            limits=read_limits(config.getini("webeval_limits")),
            timeout=_seconds(_value(config, "webeval_timeout")),
            resume=_is_on(config, "webeval_resume"),
            fsync=_is_on(config, "webeval_fsync"),
            redaction=_redaction(config),
            report=_directory(path, "--webeval-report") if (path := _value(config, "webeval_report")) else None,
            embed=_size(given) if (given := _value(config, "webeval_report_embed")) else None,
        )
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error


def run_roots(config: pytest.Config, given: list[str] | None) -> tuple[Path, ...]:
    """The run roots, as given in the options or else in the ini file. Raises `SettingsError`."""
    named = [Path(root) for root in given] if given else list(config.getini("webeval_runs"))
    roots = tuple(dict.fromkeys(Path(os.path.abspath(root)) for root in named))  # noqa: PTH100  (links are kept)
    for root in roots:
        if not os.path.isdir(root):  # noqa: PTH112  (pathlib raises where nobody may look)
            raise SettingsError(f"--webeval-runs: no directory {root}; name the directory that holds the recorded runs")
        if not os.access(root, os.R_OK | os.X_OK):
            raise SettingsError(f"--webeval-runs: cannot read {root}: Permission denied; make it readable")
    return roots


def _value(config: pytest.Config, name: str) -> str | None:
    """An option as given, or its ini twin, whose paths are relative to the ini file."""
    given: str | None = getattr(config.option, name)
    written: str | None = config.getini(name)
    return given if given is not None or not written else _written(config, name, written)


def _values(config: pytest.Config, name: str) -> list[str]:
    """The same of an option that may be given several times."""
    given: list[str] | None = getattr(config.option, name)
    return given or [_written(config, name, one) for one in config.getini(name) or ()]


def _is_on(config: pytest.Config, name: str) -> bool:
    return bool(getattr(config.option, name) or config.getini(name))


def _written(config: pytest.Config, name: str, value: str) -> str:
    is_word = name in PLAIN or value in WORDS.get(name, ())
    return value if is_word or config.inipath is None else str(config.inipath.parent / value)


def _day(given: str | None) -> date:
    try:
        return date.fromisoformat(given) if given else present_day()
    except ValueError as error:
        raise SettingsError(f"--webeval-today: {given!r} is no day; write it as 2026-01-31") from error


def _count(given: str) -> int:
    if not (given.isascii() and given.isdigit()):
        raise SettingsError(f"--webeval-durations: {given!r} is no count; write how many runs to show, or 0 for all")
    return int(given)


def _size(given: str) -> int:
    size = amount(given)
    if size is None:
        raise SettingsError(f"--webeval-report-embed: {given!r} is no size; write how much it may be, such as 25MB")
    return size


def _seconds(given: str | None) -> float:
    try:
        seconds = float(given) if given is not None else TIMEOUT
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise SettingsError(f"--webeval-timeout: {given!r} is no number of seconds; write 120, or 0 for no limit")
    return seconds


def _policy(config: pytest.Config) -> VerdictPolicy:
    return VerdictPolicy(
        criterion=_word(config, "webeval_criterion", CRITERIA),
        threshold=share(given) if (given := _value(config, "webeval_rubric_threshold")) else None,
        score_file=_value(config, "webeval_score_file"),
        over_budget=_word(config, "webeval_over_budget", OVER_BUDGET) or OVER_BUDGET[0],
    )


def _redaction(config: pytest.Config) -> RedactionPolicy:
    mode = _word(config, "webeval_redact", MODES) or MODES[0]
    return RedactionPolicy(mode, allowed_names(config.getini("webeval_redact_allow")))


def _word(config: pytest.Config, name: str, words: Sequence[str]) -> str | None:
    value = _value(config, name)
    if value is not None and value not in words:
        option = f"--{name.replace('_', '-')}"
        raise SettingsError(f"{option}: {value!r} is unknown; choose one of {', '.join(words)}")
    return value


def _word_or_file(name: str, value: str) -> str:
    words = WORDS[name]
    if value in words:
        return value
    return str(_file(value, f"--{name.replace('_', '-')}", f"check the path, or say {' or '.join(words)}"))


def _absolute(path: str) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  (links are kept)


def _directory(path: str, option: str) -> Path:
    found = _absolute(path)
    if found.exists() and not found.is_dir():
        raise SettingsError(f"{option}: {found} is no directory; name one to write into")
    return found


def _file(path: str, option: str, advice: str = "check the path") -> Path:
    found = _absolute(path)
    if not found.is_file():
        raise SettingsError(f"{option}: no file {found}; {advice}")
    return found
