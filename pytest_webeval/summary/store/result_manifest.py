"""The manifest of results in shards: which shards there are, in which order, and which labels they hold."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote_to_bytes

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from pytest_webeval.errors import EvaluationError, RecordingError
from pytest_webeval.recordings.discovery import sort_key
from pytest_webeval.recordings.labels import quote_path
from pytest_webeval.results import SCHEMA_VERSION, find_version_problem
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.json import format_validation_error, load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.summary.shards import Shard

MANIFEST = "eval_results.json"
UNREADABLE = (RecordingError, EvaluationError, ValueError, RecursionError, LookupError, TypeError, AttributeError)
_NAME = re.compile(r"(eval_results(?:-\d{1,5}-of-\d{1,5})?)(?:\.json|-\d{5,10}\.(?:jsonl|parquet))", re.ASCII)
_SHARD_NAME = re.compile(r"\w[\w.-]{0,200}", re.ASCII)
_LONGEST_LABEL = 3 * 4_096  # characters; paths are shorter, even if each byte is quoted
_LIMITS = replace(USUAL, values=10_000_000)

StorageFormat = Literal["jsonl", "parquet"]
Order = tuple[tuple[int, int, str], ...]


def find_path(label: str, prefix: str = "") -> str:
    """The directory of a run below that of the manifest, from its label. `prefix` is not a part of the path.

    Raises `ValueError` for a label that is not one, or whose path leads elsewhere.
    """
    if label == (prefix or "."):
        return "."
    inner = label.removeprefix(f"{prefix}/") if prefix else label
    if len(label) > _LONGEST_LABEL or (prefix and inner == label):
        raise ValueError(f"the label {label!r:.80} does not begin with {prefix!r:.80}")
    path = os.fsdecode(unquote_to_bytes(inner))
    is_plain = "\0" not in path and not {"", ".", ".."} & set(path.split("/")) and quote_path(path) == inner
    if not is_plain:
        raise ValueError(f"the label {label!r:.80} does not name the directory of a run")
    return path


def join_label(prefix: str, path: str) -> str:
    """The label of a run, from its directory below that of the manifest: the opposite of `find_path`."""
    inner = "" if path == "." else quote_path(path)
    return "/".join(filter(None, (prefix, inner))) or "."


def find_order(path: str) -> Order:
    """What paths of runs are sorted by: as runs are collected, 9 before 10 and each directory before those in it."""
    return () if path == "." else tuple(map(sort_key, path.split("/")))


def name_manifest(session_shard: Shard | None = None) -> str:
    """The name of the manifest: each shard of a session has its own, as they may write to the same directory."""
    return MANIFEST if session_shard is None else f"eval_results-{session_shard.index}-of-{session_shard.count}.json"


def name_shard(manifest: str, number: int, storage_format: StorageFormat) -> str:
    """The name of a shard, by the name of its manifest; they are counted from 1."""
    return f"{manifest.removesuffix('.json')}-{number:05}.{storage_format}"


def find_manifest(name: str) -> str | None:
    """The name of the manifest that a file in a directory belongs to, or is; None for other files."""
    match = _NAME.fullmatch(name)
    return f"{match[1]}.json" if match else None


class ResultShard(Struct, frozen=True):
    """A file with results: the labels of the first and the last, how many there are, and its checksum."""

    file: str
    first: str
    last: str
    count: Annotated[int, Meta(ge=1)]
    sha256: str


class Manifest(Struct, frozen=True, kw_only=True):
    """The content of eval_results.json. All labels begin with `prefix`, which is not a part of paths."""

    schema_version: int = SCHEMA_VERSION
    format: StorageFormat = "jsonl"
    prefix: str = ""
    count: int
    shards: list[ResultShard]

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        content: dict[str, Any] = to_builtins(self)
        return content

    def find_order(self, label: str) -> Order:
        """What a label is sorted by. Raises `ValueError`."""
        return find_order(find_path(label, self.prefix))

    def find_shard(self, label: str) -> ResultShard | None:
        """The shard that has the result with a label, if there is one. Raises `ValueError`."""
        order = self.find_order(label)
        index = bisect_right(self.shards, order, key=lambda shard: self.find_order(shard.first)) - 1
        if index < 0 or order > self.find_order(self.shards[index].last):
            return None
        return self.shards[index]


def is_manifest(directory: Path, name: str, *, is_unreadable: bool = False) -> bool:
    """Whether a file with the name of a manifest is one, of this version or another: other tools write such files.

    `is_unreadable` is what is said of a file that cannot be read.
    """
    if name != MANIFEST:
        return True
    try:
        raw = load_bounded(read_file_inside(directory, name).decode(), _LIMITS, name)
    except UNREADABLE:
        return is_unreadable
    return isinstance(raw, dict) and raw.keys() >= {"schema_version", "count", "shards"}


def list_manifests(directory: Path, names: Iterable[str]) -> list[str]:
    """The manifests of the results in shards among the files of a directory, also one that is missing or damaged.

    That of a complete session comes first.
    """
    has_shards: dict[str, bool] = {}  # by manifest
    for name in names:
        if (manifest := find_manifest(name)) is not None:
            has_shards[manifest] = has_shards.get(manifest, False) or name != manifest
    listed = [
        name for name, has_some in has_shards.items() if has_some or is_manifest(directory, name, is_unreadable=True)
    ]
    return sorted(listed, key=lambda name: (name != MANIFEST, name))


def read_manifest(directory: Path, name: str) -> Manifest:
    """The manifest in a directory. Raises one of `UNREADABLE` for a file that cannot be read or trusted."""
    if not os.path.lexists(directory / name):
        raise ValueError(
            "the manifest of these shards is missing: the session did not finish; score again with --webeval-reuse"
        )
    text = read_file_inside(directory, name).decode()
    raw = load_bounded(text, _LIMITS, name)
    try:
        manifest = convert(raw, Manifest)
    except ValidationError as error:
        raise ValueError(format_validation_error(error)) from error
    if problem := find_version_problem(manifest.schema_version) or _find_problem(manifest):
        raise ValueError(problem)
    return manifest


def _find_problem(manifest: Manifest) -> str | None:
    """What is wrong with the shards in a manifest. Raises `ValueError` for labels."""
    shards = manifest.shards
    for shard in shards:
        if not _SHARD_NAME.fullmatch(shard.file) or not shard.file.endswith(f".{manifest.format}"):
            return f"{shard.file!r:.80} is not the name of a shard"
    if len({shard.file for shard in shards}) < len(shards):
        return "a shard is listed twice"
    if manifest.count != sum(shard.count for shard in shards):
        return f"the shards do not have {manifest.count:,} results"
    return _find_disorder(shards, [manifest.find_order(label) for each in shards for label in (each.first, each.last)])


def _find_disorder(shards: Sequence[ResultShard], orders: Iterable[Order]) -> str | None:
    for index, (before, after) in enumerate(pairwise(orders)):
        shard = shards[index // 2]
        if before > after or (before == after and (index % 2 or shard.count > 1)):
            return f"the labels of {shard.file} are not in order"
    return None
