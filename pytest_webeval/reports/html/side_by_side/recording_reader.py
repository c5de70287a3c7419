"""What the recording of a run adds to its result: all requests, and the picture that says most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.network_table import marks_of, network_table
from pytest_webeval.reports.html.screenshots import Links, Picture
from pytest_webeval.reports.html.side_by_side import run_files
from pytest_webeval.reports.html.side_by_side.report_pages import find_frame, find_picture, find_run_directory
from pytest_webeval.reports.html.side_by_side.requests import Request, read_requests
from pytest_webeval.reports.html.side_by_side.run_details import choose_step, describe_step
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import TaskResult

MOST_READ_BYTES = 128 * 2**20  # of all recordings that one page needs
# What a file of an untrusted source may cause where it is not as a session writes it.
UNREADABLE = (WebEvalError, ValueError, RecursionError, LookupError, TypeError, AttributeError, OSError)


class Budget(Struct):
    """How many bytes of recordings may still be read."""

    left: int = MOST_READ_BYTES

    def take(self, size: int) -> bool:
        """Whether so many bytes may be read; then fewer are left."""
        if size > self.left:
            return False
        self.left -= size
        return True


class Recorded(Struct, frozen=True):
    """Requests, which are None if they are not known, a picture, and the run whose secrets these may repeat."""

    requests: list[Request] | None = None
    has_all_requests: bool = False
    picture: Picture = Picture()
    caption: str = ""
    run: Run | None = None
    problems: tuple[str, ...] = ()

    def with_requests(self, network: Any) -> Recorded:
        """The same with the requests of a table as the report has it: of very many it has the last ones."""
        requests = read_requests(network)
        has_all = requests is not None and not network.get("left_out")
        return structs.replace(self, requests=requests, has_all_requests=has_all)


class RecordingReader(Struct, frozen=True):
    """Reads recordings for a page in a directory, as many as the budget allows."""

    directory: Path
    budget: Budget

    def find_picture(self, result: TaskResult, page: Mapping[str, Any], report: Path, label: str) -> Recorded:
        """The picture of the step that the page of a run names: in the report, or else in the run directory."""
        step, is_failing = choose_step(result, page.get("steps"))
        if step is None:
            return Recorded()
        caption = describe_step(step, is_failing=is_failing)
        if (frame := find_frame(step, label)) is not None:
            return Recorded(picture=self._link(report, Screenshot(frame, 0)), caption=caption)
        path = find_run_directory(page, report)
        problem = self._check_recording(path, result)
        if path is None or problem:
            return Recorded(problems=(problem,))
        name = find_picture(step, page)
        picture = Picture() if name is None else self._link(path, Screenshot(name, 0))
        return Recorded(picture=picture, caption=caption)

    def read(self, result: TaskResult, paths: Iterable[Path]) -> Recorded:
        """What is in the first of some directories that has files of the recording."""
        inputs = run_files.list_inputs(result)
        path = next((path for path in paths if run_files.measure_recording(path, inputs)), None)
        problem = self._check_recording(path, result)
        if path is None or problem:
            return Recorded(problems=(problem,))
        run = None
        try:
            run = run_files.load_recording(path, result)
            network = network_table(run, marks_of(result.evaluators_results))
            step, is_failing = choose_step(result, step_timeline(run, None))
            shot = find_shot(run, step)
        except UNREADABLE:
            return Recorded(run=run, problems=("the recording cannot be read",))
        if step is None or shot is None:
            return Recorded(run=run).with_requests(network)
        picture, caption = self._link(path, shot), describe_step(step, is_failing=is_failing)
        return Recorded(picture=picture, caption=caption, run=run).with_requests(network)

    def _check_recording(self, path: Path | None, result: TaskResult) -> str:
        """Why a run directory does not show what this result is about; empty if it does."""
        inputs = run_files.list_inputs(result)
        size = 0 if path is None else run_files.measure_recording(path, inputs)
        if path is None or not size:
            return "the run directory is not there"
        if not self.budget.take(size):
            return "the recording was not read: those of this page are too large"
        is_same = run_files.is_same_recording(path, inputs)
        return "" if is_same else "the run directory has another recording now"

    def _link(self, run: Path, shot: Screenshot) -> Picture:
        picture = Links(run, self.directory).of(shot)
        if picture.url is not None and picture.size is None:
            return Picture(problem="the picture is not in the run directory")
        return picture


def find_shot(run: Run, step: Mapping[str, Any] | None) -> Screenshot | None:
    """The last screenshot of a step; that of the run where its steps are not known, but its screenshots."""
    if run.trajectory is None or step is None:
        return None
    shots = {each.index: each.after or each.before for each in run.trajectory.steps}
    screenshots = run.trajectory.screenshots
    return shots.get(step["index"]) if shots else screenshots[-1] if screenshots else None
