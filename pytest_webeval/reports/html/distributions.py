"""Steps, duration and tokens of trajectories as small histograms, of the runs whose recordings have them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, NamedTuple

from msgspec import Struct, field

from pytest_webeval.results import Status
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.statistics import median
from pytest_webeval.summary.trajectory_rows import TrajectoryRow, build_row

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
