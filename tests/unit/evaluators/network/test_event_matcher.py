"""What is remembered of events that were compared is bounded, and an explanation needs none of it."""

from __future__ import annotations

from pytest_webeval.evaluators.network.event_matcher import CHECKS_KEPT, EventMatcher
from pytest_webeval.tasks.expectations import NetworkExpectation

SHOP = "http://shop.test:7770"
EXPECTED = {"evaluator": "NetworkEventEvaluator", "expected": {"url": "__SHOPPING__/cart", "http_method": "POST"}}


def test_checks_of_the_last_events_are_remembered_and_those_of_others_made_again(bench):
    count = CHECKS_KEPT + 20
    bench.record(events=[{"url": f"{SHOP}/item/{at}", "method": "POST", "status": 200} for at in range(count)])
    case = bench.case(bench.task(EXPECTED))
    matcher = EventMatcher(case.task.expectations[0].read_as(NetworkExpectation), case)
    first, *_, last = events = case.trace.evaluation_events
    for event in events:
        matcher.assertions(event)
    assert len(matcher._checks) == CHECKS_KEPT
    assert (first.index in matcher._checks, last.index in matcher._checks) == (False, True)
    for event in (first, last):
        (difference,) = matcher.list_differences(event)
        assert (difference.path, difference.actual) == ("url", f"__SHOPPING__/item/{event.index}")
