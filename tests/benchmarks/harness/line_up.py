"""The table of contestants, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.harness.contestants import (
    Contestant,
    Loop,
    OnReference,
    Reader,
    ReusingSession,
    audit,
    session,
    summary,
    walks,
)
from tests.benchmarks.harness.corpora import FAILING, Corpus, mixed, repeated, small
from tests.benchmarks.harness.environments import Environments
from tests.benchmarks.harness.recordings import TRACE
from tests.benchmarks.harness.remote_session import remote_session
from tests.benchmarks.harness.variants import failing as failing_pair

HERE = Path(__file__).parent
SHORT = 10  # times in a round


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many runs of how many bytes; by default those of the published figures."""

    tasks: int = 812
    records: int = 1_000_000  # of a summary without runs
    fewer_tasks: int = 200
    recording: int = 900_000
    large_tasks: int = 20
    large_recording: int = 20_000_000
    few: int = 1_000
    many: int = 100_000
    items: int = 10_000
    walks: int = 5


def line_up(environments: Environments, sizes: Sizes, scratch: Path) -> Mapping[str, Contestant]:
    """Everybody who can be measured; nothing is written before."""
    python, place = environments.plugin, scratch / "sessions"
    corpora = scratch / "corpora"
    data_set = mixed(corpora, sizes.tasks, sizes.recording)
    fewer, zipped = (mixed(corpora, sizes.fewer_tasks, sizes.recording, name) for name in (TRACE, "trace.zip"))
    large = mixed(corpora, sizes.large_tasks, sizes.large_recording)
    one_passes, one_fails = (repeated(corpora, one, sizes.fewer_tasks, sizes.recording) for one in failing_pair())
    few, many = small(corpora, sizes.few), small(corpora, sizes.many)
    passing, failing = small(corpora, sizes.items), small(corpora, sizes.items, FAILING)
    one, single = mixed(corpora, 1, sizes.recording), small(corpora, 1)
    reference = environments.reference
    # fmt: off
    return {
        "ours":             session(python, data_set, place / "ours"),
        "reference":        command_line(reference, data_set, place / "reference"),
        "reference-api":    python_api(reference, data_set, place / "reference-api"),
        "floor":            floor(python, data_set, place / "floor"),
        "our-loop":         our_loop(python, data_set, place / "our-loop"),
        "first":            session(python, data_set, place / "first", "--webeval-reuse"),
        "reusing":          session(python, data_set, place / "reusing", "--webeval-reuse", kind=ReusingSession),
        "two-processes":    session(python, data_set, place / "two-processes", "-n", "2"),
        "fewer":            session(python, fewer, place / "fewer"),
        "reference-fewer":  command_line(reference, fewer, place / "reference-fewer"),
        "api-fewer":        python_api(reference, fewer, place / "api-fewer"),
        "zipped":           session(python, zipped, place / "zipped"),
        "one-passes":       session(python, one_passes, place / "one-passes"),
        "one-fails":        session(python, one_fails, place / "one-fails"),
        "summary":          summary(python, place / "summary", sizes.records),
        "auditing":         audit(python, data_set, place / "auditing"),
        "one-recording":    session(python, one, place / "one-recording"),
        "large":            session(python, large, place / "large"),
        "two-large":        session(python, large, place / "two-large", "-n", "2"),
        "reference-large":  command_line(reference, large, place / "reference-large"),
        "one-small":        session(python, single, place / "one-small", times=SHORT),
        "few-small":        session(python, few, place / "few-small"),
        "many-small":       session(python, many, place / "many-small", rounds=1),
        "all-passing":      session(python, passing, place / "all-passing"),
        "remote":           remote_session(python, passing, place / "remote"),
        "a-third-failing":  session(python, failing, place / "a-third-failing"),
        "reporting":        session(python, failing, place / "reporting", f"--webeval-report={place / 'report'}"),
        "reporting-recordings": session(
            python, data_set, place / "reporting-recordings", f"--webeval-report={place / 'report-recordings'}"
        ),
        "many-empty":       empty(python, place / "many-empty", tests=sizes.many, times=1, rounds=1),
        "idle":             empty(python, place / "idle"),
        "bare":             empty(environments.bare, place / "bare"),
        "recorder":         walks(python, "ours", place / "recorder", sizes.walks),
        "playwright":       walks(python, "plain", place / "playwright", sizes.walks),
    }
    # fmt: on


def command_line(python: Path, corpus: Corpus, directory: Path) -> OnReference:
    """The reference's own command."""
    # -E and -W as in the parity tests: warnings of its dependencies are not what it is measured for.
    command = (str(python), "-E", "-W", "ignore", "-m", "webarena_verified", "eval-tasks")
    where = ("--output-dir", str(corpus.linked), "--config", str(corpus.config))
    return OnReference(command=(*command, *where), directory=directory, corpus=corpus)


def python_api(python: Path, corpus: Corpus, directory: Path) -> OnReference:
    """The reference's classes, which read the data set once."""
    command = (str(python), "-E", "-W", "ignore", str(HERE / "reference_api.py"))
    where = (str(corpus.linked), str(corpus.config))
    return OnReference(command=(*command, *where), directory=directory, corpus=corpus)


def floor(python: Path, corpus: Corpus, directory: Path) -> Reader:
    """What no scorer can do without."""
    return Reader(command=(str(python), str(HERE / "floor.py"), str(corpus.runs)), directory=directory, corpus=corpus)


def our_loop(python: Path, corpus: Corpus, directory: Path) -> Loop:
    """Our classes, without pytest."""
    command = (str(python), str(HERE / "our_loop.py"), str(corpus.runs), str(corpus.tasks), str(corpus.config))
    return Loop(command=command, directory=directory, corpus=corpus)


def empty(python: Path, directory: Path, *, tests: int = 1, times: int = SHORT, rounds: int = 1_000) -> Contestant:
    """A session with tests that do nothing, and no runs."""
    command = (str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_nothing.py")
    return Contestant(command=command, directory=directory, tests=tests, times=times, rounds=rounds)
