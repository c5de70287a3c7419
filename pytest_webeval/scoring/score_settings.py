"""What decides the results of runs that are scored without a session, and how one of them is scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

from msgspec import Struct

from pytest_webeval.errors import RecordingError, RunExcluded, SettingsError, WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.choice import find_unknown, parse_choice
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.run import Run, RunFormat
from pytest_webeval.results import TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import AUTO
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.run_directory import open_run_directory
from pytest_webeval.safety.text import sanitize, shorten_repr
from pytest_webeval.scoring.definition import Definition, find_source, find_task
from pytest_webeval.scoring.score import limit_time, warn_of_refusal
from pytest_webeval.scoring.scorer import Scorer
from pytest_webeval.scoring.task_result import add_inputs, build_error_result, exclude
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

SECONDS = 60.0  # for each run, as in a session


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
        if problem := find_unknown(self.choice, {evaluator.name for evaluator in self.evaluators or ()}):
            raise SettingsError(f"only: {problem}")

    @cached_property
    def scorer(self) -> Scorer:
        """What decides besides a run and its task."""
        return Scorer(
            default_evaluators() if self.evaluators is None else list(self.evaluators),
            self.sites or Sites(),
            self.today or present_day(),
            self.policy or VerdictPolicy(),
            self.tasks.origin if self.tasks is not None else None,
        )

    @cached_property
    def choice(self) -> tuple[str, ...]:
        """The names of the evaluators in `only`."""
        return parse_choice(self.only)

    def score(self, run: Run) -> TaskResult:
        """The result of a run. Raises `WebEvalError` where it cannot be scored at all."""
        with open_run_directory(run.path, run.inputs.root):
            return self._score(self.prepare(run), self.tasks)

    def prepare(self, run: Run, tasks: TaskSet | None = None) -> Run:
        """The run as it is scored: by the evaluators in `only`, and by the rules for its task."""
        return run.choosing(self.choice).for_task(find_task(run, self._choose_tasks(tasks)))

    def _choose_tasks(self, tasks: TaskSet | None) -> TaskSet | None:
        return tasks if self.tasks is None else self.tasks

    def _score(self, run: Run, tasks: TaskSet | None) -> TaskResult:
        definition = Definition.of(run, tasks)
        try:
            return self.scorer.score(run, definition)
        except RunExcluded as error:
            reason = sanitize(str(error))
            result = build_error_result(run, definition.task, reason, definition.checksum, definition.origin)
            return exclude(result, run, reason, error.kind)

    def score_in_time(self, run: Run, tasks: TaskSet | None = None) -> TaskResult:
        """The result of a run, which is an error where it cannot be scored, or not in time.

        `tasks` define what `self.tasks` does not: those of a run root, which nobody has named.
        """
        known = self._choose_tasks(tasks)
        try:
            with open_run_directory(run.path, run.inputs.root), limit_time(self.timeout):
                return self._score(self.prepare(run, tasks), known)
        except WebEvalError as error:
            return build_refused_result(run, known, error)


def build_refused_result(run: Run, tasks: TaskSet | None, error: WebEvalError) -> TaskResult:
    """The result of a run that cannot be scored."""
    unread = replace(run, inputs=RunInputs(run.path, limits=run.inputs.limits))  # no finding about what was read counts
    message, task = sanitize(" ".join(str(error).split())), find_task(run, tasks)
    result = build_error_result(unread, task, message, *find_source(run, tasks))
    if isinstance(error, RecordingError):
        result = add_inputs(result, run)
    return result.with_warnings([*result.warnings, *warn_of_refusal(error, task)])
