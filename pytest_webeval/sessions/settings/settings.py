"""The settings of a session, read through the table of options."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.sessions.settings import options
from pytest_webeval.sessions.settings.option_values import PARSERS, Argument, OptionSource
from pytest_webeval.sessions.settings.options import Effect, Options
from pytest_webeval.storage import Sync

if TYPE_CHECKING:
    from pytest_webeval.sessions.settings.staging import Staging
    from pytest_webeval.stores.mirror import Mirror


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Settings(Options):
    """The values of all options, and what follows from them."""

    mirrors: tuple[Mirror, ...] = ()  # of run roots in stores
    staging: Staging | None = None  # from where results are uploaded; None if `output` is where they stay

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

    def without_gates(self) -> Settings:
        """The settings for processes that score: gates are checked where runs are summed up."""
        return replace(self, gate=())

    def without_report(self) -> Settings:
        """The settings of a session that writes no report."""
        return replace(self, report=None, report_embed=None, history=())

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
        return {row.name: repr(getattr(self, row.name)) for row in options.OPTIONS if Effect.RESULTS in row.effect}


def read_settings(source: OptionSource) -> Settings:
    """The settings of a session, with its run roots in stores mirrored. Raises `WebEvalError`."""
    values = read_values(source, (row.name for row in options.OPTIONS))
    if any(isinstance(place, str) for place in (*values["runs"], values["output"])):
        from pytest_webeval.sessions.settings.remote_roots import open_stores  # few sessions have stores

        values, mirrors, staging = open_stores(values)
        return Settings(**values, mirrors=tuple(mirrors), staging=staging)
    return Settings(**values)


def read_values(source: OptionSource, names: Iterable[str]) -> dict[str, Any]:
    """The values of some options. Raises `SettingsError`."""
    rows = {row.name: row for row in options.OPTIONS}
    return {name: PARSERS[rows[name].parse](Argument(rows[name], source)) for name in names}
