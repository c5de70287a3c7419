"""The data of the index page as JSON: totals, tables, groups, and a row for each run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import TypeVar

from msgspec import Struct

from pytest_webeval.diagnostics.failure_groups import FailureGroup
from pytest_webeval.reports.failure_sentence import reason_in_words
from pytest_webeval.reports.html.distributions import build_distributions
from pytest_webeval.reports.html.rates import build_rates
from pytest_webeval.reports.html.session_tables import build_agents
from pytest_webeval.reports.html.session_tables import build_baseline
from pytest_webeval.reports.html.session_tables import build_judging_lines
from pytest_webeval.reports.terminal import describe_rules
from pytest_webeval.reports.terminal import format_scores
from pytest_webeval.results import Summary
from pytest_webeval.safety.text import truncate
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.task_identity import describe_sample
from pytest_webeval.summary.trajectory_rows import trajectory_labels

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
# Headings of the columns `site` and `type`: for tasks with sites, for trajectories, and for both in one session.
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


class IndexRow(Struct, frozen=True):
    """A run as the list has it. `data` names the file with its page, `flip` says how it changed since a baseline."""

    record: Record
    data: str | None = None
    flip: str | None = None
    intent: str | None = None
    template: str | None = None  # its text


Rerun = Callable[[Sequence[str]], str | None]  # the command that scores the runs with these labels again


def index_view(index_rows: Iterable[IndexRow], summary: Summary, title: str, rerun: Rerun) -> dict[str, Any]:
    """The first page, from the summary and all that it was made of, in the order of that."""
    ordered = sorted(
        index_rows,
        key=lambda index_row: (str(type(index_row.record.task_id)), index_row.record.task_id, index_row.record.run),
    )
    records = [index_row.record for index_row in ordered]
    tables = _Tables.of(records, summary)
    webeval = summary.webeval
    return {
        "version": own_version(),
        "title": title,
        "timestamp": summary.timestamp,
        "rules": describe_rules(webeval),
        "partial": webeval.get("partial", False),
        "stopped": webeval.get("stopped"),
        "embedded": False,
        "totals": _totals(summary),
        "headings": _headings(ordered),
        "sites": build_rates((_site(record), record) for record in records),
        "templates": _templates(ordered),
        "types": build_rates((_type(record), record) for record in records),
        "groups": [_group(group, rerun) for group in webeval["failures"]],
        "evaluators": list(tables.evaluators),
        "warnings": list(tables.warnings),
        "flips": _flips(ordered),
        "distributions": build_distributions(records),
        "attempts": build_agents(webeval.get("attempts")),
        "baseline": build_baseline(webeval),
        "judging": build_judging_lines(webeval),
        "columns": list(COLUMNS),
        "rows": [tables.row(index_row) for index_row in ordered],
    }


def _totals(summary: Summary) -> dict[str, Any]:
    webeval = summary.webeval
    return {
        "total": summary.total,
        "success": summary.success_count,
        "failure": summary.failed_count,
        "error": summary.error_count,
        "excluded": webeval["excluded_count"],
        "missing": webeval["missing_count"],
        "unscored": webeval.get("unscored_count", 0),
        "rate": webeval["success_rate"],
        "denominator": webeval["success_rate_denominator"],
        "interval": webeval["success_rate_interval_95"],
        "sample": describe_sample(webeval["success_rate_task_count"], webeval["success_rate_denominator"]),
    } | ({"scores": scores} if (scores := format_scores(webeval)) else {})


def _headings(index_rows: Iterable[IndexRow]) -> dict[str, dict[str, str]]:
    """The headings of the columns `site` and `type` for these runs."""
    kinds = {index_row.record.trajectory is not None for index_row in index_rows}
    if len(kinds) > 1:
        return _OF_BOTH
    return _OF_TRAJECTORIES if True in kinds else _OF_TASKS


def _site(record: Record) -> str:
    return trajectory_labels(record).get("benchmark") or record.site_key


def _type(record: Record) -> str:
    return trajectory_labels(record).get("class") or record.task_type or ""


def _templates(index_rows: Sequence[IndexRow]) -> list[dict[str, Any]]:
    """The rates by intent template, with its text."""
    templated = [index_row for index_row in index_rows if index_row.record.template >= 0]
    texts = {
        str(index_row.record.template): _cut(index_row.template, LONGEST_INTENT)
        for index_row in reversed(templated)
        if index_row.template
    }
    named = ((str(index_row.record.template), index_row.record) for index_row in templated)
    return [rate | {"text": texts.get(rate["name"])} for rate in build_rates(named)]


def _group(group: Mapping[str, Any], rerun: Rerun) -> dict[str, Any]:
    columns = {name: group[name] for name in ("evaluator", "field", "kind", "count", "text")}
    return columns | {"rerun": rerun(group["runs"])}


def _flips(index_rows: Iterable[IndexRow]) -> dict[str, int] | None:
    """How many runs changed since the baseline, by kind; None without any."""
    flips = Counter(index_row.flip for index_row in index_rows if index_row.flip)
    return {"fixed": 0, "regressed": 0} | dict(flips) if flips else None


class _Tables(Struct, frozen=True):
    """Texts that many rows share, each with the index by which rows refer to it."""

    groups: Mapping[FailureGroup, int]
    evaluators: Mapping[str, int]
    warnings: Mapping[str, int]

    @classmethod
    def of(cls, records: Sequence[Record], summary: Summary) -> _Tables:
        groups = [
            FailureGroup(group["evaluator"], group["field"], group["kind"]) for group in summary.webeval["failures"]
        ]
        evaluators = sorted({name for record in records for name in record.evaluators})
        warnings = sorted({kind for record in records for kind in _kinds(record)})
        return cls(_number_names(groups), _number_names(evaluators), _number_names(warnings))

    def row(self, index_row: IndexRow) -> list[Any]:
        record = index_row.record
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
            _cut(_reason(record), LONGEST_REASON),
            _cut(index_row.intent, LONGEST_INTENT),
            round(record.wall_time, 3),
            index_row.data,
            index_row.flip,
        ]


def _reason(record: Record) -> str | None:
    text = record.excluded if record.skipped else record.reason
    return text and reason_in_words(text)


def _number_names(names: Iterable[Name]) -> dict[Name, int]:
    return {name: index for index, name in enumerate(names)}


def _kinds(record: Record) -> list[str]:
    return sorted({*record.capture, *(kind for kind, _, _ in record.warnings)})


def _cut(text: str | None, limit: int) -> str | None:
    return None if text is None else truncate(text, limit, is_marker_extra=True)
