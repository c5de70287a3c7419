"""Chances of success in k tries, from n tries of which m succeeded, exactly (`fara_webeval.md` §7.4)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from pytest_webeval.analysis.rows import Row
from pytest_webeval.analysis.rows import scored

MAX_K = 100  # more tries than anybody records; keeps the work bounded when a stranger names as many runs
_REPHRASED = re.compile(r"(.+)_rephrased_[0-9]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tries:
    """How often a task was tried and how often it succeeded."""

    count: int
    successes: int

    @property
    def rate(self) -> Fraction:
        """The share that succeeded."""
        return Fraction(self.successes, self.count)

    @property
    def is_flip(self) -> bool:
        """Whether some succeeded and some did not."""
        return 0 < self.successes < self.count


def any_of(tries: Tries, k: int) -> Fraction:
    """The chance that at least one of k tries succeeds: pass@k."""
    return 1 - Fraction(comb(tries.count - tries.successes, k), comb(tries.count, k))


def all_of(tries: Tries, k: int) -> Fraction:
    """The chance that k tries all succeed: pass^k and consensus@k."""
    return Fraction(comb(tries.successes, k), comb(tries.count, k))


def averages(tasks: Iterable[Tries], chance: Callable[[Tries, int], Fraction], most: int) -> dict[str, dict[str, Any]]:
    """For each k from 1 to `most` the mean chance over the tasks with that many tries, and how many those are."""
    frequencies = Counter(tasks)
    table = {}
    for k in range(1, min(most, MAX_K) + 1):
        counted = {tries: times for tries, times in frequencies.items() if tries.count >= k}
        total = sum((chance(tries, k) * times for tries, times in counted.items()), Fraction(0))
        number = sum(counted.values())
        table[str(k)] = {"mean": float(total / number) if number else None, "tasks": number}
    return table


def tries_of_tasks(rows: Iterable[Row]) -> dict[str, Tries]:
    """The tries of each task. One without a score is none, whether it was aborted or is missing."""
    return _tries((row.task_id, row.status == "success") for row in scored(rows))


def consensus(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Consensus@k over the phrasings of each task, for each k up to the most samples; empty without rephrased tasks.

    As in the reference every score above 0 succeeds.
    """
    if not any(is_rephrased(row) for row in rows):
        return {}
    tasks = _tries((_original(row.task_id), (row.score or 0) > 0) for row in scored(rows))
    return averages(tasks.values(), all_of, max((tries.count for tries in tasks.values()), default=0))


def is_rephrased(row: Row) -> bool:
    """Whether the task is another's, put in other words."""
    return _REPHRASED.fullmatch(row.task_id) is not None


def _original(task_id: str) -> str:
    found = _REPHRASED.fullmatch(task_id)
    return found[1] if found else task_id


def _tries(outcomes: Iterable[tuple[str, bool]]) -> dict[str, Tries]:
    seen: dict[str, list[bool]] = {}
    for task_id, succeeded in outcomes:
        seen.setdefault(task_id, []).append(succeeded)
    return {task_id: Tries(len(seen[task_id]), sum(seen[task_id])) for task_id in sorted(seen)}
