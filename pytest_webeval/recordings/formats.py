"""Layouts of run directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Protocol

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.fara import Fara
from pytest_webeval.recordings.webarena_verified import WebArenaVerified

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.recordings.run import RunFormat
    from pytest_webeval.rules import Rules


if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.recordings.run import RunFormat
    from pytest_webeval.rules import Rules

    class Layout(RunFormat, Protocol):
        """A format that knows its runs by the names in them."""

        def fits(self, seen: DirectoryListing) -> bool:
            """Whether a directory with these names is a run of this format."""
            ...

        def knows_part(self, seen: DirectoryListing) -> bool:
            """Whether a directory that is no run of this format has a file of one, so that it may be a broken one."""
            ...


# What webeval writes beside the trajectories of a run (`fara_webeval.md` §7.1).
REPORTS = ("metrics.json", "aggregate_metrics.json", "task_answers.csv", "verify_report.jsonl")
# The first that recognizes a directory reads it.
FORMATS: tuple[Layout, ...] = (Fara(), WebArenaVerified())


def format_of(path: Path, seen: DirectoryListing | None = None) -> RunFormat | None:
    """The format of a run directory, or None where it is none. Opens no recording, and does not look at it twice."""
    seen = seen or list_directory(path)
    if seen.problem is not None:  # files with the right names may be there all the same
        return next((candidate for candidate in FORMATS if candidate.recognizes(path)), None)
    return next((candidate for candidate in FORMATS if candidate.fits(seen)), None)


def load_run(path: Path, rules: Rules, label: str = "") -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    seen = list_directory(path)
    found = format_of(path, seen)
    if found is None:
        raise RecordingError(seen.problem or unknown_layout(path))
    return found.load(path, label or path.name, rules)


def unknown_layout(path: Path) -> str:
    """What to tell about a directory that no format recognizes."""
    known = "; ".join(f"{candidate.name} ({candidate.wanted})" for candidate in FORMATS)
    return f"{path} has an unknown layout; wanted a run of {known}; add what is missing or move it away"


def holds_reports(seen: DirectoryListing) -> bool:
    """Whether a directory holds nothing but what somebody computed over runs, so that it is none and needs no word."""
    names = {name for name in seen.names if not name.startswith(".")}
    return bool(names) and names <= set(REPORTS)
