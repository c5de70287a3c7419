"""Success rates of the runs of each site, type or template, those that cost most successes first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_webeval.results import Status
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import wilson_over_tasks

_DIGITS = 4  # of the ends of an interval: more than a bar can show


def build_rates(named: Iterable[tuple[str, Record]]) -> list[dict[str, Any]]:
    """A row for each name of the runs that count in the success rate of the session.

    `lost` runs did not succeed. `interval` is Wilson's at 95 %, in which runs of one task are not independent.
    """
    groups: dict[str, list[Record]] = {}
    for name, record in named:
        if not record.skipped and record.excluded is None:
            groups.setdefault(name, []).append(record)
    return sorted((_build_rate(name, records) for name, records in groups.items()), key=_order)


def _build_rate(name: str, records: list[Record]) -> dict[str, Any]:
    total, success = len(records), sum(record.status == Status.SUCCESS for record in records)
    interval = wilson_over_tasks(success, total, len({record.task_id for record in records}))
    ends = [round(end, _DIGITS) for end in interval]
    return {"name": name, "total": total, "success": success, "lost": total - success, "interval": ends}


def _order(rate: dict[str, Any]) -> tuple[int, int, str]:
    return -rate["lost"], -rate["total"], rate["name"]
