"""What decides the results of runs that are scored from Python: parameters where a session has options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator, find_unknown, parse_choice
from pytest_webeval.recordings.run import RunFormat
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import AUTO, find_rules
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.scoring.score import SECONDS
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.settings import Settings, read_settings
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

if TYPE_CHECKING:
    from pytest_webeval.stores.mirror import Mirror


@cache
def _read_defaults() -> Settings:
    return read_settings(CommandSource(argparse.Namespace()))


class ScoreSettings(Struct, frozen=True, kw_only=True, dict=True):
    """What is the same for all runs that are scored together. It can be pickled, as its evaluators must be.

    `today` completes dates that leave something open; pass it if several processes score over midnight. A run that
    takes longer than `timeout` seconds (0 for no limit) is an error. `only` names the evaluators that score.
    """

    tasks: TaskSet | None = None
    sites: Sites | None = None
    evaluators: Sequence[Evaluator] | None = None
    rules: str = AUTO
    limits: Limits = USUAL
    today: date | None = None
    policy: VerdictPolicy | None = None
    timeout: float = SECONDS
    only: tuple[str, ...] = ()
    formats: Sequence[RunFormat] = ()  # of one's own, which come before the built-in ones

    def __post_init__(self) -> None:
        """Raises `SettingsError` for the path of a file in the place of what it holds."""
        for name, kind, function in (("tasks", TaskSet, "load_tasks"), ("sites", Sites, "load_sites")):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise SettingsError(f"invalid {name} {shorten_repr(value)}; pass what {function}(PATH) returns")

    def check_choice(self) -> None:
        """Raise `SettingsError` if `only` names an evaluator that nobody has."""
        if problem := find_unknown(self.choice, {evaluator.name for evaluator in self.list_evaluators()}):
            raise SettingsError(f"only: {problem}")

    def list_evaluators(self) -> list[Evaluator]:
        """Those that were passed, by default all that there are. Raises `SettingsError`."""
        return default_evaluators() if self.evaluators is None else list(self.evaluators)

    @cached_property
    def choice(self) -> tuple[str, ...]:
        """The names of the evaluators in `only`."""
        return parse_choice(self.only)

    def build_workspace(self, settings: Settings, rootpath: Path, here: Path, started: float) -> Workspace:
        """The workspace of a process that scores with these."""
        workspace = Workspace(settings, rootpath, here, started, tuple(self.formats), "output=DIR")
        workspace.tasks.provide(self.tasks, {})
        workspace.provide_sites(self.sites or Sites())
        return workspace

    def build_settings(self, top: Path, output: Path | None = None, mirror: Mirror | None = None) -> Settings:
        """The same as settings of a session over one run root."""
        policy = self.policy or VerdictPolicy()
        return replace(
            _read_defaults(),
            runs=(top,),
            output=output,
            evaluators=self.choice,
            rules=find_rules(self.rules),
            limits=self.limits,
            today=self.today or present_day(),
            timeout=self.timeout,
            criterion=policy.criterion,
            rubric_threshold=policy.threshold,
            score_file=policy.score_file,
            over_budget=policy.over_budget,
            mirrors=() if mirror is None else (mirror,),
        )
