"""Agents, attempts and the baseline on the first page: what the summary says, bounded, and hostile names as texts."""

# ruff: noqa: E501, RUF001  (rows of data and texts of the page read best in one line)

from __future__ import annotations

import re

import pytest
from msgspec import structs

from pytest_webeval.reports.html.index_page import build_agents, build_baseline, build_judging_lines
from pytest_webeval.reports.html.writer import write_page
from pytest_webeval.summary.attempts import build_attempts
from pytest_webeval.summary.judges.judging import build_judging
from tests.browser import pages
from tests.unit.reports.html.test_rates import record
from tests.unit.summary.test_judging import FACTS

HOSTILE = "<script>alert(1)</script>\u202e"
OVERALL = {
    "difference": -0.25, "both_judged": 1_200, "difference_interval_95": [-0.4, -0.1], "difference_bootstrap_95": None,
    "p_value": 0.031, "better": 2, "worse": 12, "detectable_difference": None,
}  # fmt: skip
BASELINE = {
    "timestamp": "2026-01-30T12:00:00Z", "success_rate": 0.75, "sentence": "Worse.", "overall": OVERALL, "partial": False,
    "same_rules": True, "same_evaluators": True, "same_tasks": True,
}  # fmt: skip


def attempts_of(*agents, tries=2):
    """The analysis of agents with tasks of which each first attempt succeeds."""
    records = [
        record("success" if number == 0 else "failure", task, run=f"{agent}/try-{number}/{task}")
        for agent in agents
        for number in range(tries)
        for task in range(3)
    ]
    return build_attempts(records, "try-*")


def page_text(tmp_path, section, **changes):
    """The text of a section of the page."""
    write_page(pages.index(9, **changes), tmp_path)
    html = (tmp_path / "index.html").read_text("utf-8")
    found = re.search(rf'<section aria-labelledby="{section}">.*?</section>', html, re.DOTALL)
    return found and " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_agents_stand_side_by_side_with_their_chances_and_attempts():
    table = build_agents(attempts_of("a", "b", tries=4))
    assert table["tries"] == [1, 2, 3, 4]
    assert [(agent["agent"], agent["tasks"], agent["runs"], agent["flaky"]) for agent in table["agents"]] == [
        ("a", 3, 12, 3),
        ("b", 3, 12, 3),
    ]
    first = table["agents"][0]
    assert first["chances"] == {"pass@k": [0.25, 0.5, 0.75, 1.0], "pass^k": [0.25, 0.0, 0.0, 0.0]}
    assert [(attempt["name"], attempt["success"], attempt["lost"]) for attempt in first["attempts"]][:2] == [
        ("try-0", 3, 0),
        ("try-1", 0, 3),
    ]


@pytest.mark.parametrize(("most", "tries"), [(1, [1]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 5]), (16, [1, 2, 3, 5, 8, 16])])
def test_of_many_tries_a_few_have_columns(most, tries):
    assert build_agents(attempts_of("a", tries=most))["tries"] == tries


def test_without_repeats_or_rated_runs_there_are_no_agents():
    assert build_agents(None) is None
    assert build_agents(build_attempts([record(skipped=True, excluded="x")], "try-*")) is None


def test_agents_and_attempts_are_bounded(tmp_path):
    table = build_agents(attempts_of(*(f"agent-{number}" for number in range(60)), tries=1))
    assert (len(table["agents"]), table["more"]) == (50, 10)
    assert "10 more agents are in the summary." in page_text(tmp_path, "by-attempt", attempts=table)
    (agent,) = build_agents(attempts_of("a", tries=60))["agents"]
    assert (len(agent["attempts"]), agent["more"]) == (50, 10)


def test_names_of_agents_and_attempts_are_texts(tmp_path):
    table = build_agents(
        build_attempts([record(run=f"{HOSTILE}/{HOSTILE}{at}/1") for at in (1, 2)], f"{HOSTILE[:8]}*[12]")
    )
    text = page_text(tmp_path, "by-attempt", attempts=table)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in text
    assert HOSTILE not in (tmp_path / "index.html").read_text("utf-8").replace("\\u003c", "<").replace("\\u202e", "")


def test_the_baseline_has_its_date_its_rate_and_the_difference(tmp_path):
    view = build_baseline({"success_rate": 0.5, "baseline": BASELINE})
    assert page_text(tmp_path, "since-baseline", baseline=view) == (
        "Since the baseline of 2026-01-30 12:00 Worse. Success rate 75.0% then, 50.0% now "
        "Difference -25.0% over 1,200 tasks that both judged 95% interval -40.0% to -10.0% "
        "Exact McNemar test 2 better, 12 worse, p 0.031"
    )


def test_what_makes_two_sessions_hard_to_compare_is_told():
    changed = BASELINE | {"same_rules": False, "same_tasks": False, "partial": True}
    view = build_baseline({"success_rate": 0.5, "baseline": changed})
    assert view["notes"] == ["the baseline is a partial session", "the rules are others", "the tasks are others"]


def test_the_judge_has_its_cost_and_its_certificate(tmp_path):
    facts = FACTS | {"model": HOSTILE}
    lines = build_judging_lines({"judging": build_judging([structs.replace(record(), judge=facts)])})
    assert page_text(tmp_path, "judging", judging=lines) == (
        "Judges Judge &lt;script&gt;alert(1)&lt;/script&gt;\\u202e (rubric 1): 1 run judged, 2 replies, 1,050 tokens, $0.2500"
        " No certificate: how far people agree with this judge is unknown; run webeval calibrate"
    )
    assert build_judging_lines({}) == []


def test_a_baseline_without_judged_runs_has_no_difference(tmp_path):
    nothing = BASELINE | {
        "success_rate": None,
        "sentence": HOSTILE,
        "timestamp": HOSTILE,
        "overall": OVERALL | {"difference": None},
    }
    view = build_baseline({"success_rate": None, "baseline": nothing})
    text = page_text(tmp_path, "since-baseline", baseline=view)
    assert "Success rate – then, – now" in text
    assert "&lt;script&gt;" in text
    assert view["facts"] == []


def test_a_session_without_these_has_no_such_parts(tmp_path):
    assert build_baseline({"success_rate": 0.5}) is None
    for section in ("since-baseline", "by-attempt", "judging", "effort"):
        assert page_text(tmp_path, section, baseline=None, attempts=None, judging=[], distributions=[]) is None
