"""The details of the runs of a session: from the pages of its report, or else from its results and recordings."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec import structs

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.network_table import marks_of
from pytest_webeval.reports.html.network_table import network_table
from pytest_webeval.reports.html.screenshots import Links
from pytest_webeval.reports.html.screenshots import Picture
from pytest_webeval.reports.html.side_by_side import recordings
from pytest_webeval.reports.html.side_by_side import report_pages
from pytest_webeval.reports.html.side_by_side.requests import Place
from pytest_webeval.reports.html.side_by_side.requests import Request
from pytest_webeval.reports.html.side_by_side.requests import list_deciding_places
from pytest_webeval.reports.html.side_by_side.requests import list_named
from pytest_webeval.reports.html.side_by_side.requests import mark_matches
from pytest_webeval.reports.html.side_by_side.requests import read_requests
from pytest_webeval.reports.html.side_by_side.requests import select
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails
from pytest_webeval.reports.html.side_by_side.run_details import choose_step
from pytest_webeval.reports.html.side_by_side.run_details import describe_step
from pytest_webeval.reports.html.side_by_side.run_details import drop_invalid_explanations
from pytest_webeval.reports.html.side_by_side.run_details import redact
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import TaskResult
from pytest_webeval.summary.record import format_digests
from pytest_webeval.summary.record import parse_digests
from pytest_webeval.summary.scored_session import ScoredRun
from pytest_webeval.summary.scored_session import ScoredSession

MOST_READ_BYTES = 128 * 2**20  # of all recordings that one page needs
# What a file of an untrusted source may cause where it is not as a session writes it.
_UNREADABLE = (WebEvalError, ValueError, RecursionError, LookupError, TypeError, AttributeError, OSError)


_DAMAGED = "its page or its result cannot be read"


class SessionFiles(Struct, frozen=True):
    """A session and where its files are: in the directory of its summary, and the recordings as labels lead to them."""

    session: ScoredSession
    directory: Path
    base: Path


class Budget(Struct):
    """How many bytes of recordings may still be read."""

    left: int = MOST_READ_BYTES

    def take(self, size: int) -> bool:
        """Whether so many bytes may be read; then fewer are left."""
        if size > self.left:
            return False
        self.left -= size
        return True


class _Recorded(Struct, frozen=True):
    """What the recording adds, for the redaction as well."""

    requests: list[Request] | None = None
    picture: Picture = Picture()
    caption: str = ""
    run: Run | None = None
    problems: tuple[str, ...] = ()


class _Unredacted(Struct, frozen=True):
    """Details as they were read, and the recording whose secrets they may repeat."""

    details: RunDetails
    run: Run | None


class DetailsReader(Struct, frozen=True):
    """Reads the details of runs for a page in a directory."""

    directory: Path
    redacting: Redacting
    budget: Budget

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
        except _UNREADABLE:
            return _DAMAGED

    def _read(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str:
        try:
            return self._read_page(files, run) or self._read_result(files, run) or "no report and no result of it"
        except _UNREADABLE:  # with paths of this machine in some messages
            return _DAMAGED

    def _read_page(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str | None:
        page = report_pages.read_page(files.directory, run.run)
        if page is None:
            return None
        result = drop_invalid_explanations(report_pages.build_result(page, run.task_id))
        if not _is_of(run, result):
            return "its page is of another session"
        path = report_pages.find_run_directory(page, files.directory)
        recorded = self._find_picture(result, page, path)
        address = report_pages.link_to_task(files.directory, run.run, self.directory)
        return _build(run, result, structs.replace(recorded, requests=read_requests(page.get("network"))), address)

    def _find_picture(self, result: TaskResult, page: Mapping[str, Any], path: Path | None) -> _Recorded:
        step, is_failing = choose_step(result, page.get("steps"))
        if step is None:
            return _Recorded()
        problem = self._check_recording(path, result)
        if path is None or problem:
            return _Recorded(problems=(problem,))
        name = report_pages.find_picture(step, page)
        picture = Picture() if name is None else self._link(path, Screenshot(name, 0))
        return _Recorded(picture=picture, caption=describe_step(step, is_failing=is_failing))

    def _read_result(self, files: SessionFiles, run: ScoredRun) -> _Unredacted | str | None:
        read = recordings.read_result(files.directory, run.run)
        if read is None:
            return None
        result, place = drop_invalid_explanations(read[0]), read[1]
        if not _is_of(run, result):
            return "its result is of another session"
        paths = recordings.list_places(place, files.base, run.run)
        inputs = recordings.list_inputs(result)
        path = next((path for path in paths if recordings.measure_recording(path, inputs)), None)
        return _build(run, result, self._read_recording(result, path), None)

    def _read_recording(self, result: TaskResult, path: Path | None) -> _Recorded:
        problem = self._check_recording(path, result)
        if path is None or problem:
            return _Recorded(problems=(problem,))
        run = None
        try:
            run = recordings.load_recording(path, result)
            explanations = result.webeval.get("explanations") or ()
            requests = read_requests(network_table(run, marks_of(result.evaluators_results, explanations)))
            step, is_failing = choose_step(result, step_timeline(run, None))
            shot = _find_shot(run, step)
        except _UNREADABLE:
            return _Recorded(run=run, problems=("the recording cannot be read",))
        if step is None or shot is None:
            return _Recorded(requests, run=run)
        return _Recorded(requests, self._link(path, shot), describe_step(step, is_failing=is_failing), run)

    def _check_recording(self, path: Path | None, result: TaskResult) -> str:
        """Why a run directory does not show what this result is about; empty if it does."""
        inputs = recordings.list_inputs(result)
        size = 0 if path is None else recordings.measure_recording(path, inputs)
        if path is None or not size:
            return "the run directory is not there"
        if not self.budget.take(size):
            return "the recording was not read: those of this page are too large"
        is_same = recordings.is_same_recording(path, inputs)
        return "" if is_same else "the run directory has another recording now"

    def _link(self, run: Path, shot: Screenshot) -> Picture:
        picture = Links(run, self.directory).of(shot)
        if picture.url is not None and picture.size is None:
            return Picture(problem="the picture is not in the run directory")
        return picture


def _build(run: ScoredRun, result: TaskResult, recorded: _Recorded, address: str | None) -> _Unredacted:
    named = list_named(RunDetails(result).explained)
    details = RunDetails(
        result,
        named if recorded.requests is None else mark_matches(recorded.requests, named),
        recorded.requests is not None,
        recorded.picture,
        recorded.caption,
        address,
        recorded.problems,
        run.reason or "",
    )
    return _Unredacted(details, recorded.run)


def _find_shot(run: Run, step: Mapping[str, Any] | None) -> Screenshot | None:
    """The last screenshot of a step."""
    if run.trajectory is None or step is None:
        return None
    shots = {each.index: each.after or each.before for each in run.trajectory.steps}
    screenshots = run.trajectory.screenshots
    return shots.get(step["index"]) if shots else screenshots[-1] if screenshots else None


def _is_of(run: ScoredRun, result: TaskResult) -> bool:
    """Whether a result is that of a row in a summary: a later session may have replaced it."""
    digests = parse_digests(format_digests({"inputs": result.webeval.get("inputs")}))
    known = run.digests
    same = all(known.get(name, digest) == digest for name, digest in digests.items() if name == "recording")
    return result.status.value == run.status and same
