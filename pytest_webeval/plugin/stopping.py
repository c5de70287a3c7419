"""Why a session ended before it was through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_webeval.reports.failure_text import harmless

_SAY_IT_ALL = ("Interrupted", "Failed")  # pytest's and xdist's own, whose texts are whole sentences


@dataclass(eq=False)
class Stopping:
    """Plugin that keeps what pytest tells of it."""

    told: str | None = None
    lost: str | None = None

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C, `pytest.exit`, an error of collection, -x under xdist."""
        self.told = _told(excinfo)

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """A hook of somebody's that raised."""
        self.told = f"internal error: {_told(excinfo)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """A worker that died. Whether another one takes its place is for xdist to say."""
        if error:
            self.lost = f"worker {node.gateway.id} died: {error}"

    def reason(self, session: pytest.Session, unscored: Sequence[str]) -> str | None:
        """One line that says why, or None where nothing stopped the session."""
        told = self.told or session.shouldfail or session.shouldstop or (self.lost if unscored else None)
        return harmless(" ".join(str(told).split())) if told else None


def _told(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    told = str(excinfo.value)
    name = excinfo.typename.rpartition(".")[2]
    return told if told and name in _SAY_IT_ALL else ": ".join(filter(None, (name, told)))
