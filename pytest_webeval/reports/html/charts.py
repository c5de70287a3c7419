"""Rates and outcomes over sessions as SVG paths: they stretch to any width, and their colours are classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pytest_webeval.summary.task_history import Outcome

WIDTH, HEIGHT = 1000, 100  # of a chart of rates; a session is a column of it
STRIP_HEIGHT = 10
_WIDEST_MARK = 12  # of the interval of a session without neighbours
# The class of the colour and the height of each outcome: colour is not the only difference.
_BLOCKS: Mapping[str, tuple[str, int]] = {
    Outcome.SUCCESS.value: ("success", 10),
    Outcome.MIXED.value: ("partial_match", 7),
    Outcome.FAILURE.value: ("failure", 4),
    Outcome.ERROR.value: ("error", 4),
    Outcome.EXCLUDED.value: ("excluded", 2),
}


class _Point(NamedTuple):
    """Coordinates of a rate and of the ends of its interval."""

    x: float
    rate: float
    low: float
    high: float


def draw_rates(counts: Sequence[Mapping[str, Any] | None]) -> dict[str, str]:
    """Paths of the intervals, of the line through the rates, and of the dots. Sessions without a rate are gaps."""
    column = WIDTH / max(1, len(counts))
    points = [_place(each, (index + 0.5) * column) for index, each in enumerate(counts)]
    pieces = [
        [point for point in piece if point is not None]
        for has_rate, piece in groupby(points, lambda point: point is not None)
        if has_rate
    ]
    return {
        "band": "".join(_draw_band(piece, min(0.4 * column, _WIDEST_MARK)) for piece in pieces),
        "line": "".join(_join((point.x, point.rate) for point in piece) for piece in pieces),
        "dots": "".join(f"M{point.x:.1f} {point.rate:.1f}h0" for piece in pieces for point in piece),
    }


def _place(counts: Mapping[str, Any] | None, x: float) -> _Point | None:
    if counts is None or not counts["judged_count"]:
        return None
    low, high = counts["success_rate_interval_95"]
    return _Point(x, *(HEIGHT * (1 - share) for share in (counts["success_rate"], low, high)))


def _draw_band(points: Sequence[_Point], half: float) -> str:
    """The area between the ends of the intervals."""
    if len(points) == 1:
        ((x, _, low, high),) = points
        return f"M{x - half:.1f} {high:.1f}h{2 * half:.1f}V{low:.1f}h{-2 * half:.1f}z"
    upper = [(point.x, point.high) for point in points]
    lower = [(point.x, point.low) for point in reversed(points)]
    return f"{_join([*upper, *lower])}z"


def _join(places: Iterator[tuple[float, float]] | Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)


def draw_outcomes(outcomes: str) -> list[tuple[str, str]]:
    """The class and the path of each kind of outcome in a strip, in which a session is one unit wide."""
    paths: dict[str, list[str]] = {}
    start = 0
    for outcome, run in groupby(outcomes):
        length = sum(1 for _ in run)
        if outcome in _BLOCKS:
            name, height = _BLOCKS[outcome]
            paths.setdefault(name, []).append(f"M{start} {STRIP_HEIGHT - height}h{length}v{height}h-{length}z")
        start += length
    return [(name, "".join(pieces)) for name, pieces in paths.items()]
