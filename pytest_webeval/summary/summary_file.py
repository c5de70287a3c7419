"""Summaries on the disk: a file that people can read, and side files for the lists that are too long for it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path
from types import NoneType
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError
from pytest_webeval.results import (
    LONGEST_LIST_NAME,
    PARTIAL_SUMMARY,
    SIDE_FILE,
    SIDE_FILE_DIGITS,
    SUMMARY,
    Summary,
    is_side_file,
    plain_json,
)
from pytest_webeval.safety.files import open_file_inside, read_file_inside
from pytest_webeval.safety.json import format_validation_error, get_member, load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.safety.text import escape_surrogates
from pytest_webeval.storage import Sync, remove, write_json_lines, write_long_json
from pytest_webeval.summary.store.spooled_list import LongList, PairMapping


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


LIMIT = 10_000  # entries of a list that stays in its file
SIDE_FILES = "side_files"
JSON_LIMITS = replace(USUAL, values=10_000_000)  # a summary of 100,000 runs has some millions
_PLAIN = (str, int, float, NoneType, bytes, bytearray)  # asked first: an abstract class takes many times longer
_DEEPEST = 4  # levels at which lists grow with the number of runs
_PIECE = 2**20  # bytes
_HALF_PAIR = re.compile(r"\\u[dD]")  # perhaps, or a whole pair

Names = tuple[str | int, ...]  # of members and items, from the outermost to a list


class SideFile(Struct, frozen=True):
    """What a file says of a list that is not in it. Of an object, each line has a name and a value."""

    path: list[str | int]
    file: str
    count: int
    checksum: str


def parse_json(text: str, source: str) -> Any:
    """The JSON in a text that may be shown. Raises `ValueError` and `EvaluationError`."""
    raw = load_bounded(text, JSON_LIMITS, source)
    return escape_surrogates(raw) if _HALF_PAIR.search(text) else raw  # which cannot be shown


class SideFileWriter:
    """Writes the side files of one file, each of which is complete before the file that names it is there."""

    def __init__(self, path: Path, sync: Sync | None) -> None:
        self._path, self._sync = path, sync
        self.written: list[SideFile] = []

    def move_lists(self, tree: Any, names: Names = ()) -> Any:
        """The same as plain JSON, each long list or object in it empty. Raises `SettingsError`."""
        if isinstance(tree, _PLAIN) or not isinstance(tree, Mapping | Sequence):
            return plain_json(tree)
        if names and len(tree) > LIMIT:
            self._write(tree, names)
            return {} if isinstance(tree, Mapping) else []
        if len(names) == _DEEPEST:
            return plain_json(tree)
        if isinstance(tree, Mapping):
            return {name: self.move_lists(value, (*names, name)) for name, value in tree.items()}
        return [self.move_lists(value, (*names, index)) for index, value in enumerate(tree)]

    def _write(self, tree: Mapping[str, Any] | Sequence[Any], names: Names) -> None:
        entries: Iterable[Any] = (
            ([str(name), value] for name, value in tree.items()) if isinstance(tree, Mapping) else tree
        )
        slug = re.sub("[^a-z0-9]+", "_", "_".join(map(str, names)).lower()).strip("_")[:LONGEST_LIST_NAME] or "list"
        stem = f"{self._path.stem}-{slug}"
        lines = write_json_lines(
            self._path,
            map(plain_json, entries),
            lambda checksum: f"{stem}-{checksum[:SIDE_FILE_DIGITS]}.jsonl",
            self._sync,
        )
        self.written.append(SideFile(list(names), lines.name, lines.lines, lines.checksum))

    def list_written(self) -> dict[str, Any]:
        """What the file says of its side files; empty if it has none."""
        return {SIDE_FILES: to_builtins(self.written)} if self.written else {}

    def remove_others(self) -> None:
        """Remove the side files of an earlier file of this name."""
        remove_side_files(self._path, {each.file for each in self.written})


def remove_side_files(path: Path, kept: Iterable[str] = ()) -> None:
    """Remove the side files of a file, but those of some names: plain files, never links."""
    names = frozenset(kept)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            is_other = entry.name not in names and is_side_file(entry.name, path.stem)
            if is_other and entry.is_file(follow_symlinks=False):
                os.unlink(entry.path)  # noqa: PTH108  (the same path, as text)


class SideList(LongList):
    """The entries of a side file, read a line at a time, again and again.

    Raises `SettingsError` while it is read if somebody changes the file.
    """

    def __init__(self, directory: Path, file: SideFile, source: str) -> None:
        self.directory, self.source = directory, source
        self.file = file

    def check(self) -> None:
        """Raise `SettingsError` if the file is missing, or is another than was written."""
        digest, count = hashlib.sha256(), 0
        try:
            with open_file_inside(self.directory, self.file.file) as content:
                while piece := content.read(_PIECE):
                    digest.update(piece)
                    count += piece.count(b"\n")
        except (OSError, RecordingError) as error:
            problem = f"cannot read {self.source}: {str(error).partition('; ')[0]}"
            raise SettingsError(f"{problem}; copy its side files next to it") from error
        if (digest.hexdigest(), count) != (self.file.checksum, self.file.count):
            problem = f"cannot read {self.source}: the side file {self.file.file} has changed"
            raise SettingsError(f"{problem}; restore the file of SHA-256 {self.file.checksum:.64}, or score again")

    def __len__(self) -> int:
        return self.file.count

    def __iter__(self) -> Iterator[Any]:
        try:
            with open_file_inside(self.directory, self.file.file) as content:
                while line := content.readline(USUAL.file_size):
                    yield parse_json(line.decode(), self.source)
        except (OSError, RecordingError, EvaluationError, ValueError) as error:
            raise SettingsError(f"cannot read {self.file.file} of {self.source}: {error}; score again") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SideList) and other.file.checksum == self.file.checksum

    def __hash__(self) -> int:
        return hash(self.file.checksum)


class SideMapping(PairMapping):
    """The members of an object in a side file."""


def restore_lists(raw: Any, path: Path, source: str) -> Any:
    """The content of a file with the lists that its side files have. Raises `SettingsError` for one that changed."""
    listed = get_member(raw, SIDE_FILES) or get_member(get_member(raw, "webeval"), SIDE_FILES)
    if not listed:
        return raw
    try:
        for file in convert(listed, list[SideFile]):
            if not SIDE_FILE.fullmatch(file.file) or file.count < 0:
                raise ValueError(f"{file.file!r:.80} does not name a side file")
            entries = SideList(path.parent, file, source)
            entries.check()
            *above, name = file.path
            place = reduce(getitem, above, raw)
            place[name] = SideMapping(entries) if isinstance(place[name], dict) else entries
    except ValidationError as error:
        raise SettingsError(f"cannot read {source}: {format_validation_error(error)} @ {SIDE_FILES}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise SettingsError(f"cannot read {source}: invalid {SIDE_FILES}: {error}; score again") from error
    return raw


def load_side_lists(tree: Any) -> Any:
    """The same JSON with the content of its side files in memory."""
    if isinstance(tree, dict):
        return {name: load_side_lists(value) for name, value in tree.items()}
    return list(tree) if isinstance(tree, SideList) else dict(tree.items()) if isinstance(tree, SideMapping) else tree
