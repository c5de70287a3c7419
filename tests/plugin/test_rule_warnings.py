"""What a rule changed, and what nobody can pass, shows in results, summary and terminal."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.usefixtures("published")  # whose results say what the rules changed


def test_a_verdict_that_a_rule_changed_is_warned_of_everywhere(runs, webeval):
    path = runs.add(107)
    answer = json.loads((path / "agent_response.json").read_text())
    (path / "agent_response.json").write_text(json.dumps(answer | {"task_type": "^.*$"}))
    result = webeval()
    result.assert_outcomes(failed=1)
    reason = "text from an agent or a site is never a pattern @ agent_response.task_"
    told = f"Q1 (no_recorded_patterns) changed this verdict to failure: {reason}"
    warnings = runs.result(107)["webeval"]["warnings"]
    assert [warning.startswith(told) for warning in warnings] == [True]
    assert runs.summary["webeval"]["warnings"] == {"runs/107": warnings}
    assert runs.summary["webeval"]["warning_count"] == 1
    decided = (
        "      1  Q1 decided 1 verdict; first: runs/107: Q1 (no_recorded_patterns) changed this verdict to failure*"
    )
    result.stdout.fnmatch_lines(["1 warning in 1 run, by kind:", decided])


def test_a_recording_that_our_rules_alone_refuse_is_warned_of(runs, webeval):
    path = runs.add(107)
    (path / "network.har").write_bytes(b"")
    webeval().assert_outcomes(errors=1)
    told = (
        "Q4 (events_required) changed this verdict to error: a trace without a single event is an error @ the recording"
    )
    assert runs.result(107)["webeval"]["warnings"] == [told]
    assert runs.summary["webeval"]["warnings"] == {"runs/107": [told]}
    (group,) = runs.summary["webeval"]["warning_kinds"]
    assert (group["kind"], group["decided"]) == ("Q4", 1)


def test_a_task_that_no_recording_passes_is_named(runs, webeval):
    runs.add(107)
    definitions = json.loads((runs.root / "tasks.json").read_text())
    post = {"url": "__SHOPPING__/a", "http_method": "POST", "post_data": {"ids": [1]}}
    definitions[0]["eval"].append({"evaluator": "NetworkEventEvaluator", "expected": post})
    (runs.root / "tasks.json").write_text(json.dumps(definitions))
    result = webeval()
    result.stdout.fnmatch_lines(["no natural recording can pass 1 task: 107"])
    reason = "Q35: ids is a list of one item without an array schema, which is an error"
    assert runs.summary["webeval"]["unpassable"] == {"107": reason}
    assert runs.result(107)["webeval"]["unpassable"] == reason
    (runs.root / "107/network.har").write_text("no HAR")
    webeval().assert_outcomes(errors=1)
    assert runs.result(107)["webeval"]["unpassable"] == reason
