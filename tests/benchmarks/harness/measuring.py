"""What a command costs: wall time, processor time of it and its children, peak memory of the largest process.

    python measuring.py LOG COMMAND...

`measured` starts this file as a small process of its own, for a child's peak memory is never below that of the process
that started it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# What a developer's shell may set and a measurement must not depend on.
LEFT_OUT = ("PYTHON", "PYTEST", "COV", "WEBEVAL")


@dataclass(frozen=True)
class Cost:
    """Seconds, seconds, bytes; the exit code of the command."""

    wall: float
    cpu: float
    peak: float
    code: int


def measured(command: Sequence[str], directory: Path, log: Path) -> Cost:
    """What the command costs in that directory; what it prints goes to the log."""
    launcher = [sys.executable, "-E", "-S", __file__, str(log), *command]
    told = subprocess.run(launcher, cwd=directory, env=environment(), capture_output=True, text=True, check=True)
    return Cost(**json.loads(told.stdout))


def environment() -> dict[str, str]:
    """Variables of this process without those that would change what is measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT)}


def launch(log: str, *command: str) -> Cost:
    """The same in this process."""
    with Path(log).open("wb") as printed:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)  # of the process and of all children that it waited for
        wall = time.perf_counter() - started
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    print(json.dumps(asdict(launch(*sys.argv[1:]))))
