"""What scores would be with fewer steps allowed (`fara_webeval.md` §4.5)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

from pytest_webeval.analysis.means import mean
from pytest_webeval.analysis.rows import Row

Length = Callable[[Row], int | None]
MAX_ALLOWANCES = 8  # numbers of rounds told apart, so that a table cannot grow with the runs
_PERCENT = (5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)


def by_steps(row: Row) -> int | None:
    """The length of a run in actions."""
    return row.steps


def by_screenshots(row: Row) -> int | None:
    """The length of a run as the reference takes it: one less than its screenshots, right for Fara only (Q46)."""
    return None if row.screenshots is None else row.screenshots - 1


def default_budgets(rows: Iterable[Row]) -> list[int]:
    """Numbers of steps, ascending: shares of the steps that a run was allowed, rounded up, for each such number."""
    allowed = sorted({row.max_rounds for row in rows if row.max_rounds}, reverse=True)[:MAX_ALLOWANCES]
    return sorted({-(-most * percent // 100) for most in allowed for percent in _PERCENT})


def within_budgets(row: Row, budgets: Sequence[int], length: Length) -> dict[str, float]:
    """The score of a row under each budget: its own, or 0 where it took longer. Empty without a score or a length."""
    taken = length(row)
    if row.score is None or taken is None:
        return {}
    return {str(budget): row.score if taken <= budget else 0.0 for budget in budgets}


def budget_scores(rows: Sequence[Row], budgets: Sequence[int], length: Length) -> dict[str, dict[str, Any]]:
    """Mean, highest score and number of rows for each budget."""
    within = [found for row in rows if (found := within_budgets(row, budgets, length))]
    table = {}
    for budget in map(str, budgets):
        scores = [found[budget] for found in within]
        table[budget] = {
            "mean_score": mean(scores),
            "max_score": max(scores, default=None),
            "num_examples": len(scores),
        }
    return table
