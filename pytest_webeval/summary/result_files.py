"""The result files below a directory, which may hold anything: each is read for itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.results import RESULT
from pytest_webeval.results import SUMMARY
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.files import read_file_inside

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
            row = build(result, directory.relative_to(root).as_posix())
        except _UNREADABLE as error:
            where = (directory / RESULT).relative_to(root)
            problems.append(f"{' '.join(str(error).split()):.200} @ {where.as_posix()}")
        else:
            yield row


def _find_results(root: Path) -> Iterator[Path]:
    """The directories with a result, sorted; links are not followed."""
    count = 0
    for directory, names, files in os.walk(root):
        names.sort()
        if RESULT in files:
            count += 1
            yield Path(directory)
        if count > MAX_RESULTS:
            raise SettingsError(f"{root} holds more than {MAX_RESULTS:,} results; name its {SUMMARY}")
