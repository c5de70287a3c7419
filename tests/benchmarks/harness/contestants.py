"""What can be measured: commands in directories of their own, each with a check that it did its work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from tests.benchmarks.harness.corpora import Corpus
from tests.benchmarks.harness.measuring import Cost, measured
from tests.benchmarks.harness.recordings import SUITE

HERE = Path(__file__).parent
SHOWN = 2_000
POSTS = 2  # of a walk: into the cart, and a letter
ONE_TEST = "def test_nothing():\n    pass\n"
MANY_TESTS = """import pytest

@pytest.mark.parametrize("number", range({}))
def test_nothing(number):
    pass
"""


class WrongVerdicts(Exception):
    """What was measured did not do its work; its cost means nothing."""


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """A command that can be run again and again.

    It is run `times` in each round, which is for sessions of a fraction of a second, and in no more than `rounds`.
    Its directory has so many empty `tests`.
    """

    command: tuple[str, ...]
    directory: Path
    tests: int = 1
    times: int = 1
    rounds: int = 1_000
    ends_well_with: ClassVar[frozenset[int]] = frozenset({0})

    def measured(self) -> Cost:
        """What it costs once. Raises `WrongVerdicts`."""
        self.prepare()
        log = self.directory / "printed.txt"
        cost = measured(self.command, self.directory, log)
        if cost.code not in self.ends_well_with:
            raise WrongVerdicts(f"{' '.join(self.command)} ended with {cost.code}:\n{log.read_text()[-SHOWN:]}")
        self.check()
        return cost

    def prepare(self) -> None:
        """Make the directory a rootdir with empty tests."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "pytest.ini").write_text("[pytest]\n")
        (self.directory / "test_nothing.py").write_text(ONE_TEST if self.tests == 1 else MANY_TESTS.format(self.tests))

    def check(self) -> None:
        """Raise `WrongVerdicts` where it has results, and they are not what the runs deserve."""


@dataclass(frozen=True, kw_only=True)
class Reader(Contestant):
    """Reads the runs of a corpus."""

    corpus: Corpus

    def prepare(self) -> None:
        """Write the runs unless they are there."""
        super().prepare()
        self.corpus.write()

    def compare(self, found: Mapping[str, str]) -> None:
        """Raise `WrongVerdicts` for statuses by task id that are not those of the corpus."""
        wanted = self.corpus.verdicts
        wrong = sorted(one for one in {*wanted, *found} if wanted.get(one) != found.get(one))
        if wrong:
            told = [f"task {one}: {found.get(one)} instead of {wanted.get(one)}" for one in wrong[:5]]
            raise WrongVerdicts(
                f"{len(wrong)} of {len(wanted)} verdicts of {self.command} are wrong: {'; '.join(told)}"
            )


class _Row(msgspec.Struct):
    task_id: int
    status: str


class _Summary(msgspec.Struct):
    task_results: list[_Row]


@dataclass(frozen=True, kw_only=True)
class Session(Reader):
    """A session of pytest that scores the runs and writes a result beside each, as the reference does."""

    ends_well_with: ClassVar[frozenset[int]] = frozenset({0, 1})  # all tests have passed, or some have failed

    @property
    def results(self) -> Path:
        """The directory of the summary."""
        return self.corpus.runs

    def prepare(self) -> None:
        """Write the runs, remove the results."""
        super().prepare()
        for path in self.corpus.runs.glob("**/eval_*"):
            path.unlink()

    def check(self) -> None:
        """Look into the summary, or the side file of its rows."""
        summary = msgspec.json.decode((self.results / "eval_summary.json").read_bytes(), type=_Summary)
        rows = summary.task_results
        for path in self.results.glob("eval_summary-task_results-*.jsonl"):
            rows = msgspec.json.decode(b"[" + b",".join(path.read_bytes().splitlines()) + b"]", type=list[_Row])
        self.compare({str(row.task_id): row.status for row in rows})


@dataclass(frozen=True, kw_only=True)
class ReusingSession(Session):
    """A session over runs that such a session has scored before, all of whose results it reuses."""

    _expected: dict[str, Any] = field(default_factory=dict, compare=False)

    def prepare(self) -> None:
        """Score all runs."""
        super().prepare()
        measured(self.command, self.directory, self.directory / "printed.txt")
        self._expected.update(self._read_summary())

    def check(self) -> None:
        """Look for the same summary, and for the number of results that were reused."""
        super().check()
        if self._read_summary() != self._expected:
            raise WrongVerdicts(f"the summary of {self.corpus.runs} is another than that of the session before")
        count = f"{self.corpus.count} of {self.corpus.count} result"
        if f"reused: {count}" not in (self.directory / "printed.txt").read_text():
            raise WrongVerdicts(f"some results of {self.corpus.runs} were not reused")

    def _read_summary(self) -> dict[str, Any]:
        """The summary without times, and without the number of reused results."""
        summary: dict[str, Any] = json.loads((self.corpus.runs / "eval_summary.json").read_bytes())
        webeval = {name: value for name, value in summary["webeval"].items() if name not in {"slowest", "reused_count"}}
        rows = [{name: row[name] for name in row if name != "wall_time"} for row in summary["task_results"]]
        return summary | {"timestamp": None, "webeval": webeval, "task_results": rows}


@dataclass(frozen=True, kw_only=True)
class Loop(Session):
    """Our Python API, which writes the same results and no summary."""

    def check(self) -> None:
        """Look into each result."""
        paths = self.corpus.runs.glob("*/eval_result.json")
        rows = (msgspec.json.decode(path.read_bytes(), type=_Row) for path in paths)
        self.compare({str(row.task_id): row.status for row in rows})


def session(
    python: Path,
    corpus: Corpus,
    directory: Path,
    *options: str,
    times: int = 1,
    rounds: int = 1_000,
    kind: type[Session] = Session,
) -> Session:
    """As a user would start it."""
    command = (
        *(str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *options),
        f"--webeval-runs={corpus.runs}",
        f"--webeval-tasks={corpus.tasks}",
        f"--webeval-config={corpus.config}",
    )
    return kind(command=command, directory=directory, corpus=corpus, times=times, rounds=rounds)


@dataclass(frozen=True, kw_only=True)
class SecretsAudit(Reader):
    """A session that lists the secrets of the runs, of which each of them has some."""

    def check(self) -> None:
        """Look at the count in what was printed."""
        printed = (self.directory / "printed.txt").read_text()
        runs = f"{self.corpus.count} run" + "s" * (self.corpus.count > 1)
        if f"secrets in {self.corpus.count} of {runs}\n" not in printed:
            raise WrongVerdicts(f"not every run of {self.corpus.directory} has secrets:\n{printed[-SHOWN:]}")


def audit(python: Path, corpus: Corpus, directory: Path) -> SecretsAudit:
    """As a user would start it."""
    command = session(python, corpus, directory, "--webeval-audit-secrets").command
    return SecretsAudit(command=command, directory=directory, corpus=corpus)


@dataclass(frozen=True, kw_only=True)
class Summary(Contestant):
    """The summary of so many made-up `records`, without any runs."""

    records: int

    def check(self) -> None:
        """Look for all of them."""
        summary = json.loads((self.directory / "eval_summary.json").read_bytes())
        total = summary["total"] + summary["webeval"]["excluded_count"]
        if total != self.records:
            raise WrongVerdicts(f"the summary in {self.directory} is of {total} of {self.records} records")


def summary(python: Path, directory: Path, records: int) -> Summary:
    """As the scoring of very many runs ends."""
    command = (str(python), str(HERE / "summarized_records.py"), str(records))
    return Summary(command=command, directory=directory, records=records)


@dataclass(frozen=True, kw_only=True)
class RecordedWalks(Contestant):
    """Walks through the example shop in a browser, with their recordings below `recordings`."""

    recordings: Path

    def check(self) -> None:
        """Look for the letter, which is the last request but one page and its pictures, in each HAR."""
        for path in sorted(self.recordings.iterdir()):
            entries = json.loads((path / "network.har").read_bytes())["log"]["entries"]
            posts = [entry for entry in entries if entry["request"]["method"] == "POST"]
            if len(posts) != POSTS or not (path / "trace.zip").exists():
                raise WrongVerdicts(f"{path} is no recording of a walk: it has {len(posts)} of {POSTS} posts")


def walks(python: Path, recorder: str, directory: Path, count: int) -> RecordedWalks:
    """So many walks, `plain` or with `ours`."""
    recordings = directory / "recordings"
    script = (str(HERE / "recorded_walk.py"), recorder, str(SUITE), str(recordings), str(count))
    return RecordedWalks(command=(str(python), *script), directory=directory, recordings=recordings)


@dataclass(frozen=True, kw_only=True)
class OnReference(Reader):
    """The reference, on links to the runs."""

    def prepare(self) -> None:
        """Write the runs, remove the results."""
        super().prepare()
        self.corpus.link()

    def check(self) -> None:
        """Look into each result."""
        paths = self.corpus.linked.glob("*/eval_result.json")
        self.compare({path.parent.name: json.loads(path.read_bytes())["status"] for path in paths})
