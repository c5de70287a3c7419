"""Some tasks in two sessions: rates, their difference with an interval, and the exact test of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from pytest_webeval.results import average
from pytest_webeval.summary.comparison.paired_statistics import (
    LEVEL,
    Cluster,
    detectable_difference,
    mcnemar_exact,
    newcombe_interval,
    newcombe_unpaired_interval,
)
from pytest_webeval.summary.scored_session import ScoredRun, count_runs, count_successes

MIN_PAIRS = 2  # judged tasks in common, for a test


class TaskPair(Struct, frozen=True):
    """A task that both sessions judged: the share of its runs that succeeded, before and after."""

    task_id: str
    run: ScoredRun
    before: float
    after: float
    is_balanced: bool = True  # whether both sessions judged as many runs of it
    scores: tuple[float, float] | None = None  # the mean scores of its runs, where both sessions have some


class GroupComparison(Struct, frozen=True, dict=True):
    """Some tasks in two sessions: all, or those of one site, type or template.

    Rates are over all runs that a session judged; the difference and the tests are over the tasks that both judged.
    """

    name: str
    before: Sequence[ScoredRun]
    after: Sequence[ScoredRun]
    tasks: Sequence[TaskPair]

    @property
    def worse(self) -> int:
        """How many tasks succeeded less often than before."""
        return self._changes[-1]

    @property
    def better(self) -> int:
        """How many tasks succeeded more often than before."""
        return self._changes[1]

    @cached_property
    def _changes(self) -> Mapping[int, int]:
        return Counter((task.after > task.before) - (task.after < task.before) for task in self.tasks)

    @cached_property
    def p_value(self) -> float | None:
        """Of the two-sided exact McNemar test; None if fewer than two tasks are in common, or runs were added to some.

        One success of one run and two of three are not the same by chance alone as often as the other way round.
        """
        return mcnemar_exact(self.worse, self.better) if len(self.tasks) >= MIN_PAIRS and self.is_balanced else None

    @property
    def is_balanced(self) -> bool:
        """Whether each task has as many judged runs in both sessions."""
        return all(task.is_balanced for task in self.tasks)

    @property
    def difference(self) -> float | None:
        """The mean change of the success rate over the tasks in common."""
        return sum(task.after - task.before for task in self.tasks) / len(self.tasks) if self.tasks else None

    @property
    def is_binary(self) -> bool:
        """Whether each task either succeeded or not, in all of its runs."""
        return all(share in (0.0, 1.0) for task in self.tasks for share in (task.before, task.after))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference (Newcombe); None if tasks have several runs, which it does not know.

        It holds 0 wherever the exact test does not reach 5 %, so that both say the same.
        """
        if not self.tasks:
            before, after = ([run for run in runs if run.is_judged] for runs in (self.before, self.after))
            return newcombe_unpaired_interval(
                (count_successes(before), len(before)), (count_successes(after), len(after))
            )
        if not self.is_binary:
            return None
        both = sum(task.before == task.after == 1.0 for task in self.tasks)
        neither = len(self.tasks) - both - self.worse - self.better
        low, high = newcombe_interval(both, self.worse, self.better, neither)
        is_noise = self.p_value is not None and self.p_value > LEVEL
        return (min(low, 0.0), max(high, 0.0)) if is_noise else (low, high)

    def to_json(self) -> dict[str, Any]:
        """The numbers in plain JSON. Counts are successes, judged runs and all runs."""
        interval = self.interval
        return {
            "name": self.name,
            "before": count_runs(self.before),
            "after": count_runs(self.after),
            "both_judged": len(self.tasks),
            "better": self.better,
            "worse": self.worse,
            "difference": self.difference,
            "difference_interval_95": None if interval is None else list(interval),
            "p_value": self.p_value,
            "detectable_difference": detectable_difference(len(self.tasks), self.better + self.worse),
        } | self._describe_scores()

    def _describe_scores(self) -> dict[str, Any]:
        """The mean scores and their change; nothing where no run has a partial score."""
        before, after = _average_scores(self.before), _average_scores(self.after)
        if before is None and after is None:
            return {}
        both = [task.scores for task in self.tasks if task.scores is not None]
        change = average([now - then for then, now in both]) if both else None
        return {"scores": {"before": before, "after": after, "both_scored": len(both), "difference": change}}


def _average_scores(runs: Iterable[ScoredRun]) -> dict[str, Any] | None:
    scores = list_scores(runs)
    return {"mean_score": average(scores), "run_count": len(scores)} if scores else None


def list_scores(runs: Iterable[ScoredRun]) -> list[float]:
    """The mean scores of the runs that have one and count in rates."""
    return [run.partial_score for run in runs if run.partial_score is not None and run.is_judged]


def pair_scores(before: Iterable[ScoredRun], after: Iterable[ScoredRun]) -> tuple[float, float] | None:
    """The mean scores of a task in two sessions; None where one of them has no score of it."""
    then, now = list_scores(before), list_scores(after)
    return (average(then), average(now)) if then and now else None


def cluster_by_template(tasks: Iterable[TaskPair]) -> list[Cluster]:
    """The differences of the tasks of each template together; a task without a template is alone."""
    clusters: dict[str, Cluster] = {}
    for task in tasks:
        name = f"template {task.run.template}" if task.run.template >= 0 else f"run {task.run.run}"
        total, count = clusters.get(name, (0.0, 0))
        clusters[name] = total + task.after - task.before, count + 1
    return list(clusters.values())
