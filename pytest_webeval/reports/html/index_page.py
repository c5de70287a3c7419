"""The data of the index page as JSON: totals, tables, groups, agents, the baseline, and a row for each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.comparison_text import list_facts
from pytest_webeval.reports.history_text import format_time
from pytest_webeval.reports.html.index_rows import COLUMNS, KNOWN, IndexRow, IndexTally, RowTables
from pytest_webeval.reports.rates_text import format_excluded, format_other_rates
from pytest_webeval.reports.terminal import describe_rules
from pytest_webeval.results import Summary
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.task_identity import describe_sample

MOST_ROWS = 20_000  # in the first page itself: the list of more runs is written in parts
MOST_VALUES = 1_000  # of a filter, of more runs
MOST_LISTED = 500  # failure groups and rates that the page lists of more runs
# Headings of the columns `site` and `type`: for tasks with sites, for trajectories, and for both in one session.
_OF_TASKS = {
    "site": {"one": "Site", "many": "Sites", "none": "no site"},
    "type": {"one": "Kind", "many": "Kinds of task", "none": "unknown"},
}
_OF_TRAJECTORIES = {
    "site": {"one": "Benchmark", "many": "Benchmarks", "none": "no benchmark"},
    "type": {"one": "Ending", "many": "How runs ended", "none": "unknown"},
}
_OF_BOTH = {
    "site": {"one": "Site or benchmark", "many": "Sites and benchmarks", "none": "no site"},
    "type": {"one": "Kind or ending", "many": "Kinds of task, how runs ended", "none": "unknown"},
}
MAX_AGENTS, MAX_ATTEMPTS = 50, 50  # on a page; the summary has all
_TRIES = (1, 2, 3, 5, 8)  # for which pass@k and pass^k have columns, besides the most tries that there are
_NOTES = {
    "same_rules": "the rules are others",
    "same_evaluators": "the evaluators are others",
    "same_tasks": "the tasks are others",
}
Rerun = Callable[[Sequence[str]], str | None]  # the command that scores the runs with these labels again


def index_view(
    rows: Iterable[IndexRow], summary: Summary, title: str, rerun: Rerun, most_rows: int = MOST_ROWS
) -> dict[str, Any]:
    """The first page, from the summary and all that it was made of, in the order of that.

    `rows` are iterated twice. Of more than `most_rows`, the page has `row_parts` in place of `rows`: see `write_index`.
    """
    tally = IndexTally.of(rows)
    webeval, flips, is_small = summary.webeval, tally.values.get("flip"), tally.count <= most_rows
    groups = webeval["failures"]
    headings = _OF_TRAJECTORIES if tally.has_trajectories else _OF_TASKS
    headings = _OF_BOTH if tally.has_trajectories and tally.has_tasks else headings
    index = {
        "version": own_version(),
        "title": title,
        "timestamp": summary.timestamp,
        "rules": describe_rules(webeval),
        "partial": webeval.get("partial", False),
        "stopped": webeval.get("stopped"),
        "embedded": False,
        "totals": _totals(summary),
        "headings": headings,
        "sites": tally.sites.build_rates(),
        "templates": [rate | {"text": tally.texts.get(rate["name"])} for rate in tally.templates.build_rates()],
        "types": tally.types.build_rates(),
        "groups": [_group(group, rerun) for group in groups[: None if is_small else MOST_LISTED]],
        "evaluators": sorted(tally.values.get("evaluator", ())),
        "warnings": sorted(tally.values.get("warning", ())),
        "flips": {"fixed": 0, "regressed": 0} | dict(flips) if flips else None,
        "distributions": tally.distributions.build_views(),
        "attempts": build_agents(webeval.get("attempts")),
        "baseline": build_baseline(webeval),
        "judging": build_judging_lines(webeval),
        "columns": list(COLUMNS),
    }
    if not is_small:
        return _bound(index, tally, groups)
    tables = RowTables.of(index)
    return index | {"rows": [tables.build_cells(row) for row in rows]}


def _bound(index: Mapping[str, Any], tally: IndexTally, groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The page without what grows with the number of runs, and what is known of all rows."""
    rates = {name: index[name][:MOST_LISTED] for name in ("sites", "templates", "types")}
    names = {name: index[name][:MOST_VALUES] for name in ("evaluators", "warnings")}
    values = {
        key: sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_VALUES]
        for key, counts in tally.values.items()
    }
    values["group"] = [(str(number), group["count"]) for number, group in enumerate(groups[:MOST_LISTED])]
    more = {name: len(index[name]) - len(rates[name]) for name in rates} | {"groups": max(0, len(groups) - MOST_LISTED)}
    parts = {"count": tally.count, "shared": tally.directories, "values": values, "more": more}
    return {**index, **rates, **names, "row_parts": parts}


def _totals(summary: Summary) -> dict[str, Any]:
    webeval = summary.webeval
    notes = [*format_other_rates(webeval), *([format_excluded(webeval)] if webeval["excluded_count"] else [])]
    return {
        "total": summary.total,
        "success": summary.success_count,
        "failure": summary.failed_count,
        "error": summary.error_count,
        "excluded": webeval["excluded_count"],
        "missing": webeval["missing_count"],
        "unscored": webeval.get("unscored_count", 0),
        "rate": webeval["success_rate"],
        "denominator": webeval["success_rate_denominator"],
        "interval": webeval["success_rate_interval_95"],
        "sample": describe_sample(webeval["success_rate_task_count"], webeval["success_rate_denominator"]),
    } | ({"notes": notes} if notes else {})


def _group(group: Mapping[str, Any], rerun: Rerun) -> dict[str, Any]:
    columns = {name: group[name] for name in ("evaluator", "field", "kind", "count", "text")}
    if group.get("known"):
        columns |= {"text": f"known: {group['text']}", KNOWN: KNOWN}
    return columns | {"rerun": rerun(group["runs"])}


def build_agents(attempts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Agents side by side, each with its attempts; None where no task was tried twice and nobody named attempts."""
    rated = [agent for agent in (attempts or {}).get("agents", ()) if agent["tasks"]]
    if not rated:
        return None
    most = max(len(agent["pass@k"]) for agent in rated)
    tries = sorted({*(count for count in _TRIES if count <= most), most} - {0})
    return {
        "tries": tries,
        "agents": [_build_agent(agent, tries) for agent in rated[:MAX_AGENTS]],
        "more": len(rated[MAX_AGENTS:]),
    }


def _build_agent(agent: Mapping[str, Any], tries: list[int]) -> dict[str, Any]:
    attempts = [
        {
            "name": attempt["attempt"],
            "total": attempt["rated"],
            "success": attempt["success_count"],
            "lost": attempt["rated"] - attempt["success_count"],
            "interval": attempt["success_rate_interval_95"],
        }
        for attempt in agent["attempts"]
        if attempt["rated"]
    ]
    return {
        **{name: agent[name] for name in ("agent", "tasks", "runs", "mean", "interval_95")},
        "flaky": agent["flaky"]["count"],
        "chances": {
            name: [agent[name].get(str(count), {}).get("mean") for count in tries] for name in ("pass@k", "pass^k")
        },
        "attempts": attempts[:MAX_ATTEMPTS],
        "more": len(attempts[MAX_ATTEMPTS:]),
    }


def build_baseline(webeval: Mapping[str, Any]) -> dict[str, Any] | None:
    """The date and the rate of the baseline and what changed since, from `webeval` in a summary; None without one."""
    baseline = webeval.get("baseline")
    if baseline is None:
        return None
    notes = ["the baseline is a partial session"] if baseline["partial"] else []
    return {
        "time": format_time(baseline["timestamp"]),
        "before": baseline["success_rate"],
        "after": webeval["success_rate"],
        "sentence": baseline["sentence"],
        "facts": list(list_facts(baseline["overall"])),
        "notes": notes + [note for name, note in _NOTES.items() if not baseline[name]],
    }


def build_judging_lines(webeval: Mapping[str, Any]) -> list[str]:
    """Which judge was asked, what that cost, and how far people agree with it, from `webeval` in a summary."""
    if "judging" not in webeval:
        return []
    from pytest_webeval.reports.judging_text import format_judging  # few sessions ask a judge

    return [line[:1].upper() + line[1:] for line in format_judging(webeval["judging"])]
