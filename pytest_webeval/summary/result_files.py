"""The results below a directory, in files and in shards, which may hold anything: each is read for itself."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.discovery import sort_key
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import RESULT, SUMMARY, TaskResult
from pytest_webeval.safety.files import read_file_inside, walk_directories
from pytest_webeval.safety.text import pluralize
from pytest_webeval.summary.redacted_results import DEFAULT_POLICY, redact_stored
from pytest_webeval.summary.result_manifest import UNREADABLE, Order, find_manifest, find_order, list_manifests
from pytest_webeval.summary.result_shards import expand_result
from pytest_webeval.summary.sharded_results import describe_problem, parse_result, read_rows

MAX_RESULTS = 1_000_000  # below one directory

Row = TypeVar("Row")


class StoredFile(Struct, frozen=True):
    """A result in a file of its own. `place` is its directory below the root, `where` the file, for messages."""

    directory: Path
    place: str
    order: Order = ()

    @property
    def where(self) -> str:
        """The path of the file below the root."""
        return RESULT if self.place == "." else f"{self.place}/{RESULT}"

    def read(self) -> TaskResult:
        """The result. Raises one of `UNREADABLE`."""
        return parse_result(self.read_file())

    def read_file(self) -> bytes:
        """The bytes of the file. Raises `RecordingError`."""
        return read_file_inside(self.directory, RESULT)


class StoredLine(Struct, frozen=True):
    """A result in a shard. `directory` and its `place` below the root are those that its file would have."""

    content: bytes
    directory: Path
    place: str
    order: Order
    where: str

    def read(self) -> TaskResult:
        """The result. Raises one of `UNREADABLE`."""
        return parse_result(self.content.decode())

    def read_file(self) -> bytes:
        """The bytes that the file would have. Raises `ValueError`."""
        return expand_result(self.content)


class _NestedShards(Struct, frozen=True):
    """A manifest below the directory of another, which may be in the directory of a run."""

    place: str
    order: Order
    where: str


StoredResult = StoredFile | StoredLine


def read_results(
    root: Path,
    build: Callable[[TaskResult, str], Row],
    problems: list[str],
    policy: RedactionPolicy = DEFAULT_POLICY,
) -> Iterator[Row]:
    """What `build` makes of each redacted result and its path below the root, in the order of the paths.

    `problems` gets a line for each result that cannot be used. Where a shard has the result of a run, a file in the
    directory of the run does not count: an agent can write it. Raises `SettingsError` beyond a million results.
    """
    return build_rows(root, lambda result, stored: build(result, stored.place), problems, policy)


def build_rows(
    root: Path,
    build: Callable[[TaskResult, StoredResult], Row],
    problems: list[str],
    policy: RedactionPolicy = DEFAULT_POLICY,
) -> Iterator[Row]:
    """The same, where `build` also gets what the result was read from, in which nothing is redacted."""
    for stored in list_stored(root, problems):
        try:
            row = build(redact_stored(stored.read(), stored.directory, policy), stored)
        except UNREADABLE as error:
            problems.append(f"{describe_problem(error, policy)} @ {stored.where}")
        else:
            yield row


def list_stored(root: Path, problems: list[str]) -> Iterator[StoredResult]:
    """The results, sorted; links are not followed.

    A result below another one is left out: an agent can write it into the directory of its run.
    """
    for count, stored in enumerate(_list_all(root, problems), 1):
        if count > MAX_RESULTS:
            raise SettingsError(f"{root} holds more than {MAX_RESULTS:,} results; name its {SUMMARY}")
        yield stored


def _list_all(root: Path, problems: list[str]) -> Iterator[StoredResult]:
    for directory, names, files in walk_directories(root):
        place = directory.relative_to(root).as_posix()
        if RESULT in files:
            names.clear()
            yield StoredFile(directory, place)
        elif manifests := list_manifests(directory, files):
            names.clear()
            yield from _list_with_shards(directory, manifests, place, problems)


def _join(directory: str, path: str) -> str:
    if directory == ".":
        return path
    return directory if path == "." else f"{directory}/{path}"


def _list_with_shards(
    directory: Path, manifests: Sequence[str], place: str, problems: list[str]
) -> Iterator[StoredResult]:
    """The results of shards and of files below their directory, each run once, in the order of their paths.

    Of two with the same path, that of a shard comes first.
    """
    streams = [_read_lines(directory, name, place, problems) for name in manifests]
    before: Order | None = None
    passed_over = 0
    for stored in heapq.merge(*streams, _list_files(directory, place), key=lambda each: each.order):
        if before is not None and stored.order[: len(before)] == before:
            if isinstance(stored, StoredFile):
                passed_over += stored.order == before
            elif isinstance(stored, StoredLine):
                problems.append(f"the run has another result, in or above {stored.place!r:.80} @ {stored.where}")
        elif isinstance(stored, _NestedShards):
            problems.append(f"results in shards below others are skipped; name their directory @ {stored.where}")
        else:
            before = stored.order
            yield stored
    if passed_over:
        runs = pluralize(passed_over, "run")
        problems.append(f"{runs} with another {RESULT}: the shards count @ {_join(place, manifests[0])}")


def _read_lines(directory: Path, manifest: str, place: str, problems: list[str]) -> Iterator[StoredLine]:
    for row in read_rows(directory, manifest, problems, place):
        yield StoredLine(row.content, directory / row.path, _join(place, row.path), row.order, row.where)


def _list_files(root: Path, place: str) -> Iterator[StoredFile | _NestedShards]:
    """The files below the directory of shards, in the order in which runs are collected."""
    for directory, names, files in walk_directories(root):
        path = directory.relative_to(root).as_posix()
        names.sort(key=sort_key)
        if RESULT in files:
            names.clear()
            yield StoredFile(directory, _join(place, path), find_order(path))
        elif directory != root and (manifest := next(filter(None, map(find_manifest, files)), None)):
            yield _NestedShards(_join(place, path), find_order(path), _join(place, f"{path}/{manifest}"))
