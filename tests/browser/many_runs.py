"""Reports of made-up sessions whose list is in parts, with records that are made as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_webeval.reports.html.index_page import index_view
from pytest_webeval.reports.html.index_parts import write_index
from pytest_webeval.reports.html.report_directory import IndexRows, WrittenPages
from pytest_webeval.results import Summary
from pytest_webeval.summary.record import Record
from tests.browser.pages import GROUPS, INTENTS, row

STATUSES = ("error", "failure", "success", "excluded")


@dataclass(frozen=True)
class Records:
    """So many records of runs, a new one each time that they are read."""

    count: int

    def __iter__(self) -> Iterator[Record]:
        return (record(number) for number in range(1, self.count + 1))


def record(number: int) -> Record:
    """The run of a row of `pages`."""
    _, task_id, status, score, site, kind, template, group, _, warnings, reason, _, seconds, _, _ = row(number)
    evaluator, field, difference, _ = GROUPS[group] if group >= 0 else ("", "", "", "")
    return Record(
        run=label(number), task_id=task_id, status="success" if status == "excluded" else status, score=score,
        sites=[site], template=template, task_type=kind, reason=None if status == "excluded" else reason,
        warnings=[["bodies_missing", "no bodies", False]] if warnings else (), wall_time=seconds,
        rules="default", version="1", evaluator_checksum="", data_checksum="", skipped=status == "excluded",
        excluded=reason if status == "excluded" else None,
        failure=[evaluator, field, difference] if group >= 0 else None, evaluators=[evaluator] if evaluator else (),
    )  # fmt: skip


def label(number: int) -> str:
    """The label of a run: the order of labels is not that of runs."""
    return f"runs/agent-{number % 7}/{number:07d}"


class Texts(dict[str, dict[str, str | None]]):
    """The intent of each run, made as it is read."""

    def get(self, run: str, default: Any = None) -> Any:  # noqa: ARG002  (as of a mapping)
        number = int(run.rpartition("/")[2])
        return {
            "intent": f"{INTENTS[number % 5]}, case {number}",
            "template": f"Show me {{{{things}}}} {number // 2 % 60}",
        }


def summarize(count: int) -> Summary:
    """The summary of these records."""
    groups: dict[int, list[int]] = {}
    totals = dict.fromkeys(STATUSES, 0)
    for number in range(1, count + 1):
        status, group = row(number)[2], row(number)[7]
        totals[status] += 1
        if group >= 0:
            groups.setdefault(group, []).append(number)
    scored = count - totals["excluded"]
    failures = [
        {"evaluator": GROUPS[group][0], "field": GROUPS[group][1], "kind": GROUPS[group][2], "text": GROUPS[group][3],
         "count": len(numbers), "runs": [label(number) for number in numbers[:3]]}
        for group, numbers in sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]  # fmt: skip
    webeval = {
        "excluded_count": totals["excluded"], "missing_count": 0, "success_rate": totals["success"] / scored,
        "success_rate_denominator": scored, "success_rate_interval_95": [0.6, 0.7], "success_rate_task_count": scored,
        "failures": failures, "rules": "default",
    }  # fmt: skip
    return Summary(
        timestamp="2026-01-31T12:00:00Z", webarena_verified_version="1", webarena_verified_evaluator_checksum="",
        webarena_verified_data_checksum="", total=scored, success_count=totals["success"],
        failed_count=totals["failure"], error_count=totals["error"], per_site_summary={}, task_results=[],
        webeval=webeval,
    )  # fmt: skip


def write(directory: Path, count: int, most_rows: int = 100, part_rows: int = 50, part_labels: int = 80) -> Path:
    """A report of so many runs, in parts if they are more than `most_rows`; its page."""
    rows = IndexRows(WrittenPages(directory), Records(count), Texts(), {"runs/agent-1/0000001": "fixed"})
    index = index_view(rows, summarize(count), "nightly agents", lambda runs: f"pytest {runs[0]}", most_rows)
    write_index(index, rows, directory, part_rows, part_labels)
    return directory / "index.html"
