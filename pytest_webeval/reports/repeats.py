"""Attempts and agents, and what agents report of themselves: lines for a terminal and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.reports.markdown import plain, table
from pytest_webeval.safety.text import name_first, pluralize, sanitize, truncate
from pytest_webeval.summary.task_identity import describe_sample

AGENTS_SHOWN, ATTEMPTS_SHOWN, TASKS_SHOWN = 4, 5, 5
LONGEST_NAME = 60  # characters


def format_attempts(attempts: Mapping[str, Any]) -> list[str]:
    """A line for each agent, one below it for each attempt, and one for attempts that are copies."""
    lines = []
    for agent in attempts["agents"][:AGENTS_SHOWN]:
        lines.append(_format_agent(agent, len(attempts["agents"])))
        listed = agent["attempts"]
        lines += [f"  {_name(attempt['attempt'])}: {_format_rate(attempt)}" for attempt in listed[:ATTEMPTS_SHOWN]]
        lines += [f"  … and {len(listed) - ATTEMPTS_SHOWN} more"] if len(listed) > ATTEMPTS_SHOWN else []
    hidden = len(attempts["agents"]) - AGENTS_SHOWN
    lines += [f"… and {hidden} more agents in the summary"] if hidden > 0 else []
    return [sanitize(line.replace("\n", " ")) for line in (*lines, *_format_copies(attempts["same_inputs"]))]


def _format_agent(agent: Mapping[str, Any], count: int) -> str:
    """Return a line about one of so many agents. If it is the only one, the session's rate has the interval."""
    is_repeated = len(agent["attempts"]) == 1 and agent["runs"] > agent["tasks"]
    label = pluralize(agent["runs"], "run") if is_repeated else pluralize(len(agent["attempts"]), "attempt")
    head = f"agent {_name(agent['agent'])}: {label}" if agent["agent"] else label
    parts = [f"{head} of {pluralize(agent['tasks'], 'task')}"]
    if agent["mean"] is not None:
        low, high = agent["interval_95"]
        interval = f" (95% interval {low:.1%} to {high:.1%}{describe_sample(agent['tasks'], agent['runs'])})"
        parts.append(f"mean {agent['mean']:.1%}{interval if count > 1 else ''}")
    parts += _list_shares(agent)
    parts += _format_majority(agent["thresholds"])
    flaky = agent["flaky"]
    if flaky["of"]:
        parts.append(f"flaky {flaky['count']} of {flaky['of']}")
    return ", ".join(parts)


def _format_majority(thresholds: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The tasks that succeed in more than half of the attempts, if there are several."""
    names = list(thresholds)
    name = names[len(names) // 2] if len(names) > 1 else None
    return [] if name is None else [f"{name} attempts in {thresholds[name]['tasks']} of {thresholds[name]['of']}"]


def _list_shares(agent: Mapping[str, Any]) -> Iterator[str]:
    """The chances for the largest number of attempts that a task has."""
    for name in ("pass@k", "pass^k"):
        shares = [(k, share) for k, share in agent[name].items() if share["tasks"] and k != "1"]
        for k, share in shares[-1:]:
            yield f"{name.replace('k', k)} {share['mean']:.1%} of {share['tasks']}"


def _format_rate(attempt: Mapping[str, Any]) -> str:
    counts = f"{attempt['success_count']} of {attempt['rated']}"
    return counts if attempt["success_rate"] is None else f"{counts}, {attempt['success_rate']:.1%}"


def _format_copies(copies: Mapping[str, Any]) -> list[str]:
    if not copies["count"]:
        return []
    named = dict.fromkeys(str(task["task_id"]) for task in copies["tasks"])
    ids = name_first(named, TASKS_SHOWN, LONGEST_NAME, copies["count"])
    return [f"runs with the same recording, byte by byte, are no repeats: {pluralize(copies['count'], 'task')}: {ids}"]


def _name(name: str) -> str:
    return truncate(name, LONGEST_NAME) or "(no name)"


def attempt_tables(attempts: Mapping[str, Any]) -> Iterator[str]:
    """A table of the agents with their attempts."""
    rows = [
        (
            plain(agent["agent"]),
            plain(attempt["attempt"]),
            attempt["success_count"],
            attempt["rated"],
            _percent(attempt["success_rate"]),
        )
        for agent in attempts["agents"]
        for attempt in agent["attempts"]
    ]
    shown = AGENTS_SHOWN * ATTEMPTS_SHOWN
    lines = (_format_agent(agent, len(attempts["agents"])) for agent in attempts["agents"][:AGENTS_SHOWN])
    yield "### Attempts\n"
    yield table(("agent", "attempt", "success", "of", "rate"), rows[:shown], len(rows) - shown)
    yield "\n".join(f"- {plain(line)}" for line in lines) + "\n"
    yield "".join(f"{plain(line)}\n" for line in _format_copies(attempts["same_inputs"]))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


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
