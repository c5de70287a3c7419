"""Warnings about an untrusted file, each of which says where."""

from __future__ import annotations

from pytest_webeval.safety.text import pluralize

MAX_WARNINGS = 20


class WarningLog:
    """What is malformed in one file and how it was repaired; beyond the first 20, warnings are only counted."""

    __slots__ = ("_omitted_count", "_retained", "file")

    def __init__(self, file: str) -> None:
        self.file = file
        self._retained: list[str] = []
        self._omitted_count = 0

    def add(self, text: str, line: int | None = None) -> None:
        """One warning, with the number of the line (from 1) where there is one."""
        if len(self._retained) == MAX_WARNINGS:
            self._omitted_count += 1
        else:
            self._retained.append(f"{self.file}: {text}" if line is None else f"{self.file} line {line}: {text}")

    @property
    def texts(self) -> tuple[str, ...]:
        """All warnings; the last one counts the omitted ones."""
        more = (f"{self.file}: {pluralize(self._omitted_count, 'more warning')}",) if self._omitted_count else ()
        return (*self._retained, *more)
