"""The result files below a directory, which may hold anything: each is read for itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.results import RESULT
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.files import walk_directories

MAX_RESULTS = 1_000_000  # files below one directory
_UNREADABLE = (RecordingError, ValueError, RecursionError, LookupError, TypeError, AttributeError)

Row = TypeVar("Row")


def read_results(root: Path, build: Callable[[TaskResult, str], Row], problems: list[str]) -> Iterator[Row]:
    """What `build` makes of each result and its path below the root, in the order of the paths.

    `problems` gets a line for each file that cannot be used. Raises `SettingsError` beyond a million files.
    """
    for directory in _find_results(root):
        try:
            result = TaskResult.read(json.loads(read_file_inside(directory, RESULT)))
            if problem := find_version_problem(result.webeval.get("schema_version", 1)):
                raise ValueError(problem)
            row = build(result, directory.relative_to(root).as_posix())
        except _UNREADABLE as error:
            where = (directory / RESULT).relative_to(root)
            problems.append(f"{' '.join(str(error).split()):.200} @ {where.as_posix()}")
        else:
            yield row


def _find_results(root: Path) -> Iterator[Path]:
    """The directories with a result, sorted; links are not followed.

    A result below another one is left out: an agent can write it into the directory of its run.
    """
    count = 0
    for directory, names, files in walk_directories(root):
        if RESULT in files:
            count += 1
            names.clear()
            yield directory
        if count > MAX_RESULTS:
            raise SettingsError(f"{root} holds more than {MAX_RESULTS:,} results; name its {SUMMARY}")


def find_version_problem(version: object) -> str | None:
    """What is wrong with a `schema_version`: in a newer one, a field may have another meaning."""
    if type(version) is int and 1 <= version <= SCHEMA_VERSION:
        return None
    if type(version) is int and version > SCHEMA_VERSION:
        return f"schema_version {version!s:.20} is newer than {SCHEMA_VERSION}; update pytest-webeval"
    return f"invalid schema_version {version!r:.20}; score again"
