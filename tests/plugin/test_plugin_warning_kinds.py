"""Warnings are grouped by kind, so that a rule that decided verdicts does not drown among other warnings."""

from __future__ import annotations

import json

import pytest

from pytest_webeval.reports.terminal import warnings
from pytest_webeval.summary.warning_kinds import warning_groups

DECIDED = "Q1 (literal_texts) made this failure: what an agent or a site wrote is never a pattern @ x"
GUESSED = "no address is configured for shopping, so those of all sites were guessed"
BY_RUN = {
    "runs/1": ["mine", GUESSED],
    "runs/2": [GUESSED, "yours", "theirs", "ours"],
    "runs/3": [GUESSED, DECIDED, DECIDED],
    "runs/4": [DECIDED],
}


def test_kinds_that_decided_verdicts_come_first_and_unknown_ones_last():
    assert warning_groups(BY_RUN) == [
        {
            "kind": "Q1",
            "count": 3,
            "decided": 3,
            "runs": ["runs/3", "runs/4"],
            "example": {"run": "runs/3", "text": DECIDED},
        },
        {
            "kind": "guessed_sites",
            "count": 3,
            "decided": 0,
            "runs": ["runs/1", "runs/2", "runs/3"],
            "example": {"run": "runs/1", "text": GUESSED},
        },
        {
            "kind": "other",
            "count": 4,
            "decided": 0,
            "runs": ["runs/1", "runs/2"],
            "example": {"run": "runs/1", "text": "mine"},
        },
    ]


def test_the_terminal_shows_each_kind_with_its_count_and_one_example():
    assert warnings(BY_RUN) == [
        "10 warnings in 4 runs, by kind:",
        f"      3  Q1 decided 3 verdicts; first: runs/3: {DECIDED}",
        f"      3  guessed_sites; first: runs/1: {GUESSED}",
        "      4  other; first: runs/1: mine",
    ]
    assert warnings({}) == []


def test_of_many_kinds_four_are_shown_in_one_line_each():
    many = {f"runs/{number}": [f"R{number}: \x1b\n" + "x" * 500] for number in range(1, 7)}
    lines = warnings(many)
    assert lines[0] == "6 warnings in 6 runs, by kind (4 of 6 kinds):"
    assert len(lines) == 5
    assert lines[1].startswith("      1  R1; first: runs/1: R1: \\u001b xxx")
    assert lines[1].endswith("x…")
    assert max(map(len, lines)) < 450


@pytest.fixture
def patterned(runs):
    """Runs whose answers are patterns that the reference would match, and one with another warning."""
    for number in (107, 108, 109):
        path = runs.add(number)
        if number > 107:
            answer = json.loads((path / "agent_response.json").read_bytes())
            (path / "agent_response.json").write_text(json.dumps(answer | {"retrieved_data": ["^l.*p$"]}))
    runs.tasks[0]["eval"].append(runs.visited())  # for which addresses are guessed
    runs.define()


def test_a_session_groups_its_warnings_in_terminal_summary_and_page(patterned, runs, webeval, pytester, monkeypatch):
    page = pytester.path / "page.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    example = "first: runs/108: Q1 (literal_texts) made this failure: *"
    webeval("--webeval-rules=default").stdout.fnmatch_lines(
        ["* warnings in 3 runs, by kind:", f"      2  Q1 decided 2 verdicts; {example}", "*guessed_sites; first: *"]
    )
    kinds = {
        one["kind"]: (one["count"], one["decided"], one["runs"]) for one in runs.summary["webeval"]["warning_kinds"]
    }
    assert next(iter(kinds)) == "Q1"
    assert kinds["Q1"] == (2, 2, ["runs/108", "runs/109"])
    table = page.read_text().partition("### Warnings by kind\n")[2].splitlines()
    assert table[1:4] == [
        "| count | kind | verdicts decided | first run | example |",
        "| --- | --- | --- | --- | --- |",
        table[3],
    ]
    assert table[3].startswith(
        "| 2 | <code>Q1</code> | 2 | <code>runs/108</code> | <code>Q1 (literal&#95;texts) made this"
    )
