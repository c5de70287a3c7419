"""Judges: who gives a verdict that no rule can give. None is built in; a fixture of a conftest provides one."""

from __future__ import annotations

from typing import Protocol

JUDGES: dict[str, type[Judge]] = {}


class Judge(Protocol):
    """Answers a question about a run with a text."""

    def verdict(self, question: str) -> str:
        """The judge's answer."""
        ...
