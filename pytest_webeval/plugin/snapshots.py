"""What the processes of one session agree on: a directory of runs as the first of them saw it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.recordings.run import RunFormat
from pytest_webeval.recordings.run_tree import Branch, Kind
from pytest_webeval.safety.files import sha256

# The names by which the controller of xdist hands a worker the directory, and what arguments named in run roots.
PLACE = "webeval_snapshots"
ARGUMENT_PATHS = "webeval_named"
# That the controller set this variable, which workers remove again: it is for their start, not for what they start.
IS_PATH_SAFE, SAFE_PATH = "webeval_safe_path", "PYTHONSAFEPATH"
_LAYOUTS: dict[str, RunFormat] = {layout.name: layout for layout in FORMATS}


class Snapshots(Struct, frozen=True):
    """A private directory of the session with a file for each scanned directory of runs."""

    place: Path

    def agree(self, key: str, look: Callable[[], bytes]) -> bytes:
        """What the first process saw. A process that cannot write or read there, as on another machine, is alone."""
        first = self.place / f"{key}.json"
        with suppress(OSError):
            return first.read_bytes()
        content = look()
        with suppress(OSError):
            own = self.place / f"{key}.{os.getpid()}"
            own.write_bytes(content)
            with suppress(FileExistsError):
                os.link(own, first)  # whole or not at all, and never over another's
            own.unlink()
            return first.read_bytes()
        return content


SNAPSHOTS = pytest.StashKey[Snapshots]()


def key_of(path: Path, *inputs: object) -> str:
    """A name for a directory and all that decides what a process finds in it."""
    return sha256(json.dumps([str(path), *inputs]).encode())


def snapshot(branch: Branch, formats: dict[Path, RunFormat | None]) -> bytes:
    """A tree as text, which names those formats that every process has."""
    return json.dumps([_branch_to_json(branch, formats), [*map(str, branch.without_runs)]]).encode()


def _branch_to_json(branch: Branch, formats: dict[Path, RunFormat | None]) -> list[Any]:
    run_format = formats.get(branch.path) if branch.kind is Kind.RUN else None
    layout = run_format.name if run_format is not None and _LAYOUTS.get(run_format.name) is run_format else None
    inner = [_branch_to_json(child, formats) for child in branch.branches]
    return [branch.path.name, branch.kind.value, branch.problem, layout, inner]


def restore(text: bytes, path: Path) -> tuple[Branch, dict[Path, RunFormat | None]]:
    """The tree below a directory, and the formats of its runs; None for one that a hook has to recognize again.

    The directories without runs are those of the whole tree, at its top.
    """
    tree, without_runs = json.loads(text)
    formats: dict[Path, RunFormat | None] = {}
    return _branch(tree, path, formats, tuple(map(Path, without_runs))), formats


def _branch(
    tree: list[Any], path: Path, formats: dict[Path, RunFormat | None], without_runs: tuple[Path, ...] = ()
) -> Branch:
    _, value, problem, layout, inner = tree
    kind = Kind(value)
    if kind is Kind.RUN:
        formats[path] = _LAYOUTS.get(layout)
    return Branch(path, kind, problem, tuple(_branch(child, path / child[0], formats) for child in inner), without_runs)
