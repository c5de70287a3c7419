"""The lines of the terminal about trajectories: how they ended, and the rates of experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.safety.text import pluralize, sanitize

EXPERIMENTS_SHOWN = 3
EXPERIMENT_LINES = 4  # of both kinds together
_DOUBTS = ("inconsistent", "judge_errors", "undecided")


def format_trajectories(totals: Mapping[str, Any]) -> list[str]:
    """The lines, from `webeval.trajectories` of a summary."""
    classes = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in totals["classes"].items())
    doubts = [f"{name.replace('_', ' ')} {totals[name]}" for name in _DOUBTS if totals[name]]
    lines = [
        f"{pluralize(totals['trajectories'], 'trajectory', 'trajectories')}: {classes}",
        ", ".join([*_own_means(totals), *_mixed_criteria(totals["criteria"]), *doubts]),
        *_experiments(totals),
    ]
    return [sanitize(line.replace("\n", " ")) for line in lines if line]


def _own_means(totals: Mapping[str, Any]) -> Iterator[str]:
    """The means as Fara has them, which leave out errors: of trajectories of Fara alone, for others have no such."""
    if set(totals["formats"]) != {"fara"}:
        return
    for name, label in (("mean_scored", "Fara's mean over scored"), ("mean_completed", "over completed")):
        if totals[name] is not None:
            yield f"{label} {totals[name]:.1%} of {totals[f'{name}_denominator']}"


def _mixed_criteria(criteria: Mapping[str, int]) -> list[str]:
    """The success criteria behind a mean if they differ, most frequent first."""
    ordered = sorted(criteria.items(), key=lambda entry: -entry[1])  # those of a count stay sorted by name
    return ["criteria mixed: " + ", ".join(f"{name} {count}" for name, count in ordered)] if len(ordered) > 1 else []


def _experiments(totals: Mapping[str, Any]) -> list[str]:
    """Experiments with several runs, then the means of the others where there are several of those."""
    repeated, rows = totals["experiments"], totals["per_experiment"]
    single = {name: row for name, row in rows.items() if name not in repeated} if len(rows) > 1 else {}
    lines = [_format_repeated(name, row) for name, row in list(repeated.items())[:EXPERIMENTS_SHOWN]]
    lines += [_format_single(name, row) for name, row in list(single.items())[:EXPERIMENTS_SHOWN]]
    return lines[:EXPERIMENT_LINES]


def _format_repeated(name: str, experiment: Mapping[str, Any]) -> str:
    """One experiment with several runs: the mean of their means, and the share of tasks that one or all tries solve."""
    runs, tasks = len(experiment["runs"]), experiment["tasks"]
    parts = [f"{name}: {pluralize(runs, 'run')}"]
    if experiment["average"] is not None:
        spread = "" if experiment["std"] is None else f" (sd {experiment['std']:.1%})"
        scored = experiment["average_denominator"]
        sample = f" of {pluralize(scored, 'run')} with scores" if scored < runs else ""
        parts.append(f"mean {experiment['average']:.1%}{spread}{sample}")
    for key in ("pass@k", "pass^k"):
        shares = [(k, share) for k, share in experiment[key].items() if share["tasks"]]
        for k, share in shares[-1:]:
            parts.append(f"{key.replace('k', k)} {share['mean']:.1%} of {share['tasks']}")
    common_note = (
        f"; {experiment['common_tasks']} of {pluralize(tasks, 'task')} in all runs" if runs > 1 and tasks else ""
    )
    return ", ".join(parts) + common_note


def _format_single(name: str, row: Mapping[str, Any]) -> str:
    return f"{name}: nothing scored" if row["mean"] is None else f"{name}: mean {row['mean']:.1%} of {row['n']}"
