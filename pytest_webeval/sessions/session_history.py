"""Earlier sessions that an option names, and the page of the report with these and the present session."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.results import Summary
from pytest_webeval.summary.history import build_history, condense
from pytest_webeval.summary.scored_session import ScoredSession, session_of
from pytest_webeval.summary.session_reading import read_session


class SessionHistory(Struct, frozen=True):
    """One per session with the option."""

    earlier: list[ScoredSession]

    @classmethod
    def read(cls, names: Iterable[str]) -> SessionHistory:
        """Read the files before anything is scored: one of them may be the summary that this session replaces.

        Raises `SettingsError`.
        """
        try:
            return cls([condense(read_session(Path(name))) for name in dict.fromkeys(names)])
        except WebEvalError as error:
            raise SettingsError(f"--webeval-history: {error}") from error

    def write(self, summary: Summary, directory: Path) -> Path:
        """Write history.html, with this session as the last one, and return its path. Raises `SettingsError`."""
        from pytest_webeval.reports.html.static_pages import write_history_page  # when the session is over

        return write_history_page(build_history(self.earlier, session_of(summary)), directory)
