"""The results below a directory, in files and in shards, which may hold anything: each is read for itself."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.discovery import sort_key
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import RESULT, SUMMARY, TaskResult, find_version_problem
from pytest_webeval.safety.files import read_file_inside, sha256, walk_directories
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import pluralize, truncate_words
from pytest_webeval.summary.results.redacted_results import DEFAULT_POLICY, parse_policy, redact_stored, redact_text
from pytest_webeval.summary.results.result_shards import expand_result
from pytest_webeval.summary.store.result_manifest import (
    UNREADABLE,
    Manifest,
    Order,
    ResultShard,
    find_manifest,
    find_order,
    find_path,
    list_manifests,
    read_manifest,
)

MAX_RESULTS = 1_000_000  # below one directory
_LONGEST_ERROR = 10_000  # characters of a message that are searched for secrets
_MOST_PROBLEMS = 100  # of one shard; it may have millions of lines

Row = TypeVar("Row")


class StoredResult(Struct, frozen=True):
    """A result in a file of its own, or on a `line` of a shard.

    `directory` and its `place` below the root are those of the file, or those that it would have. `where` is the file
    or the line, for messages. Instead of a result it may be the manifest of shards below others: `is_manifest`.
    """

    directory: Path
    place: str
    where: str
    order: Order = ()
    label: str = ""  # of one in a shard
    line: bytes | None = None
    is_manifest: bool = False

    def read(self) -> TaskResult:
        """The result. Raises one of `UNREADABLE`."""
        return parse_result(self.read_file() if self.line is None else self.line.decode())

    def read_file(self) -> bytes:
        """The bytes that the file has, or would have. Raises one of `UNREADABLE`."""
        return read_file_inside(self.directory, RESULT) if self.line is None else expand_result(self.line)


def parse_result(content: bytes | str) -> TaskResult:
    """The result in the JSON of a file or of a line. Raises one of `UNREADABLE`."""
    result = TaskResult.read(json.loads(content))
    if problem := find_version_problem(result.webeval.get("schema_version", 1)):
        raise ValueError(problem)
    return result


def describe_problem(error: Exception, policy: RedactionPolicy = DEFAULT_POLICY) -> str:
    """What is wrong with a file, in one line without secrets: a part of one that was cut could not be redacted."""
    return f"{' '.join(redact_text(truncate_words(str(error), _LONGEST_ERROR), policy).split()):.200}"


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
            yield StoredResult(directory, place, _join(place, RESULT))
        elif manifests := list_manifests(directory, files):
            names.clear()
            yield from _list_with_shards(directory, manifests, place, problems)


def _join(directory: str, path: str) -> str:
    parts = [part for part in (directory, path) if part != "."]
    return "/".join(parts) or "."


def _list_with_shards(
    directory: Path, manifests: Sequence[str], place: str, problems: list[str]
) -> Iterator[StoredResult]:
    """The results of shards and of files below their directory, each run once, in the order of their paths.

    Of two with the same path, that of a shard comes first.
    """
    streams = [read_rows(directory, name, problems, place) for name in manifests]
    before: Order | None = None
    passed_over = 0
    for stored in heapq.merge(*streams, _list_files(directory, place), key=lambda each: each.order):
        if before is not None and stored.order[: len(before)] == before:
            if stored.line is None:
                passed_over += stored.order == before and not stored.is_manifest
            else:
                problems.append(f"the run has another result, in or above {stored.place!r:.80} @ {stored.where}")
        elif stored.is_manifest:
            problems.append(f"results in shards below others are skipped; name their directory @ {stored.where}")
        else:
            before = stored.order
            yield stored
    if passed_over:
        runs = pluralize(passed_over, "run")
        problems.append(f"{runs} with another {RESULT}: the shards count @ {_join(place, manifests[0])}")


def _list_files(root: Path, place: str) -> Iterator[StoredResult]:
    """The files below the directory of shards, in the order in which runs are collected."""
    for directory, names, files in walk_directories(root):
        path = directory.relative_to(root).as_posix()
        names.sort(key=sort_key)
        if RESULT in files:
            names.clear()
            found = _join(place, path)
            yield StoredResult(directory, found, _join(found, RESULT), find_order(path))
        elif directory != root and (manifest := next(filter(None, map(find_manifest, files)), None)):
            found = _join(place, path)
            yield StoredResult(directory, found, _join(found, manifest), find_order(path), is_manifest=True)


def read_rows(directory: Path, name: str, problems: list[str], place: str = ".") -> Iterator[StoredResult]:
    """The results of a manifest in their order. `problems` gets a line for each that cannot be used.

    `place` is the directory as messages have it.
    """
    try:
        manifest = read_manifest(directory, name)
    except UNREADABLE as error:
        problems.append(f"{describe_problem(error)} @ {_join(place, name)}")
        return
    for shard in manifest.shards:
        try:
            yield from _read_shard(directory, shard, manifest, problems, place)
        except UNREADABLE as error:
            problems.append(f"{describe_problem(error)} @ {_join(place, shard.file)}")


def _read_shard(
    directory: Path, shard: ResultShard, manifest: Manifest, problems: list[str], place: str = "."
) -> Iterator[StoredResult]:
    """The results of a shard that is as the manifest has it. Raises one of `UNREADABLE`."""
    content = read_file_inside(directory, shard.file)
    if sha256(content) != shard.sha256:
        raise ValueError("the SHA-256 is not that of the manifest; score again")
    first, last = manifest.find_order(shard.first), manifest.find_order(shard.last)
    before: Order | None = None
    count = 0
    for number, row in enumerate(_split_rows(content, shard, manifest), 1):
        where = f"{_join(place, shard.file)}:{number}"
        try:
            label, line = _parse_line(row) if isinstance(row, bytes) else row
            path = find_path(label, manifest.prefix)
            order = find_order(path)
            if not first <= order <= last or (before is not None and order <= before):
                raise ValueError(f"the run {label!r} is listed twice, or not in the order of the manifest")
        except UNREADABLE as error:
            problems.append(f"{describe_problem(error)} @ {where}")
            count += 1
            if count == _MOST_PROBLEMS:
                raise ValueError("too many lines cannot be used; the others are skipped") from error
        else:
            before = order
            yield StoredResult(directory / path, _join(place, path), where, order, label, line)


def _split_rows(content: bytes, shard: ResultShard, manifest: Manifest) -> Iterator[bytes | tuple[str, bytes]]:
    if manifest.format == "parquet":
        from pytest_webeval.summary.results.parquet_shards import read_table  # only for this format

        return read_table(content, shard.count)
    return _split_lines(content, shard.count)


def _split_lines(content: bytes, count: int) -> Iterator[bytes]:
    """The lines, without a copy of all. Raises `ValueError` for another number of them."""
    if (lines := content.count(b"\n")) != count or not content.endswith(b"\n"):
        raise ValueError(f"it has {pluralize(lines, 'line')} instead of {count:,}")
    start = 0
    for _ in range(count):
        end = content.index(b"\n", start)
        yield content[start:end]
        start = end + 1


class _Line(Struct, frozen=True):
    run: str
    result: Raw


_DECODER = msgspec.json.Decoder(_Line)


def _parse_line(line: bytes) -> tuple[str, bytes]:
    """The label in a line, and the JSON of its result. Raises `ValueError`."""
    try:
        parsed = _DECODER.decode(line)
    except msgspec.ValidationError as error:
        raise ValueError(format_validation_error(error)) from error
    except msgspec.DecodeError as error:
        raise ValueError(f"is not JSON: {error}") from error
    return parsed.run, bytes(parsed.result)


def find_result(directory: str | Path, label: str, redact: str = "default") -> TaskResult | None:
    """The result of the run with that label, from a shard or else from its own file; None if there is none.

    Of all shards it reads one: that which has the label by the manifest. Its own file counts only if none has it,
    because an agent can write into the directory of its run. Secrets are replaced, unless `redact` is ``"off"``. Raises
    `SettingsError` for a label or a file that cannot be used.
    """
    root, policy = Path(directory), parse_policy(redact)
    if not root.is_dir():
        raise SettingsError(f"directory not found: {root}; name a directory of results")
    names = list_manifests(root, (path.name for path in root.iterdir()))
    try:
        if not names:
            return _find_single(root, label, policy)
        manifests = [each for name in names if _may_have(each := read_manifest(root, name), label)]
        if not manifests:
            find_path(label)  # which says what is wrong with one that no run can have
        results = (_find_in(root, label, manifest, policy) for manifest in manifests)
        found = next((result for result in results if result is not None), None)
        paths = dict.fromkeys(find_path(label, manifest.prefix) for manifest in manifests)
        return found or next(filter(None, (_read_single(root, path, policy) for path in paths)), None)
    except UNREADABLE as error:
        problem = describe_problem(error, policy)
        raise SettingsError(f"cannot read the result of {label!r:.80}: {problem}") from error


def _may_have(manifest: Manifest, label: str) -> bool:
    """Whether a label begins as all of a manifest do."""
    prefix = manifest.prefix
    return not prefix or label == prefix or label.startswith(f"{prefix}/")


def _find_in(root: Path, label: str, manifest: Manifest, policy: RedactionPolicy) -> TaskResult | None:
    shard = manifest.find_shard(label)
    if shard is None:
        return None
    problems: list[str] = []
    rows = _read_shard(root, shard, manifest, problems)
    row = next((row for row in rows if row.label == label), None)
    if row is None and problems:  # a line that cannot be read may be that of the run
        raise ValueError(problems[0])
    return None if row is None else redact_stored(row.read(), row.directory, policy)


def _find_single(root: Path, label: str, policy: RedactionPolicy) -> TaskResult | None:
    """The result in a file of its own, below the directory that the label names.

    What labels begin with may be the run root, which is no part of the path: then the file says that it has the label.
    """
    result, inner = _read_single(root, find_path(label), policy), label
    while result is None and inner:
        inner = inner.partition("/")[2]
        candidate = _read_single(root, find_path(inner or "."), policy)
        if candidate is not None and candidate.webeval.get("run") == label:
            result = candidate
    return result


def _read_single(root: Path, path: str, policy: RedactionPolicy) -> TaskResult | None:
    stored = StoredResult(root / path, path, _join(path, RESULT))
    return redact_stored(stored.read(), root / path, policy) if os.path.lexists(root / path / RESULT) else None
