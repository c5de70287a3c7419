"""Partial scores in a summary: means over runs, beside the success rate and never inside it."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from pytest_webeval.results import average
from pytest_webeval.summary.grades import Grades
from pytest_webeval.summary.grades import list_graders
from pytest_webeval.summary.grades import select_scores
from pytest_webeval.summary.record import Record


def find_grades(records: Iterable[Record]) -> Grades:
    """The grades of the runs that count in rates."""
    return {
        record.run: record.grade
        for record in records
        if record.grade is not None and not record.skipped and record.excluded is None
    }


def list_scores(records: Iterable[Record]) -> dict[str, float]:
    """The mean scores of the runs with a score, by label."""
    return select_scores(find_grades(records))


def build_scores(records: Sequence[Record], scores: Mapping[str, float]) -> dict[str, Any]:
    """Means over the runs with a score, of which there is at least one: of all, by site and by template."""
    scored = [record for record in records if record.run in scores]
    templated = [record for record in scored if record.template >= 0]
    return _average_runs(scored, scores) | {
        "evaluators": sorted(list_graders(find_grades(scored))),
        "per_site": _group(scored, scores, lambda record: record.site_key),
        "per_template": _group(templated, scores, lambda record: str(record.template)),
    }


def _group(
    records: Iterable[Record], scores: Mapping[str, float], find_name: Callable[[Record], str]
) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(find_name(record), []).append(record)
    return {name: _average_runs(members, scores) for name, members in sorted(groups.items())}


def _average_runs(records: Sequence[Record], scores: Mapping[str, float]) -> dict[str, Any]:
    return {"mean_score": average([scores[record.run] for record in records]), "run_count": len(records)}
