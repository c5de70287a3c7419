"""The runs of a session as the list of the first page has them, and what the page counts of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct, field

from pytest_webeval.reports.failure_sentence import reason_in_words
from pytest_webeval.reports.html.distributions import DistributionTally
from pytest_webeval.results import Status
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import wilson_over_tasks
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
MOST_NAMES = 20_000  # that are counted: more than a page can list, and as many as fit into memory
_DIGITS = 4  # of the ends of an interval: more than a bar can show
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
            [self.evaluators[name] for name in record.evaluators if name in self.evaluators],
            [self.warnings[name] for name in index_row.warnings if name in self.warnings],
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


def describe_reason(record: Record) -> str | None:
    """Why the run did not succeed, or was not scored, in words for people."""
    text = record.excluded if record.skipped else record.reason
    return text and reason_in_words(text)


def _number_names(names: Iterable[Name]) -> dict[Name, int]:
    return {name: index for index, name in enumerate(names)}


def cut(text: str | None, limit: int) -> str | None:
    """The beginning of a long text."""
    return None if text is None else truncate(text, limit, is_marker_extra=True)


class _Count(Struct):
    """The runs of one name."""

    total: int = 0
    success: int = 0
    tasks: int = 0
    last: int | str | None = None  # the id of the last task


class RateTally(Struct):
    """Counts runs by a name, without keeping them. The runs of one task must follow each other."""

    counts: dict[str, _Count] = field(default_factory=dict)

    def add(self, name: str, record: Record) -> None:
        """Count a run if it counts in the success rate of the session."""
        if not record.is_rated:
            return
        count = self.counts.get(name)
        if count is None:
            if len(self.counts) >= MOST_NAMES:
                return
            count = self.counts[name] = _Count()
        count.total += 1
        count.success += record.status == Status.SUCCESS
        if not count.tasks or count.last != record.task_id:
            count.tasks += 1
            count.last = record.task_id

    def build_rates(self) -> list[dict[str, Any]]:
        """A row for each name.

        `lost` runs did not succeed. `interval` is Wilson's at 95 %, in which runs of one task are not independent.
        """
        rates: list[dict[str, Any]] = []
        for name, count in self.counts.items():
            ends = [round(end, _DIGITS) for end in wilson_over_tasks(count.success, count.total, count.tasks)]
            lost = count.total - count.success
            rates.append({"name": name, "total": count.total, "success": count.success, "lost": lost, "interval": ends})
        return sorted(rates, key=lambda rate: (-rate["lost"], -rate["total"], rate["name"]))


class IndexTally:
    """Counts runs that come in the order of the summary."""

    def __init__(self) -> None:
        """Without any run."""
        self.count = 0
        self.has_tasks = self.has_trajectories = False
        self.sites, self.types, self.templates = RateTally(), RateTally(), RateTally()
        self.distributions = DistributionTally()
        self.values: dict[str, Counter[str]] = {}  # how many runs have each value of a filter
        self.directories: str | None = None  # with which the labels of all runs begin
        self.texts: dict[str, str | None] = {}  # of templates, by their numbers

    @classmethod
    def of(cls, rows: Iterable[IndexRow]) -> IndexTally:
        """The tally of these rows."""
        tally = cls()
        for row in rows:
            tally.add(row)
        return tally

    def add(self, row: IndexRow) -> None:
        """Count a run."""
        record = row.record
        self.count += 1
        self.has_trajectories |= record.trajectory is not None
        self.has_tasks |= record.trajectory is None
        site, kind = row.site, row.type
        self.sites.add(site, record)
        self.types.add(kind, record)
        self.distributions.add(record)
        if record.template >= 0:
            name = str(record.template)
            self.templates.add(name, record)
            if row.template and len(self.texts) < MOST_NAMES:
                self.texts.setdefault(name, cut(row.template, LONGEST_INTENT))
        for key, values in _list_values(row, site, kind):
            counts = self.values.setdefault(key, Counter())
            for value in values:
                if value in counts or len(counts) < MOST_NAMES:
                    counts[value] += 1
        self.directories = _share_directories(self.directories, record.run)


def _list_values(row: IndexRow, site: str, kind: str) -> Iterator[tuple[str, Iterable[str]]]:
    """The values of a run by the filter that they belong to, besides its failure group."""
    record = row.record
    yield "status", (row.status,)
    yield "site", (site,)
    yield "type", (kind,)
    yield "template", (str(record.template),)
    yield "evaluator", record.evaluators
    yield "warning", row.warnings
    if row.flip:
        yield "flip", (row.flip,)


def _share_directories(shared: str | None, label: str) -> str:
    """The directories that a label and the labels before it begin with, with the slash at their end."""
    if shared is None:
        return label[: label.rfind("/") + 1]
    while not label.startswith(shared):
        shared = shared[: shared.rfind("/", 0, -1) + 1]
    return shared
