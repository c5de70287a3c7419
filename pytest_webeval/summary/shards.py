"""A share of the runs for one of several jobs: the same in each job, and of about the same length."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Mapping
from statistics import median
from typing import Self

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.files import sha256

MOST_SHARDS = 10_000
_SHARD = re.compile(r"(\d{1,5})/(\d{1,5})", re.ASCII)


class Shard(Struct, frozen=True):
    """The shard `index` of `count`, counted from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard in a text such as `2/8`. Raises `SettingsError`."""
        match = _SHARD.fullmatch(text)
        index, count = map(int, match.groups()) if match else (0, 0)
        if not 1 <= index <= count <= MOST_SHARDS:
            raise SettingsError(f"invalid shard {text!r:.80}; use e.g. 2/8 for the second of eight")
        return cls(index, count)

    @property
    def file_name(self) -> str:
        """The name of the file that takes the place of eval_summary.json."""
        return f"eval_shard-{self.index}-of-{self.count}.json"

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class Split(Struct, frozen=True):
    """Which shard scores which run, by label. `checksum` is the same in all jobs that split the same runs alike."""

    shard_by_run: Mapping[str, int]
    checksum: str

    def select(self, index: int) -> set[str]:
        """The runs of a shard."""
        return {run for run, assigned in self.shard_by_run.items() if assigned == index}


def split_runs(runs: Collection[str], count: int, seconds: Mapping[str, float]) -> Split:
    """Split runs into shards of about the same length: the longest first, each to the shard with the least so far.

    A run without a recorded time counts as the median. Without any times, the shards have equally many runs.
    """
    known = [seconds[run] for run in runs if run in seconds]
    usual = median(known) if known else 1.0
    loads = [(0.0, 0, index) for index in range(1, count + 1)]
    shard_by_run = {}
    for run in sorted(runs, key=lambda run: (-seconds.get(run, usual), run)):
        load, size, index = heapq.heappop(loads)
        shard_by_run[run] = index
        heapq.heappush(loads, (load + seconds.get(run, usual), size + 1, index))
    rows = "\n".join(f"{index} {run}" for run, index in sorted(shard_by_run.items()))
    return Split(shard_by_run, sha256(f"{count}\n{rows}".encode("utf-8", "backslashreplace")))
