"""The rates with and without runs whose task people could not execute."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.rates_text import format_other_rates
from pytest_webeval.summary.record import Record
from pytest_webeval.summary.session_totals import SessionTotals

COUNTED, EXCLUDED = (
    "1 impossible run counted as 0: 50.0% of 2; excluded: 100.0% of 1",
    "1 impossible run excluded: 100.0% of 1; counted as 0: 50.0% of 2",
)


def record(number, status, impossible=None, *, skipped=False):
    """A run of a task of its own."""
    return Record(
        run=f"runs/{number}",
        task_id=number,
        status=status,
        score=float(status == "success"),
        sites=[],
        template=-1,
        task_type=None,
        reason=None,
        warnings=[],
        wall_time=0.0,
        rules="strict",
        version="",
        evaluator_checksum="",
        data_checksum="",
        excluded="impossible" if skipped else None,
        skipped=skipped,
        impossible=impossible,
    )


@pytest.mark.parametrize(
    ("last", "denominator", "line"),
    [
        (record(2, "failure"), 2, None),
        (record(2, "error", skipped=True), 1, None),
        (record(2, "failure", "zero"), 2, COUNTED),
        (record(2, "error", "zero"), 2, COUNTED),
        (record(2, "error", "exclude", skipped=True), 1, EXCLUDED),
        (record(2, "failure", "exclude"), 2, None),  # its definition says what to check
    ],
)
def test_a_run_is_counted_by_what_the_session_made_of_its_label(last, denominator, line):
    totals = SessionTotals()
    for run in (record(1, "success"), last):
        totals.add(run)
    webeval = totals.build()
    assert webeval["success_rate_denominator"] == denominator
    assert format_other_rates(webeval) == ([] if line is None else [line])
    assert ("impossible" in webeval) is (line is not None)


def test_without_other_runs_there_is_no_rate():
    totals = SessionTotals()
    totals.add(record(1, "failure", "zero"))
    line = "1 impossible run counted as 0: 0.0% of 1; excluded: no rate of 0"
    assert format_other_rates(totals.build()) == [line]
