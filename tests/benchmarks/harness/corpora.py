"""Run roots to measure with: many runs, each in files of its own, and what both scorers must be told about them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from itertools import islice
from pathlib import Path

from tests.benchmarks.harness.recordings import RESPONSE
from tests.benchmarks.harness.recordings import SUITE
from tests.benchmarks.harness.recordings import TRACE
from tests.benchmarks.harness.recordings import Example
from tests.benchmarks.harness.recordings import encoded
from tests.benchmarks.harness.recordings import example
from tests.benchmarks.harness.recordings import examples

DATA_SET = 812  # definitions: the reference refuses a data set that has more or fewer
FINISHED = "verdicts.json"
PASSING = (101, 108)
FAILING = (101, 108, 109)  # the last one fails
MADE_BY = ("page_texts.py", "exchanges.py", "traffic.py", "recordings.py", "corpora.py")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A directory with that many runs, of each example in turn, and what the scorers must know of them."""

    directory: Path
    of: tuple[Example, ...]
    count: int
    har: Callable[[Example], bytes]

    @property
    def runs(self) -> Path:
        """The run root."""
        return self.directory / "runs"

    @property
    def linked(self) -> Path:
        """The same runs through links, for the reference, which writes where it reads. See `link`."""
        return self.directory / "linked"

    @property
    def tasks(self) -> Path:
        """The definitions of the runs' tasks."""
        return self.directory / "tasks.json"

    @property
    def config(self) -> Path:
        """The sites' addresses, and the data set that the reference reads."""
        return self.directory / "config.json"

    @property
    def verdicts(self) -> dict[str, str]:
        """The status that each task deserves, by its id."""
        return {str(task_id): one.verdict for task_id, one in self._numbered(self.count)}

    def write(self) -> None:
        """Fill the directory, unless that was done before by the same code."""
        if self._stamp.exists() and self._stamp.read_text() == _generation():
            return
        self.runs.mkdir(parents=True, exist_ok=True)
        for index, one in enumerate(self.of[: self.count], start=1):
            recording = self.har(one)  # one at a time: twenty large ones are half a gigabyte
            for task_id in range(index, self.count + 1, len(self.of)):
                _write_run(self.runs / str(task_id), one.response, recording)
        self._define()
        self._stamp.write_text(_generation())

    @property
    def _stamp(self) -> Path:
        return self.directory / "made_by.txt"

    def _define(self) -> None:
        data_set = self.directory / "data_set.json"
        sites = json.loads((SUITE / "config.json").read_bytes())
        self.config.write_bytes(encoded(sites | {"test_data_file": str(data_set)}))
        for path, count in ((data_set, DATA_SET), (self.tasks, self.count)):
            path.write_bytes(encoded([one.task | {"task_id": task_id} for task_id, one in self._numbered(count)]))

    def _numbered(self, count: int) -> Iterator[tuple[int, Example]]:
        return enumerate(islice(cycle(self.of), count), start=1)

    def link(self) -> None:
        """Make `linked` afresh, without any results."""
        shutil.rmtree(self.linked, ignore_errors=True)
        for run in (path for path in self.runs.iterdir() if path.is_dir()):  # a session before wrote its summary here
            path = self.linked / run.name
            path.mkdir(parents=True)
            for name in (RESPONSE, TRACE):
                (path / name).symlink_to(run / name)


def _write_run(path: Path, response: bytes, recording: bytes) -> None:
    path.mkdir(exist_ok=True)
    (path / RESPONSE).write_bytes(response)
    (path / TRACE).write_bytes(recording)


def _generation() -> str:
    sources = b"".join(Path(__file__).with_name(name).read_bytes() for name in MADE_BY)
    return hashlib.sha256(sources).hexdigest()


def recorded(within: Path, count: int, size: int) -> Corpus:
    """So many runs of the example suite, with recordings of about that many bytes."""
    return Corpus(within / f"{count}-of-{size}", tuple(examples()), count, partial(Example.grown, size=size))


def small(within: Path, count: int, task_ids: tuple[int, ...] = PASSING) -> Corpus:
    """So many runs with recordings of two pages, of those tasks of the example suite in turn."""
    named = "-".join(map(str, task_ids))
    return Corpus(within / f"{count}-small-{named}", tuple(map(example, task_ids)), count, Example.cut)
