"""What a summary counts: collected from one record at a time, so that no session is too long."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from pytest_webeval.diagnostics.failure_groups import FailureGroup
from pytest_webeval.results import SCHEMA_VERSION, Status, WarningKind
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.result_facts import Claim
from pytest_webeval.summary.statistics import wilson_over_tasks
from pytest_webeval.summary.store.spooled_list import ScratchFile, SpooledList, SpooledMapping
from pytest_webeval.summary.task_identity import TaskCounter
from pytest_webeval.tasks.expectations import STATUSES

if TYPE_CHECKING:
    from pytest_webeval.summary.comparison.baseline import KnownFailures

SLOWEST = 10
OTHER = "other"  # of an excluded run that does not say why
_JOINED = ("version", "evaluator_checksum", "data_checksum", "rules")
_TABLES = ("template", "task_type")

Rows = list[Any] | SpooledList


def new_rows(scratch: ScratchFile | None) -> Rows:
    """An empty list, which goes on in the file if there is one."""
    return [] if scratch is None else SpooledList(scratch)


class SessionTotals:
    """The counts, tables and groups of records that are added in the order of the summary.

    Long lists go on in the file of `scratch`, if there is one. `graders` are the evaluators that gave a partial score.
    `known_failures` are those that are expected.
    """

    def __init__(self, scratch: ScratchFile | None = None, known_failures: KnownFailures | None = None) -> None:
        self._scratch, self._known = scratch, known_failures
        self.statuses: Counter[str] = Counter()
        self.count, self.missing = 0, 0
        self.tasks, self.counted = TaskCounter(), TaskCounter()
        self.excluded: Counter[str] = Counter()  # by what they are counted as
        self.graders: set[str] = set()
        self.has_judge = self.has_trajectories = False
        self._codes: set[tuple[str, str]] = set()  # rules and checksums that decided
        self._rules: Counter[str] = Counter()
        self._values: dict[str, set[str]] = {name: set() for name in _JOINED}
        self._warnings = _WarningLists(scratch)
        self._failures: dict[tuple[bool, FailureGroup], Rows] = {}  # those of known and new failures apart
        self._tables: dict[str, dict[str, dict[str, int]]] = {name: {} for name in _TABLES}
        self._slowest: list[tuple[float, int, str]] = []
        self._self_report = SelfReportCounts()
        self._unpassable: dict[str, str] = {}
        self._impossible: Counter[bool] = Counter()  # runs that labels call impossible, by whether they count

    def add(self, record: Record) -> None:
        """Count a record."""
        self.count += 1
        self.tasks.add(record)
        for name, values in self._values.items():
            values.add(getattr(record, name))
        self._warnings.add(record)
        self.has_judge |= record.judge is not None or bool(record.proposals)
        self.has_trajectories |= record.trajectory is not None
        if record.impossible is not None and (record.skipped or record.impossible == "zero"):
            self._impossible[not record.skipped] += 1
        if record.is_rated:
            self._add_counted(record)
        else:
            self.excluded[record.excluded_as or OTHER] += 1

    def _add_counted(self, record: Record) -> None:
        self.counted.add(record)
        self.statuses[record.status] += 1
        self.missing += record.missing
        self._rules[record.rules] += 1
        if record.status != Status.ERROR or record.evaluators:  # other errors precede all evaluators
            self._codes.add((record.rules, record.evaluator_checksum))
        self.graders.update(record.grade["partial"] if record.grade is not None else ())
        if record.failure is not None:
            is_known = self._known is not None and self._known.find_expected(record) is not None
            group = is_known, FailureGroup(*record.failure)
            self._failures.setdefault(group, new_rows(self._scratch)).append(record.run)
        if record.trajectory is None:  # which has neither template nor type
            for name, table in self._tables.items():
                row = table.setdefault(str(getattr(record, name)), {"total": 0, "success_count": 0})
                row["total"] += 1
                row["success_count"] += record.status == Status.SUCCESS
        if record.unpassable:
            self._unpassable[str(record.task_id)] = record.unpassable
        self._self_report.add(record)
        self._slowest.append((-record.wall_time, self.count, record.run))
        if len(self._slowest) > 100 * SLOWEST:
            self._slowest = nsmallest(SLOWEST, self._slowest)

    @property
    def is_mixed(self) -> bool:
        """Whether runs were scored in several ways."""
        return len(self._codes) > 1

    def join_values(self, name: str) -> str:
        """The value that all records share; several different ones are joined by commas."""
        return ",".join(sorted(filter(None, self._values[name])))

    def join_evaluators(self) -> str:
        """The checksums of the code that decided; where none did, those of the code that made the errors."""
        decided = {checksum for _, checksum in self._codes}
        return ",".join(sorted(filter(None, decided))) or self.join_values("evaluator_checksum")

    def build(self) -> dict[str, Any]:
        """What the summary has under `webeval`."""
        runs, tasks, success = self.counted.runs, self.counted.tasks, self.statuses[Status.SUCCESS]
        low, high = wilson_over_tasks(success, runs, tasks)
        tables = {name: dict(sorted(table.items())) for name, table in self._tables.items()}
        slowest = nsmallest(SLOWEST, self._slowest)
        return {
            "schema_version": SCHEMA_VERSION,
            "rules": self.join_values("rules"),
            **({"rules_counts": dict(sorted(self._rules.items()))} if len(self._rules) > 1 else {}),
            "excluded_count": self.count - runs,
            "excluded_counts": dict(sorted(self.excluded.items())),
            "missing_count": self.missing,
            "success_rate": success / runs if runs else None,
            "success_rate_denominator": runs,
            "success_rate_task_count": tasks,
            "success_rate_interval_95": [low, high],
            **self._rate_impossible(success, runs),
            "per_template": tables["template"],
            "per_type": tables["task_type"],
            "failures": self._list_failure_groups(),
            "slowest": [{"run": run, "wall_time": -time} for time, _, run in slowest],
            "self_report": self._self_report.build(),
            "unpassable": self._unpassable,
            **self._warnings.build(),
        }

    def _rate_impossible(self, success: int, runs: int) -> dict[str, Any]:
        """The rates with and without the runs that labels call impossible, if there are any."""
        if not self._impossible:
            return {}
        denominators = {"as_zero": runs + self._impossible[False], "excluded": runs - self._impossible[True]}
        rates = {
            name: {"success_rate": success / count if count else None, "denominator": count}
            for name, count in denominators.items()
        }
        return {"impossible": {"count": self._impossible.total(), "counted": self._impossible[True], **rates}}

    def _list_failure_groups(self) -> list[dict[str, Any]]:
        """Groups of runs that failed in the same way: those of new failures first, and of each the largest."""
        ordered = sorted(self._failures.items(), key=lambda entry: (entry[0][0], -len(entry[1]), entry[0]))
        return [
            asdict(group)
            | {"text": group.text, "count": len(runs), "runs": runs}
            | ({"known": True} if is_known else {})
            for (is_known, group), runs in ordered
        ]


class _WarningLists:
    """The warnings by run and by kind."""

    def __init__(self, scratch: ScratchFile | None) -> None:
        self._scratch = scratch
        self._by_run: dict[str, list[str]] | SpooledMapping = {} if scratch is None else SpooledMapping(scratch)
        self._runs: dict[str, Rows] = {}  # by kind
        self._examples: dict[str, dict[str, str]] = {}  # the first of each kind
        self._counts: Counter[str] = Counter()
        self._decided: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        """Add the warnings of a run."""
        if not record.warnings:
            return
        self._by_run[record.run] = [text for _, text, _ in record.warnings]
        for kind, text, decided in record.warnings:
            self._examples.setdefault(kind, {"run": record.run, "text": text})
            self._counts[kind] += 1
            self._decided[kind] += decided
        for kind in dict.fromkeys(kind for kind, _, _ in record.warnings):
            self._runs.setdefault(kind, new_rows(self._scratch)).append(record.run)

    def build(self) -> dict[str, Any]:
        """The lists: first the kinds that decided verdicts, then the most frequent, `other` last."""
        groups: list[dict[str, Any]] = [
            {
                "kind": kind,
                "count": self._counts[kind],
                "decided": self._decided[kind],
                "runs": list(dict.fromkeys(runs)) if isinstance(runs, list) else runs,
                "example": self._examples[kind],
            }
            for kind, runs in self._runs.items()
        ]
        other = WarningKind.OTHER
        groups.sort(key=lambda row: (not row["decided"], row["kind"] == other, -self._counts[row["kind"]], row["kind"]))
        return {"warning_count": self._counts.total(), "warning_kinds": groups, "warnings": self._by_run}


class SelfReportCounts:
    """Counts of claims, and of verdicts by what was reported."""

    def __init__(self) -> None:
        self._claims: Counter[str | None] = Counter()
        self._verdicts: dict[str, dict[str, int]] = {}

    def add(self, record: Record) -> None:
        """Count a run, if its agent claimed anything."""
        if record.claim is None:
            return
        self._claims[record.claim] += 1
        row = self._verdicts.setdefault(str(record.reported), {"success": 0, "failure": 0})
        row["success" if record.status == Status.SUCCESS else "failure"] += 1

    def build(self) -> dict[str, Any] | None:
        """The counts; None if no run has a report."""
        if not self._verdicts:
            return None
        return {
            "runs": self._claims.total(),
            "claims": {claim.value: self._claims[claim.value] for claim in Claim},
            "verdicts_by_report": {name: self._verdicts[name] for name in sorted(self._verdicts, key=_order_report)},
        }


def _order_report(name: str) -> tuple[int, str]:
    return STATUSES.index(name) if name in STATUSES else len(STATUSES), name
