"""Tasks that are expected and have no recording, so that an incomplete set of runs cannot look complete."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import count
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from pytest_webeval.errors import RecordingError, SettingsError, TaskDefinitionError
from pytest_webeval.recordings.labels import parse_task_id
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.workspace.workspace import Workspace
from pytest_webeval.tasks.task import Task

LONGEST_NAME = 180  # so that a quoted id is a name that every file system takes
SHOWN = 80


class MissingTasks(Struct, frozen=True, eq=False, dict=True):
    """The tasks that --webeval-require-all reports: those without a recording in any of the roots."""

    workspace: Workspace

    def check(self) -> None:
        """Raise `WebEvalError` if nothing says which tasks are expected."""
        if self.workspace.settings.require_all and not self.expected():
            raise SettingsError(
                "--webeval-require-all: nothing says which tasks are expected; name their definitions with "
                "--webeval-tasks, put tasks.json into the run root, or name a --webeval-subset"
            )

    @cached_property
    def by_path(self) -> dict[Path, int | str]:
        """Ids of missing tasks by the directory that their items go by, ascending. No such directory is made."""
        if not (self.workspace.settings.require_all and self.workspace.settings.runs):
            return {}
        recorded, taken, by_path = set(self.list_recorded()), frozenset(self.workspace.run_paths), {}
        for task_id in self.expected():
            places = (root / _name(task_id) for root in self.workspace.settings.runs)
            if str(task_id) not in recorded and not any(map(self.workspace.is_left_out, places)):
                by_path[self._place(task_id, taken)] = task_id
        return by_path

    def below(self, directory: Path) -> list[Path]:
        """The paths of missing tasks in a directory; none unless it is a run root."""
        if directory not in self.workspace.settings.runs:
            return []
        return [path for path in self.by_path if path.parent == directory]

    def could_be_at(self, path: Path) -> bool:
        """Whether an item of a missing task could stand there. Looks at no run, so that it can be asked at any time."""
        if not self.workspace.settings.require_all or path.parent not in self.workspace.settings.runs:
            return False
        return path.name in self._names or path.name.rpartition("-")[0] in self._names

    @cached_property
    def _names(self) -> set[str]:
        return set(map(_name, self.expected()))

    def reason(self, path: Path) -> str:
        """The message about the task that is missing there; it adds that the definition is not usable, if so."""
        task_id, workspace = self.by_path[path], self.workspace
        roots = ", ".join(workspace.labels.of(root) for root in workspace.settings.runs)
        id_text = sanitize(str(task_id)).replace("\n", " ")[:SHOWN]
        message = f"no recording of task {id_text} in {roots}; record it, or omit --webeval-require-all"
        try:
            self._task(path)
        except TaskDefinitionError as error:
            return f"{message} ({error})"
        return message

    def task_or_none(self, path: Path) -> Task | None:
        """The definition of the task that is missing there, if it can be used."""
        with suppress(TaskDefinitionError):
            return self._task(path)
        return None

    def _task(self, path: Path) -> Task:
        task_id = self.by_path[path]
        tasks = self.workspace.tasks.in_root(path.parent)
        if tasks is None:
            raise TaskDefinitionError(f"task {task_id} is not defined; name its definition with --webeval-tasks")
        return tasks.get(task_id)

    def expected(self) -> tuple[int | str, ...]:
        """The ids of the subset, or else of all definitions. Raises `TaskDefinitionError`."""
        workspace = self.workspace
        if workspace.tasks.subset is not None:
            return workspace.tasks.subset.task_ids
        task_sets = (workspace.tasks.in_root(root) for root in workspace.settings.runs)
        return tuple(dict.fromkeys(task_id for tasks in task_sets if tasks for task_id in tasks.task_ids))

    def list_recorded(self) -> Iterator[str]:
        """Ids of the runs, broken ones by their directory name."""
        for branch in self.workspace.branches:
            try:
                number = self.workspace.run(branch.path).task_id if branch.kind is Kind.RUN else None
            except RecordingError:
                number = None
            number = parse_task_id(branch.path) if number is None else number
            yield branch.path.name if number is None else str(number)

    def _place(self, task_id: int | str, taken: Collection[Path]) -> Path:
        """A free path below the first root that defines the task, or else below the first root."""
        directory, name = self.workspace.settings.runs[0], _name(task_id)
        for root in self.workspace.settings.runs:
            with suppress(TaskDefinitionError):
                if task_id in (self.workspace.tasks.in_root(root) or ()):
                    directory = root
                    break
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        return next(path for name in names if (path := directory / name) not in taken)


def _name(task_id: int | str) -> str:
    """The directory name of a task, quoted: an id must not lead out of the root."""
    quoted_id = quote(str(task_id), safe=" +,=@~", errors="surrogatepass")
    if len(quoted_id) > LONGEST_NAME:
        quoted_id = f"{quoted_id[:LONGEST_NAME]}-{sha256(quoted_id.encode())[:12]}"
    return quoted_id.replace(".", "%2E") if not quoted_id.strip(".") else quoted_id
