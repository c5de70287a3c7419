"""Gates as lines for a terminal and as a table for a page in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.reports.markdown import plain, table
from pytest_webeval.safety.text import pluralize, sanitize


def format_gates(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each gate below their count; failed ones first. Empty without gates."""
    if not gates:
        return []
    passed = sum(bool(gate["passed"]) for gate in gates)
    ordered = sorted(gates, key=lambda gate: bool(gate["passed"]))
    lines = [f"gates: {passed} of {len(gates)} passed"]
    lines += [f"  {_word(gate):<4}  {format_gate(gate)}" for gate in ordered]
    return [sanitize(line.replace("\n", " ")) for line in lines]


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
