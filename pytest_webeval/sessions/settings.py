"""The settings of a session, read through the table of options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import Rules
from pytest_webeval.safety.limits import Limits
from pytest_webeval.sessions import options
from pytest_webeval.sessions.option_values import PARSERS, Argument, OptionSource
from pytest_webeval.storage import Sync

if TYPE_CHECKING:
    from pytest_webeval.sessions.staging import Staging
    from pytest_webeval.stores.mirror import Mirror
    from pytest_webeval.summary.gates import Gate
    from pytest_webeval.summary.shards import Shard


class Settings:
    """One attribute for each row of the option table; annotated are those that the plugin reads.

    They are read-only. Paths are absolute, with their links unresolved.
    """

    runs: tuple[Path, ...]
    record: Path | None
    record_timeout: float  # seconds for each live test, 0 for no limit
    tasks: tuple[str, ...]
    subset: str | None
    config: Path | None
    output: Path | None
    results: str
    cache: Path | None  # the directory of all caches
    cache_size: int | None  # bytes of each
    redact: str
    redact_allow: Mapping[str, tuple[str, ...]]
    rules: Rules
    evaluators: tuple[str, ...]  # the full names of those that alone score; empty for all
    criterion: str | None
    rubric_threshold: Decimal | None
    score_file: str | None
    verdicts: Path | None
    labels: Path | None
    label_coding: str | None
    judge: str | None  # the name of a model
    judge_method: str
    judge_mode: str
    judge_replies: Path | None
    judge_url: str | None
    judge_text_model: str | None
    judge_votes: int
    judge_max_usd: Decimal | None
    judge_prices: Path | None
    judge_concurrency: int
    judge_again: bool
    judge_requests: bool
    judge_certificate: Path | None
    over_budget: str
    aborted: str
    impossible: str
    report: Path | None
    report_embed: int | None  # bytes of screenshots
    history: tuple[str, ...]  # files of earlier sessions
    metrics: Path | None
    baseline: Path | None
    baseline_update: bool
    known_failures: bool
    gate: tuple[Gate, ...]
    write_subset: Path | None
    attempts: str | None
    gitlab_metrics: Path | None
    durations: int | None  # how many runs to show, 0 for all
    timeout: float  # seconds for each run, 0 for no limit
    today: date
    limits: Limits
    require_all: bool
    reuse: bool
    shard: Shard | None
    shard_times: Path | None
    own_tasks: bool
    audit_tasks: bool
    audit_most: int  # findings that are allowed
    fsync: bool

    def __init__(
        self, values: Mapping[str, Any], mirrors: Sequence[Mirror] = (), staging: Staging | None = None
    ) -> None:
        """`mirrors` are those of run roots in stores; with `staging`, results go to a store."""
        vars(self).update(values, _mirrors=tuple(mirrors), _staging=staging)

    @property
    def mirrors(self) -> tuple[Mirror, ...]:
        """Those of run roots in stores."""
        mirrors: tuple[Mirror, ...] = vars(self)["_mirrors"]
        return mirrors

    def mirror_of(self, path: Path) -> Mirror | None:
        """That of a run; None for one that is not in a store."""
        return next((mirror for mirror in self.mirrors if mirror.holds(path)), None)

    def is_unread(self, path: Path, problem: str | None = None) -> bool:
        """Whether a store did not give all files of a run, perhaps to the process that found a `problem` with it."""
        mirror = self.mirror_of(path)
        if mirror is None:
            return False
        is_of_store = problem is not None and f"{mirror.store.location}/" in problem  # others name a file
        return is_of_store or mirror.find_problem(path) is not None

    @property
    def shows_pictures(self) -> bool:
        """Whether pages of a report show screenshots, or a judge looks at them."""
        return self.report is not None or self.judge is not None

    @property
    def staging(self) -> Staging | None:
        """The directory from which results are uploaded to a store; None if `output` is where they stay."""
        staging: Staging | None = vars(self)["_staging"]
        return staging

    def __setattr__(self, name: str, value: object) -> None:
        """Raise `AttributeError`."""
        raise AttributeError(f"settings are read-only: cannot set {name} = {value!r}")

    def without_gates(self) -> Settings:
        """The settings for processes that score: gates are checked where runs are summed up."""
        return self._with(gate=())

    def without_report(self) -> Settings:
        """The settings of a session that writes no report."""
        return self._with(report=None, report_embed=None, history=())

    def _with(self, **changes: Any) -> Settings:
        return Settings(vars(self) | changes, self.mirrors, self.staging)

    @cached_property
    def roots(self) -> tuple[Path, ...]:
        """The run roots: those whose `runs` are collected, and the one into which live tests record."""
        return self.runs if self.record is None else tuple(dict.fromkeys((*self.runs, self.record)))

    @property
    def is_live(self) -> bool:
        """Whether the session scores nothing but live tests."""
        return self.record is not None and not self.runs

    @property
    def sync(self) -> Sync | None:
        """`os.fsync` with --webeval-fsync, otherwise None."""
        return os.fsync if self.fsync else None

    @cached_property
    def policy(self) -> VerdictPolicy:
        """How stored verdicts count."""
        return VerdictPolicy(self.criterion, self.rubric_threshold, self.score_file, self.over_budget)

    @property
    def judging(self) -> str:
        """Who gives a verdict to a run that has none: what tells two sessions apart, as a text."""
        names = ("judge", "judge_text_model", "judge_method", "judge_votes", "judge_again", "judge_requests")
        return repr([*(getattr(self, name) for name in names), self.judge_mode == "off"])

    @cached_property
    def redaction(self) -> RedactionPolicy:
        """What is redacted outside the run directories."""
        return RedactionPolicy(self.redact, self.redact_allow)

    def affecting_results(self) -> dict[str, str]:
        """The values on which results depend, as texts."""
        names = (option.name for option in options.OPTIONS if option.affects_results)
        return {name: repr(getattr(self, name)) for name in names}


def read_settings(source: OptionSource) -> Settings:
    """The settings of a session, with its run roots in stores mirrored. Raises `WebEvalError`."""
    values = {option.name: PARSERS[option.parse](Argument(option, source)) for option in options.OPTIONS}
    if any(isinstance(place, str) for place in (*values["runs"], values["output"])):
        from pytest_webeval.sessions.remote_roots import open_stores  # few sessions have stores

        return Settings(*open_stores(values))
    return Settings(values)


def read_root_values(source: OptionSource) -> dict[str, Any]:
    """The values of options that decide on the run roots, as these can be known early. Raises `SettingsError`."""
    rows = {option.name: option for option in options.OPTIONS}
    names = ("runs", "cache", "cache_size", "limits")
    return {name: PARSERS[rows[name].parse](Argument(rows[name], source)) for name in names}
