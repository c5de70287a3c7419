"""Why a task failed stands in its result, whoever found it out and in whichever process."""

from __future__ import annotations

import json

import pytest

POSTED = "{'url': '__SHOPPING__/cart', 'http_method': 'POST'}"
WRONG = [("status", "different"), ("retrieved_data", "missing")]
CHECKS = f"""
def test_it(webeval_network_event):
    webeval_network_event.check(expected={POSTED})
"""


def told(result):
    """Path and kind of each difference, for each evaluator."""
    return [
        one and [(found["path"], found["kind"]) for found in one["differences"]]
        for one in result["webeval"]["explanations"]
    ]


def test_a_failed_task_tells_what_differs_and_a_success_tells_nothing(runs, webeval):
    runs.add(107, passes=False)
    runs.add(108)
    webeval().assert_outcomes(passed=1, failed=1)
    found = runs.result(107)
    assert told(found) == [WRONG]
    assert found["webeval"]["capture"] == []
    assert not {"explanations", "capture"} & runs.result(108)["webeval"].keys()


@pytest.mark.parametrize("how", [(), pytest.param(("-n", "2"), marks=pytest.mark.whole)], ids=["serial", "parallel"])
def test_what_a_python_test_found_wrong_is_told_beside_what_the_task_expects(pytester, runs, webeval, how):
    runs.add(107)
    pytester.makepyfile(test_checks=CHECKS)
    webeval("runs", "test_checks.py", *how).assert_outcomes(passed=1, failed=1)
    found = runs.result(107)
    assert [one["evaluator_name"] for one in found["evaluators_results"]] == [
        "AgentResponseEvaluator",
        "NetworkEventEvaluator",
    ]
    assert told(found) == [None, [("url", "different"), ("http_method", "different")]]


@pytest.mark.parametrize("passes", [True, False])
def test_a_check_that_holds_takes_no_explanation_of_the_task(pytester, runs, webeval, passes):
    runs.add(107, passes=passes)
    pytester.makepyfile(test_checks=CHECKS.replace(POSTED, "{'url': '^.*$'}"))
    webeval("test_checks.py").assert_outcomes(passed=1)
    found = runs.result(107)
    assert len(found["evaluators_results"]) == 2
    if passes:
        assert "explanations" not in found["webeval"]
    else:
        assert told(found) == [WRONG, None]


def test_a_recording_that_cannot_be_scored_has_nothing_to_explain(runs, webeval):
    (runs.add(107) / "network.har").write_text("{")
    webeval().assert_outcomes(errors=1)
    found = runs.result(107)["webeval"]
    assert (found["explanations"], found["capture"]) == ([], [])


def test_what_is_wrong_with_the_recording_of_a_failed_task_is_told(runs, webeval):
    entries = [runs.navigation(), runs.navigation(status=-1)]
    (runs.add(107, passes=False) / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
    webeval().assert_outcomes(failed=1)
    assert [one["kind"] for one in runs.result(107)["webeval"]["capture"]] == ["failed_requests"]
