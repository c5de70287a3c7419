"""Contestants take turns, so that what slows the machine down for a while slows all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from tests.benchmarks.harness.contestants import Contestant
from tests.benchmarks.harness.measures import MB
from tests.benchmarks.harness.measuring import Cost


def measured_in_turns(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[Cost]]:
    """The costs of every contestant's sessions. Raises `WrongVerdicts`."""
    for name, contestant in contestants.items():
        if contestant.rounds > 1:  # what runs but once finds bytecode and files warmed by the others
            _tell("warm-up", name, contestant.measured())
    costs: dict[str, list[Cost]] = {name: [] for name in contestants}
    for turn, name in turns(contestants, rounds):
        costs[name].append(contestants[name].measured())
        _tell(f"round {turn}", name, costs[name][-1])
    return costs


def turns(contestants: Mapping[str, Contestant], rounds: int) -> Iterator[tuple[int, str]]:
    """Whose turn it is, with the number of the round."""
    often = max((contestant.times for contestant in contestants.values()), default=0)
    for turn in range(1, rounds + 1):
        for time in range(1, often + 1):
            for name, contestant in contestants.items():
                if turn <= contestant.rounds and time <= contestant.times:
                    yield turn, name


def _tell(when: str, name: str, cost: Cost) -> None:
    seconds = f"{cost.cpu:9.2f} s CPU {cost.wall:9.2f} s wall"
    print(f"{when:8} {name:16} {seconds} {cost.peak / MB:7.0f} MB", file=sys.stderr, flush=True)
