"""Steps, duration and tokens of trajectories on the first page: their figures, their bars, and odd numbers."""

# ruff: noqa: E501  (rows of data read best in one line)

from __future__ import annotations

import re
from statistics import median

import pytest

from pytest_webeval.reports.html.index_rows import BINS, HEIGHT, DistributionTally, find_percentile, format_seconds
from tests.unit.reports.html.test_rates import record

FACTS = {
    "class": "completed", "reasons": [], "flags": [], "group": None, "benchmark": None, "steps": None, "max_rounds": None, "duration": None,
    "attempts": None, "last_error": None, "is_long": False, "system": None, "model": None, "run_id": "", "usage": None,
    "verdict": {},
}  # fmt: skip


def trajectory(number=0, status="success", **facts):
    return record(status, number, trajectory=FACTS | facts)


def build_distributions(records):
    tally = DistributionTally()
    for run in records:
        tally.add(run)
    return tally.build_views()


def build_one(*records):
    (view,) = build_distributions(records)
    return view


def bar_heights(path):
    """Left end and height of each bar of a path."""
    return {float(left): -float(height) for left, height in re.findall(r"M([\d.]+) [\d.]+h[\d.]+v(-[\d.]+)h", path)}


def test_each_measure_has_median_90_percent_and_maximum_by_outcome():
    steps = [3, 9, 4, 12, 5, 30, 7, 8, 6, 10]
    view = build_one(
        *(trajectory(at, "success" if at % 2 else "failure", steps=value) for at, value in enumerate(steps))
    )
    assert (view["name"], view["count"], view["runs"]) == ("Steps", 10, 10)
    assert view["lines"] == [
        {"name": "all", "count": 10, "figures": [str(median(steps)), "12", "30"]},
        {"name": "succeeded", "count": 5, "figures": ["10", "30", "30"]},
        {"name": "not succeeded", "count": 5, "figures": ["5", "7", "7"]},
    ]


def test_only_what_is_recorded_counts():
    records = [
        trajectory(1, steps=4, duration=80, usage={"prompt_tokens": 1_000, "completion_tokens": 200}),
        trajectory(2, duration=7_200.0, usage={"prompt_tokens": 0, "completion_tokens": 0}),
        trajectory(3),
        record(),
    ]
    steps, duration, tokens = build_distributions(records)
    assert [(each["count"], each["runs"]) for each in (steps, duration, tokens)] == [(1, 3), (2, 3), (1, 3)]
    assert duration["lines"][0]["figures"] == ["60.7 min", "2.0 h", "2.0 h"]
    assert tokens["lines"][0]["figures"] == ["1,200"] * 3
    assert build_distributions([trajectory(), record()]) == []


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**30, -5, "9", None])
def test_numbers_that_no_run_can_have_count_as_missing(number):
    view = build_one(trajectory(1, steps=number), trajectory(2, steps=6))
    assert view["lines"][0] == {"name": "all", "count": 1, "figures": ["6", "6", "6"]}


def test_bars_are_as_high_as_there_are_runs_and_successes_are_below():
    view = build_one(
        *(trajectory(at, "failure" if at < 2 else "success", steps=20) for at in range(8)), trajectory(9, steps=0)
    )
    success, failure = bar_heights(view["paths"]["success"]), bar_heights(view["paths"]["failure"])
    assert success == {95.0: pytest.approx(0.75 * HEIGHT), 0.0: pytest.approx(HEIGHT / 8)}
    assert failure == {95.0: pytest.approx(0.25 * HEIGHT)}
    assert view["paths"]["failure"].startswith(f"M95.0 {0.25 * HEIGHT:.1f}h")
    assert view["end"] == "20"


def test_one_very_long_run_hides_no_others():
    view = build_one(*(trajectory(at, steps=at % 10 + 1) for at in range(100)), trajectory(200, steps=10**17))
    assert view["end"] == "20 or more"
    assert len(bar_heights(view["paths"]["success"])) == 11


def test_runs_without_a_step_have_a_bar():
    view = build_one(trajectory(1, steps=0))
    assert bar_heights(view["paths"]["success"]) == {0.0: HEIGHT}
    assert view["end"] == "0"


def test_a_path_has_at_most_a_bar_for_each_bin():
    view = build_one(*(trajectory(at, steps=at) for at in range(3_000)))
    assert view["paths"]["success"].count("M") == BINS


@pytest.mark.parametrize(
    ("values", "share", "value"), [([7], 0.9, 7), (range(1, 11), 0.9, 9), (range(1, 12), 0.9, 10), ([1, 2], 0.5, 1)]
)
def test_a_percentile_is_one_of_the_values(values, share, value):
    assert find_percentile(list(values), share) == value


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (119.94, "119.9 s"), (120, "2.0 min"), (7_199, "120.0 min"), (7_200, "2.0 h")]
)
def test_a_duration_has_a_unit_of_its_size(seconds, text):
    assert format_seconds(seconds) == text
