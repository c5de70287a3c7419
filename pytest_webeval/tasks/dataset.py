"""Where task definitions come from: a data set file, an installed package, the run root or the run itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.text import shown
from pytest_webeval.tasks.benchmarks import DatasetRow
from pytest_webeval.tasks.dataset_files import TaskFile
from pytest_webeval.tasks.dataset_files import read_task_file
from pytest_webeval.tasks.task import Task
from pytest_webeval.tasks.task import rephrased_id

REFERENCE_NAME = "webarena-verified"
# Subsets that go by a name: files inside an installed reference package.
BUNDLED = {"hard": "webarena-verified-hard.json", "non-hard": "webarena-verified-non-hard.json"}
MAX_TASK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class TaskSet:
    """Definitions by task id, validated one by one when they are asked for.

    An id is a number or a text; 12 and "12" are one id. A task in other words (`books_find_7_rephrased_2`) is found by
    its id as well, but is not among the `task_ids`. `warnings` tell of rows that are left out or cut short.

    `source`, `checksum` and `origin` are those of the file, or with commas between them those of several files.
    `origin` is what results say of the source: the same on every machine, so without the directory.
    """

    source: str
    checksum: str
    origin: str
    _raw: dict[int | str, DatasetRow]
    _twice: Mapping[int | str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    _read: dict[int | str, Task] = field(default_factory=dict)

    @property
    def task_ids(self) -> tuple[int | str, ...]:
        """All ids: numbers ascending, then texts in their order."""
        return tuple(sorted(self._raw, key=id_order))

    def __contains__(self, task_id: int | str) -> bool:
        """Whether there is a definition of that id, valid or not."""
        if self._key(task_id) is not None:
            return True
        try:
            return self._rephrased(task_id) is not None
        except TaskDefinitionError:
            return True

    def is_published(self, task_id: int | str) -> bool:
        """Whether the data set of an installed reference package defines the task."""
        key = self._key(task_id)
        return key is not None and self._raw[key].source == REFERENCE_NAME

    def get(self, task_id: int | str) -> Task:
        """The task of that id. Raises `TaskDefinitionError` if it is missing, defined twice or invalid."""
        key = self._key(task_id)
        found = self._rephrased(task_id) if key is None else self._defined(key)
        if found is None:
            raise self._missing(task_id)
        return found

    def _defined(self, key: int | str) -> Task:
        if key in self._twice:
            raise TaskDefinitionError(f"{_named(key)} is defined twice in {self._twice[key]}; keep one definition")
        if key not in self._read:
            row = self._raw[key]
            self._read[key] = row.known.read(row)
        return self._read[key]

    def _rephrased(self, task_id: int | str) -> Task | None:
        found = rephrased_id(str(task_id))
        if found is None or found[0] not in self._keys:
            return None
        from pytest_webeval.tasks.task import TrajectoryTask  # few tasks are said in other words

        original = self._defined(self._keys[found[0]])
        return original.rephrased(found[1]) if isinstance(original, TrajectoryTask) else None

    @cached_property
    def _keys(self) -> dict[str, int | str]:
        return {str(task_id): task_id for task_id in self._raw}

    def _key(self, task_id: int | str) -> int | str | None:
        """The id as it is defined: the directory of a run may have as a text what the definition has as a number."""
        return self._keys.get(str(task_id))

    @cached_property
    def _is_numbered(self) -> bool:
        return all(isinstance(task_id, int) for task_id in self._raw)

    def _missing(self, task_id: int | str) -> TaskDefinitionError:
        if isinstance(task_id, str) and self._is_numbered:
            return TaskDefinitionError(f"task id {task_id!r} is not a number; name the directory by its task id")
        return TaskDefinitionError(f"{_named(task_id)} is not defined in {self.source}; add it or use --webeval-tasks")


def id_order(task_id: int | str) -> tuple[bool, int | str]:
    """What ids are sorted by: numbers ascending, then texts in their order."""
    return isinstance(task_id, str), task_id


def _named(task_id: int | str) -> str:
    return f"task {task_id}" if isinstance(task_id, int) else f"task {shown(task_id)}"


def load_tasks(named: str, *more: str) -> TaskSet:
    """The task set in one or more files, or inside the installed `webarena-verified`. Raises `TaskDefinitionError`.

    A file is a JSON list, one JSON object, JSON lines or a table with tabs; `SOURCES` says whose tasks it may hold.
    """
    files = [_load(one) for one in (named, *more)]
    source, count = Counter(file.source for file in files).most_common(1)[0]
    if count > 1:
        raise TaskDefinitionError(f"the tasks {source} are named twice; name the file once in --webeval-tasks")
    return _task_set(files)


def _load(named: str) -> TaskFile:
    path = _reference_dataset() if named == REFERENCE_NAME else Path(named)
    try:
        return read_task_file(path.read_bytes(), named if named == REFERENCE_NAME else str(path))
    except OSError as error:
        raise TaskDefinitionError(f"cannot read the tasks {path}: {error.strerror}; check --webeval-tasks") from error


def load_untrusted_tasks(directory: Path, name: str, source: str) -> TaskSet:
    """The task set in a file of a run root or a run, read as a stranger's. Raises `TaskDefinitionError`."""
    try:
        return parse_tasks(read_file_inside(directory, name, MAX_TASK_BYTES), source)
    except RecordingError as error:
        raise TaskDefinitionError(str(error)) from error


def parse_tasks(content: bytes, source: str) -> TaskSet:
    """The task set in the bytes of a file. Raises `TaskDefinitionError`."""
    return _task_set([read_task_file(content, source)])


def _task_set(files: Sequence[TaskFile]) -> TaskSet:
    rows = [row for file in files for row in file.rows]
    return TaskSet(
        source=",".join(file.source for file in files),
        checksum=",".join(file.checksum for file in files),
        origin=",".join(Path(file.source).name for file in files),
        _raw=dict(rows),
        _twice=_repeated(rows),
        warnings=tuple(text for file in files for text in file.warnings),
    )


def _repeated(found: list[tuple[int | str, DatasetRow]]) -> dict[int | str, str]:
    """Ids that several rows have, with where two of those are."""
    rows: dict[str, list[DatasetRow]] = {}
    for task_id, row in found:
        rows.setdefault(str(task_id), []).append(row)
    return {one: _places(one, several) for one in dict(found) if len(several := rows[str(one)]) > 1}


def _places(task_id: int | str, rows: Sequence[DatasetRow]) -> str:
    """Where the first row is and another one, in another file if there is one there. A number has the files only."""
    first = rows[0]
    second = next((row for row in rows if row.source != first.source), rows[1])
    if isinstance(task_id, int):
        return " and ".join(dict.fromkeys((first.source, second.source)))
    other = second.place if second.source == first.source else f"{second.source} @ {second.place}"
    return f"{first.source} @ {first.place} and {other}"


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
