"""Options and ini values as one frozen object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import MODES
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.policy import allowed_names
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.rubrics.policy import CRITERIA
from pytest_webeval.rubrics.policy import OVER_BUDGET
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rubrics.policy import parse_fraction
from pytest_webeval.rules import RULES
from pytest_webeval.rules import Rules
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.limits import parse_size
from pytest_webeval.safety.limits import read_limits
from pytest_webeval.storage import Sync
from pytest_webeval.tasks.dataset import BUNDLED
from pytest_webeval.tasks.dataset import REFERENCE_NAME
from pytest_webeval.values.base import present_day

REDACTING = pytest.StashKey[Redacting]()


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
RULE_WORDS = ("default", "reference", "strict")
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
    own_tasks: bool  # whether a run may define its own task
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
            rules=RULES[_word(config, "webeval_rules", RULE_WORDS) or RULE_WORDS[0]],
            today=_day(config),
            policy=_policy(config),
            aborted=_word(config, "webeval_aborted", ABORTED) or ABORTED[0],
            metrics=_directory(path, "--webeval-metrics") if (path := _value(config, "webeval_metrics")) else None,
            baseline=_file(path, "--webeval-baseline") if (path := _value(config, "webeval_baseline")) else None,
            gitlab_metrics=_absolute(path) if (path := _value(config, "webeval_gitlab_metrics")) else None,
            durations=_count(config),
            limits=read_limits(config.getini("webeval_limits")),
            timeout=_seconds(config),
            resume=_is_on(config, "webeval_resume"),
            fsync=_is_on(config, "webeval_fsync"),
            own_tasks=_is_on(config, "webeval_own_tasks"),
            redaction=_redaction(config),
            report=_directory(path, "--webeval-report") if (path := _value(config, "webeval_report")) else None,
            embed=_size(config),
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
    return _separate(roots)


def _separate(roots: Sequence[Path]) -> tuple[Path, ...]:
    """The roots, each once whatever links lead to it. Raises `SettingsError` for one inside another."""
    by_real_path: dict[Path, Path] = {}
    for root in roots:
        by_real_path.setdefault(Path(os.path.realpath(root)), root)
    for real, root in by_real_path.items():
        outer = next((by_real_path[path] for path in real.parents if path in by_real_path), None)
        if outer is not None:
            raise SettingsError(f"--webeval-runs: {root} lies inside {outer}; name one of them")
    return tuple(by_real_path.values())


def _value(config: pytest.Config, name: str) -> str | None:
    """An option as given, or its ini twin, whose paths are relative to the ini file."""
    given: str | None = getattr(config.option, name)
    if given is not None:
        return given
    written: str | None = config.getini(name)
    return _written(config, name, written) if written else None


def _invalid(config: pytest.Config, name: str, value: str, advice: str) -> SettingsError:
    """An error that names the option, or its ini key where the value stands there."""
    is_option = getattr(config.option, name) is not None
    called = f"--{name.replace('_', '-')}" if is_option else name
    return SettingsError(f"invalid {called} {value!r}; use {advice}")


def _values(config: pytest.Config, name: str) -> list[str]:
    """The same of an option that may be given several times."""
    given: list[str] | None = getattr(config.option, name)
    return given or [_written(config, name, one) for one in config.getini(name) or ()]


def _is_on(config: pytest.Config, name: str) -> bool:
    try:
        return bool(getattr(config.option, name) or config.getini(name))
    except (ValueError, pytest.UsageError) as error:  # in which pytest does not name the key
        raise SettingsError(f"{name}: {error}; use true or false") from error


def _written(config: pytest.Config, name: str, value: str) -> str:
    is_word = name in PLAIN or value in WORDS.get(name, ())
    return value if is_word or config.inipath is None else str(config.inipath.parent / value)


def _day(config: pytest.Config) -> date:
    given = _value(config, "webeval_today")
    try:
        return present_day() if given is None else date.fromisoformat(given)
    except ValueError as error:
        raise _invalid(config, "webeval_today", str(given), "YYYY-MM-DD, such as 2026-01-31") from error


def _count(config: pytest.Config) -> int | None:
    given = _value(config, "webeval_durations")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit()):
        raise _invalid(config, "webeval_durations", given, "how many runs to show, or 0 for all")
    return int(given)


def _size(config: pytest.Config) -> int | None:
    given = _value(config, "webeval_report_embed")
    size = None if given is None else parse_size(given)
    if given is not None and size is None:
        raise _invalid(config, "webeval_report_embed", given, "a size such as 25MB")
    return size


def _seconds(config: pytest.Config) -> float:
    given = _value(config, "webeval_timeout")
    try:
        seconds = TIMEOUT if given is None else float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise _invalid(config, "webeval_timeout", str(given), "a number of seconds such as 120, or 0 for no limit")
    return seconds


def _policy(config: pytest.Config) -> VerdictPolicy:
    return VerdictPolicy(
        criterion=_word(config, "webeval_criterion", CRITERIA),
        threshold=_threshold(config),
        score_file=_value(config, "webeval_score_file"),
        over_budget=_word(config, "webeval_over_budget", OVER_BUDGET) or OVER_BUDGET[0],
    )


def _threshold(config: pytest.Config) -> Decimal | None:
    given = _value(config, "webeval_rubric_threshold")
    try:
        return None if given is None else parse_fraction(given)
    except SettingsError as error:
        advice = "a number from 0 to 1, such as 0.8"
        raise _invalid(config, "webeval_rubric_threshold", str(given), advice) from error


def _redaction(config: pytest.Config) -> RedactionPolicy:
    mode = _word(config, "webeval_redact", MODES) or MODES[0]
    return RedactionPolicy(mode, allowed_names(config.getini("webeval_redact_allow")))


def _word(config: pytest.Config, name: str, words: Sequence[str]) -> str | None:
    value = _value(config, name)
    if value is not None and value not in words:
        raise _invalid(config, name, value, f"{', '.join(words[:-1])} or {words[-1]}")
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
    is_other = os.path.exists(found) and not os.path.isdir(found)  # noqa: PTH110, PTH112  (pathlib raises at times)
    if is_other:
        raise SettingsError(f"{option}: {found} is no directory; name one to write into")
    return found


def _file(path: str, option: str, advice: str = "check the path") -> Path:
    found = _absolute(path)
    if not os.path.isfile(found):  # noqa: PTH113  (pathlib raises where nobody may look)
        raise SettingsError(f"{option}: no file {found}; {advice}")
    return found
