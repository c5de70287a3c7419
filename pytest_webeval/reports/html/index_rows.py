"""The runs of a session as the list of the first page has them, and what the page counts of all of them.

Steps, duration and tokens of trajectories are small histograms, of the runs whose recordings have them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct, field

from pytest_webeval.reports.failure_sentence import reason_in_words
from pytest_webeval.results import Status
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import median, wilson_over_tasks
from pytest_webeval.summary.trajectories.trajectory_rows import TrajectoryRow, build_row, trajectory_labels

WIDTH, HEIGHT = 100, 40  # of a histogram
BINS = 20
_FARTHEST = 2  # times the 90th percentile: the last bin has all that lies beyond, so that one run hides no others
_SECONDS_IN_MINUTES, _SECONDS_IN_HOURS = 120, 7_200  # from which on a duration has that unit


class _Measure(NamedTuple):
    """A number that recordings may have of a run, and how to write it."""

    name: str
    read: Callable[[TrajectoryRow], float | None]
    format: Callable[[float], str]


class _Sample(Struct):
    """The values of the runs that have one, and for each whether the run succeeded."""

    values: array[float] = field(default_factory=lambda: array("d"))
    successes: bytearray = field(default_factory=bytearray)

    def add(self, value: float, *, is_success: bool) -> None:
        self.values.append(value)
        self.successes.append(is_success)

    def select(self, *, is_success: bool) -> array[float]:
        """The values of the runs that succeeded, or of the others."""
        flags = zip(self.values, self.successes, strict=True)
        return array("d", (value for value, flag in flags if flag == is_success))


class DistributionTally:
    """Takes the measures of trajectories, in a few bytes of memory for each."""

    def __init__(self) -> None:
        """Without any run."""
        self._runs = 0
        self._samples = [_Sample() for _ in _MEASURES]

    def add(self, record: Record) -> None:
        """Take what a run has, if it is a trajectory."""
        if record.trajectory is None:
            return
        self._runs += 1
        row = build_row(record)
        for measure, sample in zip(_MEASURES, self._samples, strict=True):
            value = measure.read(row)
            if value is not None and value >= 0:
                sample.add(value, is_success=row.status == Status.SUCCESS)

    def build_views(self) -> list[dict[str, Any]]:
        """What a page shows of each measure that at least one trajectory has."""
        measured = zip(_MEASURES, self._samples, strict=True)
        return [self._build_view(measure, sample) for measure, sample in measured if sample.values]

    def _build_view(self, measure: _Measure, sample: _Sample) -> dict[str, Any]:
        groups = {
            "all": sample.values,
            "succeeded": sample.select(is_success=True),
            "not succeeded": sample.select(is_success=False),
        }
        end = min(max(sample.values), _FARTHEST * find_percentile(sample.values, 0.9)) or max(sample.values)
        lines = []
        for name, values in groups.items():
            if values:
                figures = (median(values) or 0, find_percentile(values, 0.9), max(values))
                lines.append({"name": name, "count": len(values), "figures": list(map(measure.format, figures))})
        return {
            "name": measure.name,
            "count": len(sample.values),
            "runs": self._runs,
            "lines": lines,  # count, median, 90th percentile and maximum
            "end": measure.format(end) + (" or more" if end < max(sample.values) else ""),
            "paths": _draw_bars(sample, end),
        }


def find_percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed (nearest rank)."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def _draw_bars(sample: _Sample, end: float) -> dict[str, str]:
    """The paths of the bars of successes, and of those of the other runs above them."""
    counts = [[0, 0] for _ in range(BINS)]
    for value, is_success in zip(sample.values, sample.successes, strict=True):
        place = min(BINS - 1, int(BINS * value / end)) if end else 0
        counts[place][not is_success] += 1
    scale = HEIGHT / max(sum(count) for count in counts)
    paths: dict[str, list[str]] = {"success": [], "failure": []}
    width = WIDTH / BINS
    for place, (success, other) in enumerate(counts):
        for name, bottom, height in (("success", 0, success * scale), ("failure", success * scale, other * scale)):
            if height:
                start = f"M{place * width:.1f} {HEIGHT - bottom:.1f}"
                paths[name].append(f"{start}h{width - 0.5:.1f}v{-height:.1f}h{0.5 - width:.1f}z")
    return {name: "".join(bars) for name, bars in paths.items()}


def _count_tokens(row: TrajectoryRow) -> float | None:
    """Prompt and completion tokens together; None where one is unknown, or where the usage was left empty."""
    if row.prompt_tokens is None or row.completion_tokens is None:
        return None
    return row.prompt_tokens + row.completion_tokens or None


def _format_count(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def format_seconds(seconds: float) -> str:
    """A duration in a unit of its size."""
    if seconds < _SECONDS_IN_MINUTES:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < _SECONDS_IN_HOURS else f"{seconds / 3_600:,.1f} h"


_MEASURES = (
    _Measure("Steps", lambda row: row.steps, _format_count),
    _Measure("Duration", lambda row: row.duration, format_seconds),
    _Measure("Tokens", _count_tokens, _format_count),
)


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
