"""What one look at a directory shows: the names in it, and which of them are directories or links."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.files import exists, is_dir
from pytest_webeval.safety.run_directory import directory_to_list

# Directories of tools, which never hold runs. They are not opened.
TOOLS = frozenset({
    ".benchmarks", ".bzr", ".cache", ".direnv", ".eggs", ".git", ".gradle", ".hg", ".hypothesis", ".idea",
    ".ipynb_checkpoints", ".jj", ".mypy_cache", ".nox", ".npm", ".pnpm-store", ".pytest_cache", ".ruff_cache",
    ".svn", ".terraform", ".tox", ".venv", ".virtualenv", ".vscode", ".yarn", ".Spotlight-V100", ".Trash",
    ".Trashes", ".fseventsd", "__pycache__", "lost+found", "node_modules",
})  # fmt: skip
# What only a virtual environment holds, of Python's own kind or of conda's.
ENVIRONMENT = frozenset({"pyvenv.cfg", "conda-meta"})


class DirectoryListing(Struct, frozen=True):
    """The names in a directory, all at once. Of one that cannot be listed there are none, and `problem` says why."""

    path: Path
    entries: tuple[os.DirEntry[str], ...]
    names: frozenset[str]
    problem: str | None = None

    def directories(self) -> list[Path]:
        """Directories in it but those of tools, hidden ones included, sorted so that 9 comes before 10.

        Raises `RecordingError`.
        """
        if self.problem is not None:
            raise RecordingError(self.problem)
        directories = [entry for entry in self.entries if entry.name not in TOOLS and is_directory(entry)]
        return [self.path / entry.name for entry in sorted(directories, key=lambda entry: sort_key(entry.name))]

    def links_out(self, root: Path) -> list[Path]:
        """Links that lead to nothing, and to directories outside a root; those inside it are found anyway."""
        links = sorted(entry.name for entry in self.entries if entry.is_symlink())
        if not links:
            return []
        inside = Path(os.path.realpath(root))
        return [link for name in links if _leads_out(link := self.path / name, inside)]


def list_directory(path: Path) -> DirectoryListing:
    """What is in a directory. Looks at no file in it."""
    try:
        with directory_to_list(path) as place, os.scandir(place) as scan:
            entries = tuple(scan)
    except OSError as error:
        return DirectoryListing(path, (), frozenset(), f"cannot list {path}: {error.strerror}; make it readable")
    return DirectoryListing(path, entries, frozenset([entry.name for entry in entries]))


def is_hidden(path: Path) -> bool:
    """Whether the name of a directory begins with a dot."""
    return path.name.startswith(".")


def is_directory(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory and not a link; an unreadable entry is not a directory."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def sort_key(name: str) -> tuple[int, int, str]:
    """What names of directories are sorted by: numbers first, 9 before 10."""
    number = (0, int(name)) if name.isascii() and name.isdigit() and len(name) < 20 else (1, 0)
    return (*number, name)


def _leads_out(link: Path, inside: Path) -> bool:
    if not exists(link):
        return not is_hidden(link)  # editors leave such links as locks
    return is_dir(link) and not Path(os.path.realpath(link)).is_relative_to(inside)
