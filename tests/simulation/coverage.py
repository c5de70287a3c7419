"""Simulated sessions: how often intervals hold the true value, and how often the regression gate raises a false alarm.

`python tests/simulation/coverage.py` prints both. The numbers drawn are always the same.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_webeval.summary.comparison.gate_checks import check_beyond_noise
from pytest_webeval.summary.comparison.group_comparison import cluster_by_template
from pytest_webeval.summary.comparison.paired_statistics import clustered_bootstrap, newcombe_unpaired_interval
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession, compute_rate_interval, count_successes

BUILDS, MOST_ALARMS = 2_000, 0.05
SEED = 7
Interval = tuple[float, float]


class Population(NamedTuple):
    """Tasks with a chance of success each, before and after. `shared`: tasks of a template succeed or fail together."""

    name: str
    before: Sequence[float]
    after: Sequence[float]
    per_template: int = 1
    shared: bool = False

    @property
    def difference(self) -> float:
        """The true difference of the rates."""
        return sum(self.after) / len(self.after) - sum(self.before) / len(self.before)


def draw(population: Population, generator: random.Random) -> SessionComparison:
    """Two sessions over all tasks of a population."""
    sessions = [
        ScoredSession(name, list(_draw_runs(chances, population, generator)))
        for name, chances in (("before", population.before), ("after", population.after))
    ]
    return SessionComparison(*sessions)


def _draw_runs(chances: Sequence[float], population: Population, generator: random.Random) -> Iterator[ScoredRun]:
    luck = 0.0
    for task_id, chance in enumerate(chances):
        template = task_id // population.per_template
        if not population.shared or task_id % population.per_template == 0:
            luck = generator.random()
        status = "success" if luck < chance else "failure"
        yield ScoredRun(run=f"runs/{task_id}", task_id=task_id, status=status, template=template)


def mixed_chances(count: int, generator: random.Random) -> list[float]:
    """Half of the tasks are certain, as in benchmarks; the others are anything."""
    return [generator.choice((0.02, 0.98, generator.random(), generator.random())) for _ in range(count)]


def populations(generator: random.Random) -> list[Population]:
    """What is simulated."""
    mixed = mixed_chances(200, generator)
    better = [min(1.0, chance + 0.1) for chance in mixed]
    alike = [chance for chance in mixed_chances(40, generator) for _ in range(5)]
    return [
        Population("200 equal tasks, no change", [0.55] * 200, [0.55] * 200),
        Population("200 unequal tasks, no change", mixed, mixed),
        Population("200 unequal tasks, each better", mixed, better),
        Population("30 unequal tasks, no change", mixed[:30], mixed[:30]),
        Population("40 templates of 5 equal tasks, no change", alike, alike, 5),
        Population("40 templates of 5 tasks that change together", alike, alike, 5, shared=True),
    ]


def _wilson(comparison: SessionComparison) -> Interval:
    return compute_rate_interval(comparison.after.judged)


def _newcombe(comparison: SessionComparison) -> Interval:
    interval = comparison.overall.interval
    if interval is None:
        raise ValueError("tasks have several runs")
    return interval


def _unpaired(comparison: SessionComparison) -> Interval:
    sides = (comparison.before.judged, comparison.after.judged)
    return newcombe_unpaired_interval(*((count_successes(runs), len(runs)) for runs in sides))


def _bootstrap(comparison: SessionComparison) -> Interval:
    interval = clustered_bootstrap(cluster_by_template(comparison.tasks), resamples=400)
    if interval is None:
        raise ValueError("there are too few templates")
    return interval


INTERVALS: dict[str, Callable[[SessionComparison], Interval]] = {
    "rate (Wilson)": _wilson,
    "difference (Newcombe, paired)": _newcombe,
    "difference (Newcombe, unpaired)": _unpaired,
    "difference (templates drawn again)": _bootstrap,
}


def measure_coverage(population: Population, builds: int, generator: random.Random) -> dict[str, float]:
    """The share of simulated builds in which each interval holds the true value."""
    held = dict.fromkeys(INTERVALS, 0)
    rate = sum(population.after) / len(population.after)
    for _ in range(builds):
        comparison = draw(population, generator)
        for name, compute in INTERVALS.items():
            low, high = compute(comparison)
            held[name] += low <= (rate if name.startswith("rate") else population.difference) <= high
    return {name: count / builds for name, count in held.items()}


def measure_alarms(population: Population, builds: int, generator: random.Random) -> float:
    """The share of simulated builds in which the regression gate fails."""
    alarms = sum(not check_beyond_noise(draw(population, generator))[1] for _ in range(builds))
    return alarms / builds


def main() -> None:
    """Print coverage and false alarms."""
    parser = argparse.ArgumentParser(prog=f"python tests/simulation/{Path(__file__).name}", description=__doc__)
    parser.add_argument("--builds", type=int, default=BUILDS, help=f"builds of each kind (default: {BUILDS:,})")
    builds = parser.parse_args().builds
    generator = random.Random(SEED)
    simulated = populations(generator)
    print(f"share of {builds:,} builds in which a 95% interval holds the true value")
    for population in simulated:
        print(f"  {population.name}")
        for name, share in measure_coverage(population, builds, generator).items():
            print(f"    {name:<36}{share:7.1%}")
    print(f"false alarms of the gate no-regression beyond noise in {builds:,} builds where nothing changed")
    for population in simulated:
        if not population.difference:
            share = measure_alarms(population, builds, generator)
            verdict = f"at most {MOST_ALARMS:.0%}: {'yes' if share <= MOST_ALARMS else 'NO'}"
            note = "not what the test assumes: see the interval with templates drawn again"
            print(f"  {population.name:<48}{share:7.1%}  {note if population.shared else verdict}")


if __name__ == "__main__":
    main()
