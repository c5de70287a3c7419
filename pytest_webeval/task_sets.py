"""Where task definitions come from: a data set file, an installed package, the run root or the run itself."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from dataclasses import field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_webeval.checksums import sha256
from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.files import read_inside
from pytest_webeval.tasks import Task
from pytest_webeval.tasks import read_task

REFERENCE_NAME = "webarena-verified"
MAX_TASK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class TaskSet:
    """Definitions by task id, validated one by one when they are asked for."""

    source: str
    checksum: str
    _raw: dict[int, Any]
    _twice: frozenset[int] = frozenset()
    _read: dict[int, Task] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """What results say of the source: the same on every machine, so without the directory."""
        return Path(self.source).name

    @property
    def task_ids(self) -> tuple[int, ...]:
        """All ids, ascending."""
        return tuple(sorted(self._raw))

    def __contains__(self, task_id: int) -> bool:
        """Whether there is a definition of that id, valid or not."""
        return task_id in self._raw

    def get(self, task_id: int | str) -> Task:
        """The task of that id. Raises `TaskDefinitionError` if it is missing, defined twice or invalid."""
        if not isinstance(task_id, int):
            raise TaskDefinitionError(f"task id {task_id!r} is not a number; name the directory by its task id")
        if task_id in self._twice:
            raise TaskDefinitionError(f"task {task_id} is defined twice in {self.source}; keep one definition")
        if task_id not in self._raw:
            raise TaskDefinitionError(f"task {task_id} is not defined in {self.source}; add it or use --webeval-tasks")
        if task_id not in self._read:
            self._read[task_id] = read_task(self._raw[task_id], self.source)
        return self._read[task_id]


def load_tasks(named: str) -> TaskSet:
    """The task set in a file (JSON list, one object, or JSON lines), or inside the installed `webarena-verified`."""
    path = _reference_dataset() if named == REFERENCE_NAME else Path(named)
    try:
        return parse_tasks(path.read_bytes(), named if named == REFERENCE_NAME else str(path))
    except OSError as error:
        raise TaskDefinitionError(f"cannot read the tasks {path}: {error.strerror}; check --webeval-tasks") from error


def tasks_in(directory: Path, name: str, source: str) -> TaskSet:
    """The task set in a file of a run root or a run, read as a stranger's. Raises `TaskDefinitionError`."""
    try:
        return parse_tasks(read_inside(directory, name, MAX_TASK_BYTES), source)
    except RecordingError as error:
        raise TaskDefinitionError(str(error)) from error


def parse_tasks(content: bytes, source: str) -> TaskSet:
    """The task set in the bytes of a file. Raises `TaskDefinitionError`."""
    rows = _rows(content, source)
    ids = [_id(row, position, source) for position, row in enumerate(rows)]
    twice = frozenset(task_id for task_id, count in Counter(ids).items() if count > 1)
    return TaskSet(source, sha256(content), dict(zip(ids, rows, strict=True)), twice)


def _rows(content: bytes, source: str) -> list[Any]:
    try:
        found = json.loads(content)
    except RecursionError as error:
        raise TaskDefinitionError(f"{source} is nested too deeply to be a list of tasks") from error
    except ValueError as error:
        if content.lstrip().startswith(b"["):
            raise TaskDefinitionError(f"{source} is no JSON: {error}; mend the file") from error
        return _json_lines(content, source)
    return found if isinstance(found, list) else [found]


def _json_lines(content: bytes, source: str) -> list[Any]:
    rows = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise TaskDefinitionError(
                    f"{source} is neither JSON nor JSON lines: {error} @ line {number}"
                ) from error
    return rows


def _id(row: object, position: int, source: str) -> int:
    raw = row.get("task_id") if isinstance(row, dict) else None
    try:
        return int(raw) if isinstance(raw, float) and raw.is_integer() else int(str(raw))
    except ValueError as error:
        raise TaskDefinitionError(
            f"{source} has no whole number as task_id @ [{position}]; give each task one"
        ) from error


def _reference_dataset() -> Path:
    path = reference_file("webarena-verified.json")
    if path is None:
        raise TaskDefinitionError(
            "webarena-verified is not installed here; pip install it or name a file in --webeval-tasks"
        )
    return path


def reference_file(name: str) -> Path | None:
    """A data file of the installed reference package, which is not imported for it; None where there is none."""
    spec = find_spec("webarena_verified")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    return next((path for folder in folders for path in sorted(Path(folder).rglob(name))), None)
