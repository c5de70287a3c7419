"""What is selected of the recording of a run: requests that may decide, and the picture that says most."""

from __future__ import annotations

import pytest

from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.side_by_side import run_details
from pytest_webeval.reports.html.side_by_side.run_details import Request
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails
from pytest_webeval.reports.html.side_by_side.run_details import choose_step
from pytest_webeval.reports.html.side_by_side.run_details import describe_step
from pytest_webeval.reports.html.side_by_side.run_details import list_nearest
from pytest_webeval.reports.html.side_by_side.run_details import redact
from pytest_webeval.reports.html.side_by_side.run_details import select_requests
from tests.unit.reports.html.side_by_side.results import NEAREST
from tests.unit.reports.html.side_by_side.results import build
from tests.unit.reports.html.side_by_side.results import differ
from tests.unit.reports.html.side_by_side.results import evaluate

NET, RUBRIC, ANSWER = "NetworkEventEvaluator", "RubricEvaluator", "AgentResponseEvaluator"


def row(method, url="/a", status=200, mark=""):
    return [0, method, url, status, "document", 0.5, mark]


ROWS = [
    (row("POST"), [Request("POST", "/a", 200)]),
    (row("delete", status=None), [Request("delete", "/a", None)]),
    (row("GET"), []),
    (row("GET", mark="nearest"), [Request("GET", "/a", 200, "nearest")]),
    (row("GET", mark="match"), [Request("GET", "/a", 200, "match")]),
    (row("GET", mark="candidate"), []),
    ([*row("PUT"), 0.25], [Request("PUT", "/a", 200)]),
    (row("PUT", status="302"), [Request("PUT", "/a", None)]),
    (row("PUT", status=True, mark={"a": 1}), [Request("PUT", "/a", None)]),
    (row("POST", url=None), []),
    (row(["POST"]), []),
    (row("POST")[:6], []),
    ("POST /a", []),
    (None, []),
    ({"method": "POST"}, []),
]


@pytest.mark.parametrize(("listed", "requests"), ROWS)
def test_requests_that_may_decide_are_selected(listed, requests):
    assert select_requests({"events": [listed]}) == requests


@pytest.mark.parametrize("network", [None, [], {}, {"events": None}, {"events": "POST"}, "events", 5])
def test_without_a_table_no_request_is_known(network):
    assert select_requests(network) is None


def test_requests_are_bounded():
    listed = [row("POST", url=f"/{number}{'x' * 9_999}") for number in range(900)]
    requests = select_requests({"events": listed})
    assert len(requests) == run_details.MOST_REQUESTS
    assert requests[-1].url.startswith("/899x")
    assert len(requests[-1].url) == run_details.LONGEST_URL


def test_a_result_alone_names_the_requests_that_came_nearest():
    failed = evaluate(NET, differ("url"), nearest=NEAREST)
    passed = evaluate(NET, nearest=NEAREST | {"method": "POST"})
    damaged = evaluate(NET, nearest={"index": "x", "method": 5})
    assert list_nearest(build(failed, passed, damaged, evaluate(NET))) == [
        Request("GET", "__SHOPPING__/cart", 200, "nearest"),
        Request("POST", "__SHOPPING__/cart", 200, "match"),
    ]


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
    ],
)
def test_the_answer_is_that_of_the_agent(result, answer):
    assert RunDetails(result).answer == answer


SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    "explanations", [None, [{"differences": [differ("headers.authorization", actual=SECRET)]}] * 2, 5]
)
@pytest.mark.parametrize("mode", ["default", "strict"])
def test_what_a_file_says_of_its_own_redaction_does_not_count(mode, explanations):
    secret = evaluate(NET, differ("headers.authorization", expected="x", actual=f"Bearer {SECRET}"))
    result = build(secret, redacted=mode, trajectory={"answer": f"password={SECRET}"})
    if explanations is not None:
        result = result.with_changes(webeval=result.webeval | {"explanations": explanations})
    requests = [Request("POST", f"http://joe:{SECRET}@h.test/?access_token={SECRET}", 200)]
    details = RunDetails(result, requests, has_all_requests=True, caption=f"step 1: password={SECRET}")
    safe = redact(details, None, Redacting(RedactionPolicy(mode), is_leaving=True))
    assert SECRET not in str(safe)
    assert "redacted-" in safe.caption
    assert safe.requests[0].url.startswith("http://")
    assert (safe.requests[0].method, safe.requests[0].status, safe.has_all_requests) == ("POST", 200, True)
