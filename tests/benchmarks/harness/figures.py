"""The figures that are published, each with its bar, and the table that tells whether it is met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from tests.benchmarks.harness.line_up import Sizes
from tests.benchmarks.harness.measures import (
    MB,
    Measure,
    PeakDifference,
    ProcessorDifference,
    ProcessorTimes,
    WallTimes,
    medians,
)
from tests.benchmarks.harness.measuring import Cost

HEADER = "| what | bar | measured | of | sessions | met |\n| --- | --- | --- | --- | --- | --- |"


@dataclass(frozen=True)
class AtMost:
    """A comparison of two contestants that should not exceed a bar."""

    name: str
    bar: float
    measure: Measure
    contestants: tuple[str, str]
    what: str
    direction: ClassVar[str] = "less"

    def is_met_by(self, value: float) -> bool:
        """Whether the value is on the right side of the bar."""
        return value <= self.bar

    def row(self, costs: Mapping[str, list[Cost]]) -> str:
        """Its line of the table."""
        wanted = f"{self.bar:g}{self.measure.unit} or {self.direction}"
        if not all(costs.get(name) for name in self.contestants):
            return f"| {self.what} | {wanted} | not measured | | | |"
        pair = [medians(costs[name]) for name in self.contestants]
        value = self.measure.value(*pair)
        sessions = " and ".join(str(len(costs[name])) for name in self.contestants)
        cells = (
            self.what,
            wanted,
            f"{value:.2f}{self.measure.unit}",
            self.measure.told(*pair),
            sessions,
            "yes" if self.is_met_by(value) else "**no**",
        )
        return f"| {' | '.join(cells)} |"


class AtLeast(AtMost):
    """One that should reach a bar."""

    direction: ClassVar[str] = "more"

    def is_met_by(self, value: float) -> bool:
        """Whether the value is on the right side of the bar."""
        return value >= self.bar


def figures(sizes: Sizes) -> tuple[AtMost, ...]:
    """All of them, in the order of the table."""
    runs = f"{sizes.tasks:,} recordings of {sizes.recording / MB:g} MB"
    fewer = f"{sizes.fewer_tasks:,} recordings of {sizes.recording / MB:g} MB"
    large = f"{sizes.large_tasks:,} recordings of {sizes.large_recording / MB:g} MB"
    times, per_task = ProcessorTimes(), ProcessorTimes((sizes.many, sizes.few))
    memory, recordings = PeakDifference(), PeakDifference(sizes.large_recording, " recordings")
    failing = sizes.items // 3
    # fmt: off
    return (
        AtLeast("command-line", 20, times, ("reference", "ours"), f"{runs}, CPU: the reference's command line / ours"),
        AtLeast("python-api", 5, times, ("reference-api", "ours"),
                f"{runs}, CPU: the reference's Python API in one process / ours"),
        AtLeast("loops", 7, times, ("reference-api", "our-loop"),
                f"{runs}, CPU: the reference's Python API / our `score_runs`"),
        AtMost("floor", 2.2, times, ("our-loop", "floor"),
               f"{runs}, CPU: our `score_runs` / reading, decoding and hashing alone"),
        AtLeast("fewer-command", 14, times, ("reference-fewer", "fewer"),
                f"{fewer}, CPU: the reference's command line / ours"),
        AtLeast("fewer-api", 4, times, ("api-fewer", "fewer"), f"{fewer}, CPU: the reference's Python API / ours"),
        AtMost("one-fails", 1.4, times, ("one-fails", "one-passes"),
               f"{fewer}, CPU: all failing / all passing, with the same recordings"),
        AtMost("zipped", 2, times, ("zipped", "fewer"), f"{fewer}, CPU: `trace.zip` / HAR"),
        AtLeast("large", 4, times, ("reference-large", "large"), f"{large}, CPU: the reference's command line / ours"),
        AtMost("memory", 25, memory, ("ours", "one-recording"),
               f"{runs}, peak memory beyond that of one such recording"),
        AtMost("memory-large", 3, recordings, ("large", "one-small"),
               f"{large}, peak memory beyond that of one small task"),
        AtMost("many", 1.1, per_task, ("many-small", "few-small"),
               f"{sizes.many:,} small tasks, CPU per task / that of {sizes.few:,}"),
        AtMost("item-memory", 4, PeakDifference(1_024 * sizes.many, " KiB"), ("many-small", "many-empty"),
               f"{sizes.many:,} small tasks, peak memory an item beyond that of as many empty tests"),
        AtMost("remote", 3, WallTimes(), ("remote", "all-passing"),
               f"{sizes.items:,} small tasks, wall time: from S3 on loopback, 1 % of reads failing / from the disk"),
        AtMost("failing", 1.5, times, ("a-third-failing", "all-passing"),
               f"{sizes.items:,} small tasks of which {failing:,} fail, CPU / all passing"),
        AtMost("report", 1.2, times, ("reporting", "a-third-failing"),
               f"{sizes.items:,} small tasks of which {failing:,} fail, CPU: with `--webeval-report` / without"),
        AtMost("report-recordings", 1.2, times, ("reporting-recordings", "ours"),
               f"{runs}, CPU: with `--webeval-report` / without"),
        AtMost("report-memory", 1_024, memory, ("reporting", "idle"),
               f"{sizes.items:,} small tasks with a report, peak memory beyond that of one empty test"),
        AtMost("summary-million", 400, memory, ("summary", "idle"),
               f"summary of {sizes.records:,} made-up records, peak memory beyond that of one empty test"),
        AtMost("reuse", 0.15, times, ("reusing", "first"),
               f"{runs}, CPU: all results reused by `--webeval-reuse` / all scored"),
        AtMost("audit", 10, times, ("auditing", "ours"), f"{runs}, CPU: `--webeval-audit-secrets` / scoring them"),
        AtLeast("processes", 1.7, WallTimes(), ("ours", "two-processes"), f"{runs}, wall time: one process / `-n 2`"),
        AtLeast("large-processes", 1.6, WallTimes(), ("large", "two-large"),
                f"{large}, wall time: one process / `-n 2`"),
        AtMost("start", 120, ProcessorDifference(), ("one-small", "idle"),
               "one small task, CPU beyond that of one empty test"),
        AtMost("idle", 1.05, times, ("idle", "bare"), "one empty test, CPU: plugin installed / not installed"),
        AtMost("recording", 1.15, times, ("recorder", "playwright"),
               f"{sizes.walks} recorded walks through a shop, CPU: our recorder / Playwright with HAR and trace"),
        AtMost("recording-time", 1.15, WallTimes(), ("recorder", "playwright"),
               f"{sizes.walks} recorded walks through a shop, wall time: our recorder / Playwright with HAR and trace"),
    )
    # fmt: on


def table(of: Iterable[AtMost], costs: Mapping[str, list[Cost]]) -> str:
    """All lines, in Markdown."""
    return "\n".join([HEADER, *(figure.row(costs) for figure in of)])
