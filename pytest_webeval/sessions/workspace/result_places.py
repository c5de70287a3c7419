"""Where the results of a session go: to a file in a directory of each run, or to shards next to the summary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_webeval.storage import Sync

if TYPE_CHECKING:
    from pytest_webeval.summary.store.result_manifest import StorageFormat

FORMATS: dict[str, StorageFormat] = {"shards": "jsonl", "parquet": "parquet"}  # by the value of the option


class ResultPlaces(Struct, frozen=True):
    """One per process. `storage_format` is that of shards; without one, results are files.

    `tops` are the directories of shards: the output directory and the run roots. `option` is that with which users
    choose another output directory.
    """

    sync: Sync | None = None
    storage_format: StorageFormat | None = None
    tops: frozenset[Path] = frozenset()
    option: str = "--webeval-output"

    @property
    def advice(self) -> str:
        """What to do where a result cannot be written."""
        return f"choose another directory with {self.option}"

    def is_in_shard(self, directory: Path) -> bool:
        """Whether the result with that directory goes to a shard.

        A root that is itself a run has a file: shards would lie among what an agent wrote.
        """
        return self.storage_format is not None and directory not in self.tops
