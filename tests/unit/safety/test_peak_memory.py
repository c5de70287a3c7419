"""The memory that a run as large as the limits allow needs is no more than the page on limits says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.benchmarks.peak_memory import CASES, MEBIBYTE, measure

PAGE = Path(__file__).parents[3] / "docs/reference/limits.md"
ROW = re.compile(r"^\| (.+?) \| (.+?) \| ([\d,]+) MiB \|$", re.MULTILINE)
ROWS = {name: (description, int(peak.replace(",", ""))) for name, description, peak in ROW.findall(PAGE.read_text())}
SHARE = 1 / 16
ORDINARY = "no limit"


def test_the_page_lists_each_measured_run():
    assert {name: description for name, (description, _) in ROWS.items()} == {
        name: description for name, (description, _) in CASES.items()
    }


@pytest.mark.thinned(every=7)
@pytest.mark.parametrize("case", CASES)
def test_a_run_of_a_share_of_the_limits_needs_that_share_of_the_memory(case):
    ordinary = ROWS[ORDINARY][1]
    peak, _ = measure(case, SHARE)
    assert peak < (ordinary + (ROWS[case][1] - ordinary) * SHARE + 16) * MEBIBYTE


@pytest.mark.whole
@pytest.mark.parametrize("case", CASES)
def test_a_run_at_its_limit_needs_no_more_memory_than_the_page_says(case):
    assert measure(case)[0] < ROWS[case][1] * MEBIBYTE
