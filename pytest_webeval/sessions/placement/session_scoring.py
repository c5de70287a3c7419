"""A session without pytest: an executor scores the runs in batches, and this process keeps what comes back."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from msgspec import Struct, field, structs

from pytest_webeval.errors import ExecutorError
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.progress import Progress
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.results import Status
from pytest_webeval.sessions.collected import Collected, Counts
from pytest_webeval.sessions.interruption import open_hold
from pytest_webeval.sessions.placement.batch_scoring import (
    SessionSeed,
    describe_lost_run,
    remove_unfinished,
    score_batch,
)
from pytest_webeval.sessions.runs.classification import Classifier
from pytest_webeval.sessions.runs.record_payload import RecordPayload, build_payload
from pytest_webeval.sessions.runs.run_outcome import redact, write
from pytest_webeval.sessions.runs.run_scoring import RunToScore
from pytest_webeval.sessions.session import FAILED, INTERRUPTED, NO_RUNS, PASSED, Session
from pytest_webeval.sessions.workspace.workspace import Workspace

_PIECE = 1_000  # paths that are compressed together


class PathList(Collection[str]):
    """The paths of very many runs in their order, a few bytes each, to be read again and again from the beginning."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._pieces: list[bytes] = []
        self._last: list[str] = []
        for path in paths:
            self.append(path)

    def append(self, path: str) -> None:
        """Add a path."""
        self._last.append(path)
        if len(self._last) == _PIECE:
            self._pieces.append(zlib.compress(os.fsencode("\0".join(self._last)), 1))  # no path has this character
            self._last = []

    def __len__(self) -> int:
        return len(self._pieces) * _PIECE + len(self._last)

    def __iter__(self) -> Iterator[str]:
        for piece in self._pieces:
            yield from os.fsdecode(zlib.decompress(piece)).split("\0")
        yield from self._last

    def __contains__(self, path: object) -> bool:
        return any(path == each for each in self)


class ScoredRuns(Struct, eq=False):
    """The runs to score: `problems` is why broken ones cannot be scored, by path."""

    paths: PathList
    problems: Mapping[str, str] = {}
    without_runs: Sequence[str] = ()
    nested_runs: Sequence[str] = ()

    @classmethod
    def find(cls, workspace: Workspace) -> ScoredRuns:
        """Scan the run roots. Raises `RecordingError`."""
        paths, problems = PathList(), dict[str, str]()
        for branch in workspace.branches:
            paths.append(str(branch.path))
            if branch.kind is not Kind.RUN:
                problems[str(branch.path)] = branch.problem or ""
        return cls(paths, problems, workspace.without_runs, workspace.nested_runs)

    def targets(self, workspace: Workspace, *, is_local: bool) -> Iterator[RunToScore]:
        """The runs in their order, with all that workers on other machines need to know of them."""
        targets = (RunToScore(path, self.problems.get(path)) for path in self.paths)
        if is_local or not workspace.settings.mirrors:
            return targets
        from pytest_webeval.sessions.placement.remote_batches import add_objects  # few sessions have stores

        return add_objects(targets, workspace.settings)


class SessionScoring(Struct, eq=False, dict=True):
    """One per call of the command. `evaluators_from` names a module with evaluators of one's own."""

    session: Session
    evaluators_from: str | None = None
    modules: str | None = None  # the checksum of modules of users that decide
    is_interrupted: bool = False  # by Ctrl-C, or SIGTERM
    is_failed: bool = False  # a run is no success, as a failed test of it
    is_local: bool = True  # whether workers are on this machine
    probes: Mapping[str, str] = field(default_factory=dict)  # files that they must see otherwise, with their content
    finished: int = 0  # runs that came back, in the order of the paths
    outside: int = 0  # of these, runs of tasks that are not in the subset

    @property
    def workspace(self) -> Workspace:
        """That of the session."""
        return self.session.workspace

    @cached_property
    def runs(self) -> ScoredRuns:
        """The runs of all roots. Raises `RecordingError`."""
        return ScoredRuns.find(self.workspace)

    @cached_property
    def run_count(self) -> int:
        """How many runs have a page in a report: those of the roots, and missing ones."""
        return len(self.runs.paths) + len(self.session.missing.by_path)

    @cached_property
    def seed(self) -> SessionSeed:
        """What worker processes are told once."""
        return SessionSeed.of(
            self.workspace,
            evaluators_from=self.evaluators_from,
            run_count=self.run_count,
            options=(*self.session.repeated[0],),
            is_local=self.is_local,
            probes=self.probes,
            modules=self.modules,
        )

    def score(self, executor: Executor, size: int, progress: Progress) -> None:
        """Let the executor score all runs in batches, and keep what comes back.

        Ctrl-C ends it with what there is, as an executor does that fails on the way. Raises what an evaluator's module
        raises, and `ExecutorError` from an executor that has scored nothing.
        """
        self.session.records.tidy()
        for path in self.session.missing.by_path:
            self._keep(self._describe_missing(path), progress)
        seed = self.seed
        self.workspace.forget_branches()
        outcomes = map_batches(
            executor,
            score_batch,
            seed,
            self._find_targets(),
            size=size,
            lost=partial(describe_lost_run, seed),
            on_done=progress.add,
            on_loss=progress.lose_worker,
            on_end=partial(remove_unfinished, self.workspace),
        )
        try:
            with closing(outcomes):
                self._keep_all(outcomes, progress)
        except KeyboardInterrupt as error:
            self.session.stopped, self.is_interrupted = type(error).__name__, True
        except ExecutorError as error:
            if not self.finished:
                raise
            self.session.stopped = str(error)
            self.session.problems.append(str(error))

    def _keep_all(self, outcomes: Iterable[str | None], progress: Progress) -> None:
        """Keep what comes back. A run is in all files or in none, whenever somebody stops the session."""
        with open_hold() as hold:
            for outcome in outcomes:
                with hold:
                    self.finished += 1
                    if outcome is None:
                        self.outside += 1
                    else:
                        self._keep(RecordPayload.read(outcome), progress)

    def _find_targets(self) -> Iterator[RunToScore]:
        """The runs in their order, with what an earlier session left of each."""
        targets = self.runs.targets(self.workspace, is_local=self.is_local)
        if not self.workspace.settings.reuse:
            return targets
        earlier, of = self.session.records.find_earlier, self.workspace.labels.of
        return (structs.replace(target, earlier=earlier(path := Path(target.path), of(path))) for target in targets)

    def _describe_missing(self, path: Path) -> RecordPayload:
        missing = self.session.missing
        classification = Classifier(self.workspace, missing).classify_error(path, missing.reason(path))
        redacted = redact(classification, self.workspace.redacting)
        written = write(redacted, self.workspace.result_places, lambda *_: None)
        write_page = self.seed.build_page_maker(self.workspace)
        return build_payload(written if write_page is None else write_page(written, path))

    def _keep(self, payload: RecordPayload, progress: Progress) -> None:
        """Keep the record of a run."""
        self.session.keep(payload)
        if self._is_failure(payload):
            self.is_failed = True
            self.session.has_other_failure |= payload.is_disturbed
            progress.add_failures()

    def _is_failure(self, payload: RecordPayload) -> bool:
        """Whether a test of the run would fail."""
        record, settings = payload.record, self.workspace.settings
        if payload.is_disturbed or record.skipped:
            return payload.is_disturbed or (payload.is_aborted and settings.aborted == "fail")
        known = self.workspace.known_failures
        return record.status != Status.SUCCESS and (known is None or known.find_expected(record) is None)

    def finish(self) -> int:
        """Let the session know of its runs, and return the exit code that follows from them alone."""
        session, workspace, runs = self.session, self.workspace, self.runs
        rest = islice(runs.paths, self.finished, None)
        session.unscored = sorted(workspace.labels.of(Path(path)) for path in rest)
        matches = () if workspace.external is None else workspace.count_matches()
        counts = Counts(deselected=self.outside, outside=self.outside, matches=matches)
        session.collected = Collected(self.run_count - self.outside, counts, runs.without_runs, runs.nested_runs)
        if not len(session.records) and not session.collected.run_count:
            return NO_RUNS
        return INTERRUPTED if self.is_interrupted else FAILED if self.is_failed or session.stopped else PASSED
