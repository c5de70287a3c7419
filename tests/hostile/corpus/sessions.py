"""Sessions of pytest over the corpus, each in a process of its own, and all that they leave behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Timer
from typing import Any, BinaryIO

import msgspec

from tests.hostile import write_corpus
from tests.support.sessions import PLAIN

ROOTS = ("--webeval-runs=runs", "--webeval-runs=alone", "--webeval-config=config.json", "--webeval-own-tasks")
# A process begins with the peak of that which started it: it is a small one, and not that of the tests.
MEASURING = """
import os, resource, sys
report, *command = sys.argv[1:]
os.set_inheritable(int(report), False)
code = os.spawnvp(os.P_WAIT, command[0], command)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(report), f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss * 1024}".encode())
sys.exit(code if code >= 0 else 128 - code)
"""
# Root may read everything; the sessions must not, or permissions would be tested by nobody.
AS_USERS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
MOST_SECONDS = 900  # after which a session that hangs is ended
TIMES = ("timestamp", "wall_time", "slowest")
RESULTS = ("eval_result.json", "eval_summary.json")


@dataclass(frozen=True)
class Session:
    """One that has ended. `place` is where its results are: the corpus itself, or a directory in it."""

    directory: Path
    name: str
    place: Path
    code: int
    seconds: float
    peak: int  # bytes of the largest process
    before: dict[str, object]
    after: dict[str, object]

    @property
    def output(self) -> bytes:
        """What it wrote to the terminal."""
        return (self.directory / f"{self.name}.out").read_bytes()

    @property
    def complaints(self) -> str:
        """What it wrote to standard error."""
        return (self.directory / f"{self.name}.err").read_text("utf-8", "backslashreplace")

    @property
    def junit(self) -> Path:
        """The JUnit XML."""
        return self.directory / f"{self.name}.xml"

    @property
    def html(self) -> Path:
        """The HTML report."""
        return self.directory / f"{self.name}.html"

    @property
    def report(self) -> Path:
        """Our own report, which the serial session writes."""
        return self.directory / f"{self.name}-report" / "index.html"

    @cached_property
    def rows(self) -> dict[str, Any]:
        """What its summaries say of each run."""
        summaries = [self.place / root / RESULTS[1] for root in (".", "runs", "alone")]
        found = [json.loads(path.read_bytes()) for path in summaries if path.exists()]
        rows = (row for summary in found for row in summary["task_results"])
        return {row["run"]: {name: row[name] for name in row if name not in TIMES} for row in rows}

    @cached_property
    def files(self) -> dict[str, bytes]:
        """All JSON files that it wrote, by their place."""
        names = [name for name in self.changed if name.endswith(RESULTS) and isinstance(self.after.get(name), tuple)]
        inside = self.place.relative_to(self.directory)
        return {str(Path(name).relative_to(inside)): (self.directory / name).read_bytes() for name in names}

    @property
    def results(self) -> dict[str, Any]:
        """The results of single runs, but for what differs from hour to hour."""
        return {name: timeless(msgspec.json.decode(text)) for name, text in self.files.items() if RESULTS[0] in name}

    @property
    def changed(self) -> list[str]:
        """Places that were made, changed or removed while it ran."""
        names = self.before.keys() | self.after.keys()
        return sorted(name for name in names if self.before.get(name) != self.after.get(name))


@dataclass(frozen=True)
class Corpus:
    """The tree with what must become of it, and two sessions over it."""

    directory: Path
    every: int  # of how many directories one is in it
    manifest: list[dict[str, str]]
    parallel: Session
    serial: Session

    @property
    def sessions(self) -> tuple[Session, Session]:
        """Both, in the order in which they ran."""
        return self.parallel, self.serial


def run(directory: Path, every: int) -> Corpus:
    """Write the corpus and score it twice: by two workers with the results elsewhere, then by one process in place."""
    manifest = write_corpus.write(directory, every=every)
    (directory / "pytest.ini").write_text("[pytest]\nwebeval_timeout = 20\n")
    parallel = _session(directory, "parallel", directory / "out", "-n", "2", "--webeval-output=out")
    serial = _session(directory, "serial", directory, "--webeval-report=serial-report")
    return Corpus(directory, every, manifest, parallel, serial)


def run_with_score(directory: Path, every: int) -> tuple[Session, Session]:
    """Write the corpus and score it twice, each time with the results elsewhere: by `score`, then by pytest."""
    write_corpus.write(directory, every=every)
    (directory / "pytest.ini").write_text("[pytest]\nwebeval_timeout = 20\n")
    options = ("--config=config.json", "--own-tasks", "--timeout=20", "--executor=process:2", "--output=scored")
    command = ["-m", "pytest_webeval", "score", "runs", "alone", *options]
    scored = _run(directory, "scored", directory / "scored", command)
    return scored, _session(directory, "alone", directory / "out", "--webeval-output=out")


def _session(directory: Path, name: str, place: Path, *options: str) -> Session:
    reports = (f"--junitxml={name}.xml", f"--html={name}.html", "--self-contained-html")
    return _run(directory, name, place, ["-m", "pytest", *PLAIN, "-v", *ROOTS, *reports, *options])


def _run(directory: Path, name: str, place: Path, arguments: list[str]) -> Session:
    command = [*AS_USERS, sys.executable, *arguments]
    before = snapshot(directory)
    with (directory / f"{name}.out").open("wb") as out, (directory / f"{name}.err").open("wb") as err:
        measured = _measure(command, directory, out, err)
    return Session(directory, name, place, *measured, before, snapshot(directory))


def _measure(command: Sequence[str], directory: Path, out: BinaryIO, err: BinaryIO) -> tuple[int, float, int]:
    """The exit code, the seconds of CPU, and the memory of the largest process.

    A session that takes too long is ended with its children.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as report:
        program = [sys.executable, "-I", "-c", MEASURING, str(writer), *command]
        process = subprocess.Popen(
            program, cwd=directory, stdout=out, stderr=err, start_new_session=True, pass_fds=[writer]
        )
        os.close(writer)
        timer = Timer(MOST_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        code = process.wait()
        timer.cancel()
        seconds, peak = report.read().split() or (MOST_SECONDS, sys.maxsize)
    return code, float(seconds), int(peak)


def snapshot(directory: Path) -> dict[str, object]:
    """What lies below a directory, without following links; of files size and time, of folders that they are there."""
    found: dict[str, object] = {}
    for folder, folders, names in os.walk(directory):
        for name in (*folders, *names):
            place = os.path.join(folder, name)  # noqa: PTH118  (of names that are no UTF-8 too)
            told = os.lstat(place)
            is_folder = name in folders and not os.path.islink(place)  # noqa: PTH114
            inside = os.path.relpath(place, directory)
            found[inside] = told.st_mode if is_folder else (told.st_mode, told.st_size, told.st_mtime_ns, told.st_ino)
    return found


def timeless(value: Any) -> Any:
    """A result without its times."""
    if isinstance(value, dict):
        return {key: timeless(member) for key, member in value.items() if key not in TIMES}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def listed(lines: Iterable[str]) -> str:
    """Some lines as the message of a test that failed."""
    found = list(lines)
    return "\n".join([f"{len(found)}:", *found])
