"""What the simulated histories must show, and that the manual shows what the script prints."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from tests.simulation.gate_histories import AGENTS, HISTORIES, build_table

pytestmark = pytest.mark.whole
MANUAL = Path(__file__).parents[2] / "docs/how-to/gates.md"
EACH, NOISE = "no-regression", "no-regression beyond noise"


@functools.cache
def lines():
    return list(build_table())


def table():
    rows = [line.strip("| ").split(" | ") for line in lines()][2:]
    return {(name, gate.strip("`")): [float(share.rstrip("%")) for share in shares] for name, _, gate, *shares in rows}


def test_there_are_1000_histories():
    assert HISTORIES * len(AGENTS) == 1_000
    assert len(table()) == 2 * len(AGENTS)


def test_lost_tasks_are_red_at_once_and_beyond_noise_by_the_second_build():
    assert table()["five tasks lost in each build", EACH][0] == 100
    first, by_second, _ = table()["five tasks lost in each build", NOISE]
    assert (first, by_second) == (0, 100)


@pytest.mark.parametrize("agent", AGENTS[:3], ids=lambda agent: agent.name)
def test_few_builds_of_stable_agents_are_more_than_noise(agent):
    assert table()[agent.name, NOISE][2] <= 5


@pytest.mark.parametrize("name", ["one run lost in each build", "one run unreadable in each build"])
@pytest.mark.parametrize("gate", [EACH, NOISE])
def test_lost_and_unreadable_runs_are_never_noise(name, gate):
    assert table()[name, gate] == [100, 100, 100]


def test_the_gate_that_cannot_fail_is_not_green():
    assert table()["few tasks, all lost", NOISE] == [100, 100, 100]


def test_the_manual_shows_the_table():
    assert "\n".join(lines()) in MANUAL.read_text("utf-8")
