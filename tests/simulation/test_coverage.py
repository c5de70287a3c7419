"""The simulation in small: intervals hold about as often as they say, and the gate raises few false alarms."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.coverage import MOST_ALARMS
from tests.simulation.coverage import SEED
from tests.simulation.coverage import Population
from tests.simulation.coverage import measure_alarms
from tests.simulation.coverage import measure_coverage
from tests.simulation.coverage import populations

POPULATIONS = populations(random.Random(SEED))
BUILDS = 150


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda population: population.name)
def test_intervals_hold_the_true_value(population):
    shares = measure_coverage(population, BUILDS, random.Random(1))
    assert shares.pop("difference (templates drawn again)") >= 0.88
    if not population.shared:  # the other intervals take tasks for independent
        assert min(shares.values()) >= 0.88


@pytest.mark.parametrize(
    "population", [each for each in POPULATIONS if not each.difference], ids=lambda population: population.name
)
def test_few_false_alarms(population):
    assert measure_alarms(population, BUILDS, random.Random(2)) <= MOST_ALARMS + 0.02


def test_a_real_regression_is_seen():
    worse = Population("worse", [0.6] * 200, [0.4] * 200)
    assert measure_alarms(worse, 50, random.Random(3)) >= 0.9


def test_the_script_prints_coverage_and_alarms():
    script = Path(__file__).with_name("coverage.py")
    command = [sys.executable, str(script), "--builds", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parents[2])
    assert done.returncode == 0, done.stderr
    assert "false alarms of the gate no-regression in 20 builds where nothing changed" in done.stdout
    assert done.stdout.count("at most 5%: ") == 4
