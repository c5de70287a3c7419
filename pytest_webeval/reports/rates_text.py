"""Rates as text: of sessions, attempts, agents and trajectories, with their intervals and what they leave out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.tables import clean_lines, count_more, plain, table
from pytest_webeval.safety.text import name_first, pluralize, sanitize, truncate
from pytest_webeval.summary.task_identity import describe_sample

AGENTS_SHOWN, ATTEMPTS_SHOWN, TASKS_SHOWN = 4, 5, 5
LONGEST_NAME = 60  # characters
EXPERIMENTS_SHOWN = 3
EXPERIMENT_LINES = 4  # of both kinds together
_DOUBTS = ("inconsistent", "judge_errors", "undecided")


def format_rate(share: float, interval: Sequence[float] | None, sample: str = "") -> str:
    """A rate with its interval, such as `72.2% (95% interval 56.0% to 84.2%)`; the kind of interval is in `sample`."""
    if interval is None:
        return f"{share:.1%}"
    return f"{share:.1%} (95% interval {interval[0]:.1%} to {interval[1]:.1%}{sample})"


def format_interval(group: Mapping[str, Any] | None) -> str:
    """The 95 % interval of the rate of a group; empty where nothing was judged."""
    if group is None or not group["judged_count"]:
        return ""
    low, high = group["success_rate_interval_95"]
    return f"{low:.0%} to {high:.0%}{describe_sample(group['judged_task_count'], group['judged_count'])}"


def count_successes(rows: Iterable[Mapping[str, Any]]) -> int:
    """How many runs of a site succeeded."""
    return sum(row["status"] == "success" for row in rows)


def format_other_rates(webeval: Mapping[str, Any]) -> list[str]:
    """Rates with another denominator and the mean score, from `webeval` of a summary.

    Of impossible runs, the rate of the session comes first: leaderboards print either. Empty if the success rate says
    all.
    """
    lines = []
    if "impossible" in webeval:
        impossible = webeval["impossible"]
        names = {"counted as 0": "as_zero", "excluded": "excluded"}
        rates = []
        for treatment, name in list(names.items())[:: 1 if impossible["counted"] else -1]:
            share, denominator = impossible[name]["success_rate"], impossible[name]["denominator"]
            rates.append(f"{treatment}: {'no rate' if share is None else f'{share:.1%}'} of {denominator}")
        lines.append(f"{pluralize(impossible['count'], 'impossible run')} {'; '.join(rates)}")
    if "scores" in webeval:
        scores = webeval["scores"]
        runs = pluralize(scores["run_count"], "run")
        lines.append(f"mean score {scores['mean_score']:.2f} over {runs} with a score")
    return lines


def format_excluded(webeval: Mapping[str, Any]) -> str:
    """How many runs are in no rate, by reason, from `webeval` of a summary."""
    reasons = list_exclusions(webeval)
    return f"{webeval['excluded_count']} excluded" + (f" ({reasons})" if reasons else "")


def list_exclusions(webeval: Mapping[str, Any]) -> str:
    """How many runs are in no rate for each reason."""
    return format_counts(webeval.get("excluded_counts", {}))


def format_counts(counts: Mapping[str, int]) -> str:
    """Names with underscores in words, each after its count."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())


def format_attempts(attempts: Mapping[str, Any]) -> list[str]:
    """A line for each agent, one below it for each attempt, and one for attempts that are copies."""
    lines = []
    for agent in attempts["agents"][:AGENTS_SHOWN]:
        lines.append(_format_agent(agent, len(attempts["agents"])))
        listed = agent["attempts"]
        for attempt in listed[:ATTEMPTS_SHOWN]:
            rate = "" if attempt["success_rate"] is None else f", {attempt['success_rate']:.1%}"
            name = _shorten_name(attempt["attempt"])
            lines.append(f"  {name}: {attempt['success_count']} of {attempt['rated']}{rate}")
        lines += count_more(len(listed), ATTEMPTS_SHOWN)
    lines += count_more(len(attempts["agents"]), AGENTS_SHOWN, "more agents in the summary", indent="")
    return clean_lines([*lines, *_format_copies(attempts["same_inputs"])])


def _format_agent(agent: Mapping[str, Any], count: int) -> str:
    """A line about one of so many agents. If it is the only one, the session's rate has the interval."""
    is_repeated = len(agent["attempts"]) == 1 and agent["runs"] > agent["tasks"]
    label = pluralize(agent["runs"], "run") if is_repeated else pluralize(len(agent["attempts"]), "attempt")
    head = f"agent {_shorten_name(agent['agent'])}: {label}" if agent["agent"] else label
    parts = [f"{head} of {pluralize(agent['tasks'], 'task')}"]
    if agent["mean"] is not None:
        sample = describe_sample(agent["tasks"], agent["runs"])
        parts.append(f"mean {format_rate(agent['mean'], agent['interval_95'] if count > 1 else None, sample)}")
    parts += _list_chances(agent, {"1"})
    thresholds = list(agent["thresholds"].items())
    if len(thresholds) > 1:
        name, majority = thresholds[len(thresholds) // 2]
        parts.append(f"{name} attempts in {majority['tasks']} of {majority['of']}")
    if agent["flaky"]["of"]:
        parts.append(f"flaky {agent['flaky']['count']} of {agent['flaky']['of']}")
    return ", ".join(parts)


def _list_chances(row: Mapping[str, Any], passed_over: set[str]) -> Iterator[str]:
    """The shares of tasks that one try solves, or all, for the largest number of tries that a task has."""
    for name in ("pass@k", "pass^k"):
        shares = [(k, share) for k, share in row[name].items() if share["tasks"] and k not in passed_over]
        for k, share in shares[-1:]:
            yield f"{name.replace('k', k)} {share['mean']:.1%} of {share['tasks']}"


def _format_copies(copies: Mapping[str, Any]) -> list[str]:
    if not copies["count"]:
        return []
    named = dict.fromkeys(str(task["task_id"]) for task in copies["tasks"])
    ids = name_first(named, TASKS_SHOWN, LONGEST_NAME, copies["count"])
    return [f"runs with the same recording, byte by byte, are no repeats: {pluralize(copies['count'], 'task')}: {ids}"]


def _shorten_name(name: str) -> str:
    return truncate(name, LONGEST_NAME) or "(no name)"


def attempt_tables(attempts: Mapping[str, Any]) -> Iterator[str]:
    """A table of the agents with their attempts."""
    rows = []
    for agent in attempts["agents"]:
        for attempt in agent["attempts"]:
            rate = "" if attempt["success_rate"] is None else f"{attempt['success_rate']:.1%}"
            names = plain(agent["agent"]), plain(attempt["attempt"])
            rows.append((*names, attempt["success_count"], attempt["rated"], rate))
    shown = AGENTS_SHOWN * ATTEMPTS_SHOWN
    lines = (_format_agent(agent, len(attempts["agents"])) for agent in attempts["agents"][:AGENTS_SHOWN])
    yield "### Attempts\n"
    yield table(("agent", "attempt", "success", "of", "rate"), rows[:shown], len(rows) - shown)
    yield "\n".join(f"- {plain(line)}" for line in lines) + "\n"
    yield "".join(f"{plain(line)}\n" for line in _format_copies(attempts["same_inputs"]))


def format_self_report(report: Mapping[str, Any]) -> list[str]:
    """The counts of claims, and below them the verdicts by what was reported."""
    lines = [f"self-report of {pluralize(report['runs'], 'run')}: {_format_claims(report)}"]
    rows = report["verdicts_by_report"]
    width = max(map(len, rows))
    return lines + [
        f"  {sanitize(name):<{width}}  {row['success']:>5} success  {row['failure']:>5} failure"
        for name, row in rows.items()
    ]


def self_report_table(report: Mapping[str, Any]) -> str:
    """The same as a table in Markdown."""
    rows = [(plain(name), row["success"], row["failure"]) for name, row in report["verdicts_by_report"].items()]
    return f"### Self-report: {_format_claims(report)}\n\n{table(('the agent reports', 'success', 'failure'), rows)}"


def _format_claims(report: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {name.replace('_', '-')}" for name, count in report["claims"].items())


def format_trajectories(totals: Mapping[str, Any]) -> list[str]:
    """How trajectories ended, their means, and the rates of experiments, from `webeval.trajectories` of a summary.

    The means as Fara has them leave out errors. They are of trajectories of Fara alone, for others have no such.
    """
    means = []
    if set(totals["formats"]) == {"fara"}:
        for name, label in (("mean_scored", "Fara's mean over scored"), ("mean_completed", "over completed")):
            if totals[name] is not None:
                means.append(f"{label} {totals[name]:.1%} of {totals[f'{name}_denominator']}")
    if len(totals["criteria"]) > 1:  # those of a count stay sorted by name
        ordered = sorted(totals["criteria"].items(), key=lambda entry: -entry[1])
        means.append("criteria mixed: " + ", ".join(f"{name} {count}" for name, count in ordered))
    doubts = [f"{name.replace('_', ' ')} {totals[name]}" for name in _DOUBTS if totals[name]]
    counts = f"{pluralize(totals['trajectories'], 'trajectory', 'trajectories')}: {format_counts(totals['classes'])}"
    return clean_lines(line for line in (counts, ", ".join([*means, *doubts]), *_list_experiments(totals)) if line)


def _list_experiments(totals: Mapping[str, Any]) -> list[str]:
    """Experiments with several runs, then the means of the others where there are several of those."""
    repeated, rows = totals["experiments"], totals["per_experiment"]
    single = {name: row for name, row in rows.items() if name not in repeated} if len(rows) > 1 else {}
    lines = [_format_experiment(name, row) for name, row in list(repeated.items())[:EXPERIMENTS_SHOWN]]
    for name, row in list(single.items())[:EXPERIMENTS_SHOWN]:
        mean = "nothing scored" if row["mean"] is None else f"mean {row['mean']:.1%} of {row['n']}"
        lines.append(f"{name}: {mean}")
    return lines[:EXPERIMENT_LINES]


def _format_experiment(name: str, experiment: Mapping[str, Any]) -> str:
    """One experiment with several runs: the mean of their means, and the share of tasks that one or all tries solve."""
    runs, tasks = len(experiment["runs"]), experiment["tasks"]
    parts = [f"{name}: {pluralize(runs, 'run')}"]
    if experiment["average"] is not None:
        spread = "" if experiment["std"] is None else f" (sd {experiment['std']:.1%})"
        scored = experiment["average_denominator"]
        sample = f" of {pluralize(scored, 'run')} with scores" if scored < runs else ""
        parts.append(f"mean {experiment['average']:.1%}{spread}{sample}")
    parts += _list_chances(experiment, set())
    common = f"; {experiment['common_tasks']} of {pluralize(tasks, 'task')} in all runs" if runs > 1 and tasks else ""
    return ", ".join(parts) + common
