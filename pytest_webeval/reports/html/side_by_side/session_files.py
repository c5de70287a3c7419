"""The details of the runs of a session: from the pages of its report, or else from its results and recordings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import Struct, structs

from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.side_by_side import report_pages
from pytest_webeval.reports.html.side_by_side.recording_reader import UNREADABLE, Recorded, RecordingReader
from pytest_webeval.reports.html.side_by_side.requests import (
    Place,
    list_deciding_places,
    list_named,
    mark_matches,
    select,
)
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails, redact
from pytest_webeval.reports.html.side_by_side.run_files import list_places, read_result
from pytest_webeval.results import TaskResult
from pytest_webeval.summary.record import format_digests, parse_digests
from pytest_webeval.summary.redacted_results import drop_untrusted_marks
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession

_DAMAGED = "its page or its result cannot be read"


class SessionFiles(Struct, frozen=True):
    """A session and where its files are: in the directory of its summary, and the recordings as labels lead to them."""

    session: ScoredSession
    directory: Path
    base: Path


class _Unredacted(Struct, frozen=True):
    """Details as they were read, and the recording whose secrets they may repeat."""

    details: RunDetails
    run: Run | None


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
        places = list_deciding_places([each.details.requests for each in read if isinstance(each, _Unredacted)])
        return [each if isinstance(each, str) else self._redact(each, places) for each in read]

    def _redact(self, unredacted: _Unredacted, places: Collection[Place]) -> RunDetails | str:
        details = unredacted.details
        selected = structs.replace(details, requests=select(details.requests, places))
        try:
            return redact(selected, unredacted.run, self.redacting)
        except UNREADABLE:
            return _DAMAGED

    def _read(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str:
        try:
            return self._read_page(files, run) or self._read_result(files, run) or "no report and no result of it"
        except UNREADABLE:  # with paths of this machine in some messages
            return _DAMAGED

    def _read_page(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str | None:
        page = report_pages.read_page(files.directory, run.run)
        if page is None:
            return None
        result = drop_untrusted_marks(report_pages.build_result(page, run.task_id))
        if not _is_of(run, result):
            return "its page is of another session"
        recorded = self.recordings.find_picture(result, page, files.directory, run.run)
        recorded = recorded.with_requests(page.get("network"))
        address = report_pages.link_to_task(files.directory, run.run, self.directory)
        return _build(run, result, recorded, address)

    def _read_result(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str | None:
        read = read_result(files.directory, run.run)
        if read is None:
            return None
        result, place = drop_untrusted_marks(read[0]), read[1]
        if not _is_of(run, result):
            return "its result is of another session"
        paths = list_places(place, files.base, run.run)
        return _build(run, result, self.recordings.read(result, paths), None)


def _build(run: ScoredRun, result: TaskResult, recorded: Recorded, address: str | None) -> _Unredacted:
    named = list_named(result.evaluators_results)
    details = RunDetails(
        result,
        named if recorded.requests is None else mark_matches(recorded.requests, named),
        recorded.has_all_requests,
        recorded.picture,
        recorded.caption,
        address,
        recorded.problems,
        run.reason or "",
    )
    return _Unredacted(details, recorded.run)


def _is_of(run: ScoredRun, result: TaskResult) -> bool:
    """Whether a result is that of a row in a summary: a later session may have replaced it."""
    digests = parse_digests(format_digests({"inputs": result.webeval.get("inputs")}))
    known = run.digests
    same = all(known.get(name, digest) == digest for name, digest in digests.items() if name == "recording")
    return result.status.value == run.status and same
