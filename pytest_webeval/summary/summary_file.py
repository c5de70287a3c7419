"""Summaries on the disk: a file that people can read, and side files for the lists that are too long for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError
from pytest_webeval.results import PARTIAL_SUMMARY, SUMMARY, Summary
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.storage import Sync, remove, write_long_json
from pytest_webeval.summary.side_files import SideFileWriter, parse_json, remove_side_files, restore_lists


def write_summary(path: Path, summary: Summary, sync: Sync | None = None) -> None:
    """Write a summary. Raises `SettingsError`; what was there before is still there and complete then."""
    write_with_side_files(path, {name: getattr(summary, name) for name in summary.__struct_fields__}, sync)


def write_session_summary(directory: Path, summary: Summary, sync: Sync | None = None) -> Path:
    """Write the summary of a session, and return its path. Raises `SettingsError`.

    That of a partial session never replaces the summary of all runs. A complete session removes it, since it is older.
    """
    path, partial_path = directory / summary.file_name, directory / PARTIAL_SUMMARY
    write_summary(path, summary, sync)
    if path != partial_path:
        remove(partial_path)
        remove_side_files(partial_path)
    return path


def find_summary(directory: Path) -> Path | None:
    """The summary in a directory: that of all runs, or else that of a partial session, which says so."""
    paths = (directory / name for name in (SUMMARY, PARTIAL_SUMMARY))
    return next((path for path in paths if os.path.lexists(path)), None)


def write_with_side_files(path: Path, content: Mapping[str, Any], sync: Sync | None = None) -> None:
    """Write some JSON, with side files for long lists, which it names. Raises `SettingsError`.

    The side files come first and have names of their own, and those of the earlier file go last: whenever the process
    is killed, the file that is there has all of its side files.
    """
    writer = SideFileWriter(path, sync)
    short = writer.move_lists(content)
    short.get("webeval", short).update(writer.list_written())
    write_long_json(path, short, sync)
    writer.remove_others()


def read_summary_file(path: Path, source: str) -> Any:
    """The JSON of a file that a user names: a link to it is followed. Raises `SettingsError`.

    The lists of side files are a `SideList` or a `SideMapping`, which are read a piece at a time.
    """
    try:
        resolved = path.resolve()
        raw = parse_json(read_file_inside(resolved.parent, resolved.name).decode(), source)
    except (OSError, RuntimeError) as error:  # links that lead to each other
        raise SettingsError(f"cannot read {source}: {error}; check the path") from error
    except (RecordingError, EvaluationError) as error:
        raise SettingsError(str(error)) from error
    except ValueError as error:
        raise SettingsError(f"cannot parse {source} as JSON: {error}; use an {SUMMARY}") from error
    return restore_lists(raw, resolved, source)
