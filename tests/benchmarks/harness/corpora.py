"""Run roots to measure with: many runs, each with a recording of its own, and what both scorers must know of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from tests.benchmarks.harness.recordings import RESPONSE, SUITE, TRACE, Example, encoded, example
from tests.benchmarks.harness.variants import mixed_examples, zipped_trace

DATA_SET = 812  # definitions: the reference refuses a data set that has more or fewer
FINISHED = "verdicts.json"
PASSING = (101, 108)
FAILING = (101, 108, 109)  # the last one fails
MADE_BY = ("page_texts.py", "exchanges.py", "traffic.py", "recordings.py", "variants.py", "corpora.py")


@dataclass(frozen=True, slots=True)
class Corpus:
    """A directory with that many runs, of each example in turn, and what the scorers must know of them.

    `record` makes the recording of a run from its example and number. `trace` is the name of the file.
    """

    directory: Path
    of: tuple[Example, ...]
    count: int
    record: Callable[[Example, int], bytes]
    trace: str = TRACE

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
        for task_id, one in self._numbered(self.count):
            path = self.runs / str(task_id)
            path.mkdir(exist_ok=True)
            (path / RESPONSE).write_bytes(one.response)
            (path / self.trace).write_bytes(self.record(one, task_id))
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
            for name in (RESPONSE, self.trace):
                (path / name).symlink_to(run / name)


def _generation() -> str:
    sources = b"".join(Path(__file__).with_name(name).read_bytes() for name in MADE_BY)
    return hashlib.sha256(sources).hexdigest()


def mixed(within: Path, count: int, size: int, trace: str = TRACE) -> Corpus:
    """So many runs, of which one in five fails, with recordings of about that many bytes."""
    name, record = f"{count}-of-{size}", partial(Example.grown, size=size)
    if trace == TRACE:
        return Corpus(within / name, mixed_examples(), count, record)
    return Corpus(within / f"{name}-zipped", mixed_examples(), count, partial(_record_zipped, record), trace)


def _record_zipped(record: Callable[[Example, int], bytes], one: Example, number: int) -> bytes:
    return zipped_trace(record(one, number))


def repeated(within: Path, one: Example, count: int, size: int) -> Corpus:
    """So many runs of one example."""
    name = f"{count}-of-{size}-{one.task['task_id']}-{one.verdict}"
    return Corpus(within / name, (one,), count, partial(Example.grown, size=size))


def small(within: Path, count: int, task_ids: tuple[int, ...] = PASSING) -> Corpus:
    """So many runs with recordings of two pages, of those tasks of the example suite in turn."""
    named = "-".join(map(str, task_ids))
    return Corpus(within / f"{count}-small-{named}", tuple(map(example, task_ids)), count, Example.cut)
