"""The result file of a run, and what the recording adds, if that is still there and the same.

A recording adds all requests, and the picture that says most.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR
from typing import Any
from urllib.parse import unquote_to_bytes

from msgspec import Struct, structs

from pytest_webeval.errors import RecordingError, SettingsError, WebEvalError
from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.requests import marks_of, network_table
from pytest_webeval.reports.html.screenshots import Links, Picture
from pytest_webeval.reports.html.side_by_side.report_pages import find_frame, find_picture, find_run_directory
from pytest_webeval.reports.html.side_by_side.requests import Request, read_requests
from pytest_webeval.reports.html.side_by_side.run_details import choose_step, describe_step
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.results import RESULT, TaskResult, find_version_problem
from pytest_webeval.rules import RULES, find_rules
from pytest_webeval.safety.files import exists_no_follow, read_file_inside, sha256
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary.result_facts import JUDGE_FILES

MOST_BYTES = 32 * 2**20  # of one result
MOST_LEVELS = 40  # of directories in a label
MOST_RECORDED_BYTES = 64 * 2**20  # of one file of a recording
MOST_INPUTS = 1_000  # files of one run
MOST_READ_BYTES = 128 * 2**20  # of all recordings that one page needs
# What a file of an untrusted source may cause where it is not as a session writes it.
UNREADABLE = (WebEvalError, ValueError, RecursionError, LookupError, TypeError, AttributeError, OSError)
LIMITS = replace(USUAL, file_size=MOST_RECORDED_BYTES, entries=20_000, values=2_000_000, body_size=2**20)


def parse_label(label: str) -> tuple[str, ...]:
    """The names of the directories in the label of a run; none for a label that leads out of its root."""
    with suppress(ValueError):
        parts = tuple(os.fsdecode(unquote_to_bytes(label)).split("/"))
        is_inside = not any(part in {"", ".", ".."} or not part.isprintable() for part in parts)
        return parts if is_inside and len(parts) <= MOST_LEVELS else ()
    return ()


def read_result(directory: Path, label: str) -> tuple[TaskResult, Path] | None:
    """The result of a run among the results of a session, and its directory; None where there is none.

    The root of the runs may be a part of the path or not. Raises `RecordingError` or `ValueError` for a file that
    cannot be used.
    """
    parts = parse_label(label)
    for start in range(len(parts)):
        place = directory.joinpath(*parts[start:])
        if not exists_no_follow(place / RESULT):
            continue
        raw = load_bounded(
            read_file_inside(directory, "/".join((*parts[start:], RESULT)), MOST_BYTES).decode(), USUAL, RESULT
        )
        result = TaskResult.read(raw)
        if problem := find_version_problem(result.webeval.get("schema_version", 1)):
            raise ValueError(problem)
        if result.webeval.get("run") == label:
            return result, place
    return None


def list_places(place: Path, base: Path, label: str) -> Iterator[Path]:
    """The directories where the recording of a result may be: that of the result, and where its label leads to.

    A label is below the directory of pytest's configuration, or of the caller. No link is followed on the way.
    """
    yield place
    path = base
    for part in parse_label(label):
        path /= part
        with suppress(OSError):
            if S_ISDIR(path.lstat().st_mode):
                continue
        return
    if path != base:
        yield path


def load_recording(path: Path, result: TaskResult) -> Run:
    """The run in a directory, of which no more is read than a page needs. Raises `WebEvalError`."""
    name, rules = result.webeval.get("rules"), RULES["default"]
    with suppress(SettingsError):
        rules = find_rules(name) if isinstance(name, str) else rules
    return load_run(path, rules, str(result.webeval.get("run"))).within(LIMITS)


def measure_recording(path: Path, inputs: Mapping[str, Any]) -> int:
    """The bytes of the files that decided: none if the recording is not there, or very many."""
    size = 0
    for name in inputs:
        with suppress(OSError, ValueError):
            size += (path / name).lstat().st_size
    return size


def is_same_recording(path: Path, inputs: Mapping[str, Any]) -> bool:
    """Whether the files that decided are still there, and have the checksums that the result names."""
    try:
        return bool(inputs) and all(
            sha256(read_file_inside(path, name, MOST_RECORDED_BYTES)) == checksum for name, checksum in inputs.items()
        )
    except RecordingError:
        return False


def list_inputs(result: TaskResult) -> Mapping[str, Any]:
    """The checksums of the files of the recording, by their names. A judge may have written its own files since."""
    inputs = result.webeval.get("inputs")
    if not isinstance(inputs, dict) or len(inputs) > MOST_INPUTS:
        return {}
    return {name: checksum for name, checksum in inputs.items() if not name.startswith(JUDGE_FILES)}


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
        inputs = list_inputs(result)
        path = next((path for path in paths if measure_recording(path, inputs)), None)
        problem = self._check_recording(path, result)
        if path is None or problem:
            return Recorded(problems=(problem,))
        run = None
        try:
            run = load_recording(path, result)
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
        inputs = list_inputs(result)
        size = 0 if path is None else measure_recording(path, inputs)
        if path is None or not size:
            return "the run directory is not there"
        if not self.budget.take(size):
            return "the recording was not read: those of this page are too large"
        is_same = is_same_recording(path, inputs)
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
