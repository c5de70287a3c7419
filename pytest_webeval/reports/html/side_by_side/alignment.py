"""What differs between runs of one task: checks by what they check, requests by method and place."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.reports.failure_text import describe_difference
from pytest_webeval.reports.html.side_by_side.run_details import Request, RunDetails, number, split_url
from pytest_webeval.results import EvaluatorResult, Status, list_failed
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR

LONGEST_CELL, LONGEST_PATH = 300, 120  # characters
MOST_CHECKS, MOST_REQUESTS = 12, 20  # rows of a task
_MOST_DIFFERENCES = 100  # of an evaluator
PASSES, FAILS, SENT, ABSENT, UNKNOWN = "passes", "fails", "sent", "absent", "unknown"
_FIELDS = {"results": "retrieved_data", "action": "task_type", "performed_operation": "task_type"}
_CheckKey = tuple[str, str, str]  # evaluator, what it expects, path


class Cell(Struct, frozen=True):
    """A check or a request in one of the sessions. `state` says how it ended there."""

    state: str
    text: str = ""


_PASSED, _NO_CHECK = Cell(PASSES, "as expected"), Cell(ABSENT, "no such check")
_NOT_SENT, _NOT_READ = Cell(ABSENT, "not sent"), Cell(UNKNOWN, "not known")


class Row(Struct, frozen=True):
    """A check or a request with a cell for each session."""

    name: str
    cells: Sequence[Cell]
    group: str = ""  # the evaluator of a check


class Rows(Struct, frozen=True):
    """The rows that differ, how many more there are, and how many are the same in all sessions."""

    rows: Sequence[Row]
    more: int = 0
    same: int = 0


def align_checks(runs: Sequence[RunDetails | None]) -> Rows:
    """The checks that do not end alike in all sessions; of a session without a result none is known."""
    failures = [None if run is None else _collect_failures(run) for run in runs]
    keys = list(dict.fromkeys(key for failed in failures if failed for key in failed[0]))

    def find_cell(key: _CheckKey, failures: _Failures | None) -> Cell:
        if failures is None:
            return _NOT_READ
        failed, evaluators = failures
        return failed.get(key) or (_PASSED if key[:2] in evaluators else _NO_CHECK)

    rows = [Row(key[2] or "verdict", [find_cell(key, failed) for failed in failures], key[0]) for key in keys]
    return _select(rows, MOST_CHECKS)


def _select(rows: Sequence[Row], most: int) -> Rows:
    differing = [row for row in rows if len(set(row.cells)) != 1]
    return Rows(differing[:most], len(differing[most:]), len(rows) - len(differing))


_Failures = tuple[Mapping[_CheckKey, Cell], frozenset[tuple[str, str]]]  # and the evaluators that there are


def _collect_failures(run: RunDetails) -> _Failures:
    results = run.result.evaluators_results
    repeated = Counter(result.evaluator_name for result in results)
    failed: dict[_CheckKey, Cell] = {}
    evaluators = set()
    for result in results:
        name = result.evaluator_name
        expected = _digest(result.expected) if repeated[name] > 1 else ""
        evaluators.add((name, expected))
        for own_path, text in _list_failures(result):
            field = (
                re.split(r"\W", own_path, maxsplit=1)[0] if name == RESPONSE_EVALUATOR else ""
            )  # agents may have other names
            path = f"{_FIELDS.get(field, field)}{own_path[len(field) :]}"
            failed.setdefault((name, expected, truncate(path, LONGEST_PATH)), Cell(FAILS, truncate(text, LONGEST_CELL)))
    return failed, frozenset(evaluators)


def _digest(expected: Any) -> str:
    """What tells the checks of several requests apart."""
    return sha256(json.dumps(expected, sort_keys=True, default=str).encode("utf-8", "backslashreplace"))


def _list_failures(result: EvaluatorResult) -> Iterator[tuple[str, str]]:
    """The path and the text of each check that did not hold: from the differences, or else from the assertions."""
    if result.status is Status.SUCCESS:
        return
    differences = result.explanation.differences if result.explanation is not None else []
    for difference in differences[:_MOST_DIFFERENCES]:
        yield difference.path, describe_difference(difference, LONGEST_CELL // 2)
    if differences:
        return
    failed = list_failed(result.assertions)
    for assertion in failed[:_MOST_DIFFERENCES]:
        messages = [*(assertion.assertion_msgs or ()), *filter(None, [assertion.error_msg])]
        yield assertion.path, "; ".join(messages) or assertion.status.value
    if not failed:
        yield "", result.error_msg or result.status.value


def align_requests(runs: Sequence[RunDetails | None]) -> Rows:
    """The requests that differ. The n-th request of a method to a place is compared with the n-th one of the others.

    Hosts do not count: sessions may have the same sites at different addresses.
    """
    numbered = [{} if run is None else dict(number(run.requests)) for run in runs]
    absent = [_NOT_SENT if run is not None and run.has_all_requests else _NOT_READ for run in runs]
    keys = dict.fromkeys(key for requests in numbered for key in requests)
    rows = [
        Row(
            " ".join(place),
            [_describe(requests.get((place, count)), cell) for requests, cell in zip(numbered, absent, strict=True)],
        )
        for place, count in keys
    ]
    return _select(rows, MOST_REQUESTS)


def _describe(request: Request | None, absent: Cell) -> Cell:
    if request is None:
        return absent
    status = "no response" if request.status is None else str(request.status)
    return Cell(request.role or SENT, truncate(f"{status} {split_url(request.url)[1]}".rstrip(), LONGEST_CELL))
