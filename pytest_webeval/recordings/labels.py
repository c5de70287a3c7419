"""Run roots, and the unique names of the directories in them."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes

from msgspec import Struct

_SAFE = "/-_.~+=@, "


def quote_path(path: str) -> str:
    """A path in ASCII, as URLs spell it; a plain one stays as it is."""
    return quote_from_bytes(os.fsencode(path), safe=_SAFE)


class Labels(Struct, frozen=True, dict=True):
    """Names of directories at or below run roots: ASCII and unique, for they are node ids and keys of records."""

    roots: tuple[Path, ...]
    rootdir: Path
    mirrored: frozenset[Path] = frozenset()  # roots in a cache, whose place says nothing

    def root_of(self, path: Path) -> Path | None:
        text = f"{path}{os.sep}"
        return next((root for root, inside in self._beginnings if text.startswith(inside)), None)

    @cached_property
    def _beginnings(self) -> list[tuple[Path, str]]:
        """Roots with what the paths in them begin with, as text: pathlib takes many times longer to compare."""
        return [(root, os.path.join(root, "")) for root in self.roots]  # noqa: PTH118

    @cached_property
    def prefixes(self) -> dict[Path, str]:
        """What labels of a root begin with: its place below pytest's rootdir, or its own name where it lies outside."""
        prefixes: dict[Path, str] = {}
        for root in self.roots:
            inside = root.is_relative_to(self.rootdir) and root not in self.mirrored
            preferred = root.relative_to(self.rootdir).as_posix() if inside else root.name
            count = 2
            name = preferred
            while name in prefixes.values():
                name, count = f"{preferred}-{count}", count + 1
            prefixes[root] = name
        return prefixes

    def of(self, path: Path) -> str:
        root = self.root_of(path)
        if root is None:
            raise ValueError(f"{path} is not inside a run root")
        inner = str(path)[len(str(root)) :].lstrip(os.sep)
        joined = "/".join(part for part in (self.prefixes[root], inner or ".") if part != ".") or "."
        return quote_path(joined)

    def path_of(self, label: str) -> Path | None:
        """The directory with that label, or None."""
        plain = os.fsdecode(unquote_to_bytes(label))
        for root, prefix in sorted(self.prefixes.items(), key=lambda pair: -len(pair[1])):
            if prefix in (".", plain) or plain.startswith(f"{prefix}/"):
                inner = plain if prefix == "." else plain[len(prefix) :].lstrip("/")
                return root / inner
        return None


def parse_task_id(path: Path) -> int | None:
    """The task id that a directory is named by, or None."""
    return int(path.name) if path.name.isascii() and path.name.isdigit() else None


def default_task_id(path: Path) -> int | str:
    """The task id that a directory is named by: a number, or else its name."""
    number = parse_task_id(path)
    return path.name if number is None else number
