"""What is known of a run: the step whose picture says most, the answer, and all of it without secrets."""

from __future__ import annotations

import pytest

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.side_by_side.run_details import Request, RunDetails, choose_step, describe_step, redact
from pytest_webeval.results import TaskResult
from tests.unit.reports.html.side_by_side.results import NEAREST, build, differ, evaluate

NET, RUBRIC, ANSWER = "NetworkEventEvaluator", "RubricEvaluator", "AgentResponseEvaluator"


def steps(count=4, **of_second):
    return [
        {"index": n, "action": f"act-{n}", "events": None} | (of_second if n == 2 else {}) for n in range(1, count + 1)
    ]


JUDGED = evaluate(RUBRIC, failed=["outcome"], actual={"failure": {"first_step": 2}})
MISSED = evaluate(NET, differ("url"), nearest=NEAREST)
FAILED = evaluate(ANSWER, failed=["status"])
STEPS = [
    ([evaluate(NET)], steps(), (4, False)),
    ([evaluate(NET, nearest=NEAREST)], steps(events=[2, 4]), (4, False)),
    ([JUDGED], steps(), (2, True)),
    ([MISSED], steps(events=[2, 4]), (2, True)),
    ([MISSED], steps(events=[4, 9]), (4, False)),
    ([MISSED, JUDGED], [{"index": 1, "events": [0, 9]}, *steps()[1:]], (2, True)),
    ([FAILED], steps(), (4, False)),
    ([evaluate(RUBRIC, failed=["outcome"], actual={"failure": {"first_step": 9}})], steps(), (4, False)),
    ([evaluate(RUBRIC, failed=["outcome"], actual=["failure"])], steps(), (4, False)),
    ([MISSED], steps(events=["2", None]), (4, False)),
    ([MISSED], steps(events="2-4"), (4, False)),
]


@pytest.mark.parametrize(("evaluated", "listed", "chosen"), STEPS)
def test_the_step_that_failed_is_chosen_or_else_the_last(evaluated, listed, chosen):
    step, is_failing = choose_step(build(*evaluated), listed)
    assert (step["index"], is_failing) == chosen


@pytest.mark.parametrize("listed", [None, [], {}, "steps", [None, 5, "x"]])
def test_without_steps_none_is_chosen(listed):
    assert choose_step(build(JUDGED), listed) == (None, False)


@pytest.mark.parametrize(
    ("step", "is_failing", "text"),
    [
        ({"index": 3, "action": "click"}, False, "step 3: click"),
        ({"index": 3, "action": "click"}, True, "step 3: click, which failed"),
        ({"index": "3", "action": None}, False, "last step"),
        ({}, True, "last step, which failed"),
        ({"index": True, "action": "x" * 999}, False, f"last step: {'x' * 79}…"),
    ],
)
def test_a_step_in_words(step, is_failing, text):
    assert describe_step(step, is_failing=is_failing) == text


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (build(evaluate(ANSWER, actual={"status": "SUCCESS"})), {"status": "SUCCESS"}),
        (build(evaluate(RUBRIC, actual={"a": 1}), trajectory={"answer": "12 EUR"}), "12 EUR"),
        (build(evaluate(ANSWER, actual="raw"), trajectory={"answer": None}), "raw"),
        (build(evaluate(ANSWER, actual="raw"), trajectory="damaged"), "raw"),
        (build(evaluate(NET, actual={"url": "/"})), None),
        (build(evaluate(RUBRIC, actual={"a": 1}), trajectory={"answer": "<no_answer>"}), None),
    ],
)
def test_the_answer_is_that_of_the_agent(result, answer):
    assert RunDetails(result).answer == answer


SECRET, OTHER = "hunter2hunter2", "swordfish swordfish"


@pytest.mark.parametrize(
    "explanations", [None, [{"differences": [differ("headers.authorization", actual=OTHER)]}] * 2, 5]
)
@pytest.mark.parametrize("mode", ["default", "strict"])
def test_what_a_file_says_of_its_own_redaction_does_not_count(mode, explanations):
    secret = evaluate(NET, differ("headers.authorization", expected="x", actual=f"Bearer {SECRET}"))
    result = build(secret, redacted=mode, trajectory={"answer": f"password={SECRET}"})
    if explanations is not None:
        raw = result.to_json()
        result = TaskResult.read(raw | {"webeval": raw["webeval"] | {"explanations": explanations}})
    safe = redact(RunDetails(result), Redacting(RedactionPolicy(mode), is_leaving=True))
    assert SECRET not in str(safe)
    assert OTHER not in str(safe)


@pytest.mark.parametrize("mode", ["default", "strict"])
def test_all_that_is_shown_with_a_result_is_redacted(mode):
    requests = [Request("POST", f"http://joe:{SECRET}@h.test/?access_token={SECRET}", 200)]
    texts = {"caption": f"step 1: password={SECRET}", "reason": f"{'x' * 3_980} password={SECRET}"}
    details = RunDetails(build(), requests, has_all_requests=True, **texts)
    safe = redact(details, Redacting(RedactionPolicy(mode), is_leaving=True))
    assert SECRET not in str(safe)
    assert "redacted-" in safe.caption
    assert safe.requests[0].url.startswith("http://")
    assert (safe.requests[0].method, safe.requests[0].status, safe.has_all_requests) == ("POST", 200, True)
