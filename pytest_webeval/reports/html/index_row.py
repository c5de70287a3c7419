"""A run as the list of the first page has it: as JSON cells, and what a reader can filter by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from pytest_webeval.reports.failure_sentence import reason_in_words
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.record import Record
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
KNOWN = "known"
_GROUP = ("evaluator", "field", "kind", KNOWN)
LONGEST_INTENT, LONGEST_REASON = 200, 300  # characters: the whole texts stand on the page of the run
Name = TypeVar("Name")


class IndexRow(Struct, frozen=True):
    """A run as the list has it. `data` names the file with its page, `flip` says how it changed since a baseline."""

    record: Record
    data: str | None = None
    flip: str | None = None
    intent: str | None = None
    template: str | None = None  # its text
    is_known: bool = False  # whether its failure is expected

    @property
    def status(self) -> str:
        """The status that the list shows."""
        return "excluded" if self.record.skipped else self.record.status

    @property
    def site(self) -> str:
        """The benchmark of a trajectory, or the sites of the task."""
        return trajectory_labels(self.record).get("benchmark") or self.record.site_key

    @property
    def type(self) -> str:
        """How a trajectory ended, or the type of the task."""
        return trajectory_labels(self.record).get("class") or self.record.task_type or ""

    @property
    def group(self) -> tuple[str, ...] | None:
        """Evaluator, field and kind of the failure group, and what tells known failures apart."""
        failure = self.record.failure
        return None if failure is None or self.record.skipped else (*failure, KNOWN if self.is_known else "")

    @property
    def warnings(self) -> list[str]:
        """Kinds of warnings, and of what is wrong with the recording."""
        return sorted({*self.record.capture, *(kind for kind, _, _ in self.record.warnings)})


class RowTables(Struct, frozen=True):
    """Texts that many rows share, each with the index by which rows refer to it."""

    groups: Mapping[tuple[str, ...], int]
    evaluators: Mapping[str, int]
    warnings: Mapping[str, int]

    @classmethod
    def of(cls, index: Mapping[str, Any]) -> RowTables:
        """The tables of the data of a first page."""
        groups = [tuple(group.get(name, "") for name in _GROUP) for group in index["groups"]]
        return cls(_number_names(groups), _number_names(index["evaluators"]), _number_names(index["warnings"]))

    def build_cells(self, index_row: IndexRow) -> list[Any]:
        """The values of a row, in the order of `COLUMNS`."""
        record = index_row.record
        return [
            record.run,
            record.task_id,
            index_row.status,
            record.score,
            index_row.site,
            index_row.type,
            record.template,
            self.find_group(index_row),
            list(_find_numbers(self.evaluators, record.evaluators)),
            list(_find_numbers(self.warnings, index_row.warnings)),
            cut(describe_reason(record), LONGEST_REASON),
            cut(index_row.intent, LONGEST_INTENT),
            round(record.wall_time, 3),
            index_row.data,
            index_row.flip,
        ]

    def find_group(self, index_row: IndexRow) -> int:
        """The number of the failure group of a row; -1 for a row in none that the page lists."""
        group = index_row.group
        return -1 if group is None else self.groups.get(group, -1)


def _find_numbers(table: Mapping[str, int], names: Iterable[str]) -> Iterator[int]:
    return (table[name] for name in names if name in table)


def describe_reason(record: Record) -> str | None:
    """Why the run did not succeed, or was not scored, in words for people."""
    text = record.excluded if record.skipped else record.reason
    return text and reason_in_words(text)


def _number_names(names: Iterable[Name]) -> dict[Name, int]:
    return {name: index for index, name in enumerate(names)}


def cut(text: str | None, limit: int) -> str | None:
    """The beginning of a long text."""
    return None if text is None else truncate(text, limit, is_marker_extra=True)
