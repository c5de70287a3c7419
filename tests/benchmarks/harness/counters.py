"""Programs that count the instructions of a process."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstructionCounter:
    """A command that runs another one and prints how many instructions that took."""

    name: str
    command: tuple[str, ...]
    printed: re.Pattern[str]

    def count(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """The instructions of a command. Raises `CannotCount`."""
        if shutil.which(self.command[0]) is None:
            raise CannotCount(f"there is no {self.command[0]} here")
        done = subprocess.run(
            [*self.command, *command], env=dict(environment), capture_output=True, text=True, check=False
        )
        found = self.printed.search(done.stderr)
        if done.returncode or not found:
            raise CannotCount(f"{' '.join(self.command)} counts nothing here: {done.stderr[-400:]}")
        return int(found[1].replace(",", ""))


class CannotCount(Exception):
    """A counter is missing, or not permitted to count; the message says which."""


# The file that valgrind would write for each process is not wanted. perf separates its columns by commas, ours by -x.
CALLGRIND = InstructionCounter(
    "callgrind", ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"), re.compile(r"Collected : (\d+)")
)
PERF = InstructionCounter(
    "perf", ("perf", "stat", "-x", ";", "-e", "instructions:u"), re.compile(r"^(\d+);", re.MULTILINE)
)
COUNTERS = (CALLGRIND, PERF)
