"""The changed tasks of a comparison as the page shows them: a column for each session, and what differs.

The details come from the pages of the report of a session, or else from its results and recordings. Checks are
compared by what they check, requests by method and place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.failure_sentence import in_agents_words
from pytest_webeval.reports.failure_text import describe_difference
from pytest_webeval.reports.html.side_by_side.run_details import (
    Place,
    Request,
    RunDetails,
    list_deciding_places,
    number_requests,
    redact,
    select,
    split_url,
)
from pytest_webeval.reports.html.side_by_side.run_files import (
    UNREADABLE,
    RecordingReader,
    build_result,
    link_to_task,
    list_places,
    read_page,
    read_result,
)
from pytest_webeval.results import EvaluatorResult, Status, TaskResult, list_failed
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.comparison.session_comparison import ChangeKind, pair_runs
from pytest_webeval.summary.result_facts import format_digests, parse_digests
from pytest_webeval.summary.results.redacted_results import drop_untrusted_marks
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession
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
            path = in_agents_words(own_path, _FIELDS) if name == RESPONSE_EVALUATOR else own_path
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
    numbered = [{} if run is None else dict(number_requests(run.requests)) for run in runs]
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


MOST_TASKS = 200  # with details on one page
MOST_SESSIONS = 6  # columns
LONGEST_REASON, LONGEST_ANSWER = 300, 2_000  # characters
_LINE = 60
DETAILED = (ChangeKind.REGRESSED.value, ChangeKind.NEWLY_ERRING.value, ChangeKind.FIXED.value)
_DAMAGED = "its page or its result cannot be read"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_.-]{1,80}")


class SessionFiles(Struct, frozen=True):
    """A session and where its files are: in the directory of its summary, and the recordings as labels lead to them."""

    session: ScoredSession
    directory: Path
    base: Path


class TaskRuns(Struct, frozen=True):
    """A task that changed: an id for its place on the page, and its run in each session, where it has any."""

    anchor: str
    runs: Sequence[ScoredRun | None]


def select_tasks(content: Mapping[str, Any], files: Sequence[SessionFiles]) -> dict[tuple[int, str], TaskRuns]:
    """The tasks with details, by the number of the comparison and the label of the run there.

    Those that got worse come first where there are too many. A task that several comparisons list has one entry.
    """
    first, *others = (each.session.runs for each in files)
    before = {run.run: run for run in first}
    later = [{run.run: run for run in runs} for runs in others]
    has_several = len(others) > 1  # the change itself names both runs of one pair
    paired = [
        {pair.before.run: pair.after for pair in pair_runs(first, runs)} if has_several else {} for runs in others
    ]
    by_run: dict[str, TaskRuns] = {}
    selected: dict[tuple[int, str], TaskRuns] = {}
    anchors: set[str] = set()
    for number, change in _list_changes(content["comparisons"]):
        label = change["before"]["run"]
        if label not in by_run:
            if len(by_run) == MOST_TASKS:
                continue
            found = [pairs.get(label) for pairs in paired]
            found[number] = later[number].get(change["run"])
            by_run[label] = TaskRuns(_build_anchor(change["task_id"], anchors), [before.get(label), *found])
        selected[number, change["run"]] = by_run[label]
    return selected


def _list_changes(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for kind in DETAILED:
        for number, comparison in enumerate(comparisons):
            yield from ((number, change) for change in comparison["changes"] if change["kind"] == kind)


def _build_anchor(task_id: int | str, taken: set[str]) -> str:
    """The id of an element, which a link names: `task-107`, for other runs of this task `task-107-2` and so on."""
    text = str(task_id)
    base = text if _PLAIN_ID.fullmatch(text) else sha256(text.encode("utf-8", "backslashreplace"))[:16]
    number, anchor = 1, f"task-{base}"
    while anchor in taken:
        number += 1
        anchor = f"task-{base}-{number}"
    taken.add(anchor)
    return anchor


def build_entry(task: TaskRuns, files: Sequence[SessionFiles], reader: DetailsReader) -> dict[str, Any]:
    """What the page shows of a task."""
    pairs = list(zip(files, task.runs, strict=True))[:MOST_SESSIONS]
    read = reader.read_all(pairs)
    details = [each if isinstance(each, RunDetails) else None for each in read]
    columns = [
        _build_column(each.session.name, run, of_run, reader.redacting.text)
        for (each, run), of_run in zip(pairs, read, strict=True)
    ]
    has_details = any(each is not None for each in details)
    return {
        "anchor": task.anchor,
        "columns": columns,
        "checks": align_checks(details) if has_details else None,
        "requests": align_requests(details) if has_details else None,
        "more_sessions": len(files) - len(pairs),
    }


def _build_column(
    name: str, run: ScoredRun | None, details: RunDetails | str, redact_text: Callable[[str], str]
) -> dict[str, Any]:
    column = {"session": name, "status": run.status if run is not None else None}
    if isinstance(details, RunDetails):
        return column | {
            "reason": truncate(details.reason, LONGEST_REASON),
            "answer": format_answer(details.answer),
            "picture": details.picture if details.picture.url or details.picture.problem else None,
            "caption": details.caption,
            "address": details.address,
            "problems": list(details.problems),
        }
    reason = truncate(redact_text(run.reason), LONGEST_REASON) if run is not None and run.reason else ""
    return column | {
        "reason": reason,
        "answer": "",
        "picture": None,
        "caption": "",
        "address": None,
        "problems": [details],
    }


def format_answer(answer: Any) -> str:
    """The answer of the agent: a text as it is, all else as JSON, indented if it is long; empty if it is not known."""
    if answer is None:
        return ""
    if isinstance(answer, str):
        return truncate(answer, LONGEST_ANSWER)
    try:
        line = json.dumps(answer, ensure_ascii=False)
        text = line if len(line) <= _LINE else json.dumps(answer, indent=1, ensure_ascii=False)
        return truncate(text, LONGEST_ANSWER)
    except (TypeError, ValueError, RecursionError):
        return ""


class DetailsReader(Struct, frozen=True):
    """Reads the details of runs for a page in a directory."""

    directory: Path
    redacting: Redacting
    recordings: RecordingReader

    def read_all(self, runs: Sequence[tuple[SessionFiles, ScoredRun | None]]) -> list[RunDetails | str]:
        """The details of a task's runs without secrets, or a line for each run that says why there are none.

        Of the requests, those to places that decide in one of the sessions.
        """
        read = ["no run of this task" if run is None else self._read(files, run) for files, run in runs]
        places = list_deciding_places([each.requests for each in read if isinstance(each, RunDetails)])
        return [each if isinstance(each, str) else self._redact(each, places) for each in read]

    def _redact(self, details: RunDetails, places: Collection[Place]) -> RunDetails | str:
        try:
            return redact(structs.replace(details, requests=select(details.requests, places)), self.redacting)
        except UNREADABLE:
            return _DAMAGED

    def _read(self, files: SessionFiles, run: ScoredRun) -> RunDetails | str:
        try:
            return self._read_page(files, run) or self._read_result(files, run) or "no report and no result of it"
        except UNREADABLE:  # with paths of this machine in some messages
            return _DAMAGED

    def _read_page(self, files: SessionFiles, run: ScoredRun) -> RunDetails | str | None:
        page = read_page(files.directory, run.run)
        if page is None:
            return None
        result = drop_untrusted_marks(build_result(page, run.task_id))
        if not _is_of(run, result):
            return "its page is of another session"
        details = self.recordings.read_page(result, page, files.directory, run.run)
        address = link_to_task(files.directory, run.run, self.directory)
        return structs.replace(details, address=address, reason=run.reason or "")

    def _read_result(self, files: SessionFiles, run: ScoredRun) -> RunDetails | str | None:
        read = read_result(files.directory, run.run)
        if read is None:
            return None
        result, place = drop_untrusted_marks(read[0]), read[1]
        if not _is_of(run, result):
            return "its result is of another session"
        details = self.recordings.read(result, list_places(place, files.base, run.run))
        return structs.replace(details, reason=run.reason or "")


def _is_of(run: ScoredRun, result: TaskResult) -> bool:
    """Whether a result is that of a row in a summary: a later session may have replaced it."""
    digests = parse_digests(format_digests({"inputs": result.webeval.get("inputs")}))
    known = run.digests
    same = all(known.get(name, digest) == digest for name, digest in digests.items() if name == "recording")
    return result.status.value == run.status and same
