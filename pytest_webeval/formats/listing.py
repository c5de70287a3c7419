"""What one look at a directory shows: the names in it, and which of them are directories or links."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_webeval.errors import RecordingError


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in a directory, all at once. Of one that cannot be listed there are none, and `problem` says why."""

    path: Path
    entries: tuple[os.DirEntry[str], ...]
    names: frozenset[str]
    problem: str | None = None

    def subdirectories(self) -> list[Path]:
        """Visible directories in it, sorted so that 9 comes before 10. Raises `RecordingError`."""
        if self.problem is not None:
            raise RecordingError(self.problem)
        found = [entry for entry in self.entries if _is_visible_directory(entry)]
        return [Path(entry.path) for entry in sorted(found, key=_place)]

    def links_out(self, root: Path) -> list[Path]:
        """Links that lead to nothing, and to directories outside a root; those inside it are found anyway."""
        links = sorted(entry.path for entry in self.entries if entry.is_symlink())
        if not links:
            return []
        inside = Path(os.path.realpath(root))
        return [link for link in map(Path, links) if _leads_out(link, inside)]


def listed(path: Path) -> Listing:
    """What is in a directory. Looks at no file in it."""
    try:
        with os.scandir(path) as found:
            entries = tuple(found)
    except OSError as error:
        return Listing(path, (), frozenset(), f"cannot list {path}: {error.strerror}; make it readable")
    return Listing(path, entries, frozenset([entry.name for entry in entries]))


def _is_visible_directory(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith((".", "__pycache__")) and entry.is_dir(follow_symlinks=False)


def _place(entry: os.DirEntry[str]) -> tuple[int, int, str]:
    name = entry.name
    number = (0, int(name)) if name.isascii() and name.isdigit() and len(name) < 20 else (1, 0)
    return (*number, name)


def _leads_out(link: Path, inside: Path) -> bool:
    if not link.exists():
        return not link.name.startswith(".")  # editors leave such links as locks
    return link.is_dir() and not Path(os.path.realpath(link)).is_relative_to(inside)
