"""The paths of very many runs, a few bytes each."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable, Iterator

_PIECE = 1_000  # paths that are compressed together


class PathList(Collection[str]):
    """Paths in their order, to be read again and again from the beginning."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._pieces: list[bytes] = []
        self._last: list[str] = []
        for path in paths:
            self.append(path)

    def append(self, path: str) -> None:
        """Add a path."""
        self._last.append(path)
        if len(self._last) == _PIECE:
            self._pieces.append(zlib.compress(os.fsencode("\0".join(self._last)), 1))  # no path has this character
            self._last = []

    def __len__(self) -> int:
        return len(self._pieces) * _PIECE + len(self._last)

    def __iter__(self) -> Iterator[str]:
        for piece in self._pieces:
            yield from os.fsdecode(zlib.decompress(piece)).split("\0")
        yield from self._last

    def __contains__(self, path: object) -> bool:
        return any(path == each for each in self)
