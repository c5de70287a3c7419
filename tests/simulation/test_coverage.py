"""The simulation in small: intervals hold about as often as they say, and the gate raises few false alarms."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.coverage import MOST_ALARMS, SEED, Population, measure_alarms, measure_coverage, populations
from tests.support.default_run import first_by_default

POPULATIONS = populations(random.Random(SEED))
BUILDS, LEAST = 200, 0.89  # 95%, less four standard deviations of so many builds


@pytest.mark.whole
@pytest.mark.parametrize("population", first_by_default(POPULATIONS, 1), ids=lambda population: population.name)
def test_intervals_hold_the_true_value(population):
    shares = measure_coverage(population, BUILDS, random.Random(1))
    assert shares.pop("difference (templates drawn again)") >= LEAST
    if not population.shared:  # the other intervals take tasks for independent
        assert min(shares.values()) >= LEAST


@pytest.mark.parametrize(
    "population",
    first_by_default([each for each in POPULATIONS if not (each.difference or each.shared)], 1),
    ids=lambda population: population.name,
)
def test_few_false_alarms(population):
    assert measure_alarms(population, BUILDS, random.Random(2)) <= MOST_ALARMS + 0.02


def test_a_real_regression_is_seen():
    worse = Population("worse", [0.6] * 200, [0.4] * 200)
    assert measure_alarms(worse, 50, random.Random(3)) >= 0.9


@pytest.mark.whole
def test_the_script_prints_coverage_and_alarms():
    script = Path(__file__).with_name("coverage.py")
    command = [sys.executable, str(script), "--builds", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=script.parents[2])
    assert done.returncode == 0, done.stderr
    assert "false alarms of the gate no-regression beyond noise in 100 builds where nothing changed" in done.stdout
    assert done.stdout.count("at most 5%: yes") == 4
    assert "at most 5%: NO" not in done.stdout
    assert done.stdout.count("not what the test assumes") == 1


def test_the_loss_of_few_templates_is_seen():
    chances = [0.9] * 200
    worse = Population("five templates", chances, [0.0] * 25 + chances[25:], per_template=5)
    assert measure_alarms(worse, 50, random.Random(4)) >= 0.8
