"""The tasks of live tests: what their markers name, and the definitions that a later session reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import SettingsError, TaskDefinitionError, WebEvalError
from pytest_webeval.plugin.workspace import WORKSPACE, PytestWorkspace
from pytest_webeval.safety.files import sha256
from pytest_webeval.sessions.settings.option_values import LONGEST
from pytest_webeval.storage import write_bytes, write_text
from pytest_webeval.tasks.dataset import TASKS, TaskSet, load_tasks
from pytest_webeval.tasks.task import Task

MARK = "webeval_task"
COPIED = ".webeval_tasks"  # next to a copy of the definitions, with its checksum
_USE = f"use @pytest.mark.{MARK}('tasks.json', 107), or without the id for all tasks of the file"
_ADVICE = "choose another directory with --webeval-record"


class LiveMark(Struct, frozen=True):
    """What the marker of a test says. Without a file, the tasks are those of --webeval-tasks; without ids, all."""

    file: Path | None
    task_ids: tuple[int | str, ...]
    timeout: float | None = None  # seconds
    max_steps: int | None = None

    @classmethod
    def of(cls, node: Any) -> LiveMark | None:
        """The marker of a test or of its definition, or None. Raises `SettingsError`."""
        mark = node.get_closest_marker(MARK)
        if mark is None:
            return None
        arguments, options = list(mark.args), dict(mark.kwargs)
        names_file = bool(arguments) and isinstance(arguments[0], str | os.PathLike)
        file = None if not names_file or _is_task(arguments[0], node) else _find_file(arguments.pop(0), node)
        timeout, max_steps = options.pop("timeout", None), options.pop("max_steps", None)
        if options or not all(isinstance(task_id, int | str) for task_id in arguments):
            raise SettingsError(f"invalid arguments of {MARK} @ {node.nodeid}; {_USE}")
        if not (timeout is None or (_is_number(timeout, int | float) and timeout <= LONGEST)):
            raise SettingsError(f"invalid timeout {timeout!r:.80} @ {node.nodeid}; use seconds, or 0 for no limit")
        if not (max_steps is None or _is_number(max_steps, int)):
            raise SettingsError(f"invalid max_steps {max_steps!r:.80} @ {node.nodeid}; use a non-negative integer")
        return cls(file, tuple(arguments), timeout, max_steps)


def _is_number(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and value >= 0


def _is_task(name: str | os.PathLike[str], node: Any) -> bool:
    """Whether a text is the id of a task of --webeval-tasks, and no file."""
    configured = node.config.stash[WORKSPACE].tasks.configured
    return isinstance(name, str) and configured is not None and name in configured and not _list_files(name, node)


def _list_files(name: str | os.PathLike[str], node: Any) -> list[Path]:
    """The files of a name next to the test, and in the rootdir."""
    return [place for place in (node.path.parent / name, node.config.rootpath / name) if place.is_file()]


def _find_file(name: str | os.PathLike[str], node: Any) -> Path:
    """A file of tasks next to the test, or else in the rootdir. Raises `SettingsError`."""
    files = _list_files(name, node)
    if not files:
        raise SettingsError(f"no such file of tasks: {name} @ {node.nodeid}; {_USE}")
    return Path(os.path.abspath(files[0]))  # noqa: PTH100  (links are kept)


class LiveTasks(Struct, frozen=True, eq=False):
    """One per process. Caches the files that it read."""

    workspace: PytestWorkspace
    _files: dict[Path, TaskSet] = field(default_factory=dict)
    problems: list[WebEvalError] = field(default_factory=list)  # why no test can record

    def find_set(self, mark: LiveMark) -> TaskSet:
        """The tasks that a marker names. Raises `WebEvalError`."""
        if (configured := self.workspace.tasks.configured) is not None:
            return configured
        if mark.file is None:
            raise SettingsError(f"{MARK} names no file of tasks; {_USE}, or pass --webeval-tasks")
        if mark.file not in self._files:
            self._files[mark.file] = load_tasks(str(mark.file))
        return self._files[mark.file]

    def list_ids(self, mark: LiveMark) -> tuple[int | str, ...]:
        """The ids that a marker names, or else all. Raises `WebEvalError`."""
        return mark.task_ids or self.find_set(mark).task_ids

    def find(self, mark: LiveMark, task_id: int | str) -> Task:
        """The task of an id. Raises `WebEvalError`."""
        for problem in self.problems:
            raise problem
        return self.find_set(mark).get(task_id)

    def find_or_none(self, mark: LiveMark, task_id: int | str) -> Task | None:
        """The same, None for one that is not defined."""
        try:
            return self.find(mark, task_id)
        except WebEvalError:
            return None

    def share(self, marks: Iterable[LiveMark], root: Path) -> None:
        """Copy the definitions into the root of the recordings, where a later session finds them.

        Raises `SettingsError` for several files, and for one that would replace definitions of the user.
        """
        files = sorted({mark.file for mark in marks if mark.file is not None})
        if self.workspace.tasks.configured is not None or not files:
            return
        if len(files) > 1:
            options = " ".join(f"--webeval-tasks={file}" for file in files)
            raise SettingsError(f"live tests of one session use {len(files)} files of tasks; pass {options}")
        copy = root / TASKS
        if copy != files[0]:
            _copy(_read(files[0]), copy, files[0])


def _copy(content: bytes, copy: Path, file: Path) -> None:
    checksum, mark = sha256(content), copy.with_name(COPIED)
    if (
        copy.exists()
        and (earlier := sha256(_read(copy))) != checksum
        and _read(mark).decode("ascii", "ignore") != earlier
    ):
        raise SettingsError(f"{copy} has other definitions than {file}; remove it, or {_ADVICE}")
    write_bytes(copy, content, _ADVICE)
    write_text(mark, checksum, advice=_ADVICE)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise TaskDefinitionError(f"cannot read {path}: {error.strerror}; make it readable") from error


def find_task_id(item: Any, mark: LiveMark) -> int | str | None:
    """The task of a test: its parameter, or else the only one that its marker names."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    if "webeval_recording" in parameters:
        task_id: int | str = parameters["webeval_recording"]
        return task_id
    return mark.task_ids[0] if len(mark.task_ids) == 1 else None


def require_mark(item: pytest.Item) -> LiveMark:
    """The marker of a live test. Raises `SettingsError` without one."""
    mark = LiveMark.of(item)
    if mark is None:
        raise SettingsError(f"a test with webeval_recording requires a task; {_USE}")
    return mark
