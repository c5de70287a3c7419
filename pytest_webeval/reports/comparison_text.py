"""A comparison of two sessions, and what a session is checked against, as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.rates_text import format_interval, format_rate
from pytest_webeval.reports.rerun import LONGEST_NAME, TASKS_NAMED, RerunCommands
from pytest_webeval.reports.tables import align, clean_lines, count_more, note_part, plain, table
from pytest_webeval.safety.text import name_first, pluralize, sanitize, truncate
from pytest_webeval.summary.comparison.session_comparison import format_p_value
from pytest_webeval.summary.task_identity import describe_sample

CHANGES_SHOWN, GROUPS_SHOWN, PROBLEMS_SHOWN = 20, 12, 8  # of each kind, of each table
LONGEST_REASON, LONGEST_LABEL = 120, 60  # characters
HEADS = ("", "before", "after", "difference", "better", "worse", "p (Holm)")
TABLES = {"sites": "site", "types": "type", "templates": "template"}
_FLIPS = ("regressed", "newly_erring", "fixed")


def format_comparison(comparison: Mapping[str, Any]) -> str:
    """The comparison in lines: the sentence, rates by group, what changed and why, and what does not fit."""
    before, after = comparison["before"], comparison["after"]
    lines = [f"{before['name']} -> {after['name']}", comparison["sentence"]]
    lines += [f"  {fact}" for fact in _list_lines(comparison)]
    for name, label in TABLES.items():
        groups = comparison[name]
        if len(groups) > 1:
            selected = _select_groups(groups)
            part = note_part(len(selected), len(groups), ", most changes first")
            lines += [f"by {label}{part}:", *align([(label, *HEADS[1:]), *map(_list_cells, selected)])]
    lines += _format_changes(comparison["changes"])
    lines += [f"note: {problem}" for problem in comparison["problems"][:PROBLEMS_SHOWN]]
    return "\n".join(clean_lines(lines))


def _list_lines(comparison: Mapping[str, Any]) -> Iterator[str]:
    """What lines and Markdown say of all tasks: both sessions, the difference, mean scores, and kinds of changes."""
    overall = comparison["overall"]
    for side in ("before", "after"):
        session = comparison[side]
        counts = f"{session['success_count']} of {session['judged_count']} judged runs succeeded"
        rate = "" if session["success_rate"] is None else f", {format_group_rate(session)}"
        rest = f"{pluralize(session['run_count'], 'run')}, {pluralize(session['error_count'], 'error')}"
        yield f"{side:<7} {counts}{rate} ({rest})"
    if overall["difference"] is not None:
        tasks = pluralize(overall["both_judged"], "task")
        parts = [f"difference {overall['difference']:+.1%} over {tasks} that both judged"]
        yield ", ".join([*parts, *(f"{name} {ends}" for name, ends in _list_intervals(overall))])
        if overall["detectable_difference"] is not None:
            yield _describe_detectable(overall)
    yield from _describe_scores(overall)
    if counts := ", ".join(f"{count} {spell(name)}" for name, count in comparison["kinds"].items() if count):
        yield counts


def format_group_rate(group: Mapping[str, Any]) -> str:
    """A rate with its interval."""
    sample = describe_sample(group["judged_task_count"], group["judged_count"])
    return format_rate(group["success_rate"], group["success_rate_interval_95"], sample)


def _list_intervals(overall: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The intervals of the difference that there are, with their names."""
    intervals = {
        "95% interval": overall["difference_interval_95"],
        "with templates drawn again": overall["difference_bootstrap_95"],
    }
    for name, interval in intervals.items():
        if interval is not None:
            yield name, f"{interval[0]:+.1%} to {interval[1]:+.1%}"


def list_facts(overall: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the comparison over all tasks says, with names. Nothing without a difference and without scores."""
    if scores := list(_describe_scores(overall)):
        yield "Mean score", scores[0].removeprefix("mean score ")
    if overall["difference"] is None:
        return
    yield "Difference", f"{overall['difference']:+.1%} over {overall['both_judged']:,} tasks that both judged"
    yield from ((name.capitalize(), ends) for name, ends in _list_intervals(overall))
    if overall["p_value"] is not None:
        yield "Exact McNemar test", f"{overall['better']} better, {overall['worse']} worse, p {format_group_p(overall)}"
    if overall["detectable_difference"] is not None:
        yield "Power", _describe_detectable(overall)


def _describe_scores(group: Mapping[str, Any]) -> Iterator[str]:
    """How the mean score changed, in a line; nothing where no run has a partial score."""
    scores = group.get("scores")
    if scores is None:
        return
    sides = [scores["before"], scores["after"]]
    texts = [
        f"{side['mean_score']:.2f} over {pluralize(side['run_count'], 'run')}" if side else "none" for side in sides
    ]
    change = scores["difference"]
    tasks = (
        "" if change is None else f", {change:+.2f} over {pluralize(scores['both_scored'], 'task')} with scores in both"
    )
    yield f"mean score {' -> '.join(texts)}{tasks}"


def _describe_detectable(overall: Mapping[str, Any]) -> str:
    """The smallest difference that the tasks in common can show, in words."""
    size = overall["detectable_difference"]
    return f"these tasks detect a difference of {size:.1%} or more (at 80% power)"


def _select_groups(groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The groups in their order; if there are too many, those with the most changes."""
    if len(groups) <= GROUPS_SHOWN:
        return list(groups)
    return sorted(groups, key=lambda group: -(group["better"] + group["worse"]))[:GROUPS_SHOWN]


def _list_cells(group: Mapping[str, Any]) -> tuple[str, ...]:
    name = truncate(sanitize(str(group["name"])), LONGEST_LABEL) or "(none)"
    counts = (str(group["better"]), str(group["worse"]))
    sides = (format_counts(group["before"]), format_counts(group["after"]))
    return name, *sides, format_group_difference(group), *counts, format_group_p(group)


def format_counts(side: Mapping[str, Any]) -> str:
    """Successes of judged runs, with the interval of the rate."""
    counts, interval = f"{side['success_count']:,} of {side['judged_count']:,}", format_interval(side)
    return f"{counts} ({interval})" if interval else counts


def format_group_difference(group: Mapping[str, Any]) -> str:
    """The difference over the tasks that both judged, with its interval; empty without any."""
    if group["difference"] is None:
        return ""
    interval = group["difference_interval_95"]
    text = f"{group['difference']:+.1%}"
    return text if interval is None else f"{text} ({interval[0]:+.0%} to {interval[1]:+.0%})"


def format_group_p(group: Mapping[str, Any]) -> str:
    """The p-value of a group, adjusted for the number of groups in its table. Empty without a test."""
    p_value = group.get("p_value_adjusted", group["p_value"])
    return "" if p_value is None else format_p_value(p_value).removeprefix("= ").replace(" ", "")


def _format_changes(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for kind, listed in group_by_kind(changes).items():
        yield f"{spell(kind)}:"
        if kind not in _FLIPS:
            ids = (change["task_id"] for change in listed)
            yield f"  {name_first(ids, CHANGES_SHOWN, LONGEST_LABEL, len(listed))}"
            continue
        for change in listed[:CHANGES_SHOWN]:
            task = truncate(str(change["task_id"]), LONGEST_LABEL)
            yield f"  {task}: {describe_causes(change)}; {_format_reason(change)}"
        yield from count_more(len(listed), CHANGES_SHOWN)


def spell(kind: str) -> str:
    """The kind of a change in words."""
    return kind.replace("_", " ")


def group_by_kind(changes: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The changes by their kind, in the order in which they are listed."""
    by_kind: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        by_kind.setdefault(change["kind"], []).append(change)
    return by_kind


def describe_causes(change: Mapping[str, Any]) -> str:
    """Why a verdict changed, in words."""
    if change["causes"] == ["unknown"]:
        return "cause unknown"
    libraries = f" ({', '.join(change['libraries'])})" if change["libraries"] else ""
    return f"other {' and '.join(change['causes'])}{libraries}"


def _format_reason(change: Mapping[str, Any]) -> str:
    """The verdicts and the reason."""
    verdicts = f"{change['before']['status']} -> {change['after']['status']}"
    return f"{verdicts}: {truncate(find_reason(change), LONGEST_REASON)}".removesuffix(": ")


def find_reason(change: Mapping[str, Any]) -> str:
    """Why the task does not succeed now, or did not before; empty without a reason."""
    before, after = change["before"], change["after"]
    if before is not None and before["reason"] and after is not None and after["status"] == "success":
        return f"it was {before['reason']}"
    return (after or before)["reason"] or ""


def format_comparison_markdown(comparison: Mapping[str, Any]) -> str:
    """The same as Markdown, with all texts of the sessions as code."""
    before, after = comparison["before"], comparison["after"]
    blocks = [f"## {plain(before['name'])} → {plain(after['name'])}\n", f"{comparison['sentence']}\n"]
    blocks += [f"- {line}" for line in _list_lines(comparison)]
    for name, label in TABLES.items():
        groups = comparison[name]
        if len(groups) > 1:
            rows = [(plain(row[0]), *row[1:]) for row in map(_list_cells, _select_groups(groups))]
            blocks.append(f"\n### By {label}\n\n{table((label, *HEADS[1:]), rows)}")
    blocks += _list_change_tables(comparison["changes"])
    blocks += [f"- {plain(problem)}" for problem in comparison["problems"][:PROBLEMS_SHOWN]]
    return "\n".join(blocks)


def _list_change_tables(changes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for kind, listed in group_by_kind(changes).items():
        rows = []
        for change in listed[:CHANGES_SHOWN]:
            sides = change["before"], change["after"]
            status = next(side["status"] for side in sides if side) if None in sides else _format_reason(change)
            causes = describe_causes(change) if change["causes"] else ""
            rows.append((plain(change["task_id"]), plain(causes), plain(status)))
        yield f"\n### {spell(kind).capitalize()}: {len(listed)}\n"
        yield table(("task", "because of", "verdicts"), rows, len(listed) - CHANGES_SHOWN)


CAUSES_SHOWN, FLIPS_SHOWN = 4, 50
FLIPS = ("regressed", "fixed", "newly_erring")
_GAPS = {"gone": "missing", "new": "extra"}


def format_baseline(baseline: Mapping[str, Any], reruns: RerunCommands, *, has_gaps: bool) -> list[str]:
    """What changed since the baseline in one line; others say whether that can be noise, and name possible causes.

    Without `has_gaps`, runs of only one session are not named: this one is to have some of them.
    """
    parts = [f"{len(runs)} {spell(name)}: {reruns.name_tasks(runs)}" for name in FLIPS if (runs := baseline[name])]
    for name, word in _GAPS.items() if has_gaps else ():
        if runs := baseline[name]:
            ids = (run.rpartition("/")[2] for run in runs)
            parts.append(f"{len(runs)} {word}: {name_first(ids, TASKS_NAMED, LONGEST_NAME, len(runs))}")
    lines = [f"since baseline ({_find_day(baseline)}): {'; '.join(parts) or 'no changes'}"]
    if inputs := _list_changed_inputs(baseline, f"rules ({baseline['rules']})"):
        lines.append(f"the baseline used other {' and '.join(inputs)}; these may explain the changes")
    return clean_lines([*lines, f"  {baseline['sentence']}", *_list_causes(baseline["changes"], reruns)])


def _find_day(baseline: Mapping[str, Any]) -> str:
    return baseline["timestamp"][:10] or "of unknown date"  # of results without a summary


def _list_causes(changes: Sequence[Mapping[str, Any]], reruns: RerunCommands) -> Iterator[str]:
    """The flips by their causes, the most frequent first."""
    runs_by_cause: dict[str, list[str]] = {}
    for change in changes:
        if change["causes"]:
            runs_by_cause.setdefault(" and ".join(change["causes"]), []).append(change["run"])
    for cause, runs in sorted(runs_by_cause.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:CAUSES_SHOWN]:
        words = "cause unknown" if cause == "unknown" else f"because of other {cause}"
        yield f"  {words}: {reruns.name_tasks(runs)}"


def _list_changed_inputs(baseline: Mapping[str, Any], rules: str) -> list[str]:
    """The inputs that differ from those of the baseline; `rules` are what to call its rules."""
    words = {"same_rules": rules, "same_evaluators": "evaluators", "same_tasks": "task definitions"}
    return [word for name, word in words.items() if not baseline[name]]


def format_baseline_markdown(baseline: Mapping[str, Any], reruns: RerunCommands, *, has_gaps: bool) -> Iterator[str]:
    """The same as blocks of Markdown."""
    words = {name: spell(name) for name in FLIPS} | (_GAPS if has_gaps else {})
    counts = ", ".join(f"{len(baseline[name])} {word}" for name, word in words.items())
    yield f"### Since the baseline of {plain(_find_day(baseline))}: {counts}\n"
    if inputs := _list_changed_inputs(baseline, "rules"):
        yield f"It used other {' and '.join(inputs)}. These may explain the changes.\n"
    yield f"{plain(baseline['sentence'])}\n"
    if flips := [change for change in baseline["changes"] if change["kind"] in FLIPS]:
        rows = []
        for flip in flips[:FLIPS_SHOWN]:
            sides = (plain(flip[side]["reason"] or flip[side]["status"]) for side in ("before", "after"))
            task_id = plain(reruns.task_ids.get(flip["run"], flip["task_id"]))
            rows.append((spell(flip["kind"]), task_id, plain(", ".join(flip["causes"])), *sides))
        yield table(("change", "task", "because of other", "was", "now"), rows, len(flips) - FLIPS_SHOWN)


def format_gates(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each gate below their count; failed ones first. Empty without gates."""
    if not gates:
        return []
    passed = sum(bool(gate["passed"]) for gate in gates)
    ordered = sorted(gates, key=lambda gate: bool(gate["passed"]))
    lines = [f"gates: {passed} of {len(gates)} passed"]
    return clean_lines([*lines, *(f"  {_word(gate):<4}  {format_gate(gate)}" for gate in ordered)])


def format_gate(gate: Mapping[str, Any]) -> str:
    """What a gate wanted and what was found."""
    return f"{gate['gate']}: wanted {gate['wanted']}; found {gate['found']}"


def gate_table(gates: Sequence[Mapping[str, Any]]) -> str:
    """The same as a table in Markdown; empty without gates."""
    if not gates:
        return ""
    failed = sum(not gate["passed"] for gate in gates)
    count = pluralize(len(gates), "gate")
    heading = f"### Gates: {f'{failed} of {count} failed' if failed else f'{count} passed'}"
    rows = [(_word(gate), plain(gate["gate"]), plain(gate["wanted"]), plain(gate["found"])) for gate in gates]
    return f"{heading}\n\n{table(('', 'gate', 'wanted', 'found'), rows)}"


def _word(gate: Mapping[str, Any]) -> str:
    return "pass" if gate["passed"] else "FAIL"
