"""Where runs first went wrong, by the code of the error taxonomy (`fara_webeval.md` §6.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pytest_webeval.summary.statistics import mean, mean_and_n, median, sample_std, spread, wilson, with_denominator
from pytest_webeval.summary.task_identity import count_tasks
from pytest_webeval.summary.trajectory_rows import KINDS, TrajectoryRow, number_or_none, select_scored, sort_rows

Length = Callable[[TrajectoryRow], int | None]
MAX_ALLOWANCES = 8  # different numbers of rounds, so that a table cannot grow with the runs
_PERCENT = (5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)


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
    counted = [row for row in rows if row.score is not None and length(row) is not None]
    if not counted:
        return {}
    own_scores, lengths = scores(counted), [length(row) or 0 for row in counted]
    table = {}
    for budget in budgets:
        limited = [score if taken <= budget else 0.0 for score, taken in zip(own_scores, lengths, strict=True)]
        table[str(budget)] = {
            "mean_score": mean(limited),
            "max_score": max(limited, default=None),
            "num_examples": len(limited),
        }
    return table


def effort(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """Distributions of the known values; unknown values are omitted, never counted as 0."""
    return {
        "steps": _steps(rows),
        "durations": spread([row.duration for row in rows if row.duration is not None]),
        "tokens": _tokens(rows),
        "attempts": _attempts(rows),
        **with_denominator("abort_rate", [row.kind == "aborted" for row in rows]),
    }


def _steps(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    kinds = {"all": rows} | {kind: [row for row in rows if row.kind == kind] for kind in KINDS}
    return {
        kind: spread([row.steps for row in kind_rows if row.steps is not None]) for kind, kind_rows in kinds.items()
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
    attempt_counts = [row.attempts for row in rows if row.attempts is not None]
    return spread(attempt_counts) | {
        "total": sum(attempt_counts) if attempt_counts else None,
        "retried": sum(attempts > 1 for attempts in attempt_counts) if attempt_counts else None,
    }


EXAMPLES = 3
_LONGEST_ERROR = 80


def counts(values: Iterable[str], always: Sequence[str] = ()) -> dict[str, int]:
    """How often each value occurs: those that are always listed in their order, then the others sorted."""
    frequencies = Counter(values)
    return {value: frequencies[value] for value in (*always, *sorted(frequencies.keys() - set(always)))}


def mean_scores(rows: Iterable[TrajectoryRow], of: Callable[[TrajectoryRow], str | None]) -> dict[str, dict[str, Any]]:
    """The mean score and its denominator for each value of a property; omits rows without that property."""
    table: dict[str, list[float]] = {}
    for row in rows:
        value = of(row)
        if value is not None:
            table.setdefault(value, []).extend([] if row.score is None else [row.score])
    return {value: mean_and_n(table[value]) for value in sorted(table)}


def last_errors(rows: Sequence[TrajectoryRow]) -> list[dict[str, Any]]:
    """The last errors of trajectories, most frequent first, each with its share and examples."""
    table: dict[str, list[str]] = {}
    for row in sort_rows(rows):
        if row.last_error:
            table.setdefault(row.last_error[:_LONGEST_ERROR], []).append(row.label)
    return [
        {"type": error, "count": len(labels), "share": len(labels) / len(rows), "examples": labels[:EXAMPLES]}
        for error, labels in sorted(table.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    ]


UNKNOWN_GENERATION = "unknown"


def failure_points(rows: Iterable[TrajectoryRow]) -> dict[str, Any]:
    """Of how many trajectories the failures were analysed, and the failure codes; a code counts once per trajectory."""
    analysed = [row for row in rows if isinstance(row.failure, dict)]
    failed = _select_flagged(analysed, "has_failure")
    ambiguous, invalid = _select_flagged(analysed, "is_ambiguous"), _select_flagged(analysed, "is_invalid")
    first_steps = [number_or_none(_failure_fields(row).get("first_step")) for row in failed]
    return {
        "analysed": len(analysed),
        "has_failure": len(failed),
        "first_step_median": median([step for step in first_steps if step is not None]),
        "codes": _codes_by_generation(failed),
        "ambiguous": len(ambiguous),
        "ambiguity_codes": counts(_list_codes(ambiguous, "ambiguity_codes")),
        "invalid": len(invalid),
        "invalid_codes": counts(_list_codes(invalid, "invalid_codes")),
    }


def _codes_by_generation(failed: Sequence[TrajectoryRow]) -> dict[str, dict[str, int]]:
    """Apart for each generation of verdicts, because a code changed its meaning between two."""
    generations: dict[str, list[TrajectoryRow]] = {}
    for row in failed:
        generations.setdefault(row.generation or UNKNOWN_GENERATION, []).append(row)
    return {name: counts(_list_codes(generations[name], "codes")) for name in sorted(generations)}


def _select_flagged(rows: Iterable[TrajectoryRow], flag: str) -> list[TrajectoryRow]:
    return [row for row in rows if _failure_fields(row).get(flag) is True]


def _list_codes(rows: Iterable[TrajectoryRow], name: str) -> list[str]:
    """The codes of each row once; anything but a list of codes is ignored."""
    all_codes = []
    for row in rows:
        codes = _failure_fields(row).get(name)
        all_codes += sorted({code for code in codes if isinstance(code, str)}) if isinstance(codes, list) else []
    return all_codes


def _failure_fields(row: TrajectoryRow) -> Mapping[str, Any]:
    return row.failure or {}


def headline(rows: Sequence[TrajectoryRow]) -> dict[str, Any]:
    """The mean over all scored runs, with its interval, and the mean over runs with an answer (§7.2)."""
    counted = select_scored(rows)
    completed = [row.score for row in counted if row.kind == "completed" and row.score is not None]
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


def scores(rows: Sequence[TrajectoryRow]) -> list[float]:
    """The scores there are."""
    return [row.score for row in rows if row.score is not None]


def _interval(counted: Sequence[TrajectoryRow]) -> list[float] | None:
    """Wilson's interval, which needs scores of 0 and 1 and trials that do not repeat a task."""
    counted_scores = scores(counted)
    repeats = count_tasks(counted) < len(counted)
    if not counted_scores or repeats or not set(counted_scores) <= {0, 1}:
        return None
    return list(wilson(counted_scores.count(1), len(counted_scores)))
