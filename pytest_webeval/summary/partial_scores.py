"""Partial scores: which runs have one, and their means, beside the success rate and never inside it."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_webeval.results import average
from pytest_webeval.summary.record import Record

Grades = Mapping[str, Mapping[str, Any]]  # of the runs that count in rates, by label


def select_scores(grades: Grades) -> dict[str, float]:
    """The mean scores of the runs that were checked by an evaluator which gave a partial score to any of them.

    So a run that this evaluator gave 0 or 1 counts in a mean as well as one that it gave 0.5.
    """
    graders = {name for grade in grades.values() for name in grade["partial"]}
    return {run: grade["score"] for run, grade in grades.items() if not graders.isdisjoint(grade["evaluators"])}


class ScoreMeans:
    """Means over the runs with a score: of all, by site and by template.

    These are the runs that count in rates and were checked by one of the `graders`: see `select_scores`.
    """

    def __init__(self, graders: AbstractSet[str]) -> None:
        self._graders = graders
        self._scores = array("d")
        self._by_site: dict[str, array[float]] = {}
        self._by_template: dict[str, array[float]] = {}

    def add(self, record: Record) -> float | None:
        """Count a run. Returns its score, if it has one."""
        if record.grade is None or not record.is_rated or self._graders.isdisjoint(record.grade["evaluators"]):
            return None
        score: float = record.grade["score"]
        self._scores.append(score)
        self._by_site.setdefault(record.site_key, array("d")).append(score)
        if record.template >= 0:
            self._by_template.setdefault(str(record.template), array("d")).append(score)
        return score

    def build(self) -> dict[str, Any]:
        """The means, under `scores`; empty where no run has a score."""
        if not self._scores:
            return {}
        means = _average_runs(self._scores) | {
            "evaluators": sorted(self._graders),
            "per_site": {name: _average_runs(scores) for name, scores in sorted(self._by_site.items())},
            "per_template": {name: _average_runs(scores) for name, scores in sorted(self._by_template.items())},
        }
        return {"scores": means}


def _average_runs(scores: array[float]) -> dict[str, Any]:
    return {"mean_score": average(scores), "run_count": len(scores)}
