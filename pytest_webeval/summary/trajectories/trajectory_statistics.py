"""Statistics over trajectories: scores, budgets, effort, errors and where runs first went wrong (§6.7, §7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from pytest_webeval.summary.statistics import (
    group,
    mean,
    mean_and_n,
    median,
    sample_std,
    spread,
    wilson,
    with_denominator,
)
from pytest_webeval.summary.task_identity import count_tasks
from pytest_webeval.summary.trajectories.trajectory_rows import (
    KINDS,
    TrajectoryRow,
    number_or_none,
    select_scored,
    sort_rows,
)

Length = Callable[[TrajectoryRow], int | None]
MAX_ALLOWANCES = 8  # different numbers of rounds, so that a table cannot grow with the runs
UNKNOWN_GENERATION = "unknown"
_PERCENT = (5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)
_EXAMPLES, _LONGEST_ERROR = 3, 80


def list_known(rows: Iterable[TrajectoryRow], name: str) -> list[Any]:
    """The values of a field that are known."""
    return [value for row in rows if (value := getattr(row, name)) is not None]


def scores(rows: Iterable[TrajectoryRow]) -> list[float]:
    """The scores there are."""
    return list_known(rows, "score")


def by_steps(row: TrajectoryRow) -> int | None:
    """The length of a run in actions."""
    return row.steps


def by_screenshots(row: TrajectoryRow) -> int | None:
    """The length of a run as the reference takes it: one less than its screenshots, right for Fara only (Q46)."""
    return row.screenshots - 1 if row.screenshots else None


def default_budgets(rows: Iterable[TrajectoryRow]) -> list[int]:
    """Numbers of steps, ascending: shares of the steps that a run was allowed, rounded up, for each such number."""
    allowed = sorted({row.max_rounds for row in rows if row.max_rounds}, reverse=True)[:MAX_ALLOWANCES]
    return sorted({-(-most * percent // 100) for most in allowed for percent in _PERCENT})


def within_budgets(row: TrajectoryRow, budgets: Sequence[int], length: Length) -> dict[str, float]:
    """The score of a row under each budget: its own, or 0 where it took longer. Empty without a score or a length."""
    taken = length(row)
    if row.score is None or taken is None:
        return {}
    return {str(budget): row.score if taken <= budget else 0.0 for budget in budgets}


def budget_scores(rows: Iterable[TrajectoryRow], budgets: Sequence[int], length: Length) -> dict[str, dict[str, Any]]:
    """Mean, highest score and number of rows for each budget; empty where no length is known."""
    known = [(row.score, taken) for row in rows if row.score is not None and (taken := length(row)) is not None]
    table = {}
    for budget in budgets if known else ():
        limited = [score if taken <= budget else 0.0 for score, taken in known]
        table[str(budget)] = {
            "mean_score": mean(limited),
            "max_score": max(limited, default=None),
            "num_examples": len(limited),
        }
    return table


def effort(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """Distributions of the known values; unknown values are omitted, never counted as 0."""
    kinds = {"all": rows} | {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    return {
        "steps": {kind: spread(list_known(kind_rows, "steps")) for kind, kind_rows in kinds.items()},
        "durations": spread(list_known(rows, "duration")),
        "tokens": _tokens(rows),
        "attempts": _attempts(rows),
        **with_denominator("abort_rate", [row.kind == "aborted" for row in rows]),
    }


def _tokens(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """Of trajectories that used any, as far as both are known: most recordings of Fara leave the usage empty."""
    pairs = ((row.prompt_tokens, row.completion_tokens) for row in rows)
    known = [(prompt, completion) for prompt, completion in pairs if prompt is not None and completion is not None]
    used = [pair for pair in known if sum(pair) > 0]
    return {
        "count": len(used),
        "prompt": _total_statistics([prompt for prompt, _ in used]),
        "completion": _total_statistics([completion for _, completion in used]),
        "total": _total_statistics(list(map(sum, used))),
    }


def _total_statistics(values: Sequence[int]) -> dict[str, Any]:
    """The sum and the spread of known values; null where none is known."""
    return {"total": sum(values) if values else None, "mean": mean(values), "std": sample_std(values)}


def _attempts(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    attempt_counts = list_known(rows, "attempts")
    return spread(attempt_counts) | {
        "total": sum(attempt_counts) if attempt_counts else None,
        "retried": sum(attempts > 1 for attempts in attempt_counts) if attempt_counts else None,
    }


def counts(values: Iterable[str], always: Sequence[str] = ()) -> dict[str, int]:
    """How often each value occurs: those that are always listed in their order, then the others sorted."""
    frequencies = Counter(values)
    return {value: frequencies[value] for value in (*always, *sorted(frequencies.keys() - set(always)))}


def mean_scores(rows: Iterable[TrajectoryRow], of: Callable[[TrajectoryRow], str | None]) -> dict[str, dict[str, Any]]:
    """The mean score and its denominator for each value of a property; omits rows without that property."""
    groups = group(((value, row) for row in rows if (value := of(row)) is not None), lambda entry: entry[0])
    return {value: mean_and_n(scores(row for _, row in groups[value])) for value in sorted(groups)}


def last_errors(rows: Sequence[TrajectoryRow]) -> list[dict[str, Any]]:
    """The last errors of trajectories, most frequent first, each with its share and examples."""
    failed = [row for row in sort_rows(rows) if row.last_error]
    table = group(failed, lambda row: (row.last_error or "")[:_LONGEST_ERROR])
    return [
        {
            "type": error,
            "count": len(table[error]),
            "share": len(table[error]) / len(rows),
            "examples": [row.label for row in table[error][:_EXAMPLES]],
        }
        for error in sorted(table, key=lambda error: (-len(table[error]), error))
    ]


def failure_points(rows: Iterable[TrajectoryRow]) -> dict[str, Any]:
    """Of how many trajectories the failures were analysed, and the failure codes; a code counts once per trajectory.

    Codes are apart for each generation of verdicts, because a code changed its meaning between two.
    """
    analysed = [(row.failure, row.generation or UNKNOWN_GENERATION) for row in rows if isinstance(row.failure, dict)]
    failed = [(failure, generation) for failure, generation in analysed if failure.get("has_failure") is True]
    ambiguous, invalid = (
        [failure for failure, _ in analysed if failure.get(flag) is True] for flag in ("is_ambiguous", "is_invalid")
    )
    first_steps = [number_or_none(failure.get("first_step")) for failure, _ in failed]
    generations = group(failed, lambda entry: entry[1])
    return {
        "analysed": len(analysed),
        "has_failure": len(failed),
        "first_step_median": median([step for step in first_steps if step is not None]),
        "codes": {
            name: counts(_list_codes((failure for failure, _ in generations[name]), "codes"))
            for name in sorted(generations)
        },
        "ambiguous": len(ambiguous),
        "ambiguity_codes": counts(_list_codes(ambiguous, "ambiguity_codes")),
        "invalid": len(invalid),
        "invalid_codes": counts(_list_codes(invalid, "invalid_codes")),
    }


def _list_codes(failures: Iterable[dict[str, Any]], name: str) -> Iterator[str]:
    """The codes of each failure once; anything but a list of codes is ignored."""
    for failure in failures:
        codes = failure.get(name)
        yield from {code for code in codes if isinstance(code, str)} if isinstance(codes, list) else ()


def headline(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """The mean over all scored runs, with its interval, and the mean over runs with an answer (§7.2)."""
    counted = select_scored(rows)
    completed = scores(row for row in counted if row.kind == "completed")
    return {
        **with_denominator("mean_scored", scores(counted)),
        "mean_scored_interval_95": _interval(counted),
        **with_denominator("mean_completed", completed),
    }


def coverage(rows: Sequence[TrajectoryRow], expected: Collection[str] | None) -> dict[str, Any]:
    """How many of the expected tasks have a score; a task that several runs scored is covered once.

    Where the expected tasks are unknown, all tasks with a score count, and there is no share.
    """
    scored_ids = {row.task_id for row in select_scored(rows)}
    if expected is None:
        return {"expected": None, "scored": len(scored_ids), "share": None}
    expected_ids = set(expected)
    covered = len(scored_ids & expected_ids)
    return {
        "expected": len(expected_ids),
        "scored": covered,
        "share": covered / len(expected_ids) if expected_ids else None,
    }


def _interval(counted: Sequence[TrajectoryRow]) -> list[float] | None:
    """Wilson's interval, which needs scores of 0 and 1 and trials that do not repeat a task."""
    counted_scores = scores(counted)
    repeats = count_tasks(counted) < len(counted)
    if not counted_scores or repeats or not set(counted_scores) <= {0, 1}:
        return None
    return list(wilson(counted_scores.count(1), len(counted_scores)))
