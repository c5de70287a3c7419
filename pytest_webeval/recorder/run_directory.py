"""The directory of a recording: a new one for each attempt, named after the task, and never an existing one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

from pytest_webeval.errors import SettingsError

ATTEMPT = "attempt-"
_LONGEST_NAME = 200  # bytes
_FORBIDDEN = ("/", "\\", "\0")


def create_run_directory(root: Path, task_id: int | str) -> Path:
    """A new directory for a run of a task: `107` in the root, or `attempt-2/107` there if that exists, and so on.

    Attempts are directories above those of tasks, as sessions over several attempts read them. Raises `SettingsError`.
    """
    name = _check_name(str(task_id))
    for number in count(1):
        directory = root / name if number == 1 else root / f"{ATTEMPT}{number}" / name
        try:
            if number > 1 and directory.parent.is_symlink():  # an agent's of before; only the root may be one
                continue
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir()
        except FileExistsError:
            if not directory.parent.is_dir():
                raise SettingsError(f"cannot record into {directory}: not a directory; choose another one") from None
        except OSError as error:
            raise SettingsError(
                f"cannot record into {directory}: {error.strerror}; choose another directory"
            ) from error
        else:
            return directory
    raise AssertionError("unreachable")  # pragma: no cover


def remove_run_directory(directory: Path) -> None:
    """Remove the directory of a recording, and that of its attempt if nothing else is in it."""
    shutil.rmtree(directory, ignore_errors=True)
    if directory.parent.name.startswith(ATTEMPT):
        with suppress(OSError):
            directory.parent.rmdir()


def _check_name(name: str) -> str:
    is_long = len(os.fsencode(name)) > _LONGEST_NAME
    if (
        not name
        or is_long
        or not name.isprintable()
        or name.startswith(".")
        or any(sign in name for sign in _FORBIDDEN)
    ):
        problem = f"task id {name!r:.100} cannot name a directory"
        raise SettingsError(f"{problem}; use letters, digits, '-' and '_' in task_id, at most {_LONGEST_NAME}")
    if name.startswith(ATTEMPT):
        raise SettingsError(f"task id {name!r} names an attempt; choose another task_id")
    return name
