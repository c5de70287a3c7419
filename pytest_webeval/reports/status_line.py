"""Counts of a running session, and the line that shows them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, field

from pytest_webeval.summary.record import Record

SITES_COUNTED = 20  # more fit on no line
LONGEST_SITE = 24


class Tally(Struct, eq=False):
    """The outcomes so far, by run: a run that is scored again counts once."""

    expected: int = 0
    runs: dict[str, Record] = field(default_factory=dict)
    others: dict[str, bool] = field(default_factory=dict)  # tests other than runs, and whether they failed
    counts: Counter[str] = field(default_factory=Counter)  # of success, rated, error, failed tests
    sites: Counter[str] = field(default_factory=Counter)
    successes: Counter[str] = field(default_factory=Counter)  # by site

    def keep(self, record: Record) -> None:
        """Count a run, in place of its earlier outcome."""
        before = self.runs.get(record.run)
        if before is not record:
            if before is not None:
                self._add(before, -1)
            self._add(record, 1)
            self.runs[record.run] = record

    def _add(self, record: Record, count: int) -> None:
        self.counts["error"] += count * (record.status == "error" and not record.skipped)
        if record.is_rated:
            is_success = record.status == "success"
            self.counts["rated"] += count
            self.counts["success"] += count * is_success
            self.sites[record.site_key] += count
            self.successes[record.site_key] += count * is_success

    def keep_other(self, nodeid: str, *, has_failed: bool) -> None:
        """Count a test that is not a run."""
        self.counts["failed tests"] += has_failed and not self.others.get(nodeid, False)
        self.others[nodeid] = has_failed or self.others.get(nodeid, False)


def status_line(tally: Tally, width: int) -> str:
    """How many items are done, the rate of success, that of as many sites as fit, largest first, and errors."""
    begin = f"  {len(tally.runs) + len(tally.others)}/{tally.expected}"
    if rated := tally.counts["rated"]:
        begin += f"  {tally.counts['success'] / rated:.1%} success"
    end = "".join(
        f" | {count} {noun if count == 1 else nouns}"
        for name, noun, nouns in (("error", "error", "errors"), ("failed tests", "failed test", "failed tests"))
        if (count := tally.counts[name])
    )
    sites = list(_sites(tally))
    site_shares = _join_fitting(sites, width - len(begin) - len(end))
    return f"{begin}{site_shares}{end}"[:width]


def _sites(tally: Tally) -> Iterator[str]:
    largest = heapq.nsmallest(SITES_COUNTED, tally.sites.items(), key=lambda entry: (-entry[1], entry[0]))
    for site, count in largest:
        if site and count:
            name = site.encode("ascii", "backslashreplace").decode()[:LONGEST_SITE]
            printable = "".join(character if character.isprintable() else "?" for character in name)
            yield f" | {printable} {tally.successes[site] / count:.0%} of {count}"


def _join_fitting(parts: list[str], room: int) -> str:
    """As many parts as fit, with an ellipsis for the rest."""
    text = "".join(parts)
    while parts and len(text) > room:
        parts.pop()
        text = "".join([*parts, " | …"])
    return text
