"""Layouts of run directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.fara import Fara
from pytest_webeval.recordings.webarena_verified import WebArenaVerified

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.recordings.run import RunFormat
    from pytest_webeval.rules import Rules


# What webeval writes next to the trajectories of a run (`fara_webeval.md` §7.1).
REPORTS = ("metrics.json", "aggregate_metrics.json", "task_answers.csv", "verify_report.jsonl")
# The first that recognizes a directory reads it.
FORMATS: tuple[RunFormat, ...] = (Fara(), WebArenaVerified())


def format_of(path: Path, listing: DirectoryListing | None = None) -> RunFormat | None:
    """The format of a run directory, or None for any other. Opens no recording, and does not list it twice."""
    listing = listing or list_directory(path)
    if listing.problem is not None:  # files with the right names may be there all the same
        return next((candidate for candidate in FORMATS if candidate.recognizes(path)), None)
    return next((candidate for candidate in FORMATS if candidate.recognizes_listing(listing)), None)


def load_run(path: Path, rules: Rules, label: str = "") -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    listing = list_directory(path)
    run_format = format_of(path, listing)
    if run_format is None:
        raise RecordingError(listing.problem or unknown_layout(path))
    return run_format.load(path, label or path.name, rules)


def unknown_layout(path: Path) -> str:
    """The message about a directory that no format recognizes."""
    formats = "; ".join(f"{candidate.name} ({candidate.expected_files})" for candidate in FORMATS)
    return f"unknown layout of {path}; expected {formats}; add the missing files or move the directory away"


def holds_reports(listing: DirectoryListing) -> bool:
    """Whether a directory holds only reports over runs, so that it is not a run and needs no message."""
    names = {name for name in listing.names if not name.startswith(".")}
    return bool(names) and names <= set(REPORTS)
