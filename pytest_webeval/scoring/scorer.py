"""Scores runs with the same evaluators, sites and settings, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.scoring.definition import Definition, Trust
from pytest_webeval.scoring.score import score
from pytest_webeval.tasks.sites import Sites

if TYPE_CHECKING:
    from pytest_webeval.judges.judging import Judging


class Scorer(Struct, frozen=True):
    """What decides beside the run and its task. `tasks_origin` names the file of tasks that the user chose, if any."""

    evaluators: Iterable[Evaluator]
    sites: Sites
    today: date
    policy: VerdictPolicy
    tasks_origin: str | None

    def score(self, run: Run, definition: Definition) -> TaskResult:
        """The result of a run. Raises `WebEvalError` where it has none, `RunExcluded` where it is excluded."""
        case = self.build_case(run, definition)
        return score(case, self.evaluators, definition.checksum, definition.origin)

    def build_case(
        self,
        run: Run,
        definition: Definition,
        sites: Sites | None = None,
        calls: EvaluatorCalls | None = None,
        judging: Judging | None = None,
    ) -> Case:
        """What evaluators may look at, with warnings about the definition. `sites` may replace those of all runs.

        Nobody judges a run whose task the file of the user does not define.
        """
        is_known = definition.trust is not Trust.UNDEFINED
        case = Case(
            run,
            definition.task,
            sites or self.sites,
            today=self.today,
            requested_policy=self.policy,
            judging=judging if is_known or self.tasks_origin is None else None,
            has_definition=is_known,
            calls=calls or EvaluatorCalls(),
        )
        definition.warn(case, self.tasks_origin)
        return case
