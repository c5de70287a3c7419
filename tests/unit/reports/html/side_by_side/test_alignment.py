"""What differs between runs of one task, as rows with a cell for each session."""

from __future__ import annotations

import pytest

from pytest_webeval.reports.failure_text import describe_difference
from pytest_webeval.reports.html.side_by_side import entries
from pytest_webeval.reports.html.side_by_side.entries import align_checks, align_requests
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails
from pytest_webeval.results import Difference
from tests.unit.reports.html.side_by_side.results import build, differ, evaluate, read_request, recorded

NET, ANSWER = "NetworkEventEvaluator", "AgentResponseEvaluator"
PASSED, ABSENT, UNKNOWN = "passes as expected", "absent no such check", "unknown not known"
WRONG = 'fails expected "a", got "b"'


def texts(rows):
    """Each row as its name and the state and text of each cell."""
    return [(row.name, *(f"{cell.state} {cell.text}" for cell in row.cells)) for row in rows.rows]


def align(*results):
    return align_checks([None if result is None else RunDetails(result) for result in results])


CHECKS = [
    ([evaluate(NET)], [evaluate(NET, differ("url"))], [("url", PASSED, WRONG)], 0),
    ([evaluate(NET, differ("url"))], [evaluate(NET, differ("url"))], [], 1),
    (
        [evaluate(NET, differ("url"), differ("method"))],
        [evaluate(NET, differ("url"), differ("method", actual="c"))],
        [("method", WRONG, 'fails expected "a", got "c"')],
        1,
    ),
    ([evaluate(NET, differ("url"))], [evaluate(ANSWER)], [("url", WRONG, ABSENT)], 0),
    (
        [evaluate(ANSWER, failed=["retrieved_data[0]_mismatch"])],
        [evaluate(ANSWER)],
        [("retrieved_data[0]", "fails expected a; got b", PASSED)],
        0,
    ),
    ([evaluate(ANSWER, differ("results[0]"))], [evaluate(ANSWER, differ("retrieved_data[0]"))], [], 1),
    (
        [evaluate(NET, differ("results"))],
        [evaluate(NET, differ("retrieved_data"))],
        [("results", WRONG, PASSED), ("retrieved_data", PASSED, WRONG)],
        0,
    ),
    ([evaluate(NET, error="no body")], [evaluate(NET)], [("verdict", "fails no body", PASSED)], 0),
    ([evaluate(NET)], [evaluate(NET)], [], 0),
    ([], [], [], 0),
]


@pytest.mark.parametrize(("before", "after", "rows", "same"), CHECKS)
def test_checks_that_end_in_other_ways_are_rows(before, after, rows, same):
    aligned = align(build(*before), build(*after))
    assert texts(aligned) == rows
    assert (aligned.same, aligned.more) == (same, 0)


def test_a_session_without_a_result_knows_no_check():
    rows = align(None, build(evaluate(NET, differ("url"))), build(evaluate(NET)))
    assert texts(rows) == [("url", UNKNOWN, WRONG, PASSED)]


def test_the_checks_of_several_requests_are_told_apart_by_what_they_expect():
    first, second = evaluate(NET, expected={"url": "/a"}), evaluate(NET, differ("url"), expected={"url": "/b"})
    passed = evaluate(NET, expected={"url": "/b"})
    assert texts(align(build(first, passed), build(second, first))) == [("url", PASSED, WRONG)]
    assert texts(align(build(first, second), build(second, first))) == []
    failed_first = evaluate(NET, differ("url"), expected={"url": "/a"})
    rows = [("url", WRONG, PASSED), ("url", PASSED, WRONG)]
    assert texts(align(build(failed_first, passed), build(first, second))) == rows


def test_a_failure_that_no_check_explains_is_a_row():
    result, explanation = evaluate(NET, differ("url"))
    unexplained = build((result, explanation | {"differences": []}))
    assert texts(align(build(evaluate(NET)), unexplained)) == [("verdict", PASSED, "fails failure")]


def test_long_and_many_checks_are_bounded():
    many = [differ(f"{'p' * 999}{number}" if number == 0 else str(number), actual="x" * 9_999) for number in range(200)]
    rows = align(build(evaluate(NET)), build(evaluate(NET, *many)))
    assert (len(rows.rows), rows.more) == (entries.MOST_CHECKS, 100 - entries.MOST_CHECKS)
    assert {len(row.name) for row in rows.rows} <= {1, 2, entries.LONGEST_PATH}
    assert all(len(cell.text) <= entries.LONGEST_CELL for row in rows.rows for cell in row.cells)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("different", 'expected "a", got {"b": 1}'),
        ("missing", 'expected "a", missing'),
        ("extra", 'not expected, got {"b": 1}'),
        ("unreadable", 'expected "a", not readable'),
        ("of another kind", 'expected "a", got {"b": 1}'),
    ],
)
def test_a_difference_in_words(kind, text):
    assert describe_difference(Difference("x", kind, "a", {"b": 1})) == text


@pytest.mark.parametrize("path", ["query_params.q", "post_data", "post_data.x", "headers.referer"])
def test_what_a_browser_did_not_send_is_said_to_be_so(path):
    assert describe_difference(Difference(path, "missing", "a", None)) == 'expected "a", not sent'


REQUESTS = [
    (["POST /cart 302"], ["POST /cart 302"], [], 1),
    (["POST /cart 302"], [], [("POST /cart", "sent 302", "absent not sent")], 0),
    ([], ["POST /cart 302"], [("POST /cart", "absent not sent", "sent 302")], 0),
    (["POST /cart 302"], ["POST /cart 500"], [("POST /cart", "sent 302", "sent 500")], 0),
    (["POST /cart -"], ["POST /cart 200"], [("POST /cart", "sent no response", "sent 200")], 0),
    (["GET /a?q=1 200"], ["GET /a?q=2 200"], [("GET /a", "sent 200 ?q=1", "sent 200 ?q=2")], 0),
    (["match POST /a 200"], ["POST /a 200"], [("POST /a", "match 200", "sent 200")], 0),
    (["POST http://a:1/x 200"], ["POST https://b/x 200"], [], 1),
    (["POST http://a:1/x 200"], ["POST __SHOPPING__/x 200"], [], 1),
    (["POST http://a 200"], ["post http://a/ 200"], [], 1),
    (
        ["POST /a 200", "POST /a 201"],
        ["POST /a 200", "POST /b 200"],
        [("POST /a", "sent 201", "absent not sent"), ("POST /b", "absent not sent", "sent 200")],
        1,
    ),
    (["POST http://[::1 200"], [], [("POST http://[::1", "sent 200", "absent not sent")], 0),
]


@pytest.mark.parametrize(("before", "after", "rows", "same"), REQUESTS)
def test_requests_are_paired_by_method_and_place(before, after, rows, same):
    aligned = align_requests([recorded(*before), recorded(*after)])
    assert texts(aligned) == rows
    assert aligned.same == same


def test_without_a_recording_no_request_is_said_to_be_absent():
    partial = RunDetails(build(), [read_request("GET", "/b", "200")])
    rows = align_requests([recorded("POST /a 200"), partial, None])
    assert texts(rows) == [
        ("POST /a", "sent 200", UNKNOWN, UNKNOWN),
        ("GET /b", "absent not sent", "sent 200", UNKNOWN),
    ]


def test_many_and_long_requests_are_bounded():
    rows = align_requests(
        [recorded(*(f"POST /{number}{'x' * 999}?{'y' * 999} 200" for number in range(150))), recorded()]
    )
    assert (len(rows.rows), rows.more) == (entries.MOST_REQUESTS, 150 - entries.MOST_REQUESTS)
    assert all(len(row.name) <= entries.LONGEST_PATH + 5 for row in rows.rows)
    assert all(len(cell.text) <= entries.LONGEST_CELL for row in rows.rows for cell in row.cells)
