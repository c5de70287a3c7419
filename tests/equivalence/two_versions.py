"""The same runs scored by two versions of the package, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.equivalence.differences import compare

PROJECT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("score_worker.py")
COMPARED = "results compared with those of the earlier version"


@dataclass
class Version:
    """A checkout of the project that scores."""

    tree: Path

    @cached_property
    def _process(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-P", str(WORKER)],
            env=os.environ | {"PYTHONPATH": str(self.tree), "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, requests: Sequence[dict[str, Any]]) -> None:
        """Send runs to score."""
        self._process.stdin.write(json.dumps(requests) + "\n")
        self._process.stdin.flush()

    def answers(self) -> list[Any]:
        """The results of the runs that were sent."""
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@dataclass
class TwoVersions:
    """Compares what an earlier version and this one make of runs."""

    before: Version
    after: Version = field(default_factory=lambda: Version(PROJECT))
    counts: Counter[str] = field(default_factory=Counter)

    def compare(self, requests: Sequence[dict[str, Any]]) -> None:
        """Score the runs with both, and count the results and each kind of difference."""
        self.before.ask(requests)
        self.after.ask(requests)
        for old, new in zip(self.before.answers(), self.after.answers(), strict=True):
            self.counts[COMPARED] += 1
            self.counts.update({f"{where}: {was} -> {now}" for where, was, now in compare(old, new)})

    def take_counts(self) -> Counter[str]:
        """What was counted since the last call."""
        counts, self.counts = self.counts, Counter()
        return counts

    def close(self) -> None:
        """End both processes."""
        self.before.close()
        self.after.close()
