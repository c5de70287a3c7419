"""A session without pytest: an executor scores the runs in batches, and this process sums up what comes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from pytest_webeval.errors import DiskFull, ExecutorError, WebEvalError
from pytest_webeval.executors.batches import map_batches
from pytest_webeval.executors.progress import Progress
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.results import Status, Summary
from pytest_webeval.sessions.batch_scoring import SessionSeed, describe_lost_run, remove_unfinished, score_batch
from pytest_webeval.sessions.classification import Classifier
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.full_disk import FullDisk
from pytest_webeval.sessions.interruption import open_hold
from pytest_webeval.sessions.missing_tasks import MissingTasks
from pytest_webeval.sessions.path_list import PathList
from pytest_webeval.sessions.record_payload import RecordPayload, build_payload
from pytest_webeval.sessions.result_export import ResultExport
from pytest_webeval.sessions.run_outcome import redact, write
from pytest_webeval.sessions.run_scoring import RunToScore
from pytest_webeval.sessions.session_checks import FAILED, INTERRUPTED, PASSED, SessionChecks
from pytest_webeval.sessions.session_rows import SessionRows
from pytest_webeval.sessions.summaries import Summaries
from pytest_webeval.sessions.workspace import Workspace


class ScoredRuns(Struct, eq=False):
    """What the session knows of its runs besides their records: see `Collected`."""

    paths: PathList
    problems: dict[str, str]  # why broken runs cannot be scored, by path
    without_runs: Sequence[str]
    outside: int = 0  # runs of tasks that are not in the subset
    matched: Mapping[str, Any] = {}  # counts of verdicts in files, as fields of `Counts`
    missing: int = 0  # expected tasks without a recording
    is_chosen: bool = False
    selection: str = ""
    nested_runs: Sequence[str] = ()

    @classmethod
    def find(cls, workspace: Workspace) -> ScoredRuns:
        """Scan the run roots. Raises `RecordingError`."""
        paths, problems = PathList(), dict[str, str]()
        for branch in workspace.branches:
            paths.append(str(branch.path))
            if branch.kind is not Kind.RUN:
                problems[str(branch.path)] = branch.problem or ""
        matched = {} if workspace.external is None else workspace.count_matches()
        nested_runs = workspace.nested_runs
        return cls(paths, problems, workspace.without_runs, matched=matched, nested_runs=nested_runs)

    @classmethod
    def of(cls, paths: Iterable[str]) -> ScoredRuns:
        """Some runs, whoever has listed them."""
        return cls(PathList(paths), {}, ())

    def targets(self, workspace: Workspace, *, is_local: bool) -> Iterator[RunToScore]:
        """The runs in their order, with all that workers on other machines need to know of them."""
        targets = (RunToScore(path, self.problems.get(path)) for path in self.paths)
        if is_local or not workspace.settings.mirrors:
            return targets
        from pytest_webeval.sessions.remote_batches import add_objects  # few sessions have stores

        return add_objects(targets, workspace.settings)

    @property
    def has_runs(self) -> bool:
        """Whether there is anything to score."""
        return len(self.paths) + self.missing > self.outside

    @property
    def counts(self) -> Counts:
        """How many runs were left out."""
        return Counts(deselected=self.outside, outside=self.outside, **self.matched)


class ScoreSession(Struct, eq=False, dict=True):
    """One per call of the command. `evaluators_from` names a module with evaluators of one's own."""

    workspace: Workspace
    evaluators_from: str | None = None
    options: tuple[str, ...] = ()  # of commands that score a run again
    modules: str | None = None  # the checksum of modules of users that decide
    texts: dict[str, dict[str, str | None]] = field(default_factory=dict)  # of tasks, for a report
    problems: list[str] = field(default_factory=list)
    stopped: str | None = None  # why not all runs were scored
    is_interrupted: bool = False  # by Ctrl-C, or SIGTERM
    is_failed: bool = False  # a run is no success, as a failed test of it
    is_local: bool = True  # whether workers are on this machine
    probes: Mapping[str, str] = field(default_factory=dict)  # files that they must see otherwise, with their content
    finished: int = 0  # runs that came back, in the order of the paths

    @cached_property
    def records(self) -> SessionRows:
        """The rows of the runs, with which another session can reuse the results."""
        return SessionRows(self.workspace)

    @cached_property
    def export(self) -> ResultExport:
        """The results that go to shards."""
        return ResultExport(self.workspace, self.records)

    @cached_property
    def missing(self) -> MissingTasks:
        """Expected tasks without a recording."""
        return MissingTasks(self.workspace)

    @cached_property
    def checks(self) -> SessionChecks:
        """The gates and the baseline. Raises `WebEvalError`."""
        return SessionChecks.of(self.workspace, self.missing)

    @cached_property
    def full_disk(self) -> FullDisk:
        """Files that were not written because the disk is full."""
        return FullDisk(self.workspace.settings)

    @cached_property
    def runs(self) -> ScoredRuns:
        """The runs of all roots. Raises `RecordingError`."""
        runs = ScoredRuns.find(self.workspace)
        runs.missing = len(self.missing.by_path)
        return runs

    @cached_property
    def seed(self) -> SessionSeed:
        """What worker processes are told once."""
        return SessionSeed.of(
            self.workspace,
            evaluators_from=self.evaluators_from,
            run_count=len(self.runs.paths) + self.runs.missing,
            options=self.options,
            is_local=self.is_local,
            probes=self.probes,
            modules=self.modules,
        )

    def score(self, executor: Executor, size: int, progress: Progress) -> None:
        """Let the executor score all runs in batches, and keep what comes back.

        Ctrl-C ends it with what there is, as an executor does that fails on the way. Raises what an evaluator's module
        raises, and `ExecutorError` from an executor that has scored nothing.
        """
        self.records.tidy()
        for path in self.missing.by_path:
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
            self.stopped, self.is_interrupted = type(error).__name__, True
        except ExecutorError as error:
            if not self.finished:
                raise
            self.stopped = str(error)
            self.problems.append(self.stopped)

    def _keep_all(self, outcomes: Iterable[str | None], progress: Progress) -> None:
        """Keep what comes back. A run is in all files or in none, whenever somebody stops the session."""
        with open_hold() as hold:
            for outcome in outcomes:
                with hold:
                    self.finished += 1
                    if outcome is None:
                        self.runs.outside += 1
                    else:
                        self._keep(RecordPayload.read(outcome), progress)

    def _find_targets(self) -> Iterator[RunToScore]:
        """The runs in their order, with what an earlier session left of each."""
        targets = self.runs.targets(self.workspace, is_local=self.is_local)
        if not self.workspace.settings.reuse:
            return targets
        earlier, of = self.records.find_earlier, self.workspace.labels.of
        return (structs.replace(target, earlier=earlier(path := Path(target.path), of(path))) for target in targets)

    def _describe_missing(self, path: Path) -> RecordPayload:
        classification = Classifier(self.workspace, self.missing).classify_error(path, self.missing.reason(path))
        redacted = redact(classification, self.workspace.redacting)
        written = write(redacted, self.workspace.result_places, lambda *_: None)
        write_page = self.seed.build_page_maker(self.workspace)
        return build_payload(written if write_page is None else write_page(written, path))

    def _keep(self, payload: RecordPayload, progress: Progress) -> None:
        """Keep the record of a run."""
        record = payload.record
        if payload.texts:
            self.texts[record.run] = self._shared_texts.setdefault(tuple(payload.texts.items()), payload.texts)
        self.full_disk.replace(record.run, payload.no_room)
        self.attempt(partial(self.records.keep_payload, payload))
        if self._is_failure(payload):
            self.is_failed = True
            self.checks.has_other_failure |= payload.is_disturbed
            progress.add_failures()

    def _is_failure(self, payload: RecordPayload) -> bool:
        """Whether a test of the run would fail."""
        record, settings = payload.record, self.workspace.settings
        if payload.is_disturbed or record.skipped:
            return payload.is_disturbed or (payload.is_aborted and settings.aborted == "fail")
        known = self.workspace.known_failures
        return record.status != Status.SUCCESS and (known is None or known.find_expected(record) is None)

    @cached_property
    def _shared_texts(self) -> dict[tuple[tuple[str, str | None], ...], dict[str, str | None]]:
        """The texts of each task once: it may have many runs."""
        return {}

    @cached_property
    def unscored(self) -> list[str]:
        """The labels of runs that did not come back."""
        rest = islice(self.runs.paths, self.finished, None)
        return sorted(self.workspace.labels.of(Path(path)) for path in rest)

    def summaries(self) -> Summaries:
        """What the session adds to the records of its runs."""
        return Summaries(self.workspace, self.runs, self.records, self.unscored, self.stopped)

    def check(self, summary: Summary) -> tuple[Summary, int]:
        """The checked summary, and the exit code that follows."""
        checks = self.checks
        checks.has_other_failure |= bool(self.stopped or self.unscored or self.problems or self.full_disk)
        checked = checks.check(summary)
        code = INTERRUPTED if self.is_interrupted else FAILED if self.is_failed or self.stopped else PASSED
        return checked, checks.decide_exit_code(code, checked)

    def attempt(self, do: Callable[[], object]) -> bool:
        """Whether something could be written; the obstacle is shown at the end of the session."""
        try:
            do()
        except DiskFull as error:
            self.full_disk.add(error.no_room)
            return False
        except WebEvalError as error:
            self.problems.append(self.workspace.redacting.text(str(error)))
            return False
        return True
