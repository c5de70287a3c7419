"""Judges: who gives a verdict that no rule can give. None is built in: the fixture `webeval_judge` provides one."""

from __future__ import annotations

from typing import Protocol


class Judge(Protocol):
    """Answers a question about a run with a text."""

    def verdict(self, question: str) -> str:
        """The judge's answer."""
        ...
