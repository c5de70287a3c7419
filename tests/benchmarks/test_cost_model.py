"""The table of costs: its rows, and that each way to score is measured with all of its results."""

from __future__ import annotations

import pytest

from tests.benchmarks import cost_model
from tests.benchmarks.cost_model import COMMAND, DISK, RunCost, format_row
from tests.executors.family_cost import FamilyCost

FEW = FamilyCost(wall=3.0, cpu=2.0, session_cpu=1.0, session_peak=0, code=1, killed=[])
MANY = FamilyCost(wall=5.0, cpu=6.0, session_cpu=1.1, session_peak=0, code=1, killed=[])


def test_the_start_of_a_session_does_not_count():
    assert RunCost.between(FEW, MANY, 100) == RunCost(0.02, 0.04, pytest.approx(0.001))


def test_a_row_has_runs_a_second_and_processor_times():
    row = format_row("small", 2, COMMAND, RunCost(0.02, 0.04, 0.00025))
    assert row == "| small | 2 | `score`, disk | 50 | 40.0 s | 250 us |"


def test_runs_without_a_measurable_time_have_no_rate():
    assert RunCost.between(MANY, FEW, 100).wall is None
    assert format_row("small", 2, DISK, RunCost(None, 0.04, 0)).split(" | ")[3] == "not measured"


@pytest.mark.whole
def test_the_command_prints_a_row_for_each_way(tmp_path, capsys):
    cost_model.main(["--scratch", str(tmp_path), "--only", "small", "--workers", "1", "--scale", "0.01"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == list(cost_model.WAYS)
