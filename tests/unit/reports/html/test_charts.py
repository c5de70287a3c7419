"""Paths of rates and outcomes."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.html.static_pages import draw_outcomes, draw_rates


def counts(rate, low, high):
    return {"judged_count": 4, "success_rate": rate, "success_rate_interval_95": [low, high]}


HALF, ALL, NOTHING = counts(0.5, 0.25, 0.75), counts(1.0, 0.5, 1.0), {"judged_count": 0}


@pytest.mark.parametrize(
    ("rates", "band", "line", "dots"),
    [
        ([], "", "", ""),
        ([None, NOTHING], "", "", ""),
        ([HALF], "M488.0 25.0h24.0V75.0h-24.0z", "M500.0 50.0", "M500.0 50.0h0"),
        (
            [HALF, ALL],
            "M250.0 25.0L750.0 0.0L750.0 50.0L250.0 75.0z",
            "M250.0 50.0L750.0 0.0",
            "M250.0 50.0h0M750.0 0.0h0",
        ),
        (
            [ALL, None, HALF, ALL],
            "M113.0 0.0h24.0V50.0h-24.0zM625.0 25.0L875.0 0.0L875.0 50.0L625.0 75.0z",
            "M125.0 0.0M625.0 50.0L875.0 0.0",
            "M125.0 0.0h0M625.0 50.0h0M875.0 0.0h0",
        ),
    ],
)
def test_rates_are_a_line_with_a_band_and_gaps(rates, band, line, dots):
    assert draw_rates(rates) == {"band": band, "line": line, "dots": dots}


def test_the_mark_of_one_session_among_very_many_is_narrow():
    assert draw_rates([HALF, *[None] * 99])["band"] == "M1.0 25.0h8.0V75.0h-8.0z"


@pytest.mark.parametrize(
    ("outcomes", "paths"),
    [
        ("", []),
        ("..", []),
        ("++", [("success", "M0 0h2v10h-2z")]),
        (
            "+--.+",
            [("success", "M0 0h1v10h-1zM4 0h1v10h-1z"), ("failure", "M1 6h2v4h-2z")],
        ),
        (
            "~!x",
            [("partial_match", "M0 3h1v7h-1z"), ("error", "M1 6h1v4h-1z"), ("excluded", "M2 8h1v2h-1z")],
        ),
    ],
)
def test_outcomes_are_blocks_of_their_own_height(outcomes, paths):
    assert draw_outcomes(outcomes) == paths
