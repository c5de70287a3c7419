"""The section of the terminal report: counts, rate, sites, kinds of failures, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.reports.failure_text import failures
from pytest_webeval.reports.rates_text import (
    count_successes,
    format_attempts,
    format_other_rates,
    format_rate,
    format_self_report,
    format_trajectories,
    list_exclusions,
)
from pytest_webeval.reports.rerun import LONGEST_NAME, TASKS_NAMED, RerunCommands
from pytest_webeval.reports.tables import clean_lines, count_more, note_part
from pytest_webeval.results import EVALUATOR_CHOICE, Summary
from pytest_webeval.safety.text import MORE, list_first, name_first, pluralize, sanitize, truncate
from pytest_webeval.summary.task_identity import describe_sample

WARNINGS_SHOWN, LONGEST_WARNING = 4, 400  # of which each has at most so many characters
SLOWEST_SHOWN, SLOW = 3, 1.0  # seconds


def warnings(groups: Sequence[Mapping[str, Any]], run_count: int) -> list[str]:
    """Kinds of warnings with an example each, first those that decided verdicts, which must not drown."""
    if not groups:
        return []
    limit_note = note_part(WARNINGS_SHOWN, len(groups), " kinds")
    total = sum(group["count"] for group in groups)
    lines = [f"{pluralize(total, 'warning')} in {pluralize(run_count, 'run')}, by kind{limit_note}:"]
    for group in groups[:WARNINGS_SHOWN]:
        decided_count = f" decided {pluralize(group['decided'], 'verdict')}" if group["decided"] else ""
        example = f"{group['example']['run']}: {group['example']['text']}"
        lines.append(
            f"  {group['count']:>5}  {group['kind']}{decided_count}; first: {truncate(example, LONGEST_WARNING)}"
        )
    return clean_lines(lines)


def slowest(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The slowest runs in one line, if they are slow enough to matter."""
    if not rows or rows[0]["wall_time"] < SLOW:
        return []
    runs_with_times = ", ".join(f"{row['run']} {row['wall_time']:.1f} s" for row in rows[:SLOWEST_SHOWN])
    return [sanitize(f"slowest: {runs_with_times}")]


def _format_runs(text: str, runs: Sequence[str]) -> list[str]:
    """What holds for some runs, with the names of the first of them, in one line; no line without runs."""
    return [sanitize(f"{text}: {name_first(runs, TASKS_NAMED, LONGEST_NAME, len(runs))}")] if runs else []


def format_recorded_failures(runs: Sequence[str]) -> list[str]:
    """Runs of which Python tests recorded a failure and that have no passed test of their own, in one line."""
    return _format_runs(f"Python tests scored {pluralize(len(runs), 'run')} as a failure", runs)


SITES_SHOWN = 8
TASKS_SHOWN = 8
MOST_LINES = 40


class SessionFacts(Struct, frozen=True):
    """Facts about a session that are not in its summary.

    `left_out` runs were collected and not scored, `missing` tasks were never recorded. `contradicted` runs passed
    their own test, but a Python test recorded a failure. `problems` are the last lines. The directories
    `without_runs` contain no run, `nested_runs` lie inside other runs and are not scored; their names begin with one of
    `root_labels`.
    """

    places: Sequence[Path]
    left_out: int
    missing: Sequence[int | str]
    contradicted: Sequence[str]
    problems: Sequence[str]
    tested_runs: int = 0  # runs that Python tests used
    without_runs: Sequence[str] = ()
    nested_runs: Sequence[str] = ()
    roots: Sequence[Path] = ()
    root_labels: Sequence[str] = ()
    output: Path | None = None  # where results go, if not into the run directories
    names_roots: bool = True  # whether the arguments select a root


def render_summary(summary: Summary | None, reruns: RerunCommands, facts: SessionFacts) -> list[str]:
    """At most 40 lines; without a scored run, the number of deselected runs or the searched directories."""
    if summary is None:
        message = f"no run was scored; {pluralize(facts.left_out, 'run')} collected, none selected or finished"
        if facts.tested_runs and not facts.left_out:
            message = f"Python tests used {pluralize(facts.tested_runs, 'run')} and recorded no result"
        if not facts.left_out and not facts.tested_runs:
            roots, formats = ", ".join(map(str, facts.roots)), ", ".join(each.name for each in FORMATS)
            message = f"no run was scored; searched {roots} for directories with the files of a format: {formats}"
            if not facts.names_roots:
                message = f"no run was scored; the arguments select no run in {roots}"
        return [message, *_misplaced(facts), *facts.problems]
    top = [*_counts(summary), *_sites(summary), *_list_parts(summary.webeval, reruns)]
    files = [f"summary: {place}" for place in facts.places[:2]]
    if stale := summary.webeval.get("stale_results"):
        results, names = pluralize(len(stale), "result"), _list_first(stale)
        text = f"{facts.output} holds {results} of earlier sessions for runs that are not in this one: {names}"
        files.append(sanitize(text))
    passed = pluralize(len(facts.contradicted), "run passed its own test", "runs passed their own tests")
    bottom = [
        *slowest(summary.webeval["slowest"]),
        *_format_runs(f"{passed}, but a Python test recorded a failure", facts.contradicted),
        *_tasks(summary, facts.missing),
        *_misplaced(facts),
        *_notes(summary),
        *files,
        *facts.problems,
    ]
    failure_lines = failures(summary.webeval["failures"], reruns, summary.file_name)
    return [*top, *failure_lines[: max(0, MOST_LINES - len(top) - len(bottom))], *bottom]


def _list_parts(webeval: Mapping[str, Any], reruns: RerunCommands) -> list[str]:
    """The lines about what not every session has: trajectories, attempts, judges, claims, a baseline and gates.

    Claims of agents are listed if any is wrong.
    """
    lines = format_trajectories(webeval["trajectories"]) if "trajectories" in webeval else []
    lines += format_attempts(webeval["attempts"]) if "attempts" in webeval else []
    if "judging" in webeval:
        from pytest_webeval.reports.judging_text import format_judging  # few sessions ask a judge

        lines += format_judging(webeval["judging"])
    report = webeval.get("self_report")
    if report is not None and report["claims"]["honest"] != report["runs"]:
        lines += format_self_report(report)
    if "baseline" in webeval or "gates" in webeval:
        from pytest_webeval.reports.comparison_text import format_baseline, format_gates  # few sessions have either

        if "baseline" in webeval:
            lines += format_baseline(webeval["baseline"], reruns, has_gaps=not webeval["partial"])
        lines += format_gates(webeval.get("gates", ()))
    return lines


def _counts(summary: Summary) -> list[str]:
    webeval = summary.webeval
    counts = (
        f"{summary.total} scored: {summary.success_count} success, {summary.failed_count} failure, "
        f"{summary.error_count} error, {webeval['excluded_count']} excluded"
    )
    reasons = [f"excluded: {text}"] if (text := list_exclusions(webeval)) else []
    rules, by_rules = [], webeval.get("rules_counts", {})
    if {"default", "strict"} <= by_rules.keys():  # of both kinds of tasks, whose origin decides
        published, others = (pluralize(by_rules[name], "run") for name in ("default", "strict"))
        rules = [f"rules: default for {published} of published tasks, strict for {others} of other tasks"]
    if webeval["success_rate"] is None:
        return [counts, *reasons, *rules]
    sample = describe_sample(webeval["success_rate_task_count"], webeval["success_rate_denominator"])
    rate = format_rate(webeval["success_rate"], webeval["success_rate_interval_95"], sample)
    line = f"success rate {rate}, rules {describe_rules(webeval)}"
    return [counts, *reasons, line, *rules, *format_other_rates(webeval)]


def describe_rules(webeval: Mapping[str, Any]) -> str:
    """The rules of a session, with the evaluators that alone scored it, from `webeval` of its summary."""
    choice, rules = webeval.get(EVALUATOR_CHOICE), str(webeval["rules"])
    rules = " and ".join(rules.split(","))
    return f"{rules}, by {', '.join(choice)} alone" if choice else rules


def _sites(summary: Summary) -> list[str]:
    sites = dict(summary.per_site_summary)
    if "trajectories" in summary.webeval:
        sites.pop("", None)  # they have lines of their own
    width = max((len(name) for name in sites), default=0)
    lines = []
    for name, rows in list(sites.items())[:SITES_SHOWN]:
        good = count_successes(rows)
        lines.append(f"  {name or '(no site)':{max(width, 9)}}  {good:>5} / {len(rows):<5} {good / len(rows):>6.1%}")
    return [*lines, *count_more(len(sites), SITES_SHOWN, "more in the summary")]


def _tasks(summary: Summary, missing: Sequence[int | str]) -> list[str]:
    """The tasks of the subset, those without a recording, and those that no recording can pass."""
    lines, subset = [], summary.webeval["subset"]
    if subset:
        outside = pluralize(subset["outside_count"], "other run")
        lines.append(f"subset {subset['name']}: {pluralize(subset['task_count'], 'task')} ({outside} deselected)")
    if missing:
        verb = "has" if len(missing) == 1 else "have"
        lines.append(f"{pluralize(len(missing), 'task')} {verb} no recording: {_list_first(missing)}")
    if unpassable := list(summary.webeval["unpassable"]):
        lines.append(f"no natural recording can pass {pluralize(len(unpassable), 'task')}: {_list_first(unpassable)}")
    return [sanitize(line) for line in lines]


def _misplaced(facts: SessionFacts) -> list[str]:
    """A line about directories without runs, and one about runs that were not scored for where they are."""

    def list_labels(labels: Sequence[str]) -> str:
        only = f"{facts.root_labels[0]}/" if len(facts.root_labels) == 1 else ""  # is not repeated
        return sanitize(_list_first([label.removeprefix(only) for label in labels]))

    lines = []
    if labels := facts.without_runs:
        lines.append(f"{pluralize(len(labels), 'directory holds', 'directories hold')} no run: {list_labels(labels)}")
    if labels := facts.nested_runs:
        subject, pronoun = pluralize(len(labels), "run lies", "runs lie"), "it" if len(labels) == 1 else "them"
        lines.append(f"{subject} inside another run, not scored: {list_labels(labels)}; move {pronoun} out")
    return lines


def _list_first(tasks: Sequence[int | str]) -> str:
    return list_first(tasks, TASKS_SHOWN, lambda task: str(task)[:80].replace("\n", " "), MORE)


def _notes(summary: Summary) -> list[str]:
    webeval = summary.webeval
    lines = warnings(webeval["warning_kinds"], len(webeval["warnings"]))
    if "shard" in webeval:
        share = f"{len(summary.task_results)} of {pluralize(webeval['shard_run_count'], 'run')}"
        lines.append(f"shard {webeval['shard']}: {share}; merge all shards with webeval merge")
    elif webeval["partial"]:
        deselected = webeval["deselected_count"] - (webeval["subset"] or {"outside_count": 0})["outside_count"]
        counts = f"{webeval['unscored_count']} not scored, {deselected} deselected"
        is_chosen = not webeval["unscored_count"] and not deselected
        lines.append(f"partial session: {'the arguments selected some of the runs' if is_chosen else counts}")
    unscored = [f"not scored: {_list_first(webeval['unscored'])}"] if webeval["unscored"] else []
    stopped = [f"stopped: {webeval['stopped']}"] if webeval["stopped"] else []
    return [*lines, *filter(None, ["; ".join([*stopped, *unscored])])]
