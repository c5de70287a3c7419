"""Reading results in shards, which anybody may have written: all of them in order, or one by its label."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import RESULT, TaskResult, find_version_problem
from pytest_webeval.safety.files import read_file_inside, sha256
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import pluralize, truncate_words
from pytest_webeval.summary.redacted_results import DEFAULT_POLICY, parse_policy, redact_stored, redact_text
from pytest_webeval.summary.result_manifest import (
    UNREADABLE,
    Manifest,
    Order,
    ResultShard,
    find_order,
    find_path,
    list_manifests,
    read_manifest,
)

_LONGEST_ERROR = 10_000  # characters of a message that are searched for secrets
_MOST_PROBLEMS = 100  # of one shard; it may have millions of lines


class _Line(Struct, frozen=True):
    run: str
    result: Raw


_DECODER = msgspec.json.Decoder(_Line)


class ShardRow(Struct, frozen=True):
    """A result in a shard: its label, its JSON on one line, and the place for messages."""

    label: str
    path: str
    order: Order
    content: bytes
    where: str


def parse_result(content: bytes | str) -> TaskResult:
    """The result in the JSON of a file or of a line. Raises one of `UNREADABLE`."""
    result = TaskResult.read(json.loads(content))
    if problem := find_version_problem(result.webeval.get("schema_version", 1)):
        raise ValueError(problem)
    return result


def describe_problem(error: Exception, policy: RedactionPolicy = DEFAULT_POLICY) -> str:
    """What is wrong with a file, in one line without secrets: a part of one that was cut could not be redacted."""
    return f"{' '.join(redact_text(truncate_words(str(error), _LONGEST_ERROR), policy).split()):.200}"


def read_rows(directory: Path, name: str, problems: list[str], place: str = ".") -> Iterator[ShardRow]:
    """The results of a manifest in their order. `problems` gets a line for each that cannot be used.

    `place` is the directory as messages have it.
    """
    below = "" if place == "." else f"{place}/"
    try:
        manifest = read_manifest(directory, name)
    except UNREADABLE as error:
        problems.append(f"{describe_problem(error)} @ {below}{name}")
        return
    for shard in manifest.shards:
        try:
            yield from _read_shard(directory, shard, manifest, problems, below)
        except UNREADABLE as error:
            problems.append(f"{describe_problem(error)} @ {below}{shard.file}")


def _read_shard(
    directory: Path, shard: ResultShard, manifest: Manifest, problems: list[str], below: str = ""
) -> Iterator[ShardRow]:
    """The results of a shard that is as the manifest has it. Raises one of `UNREADABLE`."""
    content = read_file_inside(directory, shard.file)
    if sha256(content) != shard.sha256:
        raise ValueError("the SHA-256 is not that of the manifest; score again")
    first, last = manifest.find_order(shard.first), manifest.find_order(shard.last)
    before: Order | None = None
    count = 0
    for number, row in enumerate(_split_rows(content, shard, manifest), 1):
        where = f"{below}{shard.file}:{number}"
        try:
            label, line = parse_line(row) if isinstance(row, bytes) else row
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
            yield ShardRow(label, path, order, line, where)


def _split_rows(content: bytes, shard: ResultShard, manifest: Manifest) -> Iterator[bytes | tuple[str, bytes]]:
    if manifest.format == "parquet":
        from pytest_webeval.summary.parquet_shards import read_table  # only for this format

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


def parse_line(line: bytes) -> tuple[str, bytes]:
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
    return None if row is None else redact_stored(parse_result(row.content.decode()), root / row.path, policy)


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
    if not os.path.lexists(root / path / RESULT):
        return None
    return redact_stored(parse_result(read_file_inside(root / path, RESULT)), root / path, policy)
