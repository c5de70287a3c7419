"""Scores the runs of a run root and writes their results, in this process or in batches on an executor."""

from __future__ import annotations

import os
import pickle
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError, WebEvalError
from pytest_webeval.executors.job import pack
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.labels import default_task_id, quote_path
from pytest_webeval.recordings.run import BrokenRun, Run, RunFormat, placeholder_run
from pytest_webeval.recordings.run_tree import Branch, Kind, Search
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import RESULT, Status, TaskResult
from pytest_webeval.rules import Rules, find_rules
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.run_directory import find_change, is_directory, is_writable, open_run_directory
from pytest_webeval.safety.text import name_first, shorten_repr
from pytest_webeval.scoring.definition import find_task
from pytest_webeval.scoring.provenance import record_code_checksum
from pytest_webeval.scoring.score import IMPORTED_LATE, limit_time
from pytest_webeval.scoring.score_settings import ScoreSettings, build_refused_result
from pytest_webeval.storage import remove, remove_leftovers, write_json
from pytest_webeval.tasks.dataset import TaskSet

if TYPE_CHECKING:
    from pytest_webeval.executors.placement import WorkerDied
    from pytest_webeval.stores.mirror import Mirror

CHOOSE_OUTPUT = "choose another directory with output=DIR"
NESTED_NAMED, NESTED_LENGTH = 8, 80  # in a warning
NESTED = "the result is nested too deep to be sent by its worker; score the run without an executor"


class RunDirectory(Struct, frozen=True):
    """A directory to score. `problem` is why a broken one, or one that may be a run, cannot be scored."""

    path: str
    label: str
    problem: str | None = None

    def load(self, root: Path, rules: Rules, limits: Limits, own: Sequence[RunFormat] = ()) -> Run:
        """The run below a root. Reading a broken one raises `RecordingError`."""
        try:
            if self.problem is not None:
                raise RecordingError(self.problem)
            return formats.load_run(Path(self.path), rules, self.label, own).within(limits).below(root)
        except RecordingError as error:  # it may have changed since it was listed
            return BrokenRun.at(Path(self.path), self.label, rules, str(error))


class RootSearch(Struct, frozen=True):
    """Where runs of a root lie: known formats and tasks, and a directory for results, which holds none."""

    top: Path
    own: Sequence[RunFormat] = ()
    tasks: TaskSet | None = None
    output: Path | None = None
    mirror: Mirror | None = None

    def list_directories(self) -> Iterator[RunDirectory]:
        """The runs and what should be one, in the order of the names. Raises `RecordingError` for the root itself."""
        top, tree = self.top, self._search()
        if tree.kind is Kind.UNREADABLE:
            raise RecordingError(tree.problem or "")
        if nested := [path.relative_to(top).as_posix() for path in tree.list_nested()]:
            listed = name_first(nested, NESTED_NAMED, NESTED_LENGTH, len(nested))
            warnings.warn(f"runs inside other runs are not scored: {listed}; move them out", stacklevel=2)
        for branch in tree.list_items():
            inner = branch.path.relative_to(top).as_posix() if branch.path != top else branch.path.name
            yield RunDirectory(
                str(branch.path), quote_path(inner), None if branch.kind is Kind.RUN else branch.problem or ""
            )

    def _search(self) -> Branch:
        return Search(self.top, self._recognize, self._is_defined, self._is_output).tree()

    def _recognize(self, path: Path, listing: DirectoryListing) -> RunFormat | None:
        if self.mirror is not None:
            self.mirror.bring_signs(path, formats.list_signs)
        return formats.recognize(path, listing, self.own)

    def _is_defined(self, path: Path) -> bool:
        return self.tasks is not None and default_task_id(path) in self.tasks

    def _is_output(self, path: Path) -> bool:
        return self.output is not None and path == Path(os.path.abspath(self.output))  # noqa: PTH100  (links are kept)


def open_mirror(
    location: str, cache: Path | None = None, most_bytes: int | None = None, limits: Limits = USUAL
) -> Mirror:
    """The mirror of a store, with the files by which its runs are recognized. Raises `SettingsError`, `StoreError`."""
    from pytest_webeval.stores.choice import open_store  # for runs in stores
    from pytest_webeval.stores.mirror import Mirror

    mirror = Mirror.open(open_store(location), cache, most_bytes, limits)
    mirror.fetch_signs(formats.list_signs)
    return mirror


class RootScoring(Struct, frozen=True, eq=False, dict=True):
    """What each process needs to know to score runs of a root and to write their results.

    `root_tasks` are those in the root itself. With `output`, results are written below it, without secrets. `policy`
    says what is redacted in those that callers get.
    """

    top: Path
    settings: ScoreSettings
    root_tasks: TaskSet | None
    output: Path | None
    mirror: Mirror | None = None
    policy: RedactionPolicy = RedactionPolicy()

    @cached_property
    def _redacting(self) -> Redacting:
        return Redacting(RedactionPolicy(), self.output is not None)

    @cached_property
    def _returning(self) -> Redacting:
        is_same = self._redacting.is_leaving and self._redacting.policy == self.policy
        return self._redacting if is_same else Redacting(self.policy, is_leaving=True)

    @cached_property
    def _rules(self) -> Rules:
        return find_rules(self.settings.rules)

    def score_all(self, directories: Iterable[RunDirectory], size: int) -> Iterator[TaskResult]:
        """Score runs in this process. Each result is written before it is yielded."""
        rest = iter(directories)
        while batch := list(islice(rest, size)):
            self.prefetch(batch)
            yield from map(self.score, batch)

    def score_on(
        self, executor: Executor | str, directories: Iterable[RunDirectory], size: int
    ) -> Iterator[TaskResult]:
        """Score runs on an executor, in batches. The results come in the order of the runs."""
        from pytest_webeval.executors.batches import map_batches  # for who asks

        lost, opened = partial(refuse_lost, self), find_executor(executor)
        on_end = partial(self._remove_unfinished, time.time())
        for content in map_batches(opened, score_batch, self, directories, size=size, lost=lost, on_end=on_end):
            result: TaskResult = pickle.loads(content)  # noqa: S301  (from a process of the same session)
            yield result

    def _remove_unfinished(self, since: float, directories: Iterable[RunDirectory]) -> None:
        """Remove what killed workers left of the results of some runs since they were started."""
        for path in (Path(directory.path) for directory in directories):
            place = self._find_place(path)
            with open_run_directory(place, self.top if place == path else self.output):
                remove_leftovers(place, RESULT, since=since)

    @property
    def _with_pictures(self) -> bool:
        """Whether evaluators or formats of users may look at screenshots."""
        return self.settings.evaluators is not None or bool(self.settings.formats)

    def prefetch(self, directories: Iterable[RunDirectory]) -> None:
        """Fetch the files of runs in a store."""
        if self.mirror is not None:
            self.mirror.prefetch((Path(each.path) for each in directories), with_pictures=self._with_pictures)

    def score(self, directory: RunDirectory) -> TaskResult:
        """Score a run, write its result, and return it redacted. Raises `SettingsError` if it cannot be written."""
        path = Path(directory.path)
        if self.mirror is None:
            with open_run_directory(path, self.top):
                return self._score(directory)
        with self.mirror.using(path, with_pictures=self._with_pictures), open_run_directory(path, self.top):
            result = self._score(directory)
        self.mirror.release(path)
        return result

    def _score(self, directory: RunDirectory) -> TaskResult:
        run = directory.load(self.top, self._rules, self.settings.limits, self.settings.formats)
        if isinstance(run, BrokenRun):
            return self._refuse(directory, RecordingError(run.problem))
        run = self.settings.prepare(run, self.root_tasks)
        result, redacted = self._redact_in_time(self.settings.score_in_time(run, self.root_tasks), run)
        if (problem := self._keep(result, run)) is not None:
            refused = build_refused_result(run, self._tasks, RecordingError(problem))
            redacted = self._returning.redact_for_file(refused, run)
        run.release()
        return redacted

    def _keep(self, result: TaskResult, run: Run) -> str | None:
        """Write a result; why that is not possible where the run itself is the reason. Raises `SettingsError`."""
        if self.output is None and (change := find_change(run.path)):
            return f"{run.path} was {change} while it was scored; restore it or choose a directory with output=DIR"
        if self.output is None and is_directory(run.path / RESULT):
            return f"cannot write {run.path / RESULT}: it is a directory; remove it or choose one with output=DIR"
        self._write(result, run)
        return None

    def _redact_in_time(self, result: TaskResult, run: Run) -> tuple[TaskResult, TaskResult]:
        """A result, and the same without secrets. It is an error if that takes too long."""
        try:
            with limit_time(self.settings.timeout):
                return result, self._returning.redact_for_file(result, run)
        except EvaluationError as error:
            refused = build_refused_result(run, self._tasks, error)
            return refused, refused

    def refuse(self, directory: RunDirectory, error: WebEvalError) -> TaskResult:
        """The error of a run that cannot be scored, in its file as well."""
        with open_run_directory(Path(directory.path), self.top):
            return self._refuse(directory, error)

    def _refuse(self, directory: RunDirectory, error: WebEvalError) -> TaskResult:
        run = placeholder_run(Path(directory.path), directory.label, self._rules)
        result = build_refused_result(run, self._tasks, error)
        redacted = self._returning.redact_for_file(result, run)
        self._write(result, run)
        return redacted

    def _write(self, result: TaskResult, run: Run) -> None:
        """Write a result, but for that of a directory that nobody may use.

        Without a verdict there is no result, and the file of an earlier one no longer holds.
        """
        directory = self._find_place(run.path)
        if result.webeval["skipped"] and run.find_exclusion(find_task(run, self._tasks)) is None:
            remove(directory / RESULT)
        elif directory != run.path or result.status is not Status.ERROR or is_writable(run.path):
            content = self._redacting.redact_for_file(result, run).to_json()
            write_json(directory / RESULT, content, advice=CHOOSE_OUTPUT)
        self._redacting.forget()
        self._returning.forget()

    def _find_place(self, path: Path) -> Path:
        """The directory of the result of a run."""
        return path if self.output is None else self.output / path.relative_to(self.top)

    @property
    def _tasks(self) -> TaskSet | None:
        return self.root_tasks if self.settings.tasks is None else self.settings.tasks


def score_batch(scoring: RootScoring, batch: Sequence[RunDirectory]) -> list[bytes]:
    """Score runs in a worker. Results are encoded one by one, since one may be nested too deep."""
    scoring.prefetch(batch)
    return [_encode(scoring, directory, scoring.score(directory)) for directory in batch]


def _encode(scoring: RootScoring, directory: RunDirectory, result: TaskResult) -> bytes:
    return pack(result) or _refuse(scoring, directory, NESTED)


def refuse_lost(scoring: RootScoring, directory: RunDirectory, deaths: WorkerDied) -> bytes:
    """The encoded error of a run that has killed its workers."""
    return _refuse(scoring, directory, deaths.message)


def _refuse(scoring: RootScoring, directory: RunDirectory, reason: str) -> bytes:
    return pack(scoring.refuse(directory, EvaluationError(reason))) or b""


def find_executor(executor: Any) -> Executor:
    """The executor, or the one for a text as `--executor` takes it. Raises `SettingsError`."""
    if isinstance(executor, str):
        from pytest_webeval.executors.choice import choose_executor

        return choose_executor(executor, record_code_checksum, (*IMPORTED_LATE, __name__))
    if not isinstance(executor, Executor):
        problem = f"invalid executor {shorten_repr(executor)}"
        raise SettingsError(f"{problem}; use an executor of concurrent.futures, or a text as in executor='process:4'")
    return executor
