"""Where task definitions come from: a data set file, an installed package, the run root or the run itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct, field

from pytest_webeval.errors import RecordingError, TaskDefinitionError
from pytest_webeval.safety.files import read_file_inside, sha256
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.tasks.benchmarks import TASK_FILE, StoredRow
from pytest_webeval.tasks.dataset_files import TaskFile, read_task_file
from pytest_webeval.tasks.task import Task, parse_rephrased_id

TASKS = "tasks.json"  # in a run root, the definitions of its tasks
REFERENCE_NAME = "webarena-verified"
# Subsets that go by a name: files inside an installed reference package.
BUNDLED = {"hard": "webarena-verified-hard.json", "non-hard": "webarena-verified-non-hard.json"}
# Suites of ClawBench by name: directories in the installed `clawbench-eval`, with a directory for each task.
CLAWBENCH_SUITES = ("v1", "v1-lite", "v2", "claw-eval", "environmental-observation")
SUITES = {f"clawbench-{suite}": f"_bundled/test-cases/{suite}" for suite in CLAWBENCH_SUITES}
MAX_TASK_BYTES = 64 * 2**20
LONGEST_NUMBER = 640  # digits of which Python makes a number, whatever its settings
# Tasks that are ready: a session asks for each task when it collects and when it scores, and several runs may be of one
# task. Of more tasks each is read twice; to keep all would fill the memory.
MAX_READY_TASKS = 5_000


class TaskSet(Struct, frozen=True, dict=True):
    """Definitions by task id, each validated on use. The latest 5,000 are kept ready.

    An id is a number or a text; 12 and "12" are one id. A task in other words (`books_find_7_rephrased_2`) is found by
    its id as well, but is not among the `task_ids`. `warnings` are about skipped or truncated rows.

    `source`, `checksum` and `origin` are those of the file, or with commas between them those of several files.
    `origin` is what results say of the source: the same on every machine, so without the directory.
    """

    source: str
    checksum: str
    origin: str
    _rows: dict[int | str, StoredRow]
    _duplicates: Mapping[int | str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    _loaded: dict[int | str, Task] = field(default_factory=dict)

    @property
    def task_ids(self) -> tuple[int | str, ...]:
        """All ids: numbers ascending, then texts in their order."""
        return tuple(sorted(self._rows, key=id_order))

    def __contains__(self, task_id: int | str) -> bool:
        """Whether there is a definition of that id, valid or not."""
        if self._key(task_id) is not None:
            return True
        try:
            return self._load_rephrased(task_id) is not None
        except TaskDefinitionError:
            return True

    def get(self, task_id: int | str) -> Task:
        """The task of that id. Raises `TaskDefinitionError` if it is missing, defined twice or invalid."""
        key = self._key(task_id)
        task = self._load_rephrased(task_id) if key is None else self._load_task(key)
        if task is not None:
            return task
        if isinstance(task_id, str) and self._is_numbered:
            raise TaskDefinitionError(f"task id {task_id!r} is not a number; name the directory after its task id")
        problem = f"{_format_task_id(task_id)} is not defined in {self.source}"
        raise TaskDefinitionError(f"{problem}; add it or use --webeval-tasks")

    def _load_task(self, key: int | str) -> Task:
        if key in self._duplicates:
            raise TaskDefinitionError(
                f"{_format_task_id(key)} is defined twice in {self._duplicates[key]}; keep one definition"
            )
        if key not in self._loaded:
            if len(self._loaded) == MAX_READY_TASKS:
                del self._loaded[next(iter(self._loaded))]
            self._loaded[key] = self._rows[key].read()
        return self._loaded[key]

    def _load_rephrased(self, task_id: int | str) -> Task | None:
        parts = parse_rephrased_id(str(task_id))
        key = None if parts is None else self._key(parts[0])
        if parts is None or key is None:
            return None
        from pytest_webeval.tasks.task import TrajectoryTask  # few tasks are rephrased

        original = self._load_task(key)
        return original.rephrased(parts[1]) if isinstance(original, TrajectoryTask) else None

    def _key(self, task_id: int | str) -> int | str | None:
        """The id as it is defined: the directory of a run may have as a text what the definition has as a number."""
        return next((each for each in (task_id, *_spell_otherwise(task_id)) if each in self._rows), None)

    @cached_property
    def _is_numbered(self) -> bool:
        return all(isinstance(task_id, int) for task_id in self._rows)


def _spell_otherwise(task_id: int | str) -> tuple[int | str, ...]:
    """The number that an id is the text of, or the text of a number."""
    if isinstance(task_id, int):
        return (str(task_id),)
    is_number = task_id.isascii() and task_id.removeprefix("-").isdigit() and len(task_id) < LONGEST_NUMBER
    return (int(task_id),) if is_number and str(int(task_id)) == task_id else ()


def id_order(task_id: int | str) -> tuple[bool, int | str]:
    """What ids are sorted by: numbers ascending, then texts in their order."""
    return isinstance(task_id, str), task_id


def _format_task_id(task_id: int | str) -> str:
    return f"task {task_id}" if isinstance(task_id, int) else f"task {shorten_repr(task_id)}"


def load_tasks(name: str, *more_names: str) -> TaskSet:
    """The task set in one or more files, or inside the installed `webarena-verified`. Raises `TaskDefinitionError`.

    A file is a JSON list, one JSON object, JSON lines or a table with tabs; `BENCHMARKS` says whose tasks it may hold.
    A directory has a `task.json` for each task, as ClawBench has; its installed suites go by a name.
    """
    files = [_load_file(file_name) for file_name in (name, *more_names)]
    source, count = Counter(file.source for file in files).most_common(1)[0]
    if count > 1:
        raise TaskDefinitionError(f"duplicate task file {source}; pass it once with --webeval-tasks")
    return _build_task_set(files)


def _load_file(name: str) -> TaskFile:
    if name in SUITES:
        return _load_directory(_find_suite(name), name)
    if name == REFERENCE_NAME:
        path = find_reference_file("webarena-verified.json")
        if path is None:
            problem = "webarena-verified is not installed"
            raise TaskDefinitionError(f"{problem}; install it, or pass a task file with --webeval-tasks")
        return _read_file(path, name)
    if _list_task_files(Path(name)):
        return _load_directory(Path(name), str(Path(name)))
    return _read_file(Path(name), str(Path(name)))


def _read_file(path: Path, source: str) -> TaskFile:
    try:
        return read_task_file(path.read_bytes(), source)
    except OSError as error:
        problem = f"cannot read the task file {path}: {error.strerror}"
        raise TaskDefinitionError(f"{problem}; check --webeval-tasks") from error


def _list_task_files(directory: Path) -> list[Path]:
    """Each `task.json` in a directory and in those in it; none of what is no directory."""
    return sorted((*directory.glob(TASK_FILE), *directory.glob(f"*/{TASK_FILE}")))


def _load_directory(directory: Path, source: str) -> TaskFile:
    """The tasks of a directory as if they were of one file. Raises `TaskDefinitionError`."""
    files = [_read_file(path, str(path)) for path in _list_task_files(directory)]
    return TaskFile(
        source,
        sha256("".join(file.checksum for file in files).encode()),
        [row for file in files for row in file.rows],
        tuple(text for file in files for text in file.warnings),
    )


def _find_suite(name: str) -> Path:
    """The directory of an installed suite. Raises `TaskDefinitionError`."""
    paths = (folder / SUITES[name] for folder in _list_package_folders("clawbench"))
    path = next(filter(Path.is_dir, paths), None)
    if path is None:
        problem = f"clawbench-eval with the tasks {name} is not installed"
        raise TaskDefinitionError(f"{problem}; install it, or pass a directory of tasks with --webeval-tasks")
    return path


def load_untrusted_tasks(directory: Path, name: str, source: str) -> TaskSet:
    """The task set in a file of a run root or a run, which is untrusted. Raises `TaskDefinitionError`."""
    try:
        return parse_tasks(read_file_inside(directory, name, MAX_TASK_BYTES), source)
    except RecordingError as error:
        raise TaskDefinitionError(str(error)) from error


def parse_tasks(content: bytes, source: str) -> TaskSet:
    """The task set in the bytes of a file. Raises `TaskDefinitionError`."""
    return _build_task_set([read_task_file(content, source)])


def _build_task_set(files: Sequence[TaskFile]) -> TaskSet:
    rows = [row for file in files for row in file.rows]
    return TaskSet(
        source=",".join(file.source for file in files),
        checksum=",".join(file.checksum for file in files),
        origin=",".join(Path(file.source).name for file in files),
        _rows=dict(rows),
        _duplicates=_find_duplicates(rows),
        warnings=tuple(text for file in files for text in file.warnings),
    )


def _find_duplicates(rows: list[tuple[int | str, StoredRow]]) -> dict[int | str, str]:
    """Ids that several rows have, with where two of those are."""
    rows_by_id: dict[str, list[StoredRow]] = {}
    for task_id, row in rows:
        rows_by_id.setdefault(str(task_id), []).append(row)
    return {
        duplicate: _format_locations(duplicate, duplicates)
        for duplicate in dict(rows)
        if len(duplicates := rows_by_id[str(duplicate)]) > 1
    }


def _format_locations(task_id: int | str, rows: Sequence[StoredRow]) -> str:
    """Where the first row is and another one, in another file if there is one there. A number has the files only."""
    first = rows[0]
    second = next((row for row in rows if row.source != first.source), rows[1])
    if isinstance(task_id, int):
        return " and ".join(dict.fromkeys((first.source, second.source)))
    second_location = second.location if second.source == first.source else f"{second.source} @ {second.location}"
    return f"{first.source} @ {first.location} and {second_location}"


def find_reference_file(name: str) -> Path | None:
    """A data file of the installed reference package, which is not imported for it; None if there is no such file."""
    folders = _list_package_folders("webarena_verified")
    return next((path for folder in folders for path in sorted(folder.rglob(name))), None)


def _list_package_folders(name: str) -> list[Path]:
    spec = find_spec(name)
    return list(map(Path, spec.submodule_search_locations or ())) if spec else []
