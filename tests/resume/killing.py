"""Sessions that are killed at random moments, and what has to be so afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from tests.support.rows import count_rows, read_rows
from tests.support.sessions import PLAIN

SUITE = Path(__file__).parents[2] / "example_suite"
COPIES = 2
LONGEST = 120.0
LITTLE_WHILE = 0.01
RESULT, SUMMARY, ROWS = "eval_result.json", "eval_summary.json", "eval_session.sqlite"
_TIMES = (rb'("timestamp": )"[^"]*"', rb'("wall_time": )[-+.e0-9]+', rb'("slowest": )\[[^]]*\]')
_REUSED = re.compile(rb',\s+"reused_count": \d+')


class Invalid(Exception):
    """Something on the disk that should not be so."""


@dataclass
class Counts:
    """What was looked at, for the one line at the end."""

    moments: int = 0
    files: int = 0
    rows: int = 0
    unfinished: int = 0
    resumed: int = 0
    scored: int = 0

    def __str__(self) -> str:
        return (
            f"{self.moments} kills: {self.files} files and {self.rows} rows valid, "
            f"{self.unfinished} unfinished files tidied up, 0 results lost; "
            f"{self.resumed} of {self.scored} results taken, and each summary that of an undisturbed session"
        )


@dataclass
class Killing:
    """A tree of runs on which sessions are killed; `random` chooses the moments."""

    place: Path
    random: Random
    counts: Counts = field(default_factory=Counts)
    wanted: dict[str, bytes] = field(default_factory=dict)

    def prepare(self) -> None:
        """Copy the example suite several times below one root."""
        ignored = shutil.ignore_patterns("eval_*.json", "__pycache__", "tasks.json")
        for number in range(COPIES):
            shutil.copytree(SUITE / "runs", self.root / str(number), ignore=ignored)
        shutil.copy(SUITE / "runs" / "tasks.json", self.root)
        for name in ("conftest.py", "config.json"):
            shutil.copy(SUITE / name, self.place)
        (self.place / "pytest.ini").write_text("[pytest]\n")

    @property
    def root(self) -> Path:
        """The run root."""
        return self.place / "runs"

    def undisturbed(self, *options: str) -> None:
        """Find out what is to come out. Raises `Invalid` if it is not always the same."""
        self.forget()
        self.start(*options).communicate(timeout=LONGEST)
        found = self.everything()
        if self.wanted not in ({}, found):
            raise Invalid(f"undisturbed sessions differ under {options}")
        self.wanted = found

    def kill_one(self, *options: str) -> None:
        """Kill a session at a random moment after its first result, look at what it left, and go on from there."""
        self.forget()
        self._kill(*options)
        if self.random.random() < 1 / 3:  # who goes on may be killed as well
            self._kill(*options, "--webeval-reuse")
        kept = [row for row in read_rows(self.root / ROWS).values() if row.seal and row.seal["decided_by"]]
        told, _ = self.start(*options, "--webeval-reuse").communicate(timeout=LONGEST)
        found = re.search(r"^reused: (\d+) of (\d+) results?", told, re.MULTILINE)
        if found is None or int(found[1]) != len(kept):
            raise Invalid(f"{len(kept)} results could have been taken:\n{told}")
        if (left := self.everything()) != self.wanted:
            differing = [name for name in {*left, *self.wanted} if left.get(name) != self.wanted.get(name)]
            raise Invalid(f"other than after an undisturbed session: {', '.join(sorted(differing))}\n{told}")
        self.counts.resumed += int(found[1])
        self.counts.scored += int(found[2])

    def _kill(self, *options: str) -> None:
        """Kill a session with all of its workers, after a random number of results and a little while."""
        awaited = self.random.randrange(self._kept, len(self.wanted))  # the summary is wanted as well
        session, until = self.start(*options), time.monotonic() + LONGEST
        while session.poll() is None and self._kept < awaited and time.monotonic() < until:
            time.sleep(0.0005)
        time.sleep(self.random.uniform(0, LITTLE_WHILE))
        with suppress(ProcessLookupError):
            os.killpg(session.pid, signal.SIGKILL)
        session.communicate(timeout=LONGEST)
        self.counts.moments += 1
        self.check()

    @property
    def _kept(self) -> int:
        return count_rows(self.root / ROWS)

    def check(self) -> None:
        """Whether what lies there is valid, and what the rows say is there. Raises `Invalid`."""
        for path in (*self.root.rglob(RESULT), *self.root.rglob(SUMMARY)):
            _valid(path, path.read_bytes())
            self.counts.files += 1
        for run, row in read_rows(self.root / ROWS).items():
            path = self.place / run / RESULT
            if row.seal and (not path.exists() or sha256(path.read_bytes()).hexdigest() != row.seal["result"]):
                raise Invalid(f"{path} is not what its row says")
            self.counts.rows += 1
        self.counts.unfinished += len(list(self.root.rglob(".eval_*")))

    def everything(self) -> dict[str, bytes]:
        """All that sessions wrote, unfinished files included, times aside."""
        paths = sorted(path for path in self.root.rglob("*eval_*") if not path.name.startswith(ROWS))
        return {path.relative_to(self.root).as_posix(): timeless(path.read_bytes()) for path in paths}

    def forget(self) -> None:
        """Remove all that sessions wrote."""
        for path in self.root.rglob("*eval_*"):
            path.unlink()

    def start(self, *options: str) -> subprocess.Popen[str]:
        """A session in a group of its own."""
        command = [sys.executable, "-m", "pytest", *PLAIN, "--webeval-runs=runs", *options]
        command.append("--webeval-config=config.json")
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=self.place, start_new_session=True, **pipes)


def _valid(path: Path, text: bytes) -> Any:
    def refused(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    try:
        return json.loads(text, parse_constant=refused)
    except ValueError as error:
        raise Invalid(f"{path}: {error}: {text[:200]!r}") from error


def timeless(text: bytes) -> bytes:
    for pattern in _TIMES:
        text = re.sub(pattern, rb"\1null", text)
    return _REUSED.sub(b"", text)
