"""Success rates of the runs of each site, type or template, those that cost most successes first."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from pytest_webeval.results import Status
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import wilson_over_tasks

MOST_NAMES = 20_000  # that are counted: more than a page can list, and as many as fit into memory
_DIGITS = 4  # of the ends of an interval: more than a bar can show


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
        return sorted((_build_rate(name, count) for name, count in self.counts.items()), key=_order)


def _build_rate(name: str, count: _Count) -> dict[str, Any]:
    ends = [round(end, _DIGITS) for end in wilson_over_tasks(count.success, count.total, count.tasks)]
    lost = count.total - count.success
    return {"name": name, "total": count.total, "success": count.success, "lost": lost, "interval": ends}


def _order(rate: dict[str, Any]) -> tuple[int, int, str]:
    return -rate["lost"], -rate["total"], rate["name"]
