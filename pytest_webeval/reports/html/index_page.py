"""What the first page of a report shows of all runs, as JSON: totals, tables, groups, and a row for each run."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import TypeVar

from pytest_webeval.diagnostics.failure_groups import FailureGroup
from pytest_webeval.results import Status
from pytest_webeval.results import Summary
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.trajectory_rows import trajectory_labels
from pytest_webeval.summary.warning_kinds import warning_kind

COLUMNS = (
    "run",
    "task_id",
    "status",
    "score",
    "site",
    "type",
    "template",
    "group",
    "evaluators",
    "warnings",
    "reason",
    "intent",
    "seconds",
    "data",
    "flip",
)
# What the two columns `site` and `type` are called: of tasks with sites, of trajectories, and of both in one session.
_OF_TASKS = {
    "site": {"one": "Site", "many": "Sites", "none": "no site"},
    "type": {"one": "Kind", "many": "Kinds of task", "none": "unknown"},
}
_OF_TRAJECTORIES = {
    "site": {"one": "Benchmark", "many": "Benchmarks", "none": "no benchmark"},
    "type": {"one": "Ending", "many": "How runs ended", "none": "unknown"},
}
_OF_BOTH = {
    "site": {"one": "Site or benchmark", "many": "Sites and benchmarks", "none": "no site"},
    "type": {"one": "Kind or ending", "many": "Kinds of task, how runs ended", "none": "unknown"},
}
Name = TypeVar("Name")
LONGEST_INTENT, LONGEST_REASON = 200, 300  # characters: the whole texts stand on the page of the run


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A run as the list has it. `data` names the file with its page, `flip` says how it changed since a baseline."""

    record: Record
    data: str | None = None
    flip: str | None = None
    intent: str | None = None
    template: str | None = None  # its text


Rerun = Callable[[Sequence[str]], str | None]  # the command that scores the runs with these labels again


def index_view(listed: Iterable[IndexRow], summary: Summary, title: str, rerun: Rerun) -> dict[str, Any]:
    """The first page, from the summary and all that it was made of, in the order of that."""
    ordered = sorted(listed, key=lambda one: (str(type(one.record.task_id)), one.record.task_id, one.record.run))
    tables = _Tables.of([one.record for one in ordered], summary)
    about = summary.webeval
    return {
        "version": own_version(),
        "title": title,
        "timestamp": summary.timestamp,
        "rules": about["rules"],
        "partial": about.get("partial", False),
        "stopped": about.get("stopped"),
        "embedded": False,
        "totals": _totals(summary),
        "headings": _headings(ordered),
        "sites": _shares(ordered, lambda one: _site(one.record)),
        "templates": _templates(ordered),
        "types": _shares(ordered, lambda one: _type(one.record)),
        "groups": [_group(one, rerun) for one in about["failures"]],
        "evaluators": list(tables.evaluators),
        "warnings": list(tables.warnings),
        "flips": _flips(ordered),
        "columns": list(COLUMNS),
        "rows": [tables.row(one) for one in ordered],
    }


def _totals(summary: Summary) -> dict[str, Any]:
    about = summary.webeval
    return {
        "total": summary.total,
        "success": summary.success_count,
        "failure": summary.failed_count,
        "error": summary.error_count,
        "excluded": about["excluded_count"],
        "missing": about["missing_count"],
        "unscored": about.get("unscored_count", 0),
        "rate": about["success_rate"],
        "denominator": about["success_rate_denominator"],
        "interval": about["success_rate_interval_95"],
    }


def _headings(listed: Iterable[IndexRow]) -> dict[str, dict[str, str]]:
    """What the columns `site` and `type` of these runs are called."""
    kinds = {one.record.trajectory is not None for one in listed}
    if len(kinds) > 1:
        return _OF_BOTH
    return _OF_TRAJECTORIES if True in kinds else _OF_TASKS


def _site(record: Record) -> str:
    return trajectory_labels(record).get("benchmark") or record.site_key


def _type(record: Record) -> str:
    return trajectory_labels(record).get("class") or record.task_type or ""


def _shares(listed: Iterable[IndexRow], key: Callable[[IndexRow], str]) -> list[dict[str, Any]]:
    """How many runs of each kind there are, and how many of them succeeded."""
    found: dict[str, dict[str, Any]] = {}
    for one in listed:
        if not one.record.skipped:
            name = key(one)
            row = found.setdefault(name, {"name": name, "total": 0, "success": 0})
            row["total"] += 1
            row["success"] += one.record.status == Status.SUCCESS
    return [found[name] for name in sorted(found)]


def _templates(listed: Sequence[IndexRow]) -> list[dict[str, Any]]:
    """The same by intent template, with its text."""
    known = [one for one in listed if one.record.template >= 0]
    texts = {str(one.record.template): _cut(one.template, LONGEST_INTENT) for one in reversed(known) if one.template}
    return [row | {"text": texts.get(row["name"])} for row in _shares(known, lambda one: str(one.record.template))]


def _group(told: Mapping[str, Any], rerun: Rerun) -> dict[str, Any]:
    shown = {name: told[name] for name in ("evaluator", "field", "kind", "count", "text")}
    return shown | {"rerun": rerun(told["runs"])}


def _flips(listed: Iterable[IndexRow]) -> dict[str, int] | None:
    found = [one.flip for one in listed if one.flip]
    return {flip: found.count(flip) for flip in ("gained", "lost")} if found else None


@dataclass(frozen=True, slots=True)
class _Tables:
    """Texts that many rows have, each of which is told once."""

    groups: Mapping[FailureGroup, int]
    evaluators: Mapping[str, int]
    warnings: Mapping[str, int]

    @classmethod
    def of(cls, records: Sequence[Record], summary: Summary) -> _Tables:
        groups = [FailureGroup(one["evaluator"], one["field"], one["kind"]) for one in summary.webeval["failures"]]
        evaluators = sorted({name for record in records for name in record.evaluators})
        warnings = sorted({kind for record in records for kind in _kinds(record)})
        return cls(_numbered(groups), _numbered(evaluators), _numbered(warnings))

    def row(self, listed: IndexRow) -> list[Any]:
        record = listed.record
        is_grouped = record.failure is not None and not record.skipped
        return [
            record.run,
            record.task_id,
            "excluded" if record.skipped else record.status,
            record.score,
            _site(record),
            _type(record),
            record.template,
            self.groups[FailureGroup(*record.failure)] if is_grouped and record.failure else -1,
            [self.evaluators[name] for name in record.evaluators],
            [self.warnings[kind] for kind in _kinds(record)],
            _cut(record.excluded if record.skipped else record.reason, LONGEST_REASON),
            _cut(listed.intent, LONGEST_INTENT),
            round(record.wall_time, 3),
            listed.data,
            listed.flip,
        ]


def _numbered(names: Iterable[Name]) -> dict[Name, int]:
    return {name: index for index, name in enumerate(names)}


def _kinds(record: Record) -> list[str]:
    return sorted({*record.capture, *map(warning_kind, record.warnings)})


def _cut(text: str | None, limit: int) -> str | None:
    return text if text is None or len(text) <= limit else f"{text[:limit]}…"
