"""Simulated histories of builds: in which of them the gates on a baseline are red.

`python tests/simulation/gate_histories.py` prints a table. The numbers drawn are always the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pytest_webeval.summary.comparison.gate_checks import check_beyond_noise, check_each_task
from pytest_webeval.summary.comparison.session_comparison import SessionComparison
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

HISTORIES, BUILDS, SEED = 125, 5, 11
GATES = {"no-regression": check_each_task, "no-regression beyond noise": check_beyond_noise}
HEADS = ("history", "tasks", "gate", "red: build 1", "by build 2", "of all builds")


class Agent(NamedTuple):
    """What is simulated: tasks with a chance of success each, and what happens to them in a build after the first."""

    name: str
    chances: list[float]
    change: Callable[[list[str], int], None] = lambda statuses, build: None  # noqa: ARG005


def lose_five_more(statuses: list[str], build: int) -> None:
    """Let five more tasks fail in each build."""
    count = min(5 * build, len(statuses))
    statuses[:count] = ["failure"] * count


def lose_a_run(statuses: list[str], build: int) -> None:
    """Take the recording of one task away, another in each build."""
    statuses[build] = "missing"


def damage_a_run(statuses: list[str], build: int) -> None:
    """Let one recording be unreadable, another in each build."""
    statuses[build] = "error"


AGENTS = (
    Agent("stable, each task certain", [1.0] * 25 + [0.0] * 5),
    Agent("stable, half of the tasks certain", [1.0] * 40 + [0.0] * 20 + [0.2, 0.4, 0.6, 0.8] * 15),
    Agent("flaky", [0.5] * 100),
    Agent("five tasks lost in each build", [1.0] * 30, lose_five_more),
    Agent("five tasks lost in each build, others flaky", [1.0] * 40 + [0.95] * 60, lose_five_more),
    Agent("one run lost in each build", [1.0] * 25 + [0.0] * 5, lose_a_run),
    Agent("one run unreadable in each build", [1.0] * 25 + [0.0] * 5, damage_a_run),
    Agent("few tasks, all lost", [1.0] * 4, lose_five_more),
)


def draw_session(agent: Agent, build: int, generator: random.Random) -> ScoredSession:
    """Return the runs of a build; build 0 is the pinned baseline."""
    statuses = ["success" if generator.random() < chance else "failure" for chance in agent.chances]
    if build:
        agent.change(statuses, build)
    runs = [
        ScoredRun(run=f"runs/{task_id}", task_id=task_id, status=status)
        for task_id, status in enumerate(statuses)
        if status != "missing"
    ]
    return ScoredSession(f"build {build}", runs)


def drive_history(agent: Agent, generator: random.Random) -> dict[str, list[bool]]:
    """Return for each gate in which builds it is red, against the pinned baseline."""
    baseline = draw_session(agent, 0, generator)
    comparisons = [SessionComparison(baseline, draw_session(agent, 1 + build, generator)) for build in range(BUILDS)]
    return {gate: [not check(comparison)[1] for comparison in comparisons] for gate, check in GATES.items()}


def measure(agent: Agent, generator: random.Random, histories: int) -> dict[str, tuple[float, float, float]]:
    """Return for each gate how often it is red in the first build, in one of the first two, and in all builds."""
    driven = [drive_history(agent, generator) for _ in range(histories)]
    return {gate: _summarize([history[gate] for history in driven]) for gate in GATES}


def _summarize(histories: list[list[bool]]) -> tuple[float, float, float]:
    count = len(histories)
    first = sum(builds[0] for builds in histories) / count
    by_second = sum(any(builds[:2]) for builds in histories) / count
    return first, by_second, sum(map(sum, histories)) / count / BUILDS


def build_table(histories: int = HISTORIES) -> Iterator[str]:
    """Return the lines of the table, in Markdown."""
    yield f"| {' | '.join(HEADS)} |"
    yield f"| {' | '.join('---' for _ in HEADS)} |"
    generator = random.Random(SEED)
    for agent in AGENTS:
        for gate, shares in measure(agent, generator, histories).items():
            cells = (agent.name, str(len(agent.chances)), f"`{gate}`", *(f"{share:.1%}" for share in shares))
            yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(f"{HISTORIES * len(AGENTS):,} histories of {BUILDS} builds against a pinned baseline")
    print("\n".join(build_table()))
