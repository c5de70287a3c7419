"""The result file of a run, and the recording that it was made of, if that is still there and the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR
from typing import Any
from urllib.parse import unquote_to_bytes

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import RESULT, TaskResult, find_version_problem
from pytest_webeval.rules import RULES, Rules, find_rules
from pytest_webeval.safety.files import exists_no_follow, read_file_inside, sha256
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary.record import JUDGE_FILES

MOST_BYTES = 32 * 2**20  # of one result
MOST_LEVELS = 40  # of directories in a label
MOST_RECORDED_BYTES = 64 * 2**20  # of one file of a recording
MOST_INPUTS = 1_000  # files of one run
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
    return load_run(path, _find_rules(result), str(result.webeval.get("run"))).within(LIMITS)


def _find_rules(result: TaskResult) -> Rules:
    name = result.webeval.get("rules")
    with suppress(SettingsError):
        if isinstance(name, str):
            return find_rules(name)
    return RULES["default"]


def measure_recording(run: Path, inputs: Mapping[str, Any]) -> int:
    """The bytes of the files that decided: none if the recording is not there, or very many."""
    size = 0
    for name in inputs:
        with suppress(OSError, ValueError):
            size += (run / name).lstat().st_size
    return size


def is_same_recording(run: Path, inputs: Mapping[str, Any]) -> bool:
    """Whether the files that decided are still there, and have the checksums that the result names."""
    try:
        return bool(inputs) and all(
            sha256(read_file_inside(run, name, MOST_RECORDED_BYTES)) == checksum for name, checksum in inputs.items()
        )
    except RecordingError:
        return False


def list_inputs(result: TaskResult) -> Mapping[str, Any]:
    """The checksums of the files of the recording, by their names. A judge may have written its own files since."""
    inputs = result.webeval.get("inputs")
    if not isinstance(inputs, dict) or len(inputs) > MOST_INPUTS:
        return {}
    return {name: checksum for name, checksum in inputs.items() if not name.startswith(JUDGE_FILES)}
