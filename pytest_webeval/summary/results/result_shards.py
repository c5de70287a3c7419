"""Writing results in shards: files with a result in each line, or a Parquet table, and a manifest in the end."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from pytest_webeval.safety.files import sha256
from pytest_webeval.storage import (
    CHOOSE_OUTPUT,
    INDENT,
    Sync,
    remove,
    remove_leftovers,
    write_bytes,
    write_error,
    write_json,
)
from pytest_webeval.summary.shards import Shard
from pytest_webeval.summary.store.result_manifest import (
    MANIFEST,
    Manifest,
    Order,
    ResultShard,
    StorageFormat,
    find_manifest,
    find_order,
    find_path,
    is_manifest,
    list_manifests,
    name_manifest,
    name_shard,
)

_LARGEST = 16 * 2**20  # bytes of the results in a shard, unless there is only one: readers take a shard at once
_SUFFIX = len(".0123456789abcdef")  # of the name of a temporary file


def compact_result(content: bytes) -> bytes:
    """The JSON of a result file on one line. Raises `ValueError` for what cannot be read again."""
    try:
        return msgspec.json.format(content, indent=-1)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"invalid JSON: {error}") from error


def expand_result(line: bytes) -> bytes:
    """The bytes of the result file that were compacted. Raises `ValueError`."""
    try:
        return msgspec.json.format(line, indent=INDENT) + b"\n"
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"invalid JSON: {error}") from error


class ShardLayout(Struct, frozen=True):
    """How results are split into shards, and what these are called.

    `prefix` is what all labels begin with that is not a part of the paths of result files, such as the name of the only
    run root. Each shard of a session has results in shards of its own: `session_shard`.
    """

    storage_format: StorageFormat = "jsonl"
    prefix: str = ""
    session_shard: Shard | None = None
    size: int = 1_000  # results


class ResultShardWriter:
    """Writes results in the order in which runs are collected: that of `find_order` of their paths.

    A shard is written in one step as soon as it is full, and the manifest when the writer is closed. As a context
    manager it is closed only without an exception: complete shards stay, and `UncheckedShards` reads them.
    """

    def __init__(self, directory: Path, layout: ShardLayout = ShardLayout(), sync: Sync | None = None) -> None:  # noqa: B008
        self._directory = directory
        self._layout = layout
        self._sync = sync
        self._manifest = name_manifest(layout.session_shard)
        self._waiting: list[tuple[str, bytes]] = []
        self._waiting_size = 0
        self._last: Order | None = None
        self._shards: list[ResultShard] = []
        if layout.storage_format == "parquet":
            from pytest_webeval.summary.results.parquet_shards import require_pyarrow  # only for this format

            require_pyarrow()  # an hour later it would be too late

    def add(self, label: str, content: bytes) -> None:
        """Add the result of a run: the bytes of its file, as `storage.to_json_bytes` gives them.

        Raises `ValueError` for a label that is not one or not after the last, `SettingsError` for a full disk.
        """
        order = find_order(find_path(label, self._layout.prefix))
        if self._last is not None and order <= self._last:
            raise ValueError(f"the run {label!r:.80} is not after the last one; add runs in the order of their paths")
        line = compact_result(content)
        if self._waiting_size + len(line) > _LARGEST:
            self._write_shard()
        self._waiting.append((label, line))
        self._waiting_size += len(line)
        self._last = order
        if len(self._waiting) >= self._layout.size:
            self._write_shard()

    def close(self) -> Manifest:
        """Write what is left and the manifest, and remove shards of an earlier session. Raises `SettingsError`."""
        self._write_shard()
        layout = self._layout
        count = sum(shard.count for shard in self._shards)
        manifest = Manifest(format=layout.storage_format, prefix=layout.prefix, count=count, shards=self._shards)
        remove_shards(self._directory, layout.session_shard, {self._manifest, *(shard.file for shard in self._shards)})
        write_json(self._directory / self._manifest, manifest.to_json(), self._sync)
        return manifest

    def _write_shard(self) -> None:
        if not self._waiting:
            return
        if not self._shards:
            remove(self._directory / self._manifest)  # of an earlier session, whose shards are replaced now
        name = name_shard(self._manifest, len(self._shards) + 1, self._layout.storage_format)
        content = self._encode()
        write_bytes(self._directory / name, content, CHOOSE_OUTPUT, self._sync)
        first, last = self._waiting[0][0], self._waiting[-1][0]
        self._shards.append(ResultShard(name, first, last, len(self._waiting), sha256(content)))
        self._waiting.clear()
        self._waiting_size = 0

    def _encode(self) -> bytes:
        if self._layout.storage_format == "parquet":
            from pytest_webeval.summary.results.parquet_shards import format_table

            return format_table(self._waiting)
        return b"".join(
            b'{"run":%b,"result":%b}\n' % (msgspec.json.encode(label), line) for label, line in self._waiting
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()


def has_shards(directory: Path) -> bool:
    """Whether there are results in shards."""
    return bool(list_manifests(directory, (path.name for path in directory.glob("eval_results*"))))


def remove_shards(directory: Path, session_shard: Shard | None, kept: Container[str] = ()) -> None:
    """Remove results in shards that another session takes the place of, and what killed processes left of such.

    Other shards of a split session may be writing theirs; those of another split are of an earlier session. A file of
    another tool stays. Raises `SettingsError`.
    """
    try:
        names = sorted(
            (path.name for path in directory.glob("*eval_results*")),
            key=lambda name: (not name.endswith(".json"), name),
        )
    except OSError as error:
        raise write_error(directory, error, CHOOSE_OUTPUT) from error
    for name in names:  # manifests first, so that none has shards that are gone
        is_other = name not in kept and _is_replaced(name, session_shard)
        if is_other and (not name.endswith(".json") or is_manifest(directory, name)):
            remove(directory / name)
    unfinished = {name[1:-_SUFFIX] for name in names if name.startswith(".")}
    remove_leftovers(directory, *(name for name in unfinished if _is_replaced(name, session_shard)))


def _is_replaced(name: str, session_shard: Shard | None) -> bool:
    manifest = find_manifest(name)
    if manifest is None or session_shard is None or manifest in (MANIFEST, name_manifest(session_shard)):
        return manifest is not None
    return not manifest.endswith(f"-of-{session_shard.count}.json")
