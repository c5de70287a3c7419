"""The files of a run that a page links, and the commands that it has."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from urllib.parse import quote_from_bytes

from msgspec import Struct

from pytest_webeval.reports.html.screenshots import relative_url
from pytest_webeval.safety.files import is_dir
from pytest_webeval.safety.run_directory import directory_to_list

MOST_NAMES = 5_000  # of a directory that are seen
MOST_TRACES, MOST_FILES = 5, 20
_ARCHIVE, _RECORDING = ".zip", ".har"
_RECORDING_ARCHIVE = ".har.zip"  # which the trace viewer does not open
# What a browser shows as text or downloads, and never runs.
_PASSIVE = (".har", ".json", ".jsonl", ".log", ".network", ".txt", ".zip")


class ReportPaths(Struct, frozen=True):
    """The paths of the linked files, of the report, and of the directory for its commands."""

    report: Path
    run: Path
    result: Path | None
    called_from: Path

    def shell_path(self, path: Path) -> str:
        """A path as a command has it: as short as it can be, quoted, and never an option."""
        inside = path.is_relative_to(self.called_from)
        text = str(path.relative_to(self.called_from) if inside else path)
        return shlex.quote(f"./{text}" if text.startswith("-") else text)


class RunListing(Struct, frozen=True):
    """The files of a run that a page may name. `inputs` are those that were read to score it."""

    inputs: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    recordings: tuple[str, ...] = ()
    is_directory: bool = True


def list_run_files(directory: Path, inputs: Iterable[str]) -> RunListing:
    """Inputs that are still there, and traces and HAR files next to them. Opens no file and follows no link."""
    found = _list_files(directory)
    is_directory = found is not None or is_dir(directory)
    files = frozenset(found or ())
    names = sorted(name for name in files if name.endswith((_ARCHIVE, _RECORDING)) and name.isprintable())
    read = sorted(inputs)[:MOST_FILES]
    present = [name for name in read if name.isprintable() and (name in files or _is_file(f"{directory}/{name}"))]
    archives = [name for name in names if name.endswith(_ARCHIVE) and "trace" in name.lower()]
    scored = [name for name in present if name.endswith(_ARCHIVE)]
    traces = [name for name in dict.fromkeys((*scored, *archives)) if not name.endswith(_RECORDING_ARCHIVE)]
    recordings = [name for name in names if name.endswith((_RECORDING, _RECORDING_ARCHIVE)) and name not in present]
    return RunListing(tuple(present), tuple(traces[:MOST_TRACES]), tuple(recordings[:MOST_TRACES]), is_directory)


def _list_files(directory: Path) -> list[str] | None:
    """The first regular files in it; None where it cannot be listed."""
    try:
        with directory_to_list(directory) as place, os.scandir(place) as scan:
            return [entry.name for entry in islice(scan, MOST_NAMES) if entry.is_file(follow_symlinks=False)]
    except OSError:
        return None


def _is_file(path: str) -> bool:
    try:
        return S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def list_commands(listing: RunListing, paths: ReportPaths, rerun: str | None) -> Iterator[dict[str, str]]:
    """The command that scores the run again, and one for each trace."""
    if rerun is not None:
        yield {"label": "score this run again", "command": rerun}
    for name in listing.traces:
        viewer = f"npx playwright show-trace {paths.shell_path(paths.run / name)}"
        label = "open the trace" if len(listing.traces) == 1 else f"open the trace {name}"
        yield {"label": label, "command": viewer}


def list_links(listing: RunListing, paths: ReportPaths) -> Iterator[dict[str, str | None]]:
    """The run directory, the result and the files; one that a browser might run has no address."""
    directory = f"{relative_url(paths.run, paths.report)}/"
    if listing.is_directory:
        yield {"label": "run directory", "href": directory}
    if paths.result is not None:
        is_inside = paths.result.parent == paths.run
        href = f"{directory}{paths.result.name}" if is_inside else relative_url(paths.result, paths.report)
        yield {"label": paths.result.name, "href": href}
    for name in dict.fromkeys((*listing.inputs, *listing.traces, *listing.recordings)):
        is_passive = name.lower().endswith(_PASSIVE)
        yield {"label": name, "href": f"{directory}{quote_from_bytes(os.fsencode(name))}" if is_passive else None}
