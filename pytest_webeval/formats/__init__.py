"""Layouts of run directories, and how runs are found below a directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.formats.fara import Fara
from pytest_webeval.formats.webarena_verified import WebArenaVerified

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules
    from pytest_webeval.runs import Run
    from pytest_webeval.runs import RunFormat

# What webeval writes beside the trajectories of a run (`fara_webeval.md` §7.1).
REPORTS = ("metrics.json", "aggregate_metrics.json", "task_answers.csv", "verify_report.jsonl")
# The first that recognizes a directory reads it.
FORMATS: tuple[RunFormat, ...] = (Fara(), WebArenaVerified())


def format_of(path: Path) -> RunFormat | None:
    """The format of a run directory, or None where it is none. Opens no recording."""
    return next((candidate for candidate in FORMATS if candidate.recognizes(path)), None)


def load_run(path: Path, rules: Rules, label: str = "") -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    found = format_of(path)
    if found is None:
        raise RecordingError(unknown_layout(path))
    return found.load(path, label or path.name, rules)


def unknown_layout(path: Path) -> str:
    """What to tell about a directory that no format recognizes."""
    known = "; ".join(f"{candidate.name} ({candidate.wanted})" for candidate in FORMATS)
    return f"{path} has an unknown layout; wanted a run of {known}; add what is missing or move it away"


def run_directories(root: Path) -> Iterator[Path]:
    """Each directory at or below a root that is a run, in the order of their names. Links are not followed below it."""
    if format_of(root) is not None:
        yield root
        return
    for child in subdirectories(root):
        yield from run_directories(child)


def subdirectories(path: Path) -> list[Path]:
    """Visible directories in a directory, sorted so that 9 comes before 10. Raises `RecordingError`."""
    try:
        with os.scandir(path) as entries:
            found = [Path(entry.path) for entry in entries if _is_visible_directory(entry)]
    except OSError as error:
        raise RecordingError(f"cannot list {path}: {error.strerror}; make it readable") from error
    return sorted(found, key=lambda child: (*_natural(child.name), child.name))


def holds_reports(path: Path) -> bool:
    """Whether a directory holds nothing but what somebody computed over runs, so that it is none and needs no word."""
    with os.scandir(path) as entries:
        names = {entry.name for entry in entries if not entry.name.startswith(".")}
    return bool(names) and names <= set(REPORTS)


def links_out(path: Path, root: Path) -> list[Path]:
    """Links that lead to nothing, and to directories outside a root; those inside it are found anyway."""
    inside = Path(os.path.realpath(root))
    return [link for link in sorted(path.iterdir()) if link.is_symlink() and _leads_out(link, inside)]


def _leads_out(link: Path, inside: Path) -> bool:
    if not link.exists():
        return not link.name.startswith(".")  # editors leave such links as locks
    return link.is_dir() and not Path(os.path.realpath(link)).is_relative_to(inside)


def _is_visible_directory(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith((".", "__pycache__")) and entry.is_dir(follow_symlinks=False)


def _natural(name: str) -> tuple[int, int]:
    return (0, int(name)) if name.isascii() and name.isdigit() and len(name) < 20 else (1, 0)
