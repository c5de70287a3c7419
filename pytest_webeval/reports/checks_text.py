"""What a session is checked against, as lines for a terminal and as Markdown: its baseline and its gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_webeval.reports.comparison_text import spell
from pytest_webeval.reports.rerun import LONGEST_NAME, TASKS_NAMED, RerunCommands
from pytest_webeval.reports.tables import clean_lines, plain, table
from pytest_webeval.safety.text import name_first, pluralize

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
