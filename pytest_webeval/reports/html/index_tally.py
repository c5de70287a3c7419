"""What the first page counts of all runs, in one pass and without keeping them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_webeval.reports.html.distributions import DistributionTally
from pytest_webeval.reports.html.index_row import LONGEST_INTENT, IndexRow, cut
from pytest_webeval.reports.html.rates import MOST_NAMES, RateTally

MOST_VALUES = 1_000  # of a filter, in a list that is written in parts


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
        self._texts: dict[str, str | None] = {}  # of templates, by their numbers

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
            self._add_template(str(record.template), row)
        for key, values in _list_values(row, site, kind):
            self._count_values(key, values)
        self.directories = _share_directories(self.directories, record.run)

    def _add_template(self, name: str, row: IndexRow) -> None:
        self.templates.add(name, row.record)
        if row.template and len(self._texts) < MOST_NAMES:
            self._texts.setdefault(name, cut(row.template, LONGEST_INTENT))

    def _count_values(self, key: str, values: Iterable[str]) -> None:
        counts = self.values.setdefault(key, Counter())
        for value in values:
            if value in counts or len(counts) < MOST_NAMES:
                counts[value] += 1

    def build_templates(self) -> list[dict[str, Any]]:
        """The rates by intent template, with its text."""
        return [rate | {"text": self._texts.get(rate["name"])} for rate in self.templates.build_rates()]

    def list_names(self, key: str) -> list[str]:
        """All values of a filter, sorted."""
        return sorted(self.values.get(key, ()))

    def list_frequent(self, key: str) -> list[tuple[str, int]]:
        """The most frequent values of a filter and how many runs have them."""
        counts = self.values.get(key, Counter())
        return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_VALUES]

    def count_flips(self) -> dict[str, int] | None:
        """How many runs changed since the baseline, by kind; None without any."""
        flips = self.values.get("flip")
        return {"fixed": 0, "regressed": 0} | dict(flips) if flips else None


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
