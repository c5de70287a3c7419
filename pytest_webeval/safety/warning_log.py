"""Warnings about what is odd in a file that somebody else wrote, each of which says where."""

from __future__ import annotations

MAX_WARNINGS = 20


class WarningLog:
    """What was odd in one file and what was done about it; beyond the first 20 they are counted, not kept."""

    __slots__ = ("_kept", "_left_out", "file")

    def __init__(self, file: str) -> None:
        self.file = file
        self._kept: list[str] = []
        self._left_out = 0

    def add(self, text: str, line: int | None = None) -> None:
        """One warning, with the number of the line (from 1) where there is one."""
        if len(self._kept) == MAX_WARNINGS:
            self._left_out += 1
        else:
            self._kept.append(f"{self.file}: {text}" if line is None else f"{self.file} line {line}: {text}")

    @property
    def texts(self) -> tuple[str, ...]:
        """All warnings, with a last one that counts those left out."""
        more = (f"{self.file}: {self._left_out} more such warnings",) if self._left_out else ()
        return (*self._kept, *more)
