"""What a summary says of repeated runs and of a baseline, as the first page shows it without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_webeval.reports.comparison_text import list_facts
from pytest_webeval.reports.history_text import format_time

MAX_AGENTS, MAX_ATTEMPTS = 50, 50  # on a page; the summary has all
_TRIES = (1, 2, 3, 5, 8)  # for which pass@k and pass^k have columns, besides the most tries that there are
_NOTES = {
    "same_rules": "the rules are others",
    "same_evaluators": "the evaluators are others",
    "same_tasks": "the tasks are others",
}


def build_agents(attempts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Agents side by side, each with its attempts; None where no task was tried twice and nobody named attempts."""
    rated = [agent for agent in (attempts or {}).get("agents", ()) if agent["tasks"]]
    if not rated:
        return None
    tries = _select_tries(max(len(agent["pass@k"]) for agent in rated))
    return {
        "tries": tries,
        "agents": [_build_agent(agent, tries) for agent in rated[:MAX_AGENTS]],
        "more": len(rated[MAX_AGENTS:]),
    }


def _select_tries(most: int) -> list[int]:
    return sorted({*(count for count in _TRIES if count <= most), most} - {0})


def _build_agent(agent: Mapping[str, Any], tries: list[int]) -> dict[str, Any]:
    attempts = [_build_attempt(attempt) for attempt in agent["attempts"] if attempt["rated"]]
    return {
        **{name: agent[name] for name in ("agent", "tasks", "runs", "mean", "interval_95")},
        "flaky": agent["flaky"]["count"],
        "chances": {
            name: [agent[name].get(str(count), {}).get("mean") for count in tries] for name in ("pass@k", "pass^k")
        },
        "attempts": attempts[:MAX_ATTEMPTS],
        "more": len(attempts[MAX_ATTEMPTS:]),
    }


def _build_attempt(attempt: Mapping[str, Any]) -> dict[str, Any]:
    total, success = attempt["rated"], attempt["success_count"]
    interval = attempt["success_rate_interval_95"]
    return {
        "name": attempt["attempt"],
        "total": total,
        "success": success,
        "lost": total - success,
        "interval": interval,
    }


def build_baseline(webeval: Mapping[str, Any]) -> dict[str, Any] | None:
    """The date and the rate of the baseline and what changed since, from `webeval` in a summary; None without one."""
    baseline = webeval.get("baseline")
    if baseline is None:
        return None
    return {
        "time": format_time(baseline["timestamp"]),
        "before": baseline["success_rate"],
        "after": webeval["success_rate"],
        "sentence": baseline["sentence"],
        "facts": list(list_facts(baseline["overall"])),
        "notes": list(_list_notes(baseline)),
    }


def build_judging_lines(webeval: Mapping[str, Any]) -> list[str]:
    """Which judge was asked, what that cost, and how far people agree with it, from `webeval` in a summary."""
    if "judging" not in webeval:
        return []
    from pytest_webeval.reports.judging_text import format_judging  # few sessions ask a judge

    return [line[:1].upper() + line[1:] for line in format_judging(webeval["judging"])]


def _list_notes(baseline: Mapping[str, Any]) -> Iterator[str]:
    """Why the two sessions may not be comparable."""
    if baseline["partial"]:
        yield "the baseline is a partial session"
    yield from (note for name, note in _NOTES.items() if not baseline[name])
