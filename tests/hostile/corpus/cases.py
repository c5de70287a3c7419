"""One directory of the corpus: what it is, what must become of it, and how it comes about."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.hostile.corpus import honest

Spoil = Callable[[Path], None]
EITHER = "failure|error"  # where a reader would take one as well as the other, but no success and no silence


@dataclass(frozen=True)
class Case:
    """A run whose honest files were written and then spoilt. `outcome` and `says` are patterns, the first of all of it.

    A run has the `task` that `tasks.json` defines for it; of a trajectory `changed` says what `recorded.write` is told.
    A run of any other format has neither: `write` makes its directory with the honest files.
    """

    what: str
    outcome: str
    says: str = ""
    spoil: Spoil = lambda path: None
    task: honest.Definition | None = field(default_factory=honest.asked)
    changed: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    root: str = "runs"
    is_healthy: bool = False
    write: Spoil | None = None

    @property
    def is_trajectory(self) -> bool:
        """Whether it is one of Fara's."""
        return self.task is None and self.write is None


def run(what: str, outcome: str, spoil: Spoil, says: str = "", **more: Any) -> Case:
    """A run of WebArena-Verified that met something."""
    return Case(what, outcome, says, spoil, **more)


def trajectory(what: str, outcome: str, spoil: Spoil = lambda path: None, says: str = "", **changed: Any) -> Case:
    """A trajectory that met something, or of which some files are others."""
    name = changed.pop("name", None)
    return Case(what, outcome, says, spoil, task=None, changed=changed, name=name)


def encoded(content: Any) -> bytes:
    """Bytes as they are, texts as UTF-8 (halves of surrogate pairs too), anything else as JSON."""
    if isinstance(content, bytes):
        return content
    text = content if isinstance(content, str) else json.dumps(content)
    return text.encode("utf-8", "surrogatepass")


def holding(name: str, content: Any) -> Spoil:
    """Puts a file in place of another, or beside it; content that is a function is called first: it may be big."""

    def spoil(path: Path) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(encoded(content() if callable(content) else content))

    return spoil


def all_of(*spoils: Spoil) -> Spoil:
    """One after the other."""

    def spoil(path: Path) -> None:
        for one in spoils:
            one(path)

    return spoil


def without(*names: str) -> Spoil:
    """Removes files and folders."""

    def spoil(path: Path) -> None:
        for name in names:
            place = path / name
            shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()

    return spoil


def answering(data: Any, **more: Any) -> Spoil:
    """The agent found something else."""
    return holding(honest.RESPONSE, lambda: honest.answer(data() if callable(data) else data, **more))


def recording(*entries: Any) -> Spoil:
    """The browser did something else."""
    return holding(honest.HAR, lambda: honest.har(*(one() if callable(one) else one for one in entries)))


def tracing(content: Any, name: str = honest.LINES) -> Spoil:
    """A trace of Playwright in place of the HAR."""
    return all_of(without(honest.HAR), holding(name, content))
