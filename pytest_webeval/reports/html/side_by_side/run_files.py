"""The page or the result of a run, and what the recording adds, if that is still there and the same.

A page in the report of a session is redacted, and has all that it shows in one file. A recording adds all requests,
and the picture that says most.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR
from typing import Any
from urllib.parse import unquote_to_bytes, urlencode

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError, WebEvalError
from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.reports.html.requests import marks_of, network_table
from pytest_webeval.reports.html.screenshots import Links, Picture, relative_url
from pytest_webeval.reports.html.side_by_side.run_details import RunDetails, choose_step, describe_run, describe_step
from pytest_webeval.reports.html.timeline import step_timeline
from pytest_webeval.reports.html.writer import PAGES, data_name, inert_json
from pytest_webeval.results import RESULT, TaskResult, find_version_problem
from pytest_webeval.rules import RULES, find_rules
from pytest_webeval.safety.files import exists_no_follow, read_file_inside, sha256
from pytest_webeval.safety.json import get_member, load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary.result_facts import JUDGE_FILES
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR

MOST_EVALUATORS = 50
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_END = "');\n"


def read_page(directory: Path, label: str) -> dict[str, Any] | None:
    """What the page of a run shows, in the report in a directory; None where there is no page.

    Raises `RecordingError` or `ValueError` for a file that the report did not write so.
    """
    name = f"{data_name(label)}.js"
    if not exists_no_follow(directory / PAGES / name):
        return None
    text = read_file_inside(directory, f"{PAGES}/{name}", MOST_BYTES).decode()
    start = f"webeval.task({inert_json(label)}, '"
    if not text.startswith(start) or not text.endswith(_END):
        raise ValueError("not a page of this run")
    json_text = _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text[len(start) : -len(_END)])
    page = load_bounded(json_text, USUAL, "the page")
    if not isinstance(page, dict):
        raise ValueError("not a page of this run")
    return page


def build_result(page: Mapping[str, Any], task_id: int | str) -> TaskResult:
    """The result as far as the page shows it. Raises `ValueError`."""
    evaluators = page.get("evaluators")
    listed = [each for each in evaluators if isinstance(each, dict)] if isinstance(evaluators, list) else []
    evaluated = listed[:MOST_EVALUATORS]
    return TaskResult.read(
        {
            "task_id": task_id,
            "intent_template_id": -1,
            "sites": [],
            "task_revision": -1,
            "status": page.get("status"),
            "score": 0.0,
            "evaluators_results": [_build_evaluation(each, page) for each in evaluated],
            "error_msg": page.get("error"),
            **dict.fromkeys(_VERSIONS, ""),
            "webeval": {
                "trajectory": {"answer": _find_answer(page)},
                "inputs": get_member(page.get("checksums"), "inputs"),
                "explanations": [
                    {name: each[name] for name in ("differences", "nearest", "candidates") if each.get(name)}
                    if each.get("differences")
                    else None
                    for each in evaluated
                ],
            },
        }
    )


def _find_answer(page: Mapping[str, Any]) -> Any:
    """The answer as the agent wrote it; None where the page has it among what an evaluator found alone."""
    answer = page.get("answer")
    fields = get_member(answer, "fields")
    if isinstance(fields, list):
        return {str(get_member(each, "name")): get_member(each, "value") for each in fields}
    value = get_member(answer, "value")
    return get_member(get_member(page.get("about"), "trajectory"), "answer") if value is None else value


_VERSIONS = ("webarena_verified_version", "webarena_verified_evaluator_checksum", "webarena_verified_data_checksum")


def _build_evaluation(evaluated: Mapping[str, Any], page: Mapping[str, Any]) -> dict[str, Any]:
    name, assertions = evaluated.get("name"), evaluated.get("assertions")
    verdict = get_member(page.get("rubric"), "verdict") if name == RUBRIC_EVALUATOR else evaluated.get("actual")
    names = {"assertion_name": "name", "status": "status", "assertion_msgs": "messages"}
    return {
        "evaluator_name": name,
        "score": 0.0,
        "actual": verdict,
        "error_msg": evaluated.get("error"),
        **{each: evaluated.get(each) for each in ("status", "expected")},
        "assertions": [
            {field: get_member(each, shown) for field, shown in names.items()}
            for each in (assertions if isinstance(assertions, list) else ())
        ],
    }


def link_to_task(report: Path, label: str, directory: Path) -> str:
    """The address of a task in a report, from a page in a directory."""
    return f"{relative_url(report / 'index.html', directory)}#{urlencode({'task': label})}"


def find_run_directory(page: Mapping[str, Any], report: Path) -> Path | None:
    """The run directory that a page links to; None without such a link."""
    address = _find_run_address(page)
    with suppress(ValueError):
        return None if address is None else report / unquote_to_bytes(address).decode()
    return None


def find_picture(step: Mapping[str, Any], page: Mapping[str, Any]) -> str | None:
    """The name of the last picture of a step in the run directory; None for any other picture.

    A small copy that the report has in itself is not copied again.
    """
    root = _find_run_address(page)
    url = next((url for side in ("after", "before") if isinstance(url := step.get(side), str) and url), None)
    if root is None or url is None or not url.startswith(root):
        return None
    with suppress(ValueError):
        return unquote_to_bytes(url.removeprefix(root)).decode()
    return None


def find_frame(step: Mapping[str, Any], label: str) -> str | None:
    """The name of the last frame of a Playwright trace that the report has for a step of a run; None without any."""
    pattern = rf"{PAGES}/{data_name(label)}-frame-[0-9]{{1,4}}\.(?:png|jpg)"
    urls = (step.get(side) for side in ("after", "before"))
    return next((url for url in urls if isinstance(url, str) and re.fullmatch(pattern, url)), None)


def _find_run_address(page: Mapping[str, Any]) -> str | None:
    """The relative address of the run directory, which ends in a slash."""
    links = page.get("links")
    for link in links if isinstance(links, list) else ():
        address = get_member(link, "href")
        if get_member(link, "label") == "run directory" and isinstance(address, str):
            is_local = address.endswith("/") and not address.startswith("/") and ":" not in address
            return address if is_local and address.isprintable() else None
    return None


MOST_BYTES = 32 * 2**20  # of one page or result
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


class RecordingReader(Struct):
    """Reads recordings for a page in a directory, until the bytes that may be read are used up."""

    directory: Path
    left: int = MOST_READ_BYTES

    def read_page(self, result: TaskResult, page: Mapping[str, Any], report: Path, label: str) -> RunDetails:
        """What the page of a run shows, with the picture of the step that it names.

        That is a frame in the report, or a screenshot in the run directory.
        """
        network = page.get("network")
        step, is_failing = choose_step(result, page.get("steps"))
        if step is None:
            return describe_run(result, network)
        caption = describe_step(step, is_failing=is_failing)
        if (frame := find_frame(step, label)) is not None:
            return describe_run(result, network, picture=self._link(report, frame), caption=caption)
        path = find_run_directory(page, report)
        problem = self._check_recording(path, result)
        if path is None or problem:
            return describe_run(result, network, problems=(problem,))
        picture = self._link(path, find_picture(step, page))
        return describe_run(result, network, picture=picture, caption=caption)

    def read(self, result: TaskResult, paths: Iterable[Path]) -> RunDetails:
        """What is in the first of some directories that has files of the recording."""
        inputs = list_inputs(result)
        path = next((path for path in paths if measure_recording(path, inputs)), None)
        problem = self._check_recording(path, result)
        if path is None or problem:
            return describe_run(result, problems=(problem,))
        run = None
        try:
            run = load_recording(path, result)
            network = network_table(run, marks_of(result.evaluators_results))
            step, is_failing = choose_step(result, step_timeline(run, None))
            shot = find_shot(run, step)
        except UNREADABLE:
            return describe_run(result, run=run, problems=("the recording cannot be read",))
        if step is None or shot is None:
            return describe_run(result, network, run=run)
        caption = describe_step(step, is_failing=is_failing)
        return describe_run(result, network, picture=self._link(path, shot), caption=caption, run=run)

    def _check_recording(self, path: Path | None, result: TaskResult) -> str:
        """Why a run directory does not show what this result is about; empty if it does."""
        inputs = list_inputs(result)
        size = 0 if path is None else measure_recording(path, inputs)
        if path is None or not size:
            return "the run directory is not there"
        if size > self.left:
            return "the recording was not read: those of this page are too large"
        self.left -= size
        is_same = is_same_recording(path, inputs)
        return "" if is_same else "the run directory has another recording now"

    def _link(self, run: Path, shot: Screenshot | str | None) -> Picture:
        if shot is None:
            return Picture()
        picture = Links(run, self.directory)(Screenshot(shot, 0) if isinstance(shot, str) else shot)
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
