"""The audit of a set of tasks with the runs of some of them, in one process or in several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, islice
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.authoring.audit.attempts import Attempt, RecordedRun
from pytest_webeval.authoring.audit.baselines import MOST_OTHERS, AnswerCounts, template_of
from pytest_webeval.authoring.audit.findings import NOT_AUDITED, Finding, TaskAudit
from pytest_webeval.authoring.audit.task_audit import MOST_RUNS, Audit, AuditSettings, build_examiner, select_passing
from pytest_webeval.errors import EvaluationError, TaskDefinitionError, WebEvalError
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.scoring.score import TIMED_OUT, limit_time
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.task import Task

MOST_NEAREST = 5  # runs of other tasks that are read for one task
MOST_OWN = 20  # runs of the task itself that are read
MOST_EVENTS = 20_000  # of a recording of which mutants are made, each of which is searched again
CHUNK = 8  # tasks that a process takes at once


class SuiteAudit(Struct, frozen=True, dict=True):
    """The audit of tasks by their definitions, and by the recorded runs of those that have some.

    Each task is audited by itself: no other one, and no number of processes, changes what is found in it.
    """

    tasks: TaskSet
    settings: AuditSettings
    runs: Sequence[Run] = ()
    jobs: int = 1
    _passing: dict[int, bool] = field(default_factory=dict)

    def audit(self, task_ids: Sequence[int | str] | None = None) -> list[TaskAudit]:
        """The audits of these tasks, or of all, in their order."""
        selected = list(self.tasks.task_ids if task_ids is None else task_ids)
        if self.jobs < 2 or len(selected) < 2:
            return [self.audit_one(task_id) for task_id in selected]
        _ = self.counts, self.runs_by_task  # in this process, so that those that are forked have them too
        context, count = multiprocessing.get_context("fork"), min(self.jobs, len(selected))
        with ProcessPoolExecutor(count, context, initializer=_shared.append, initargs=(self,)) as pool:
            return list(pool.map(_audit_shared, selected, chunksize=CHUNK))

    @cached_property
    def counts(self) -> AnswerCounts:
        """How many tasks expect which answer."""
        tasks = map(self._find, self.tasks.task_ids)
        return AnswerCounts(task for task in tasks if task is not None)

    def _find(self, task_id: int | str) -> Task | None:
        try:
            return self.tasks.get(task_id)
        except TaskDefinitionError:
            return None

    @cached_property
    def runs_by_task(self) -> dict[str, list[int]]:
        """Positions of the runs of each task."""
        positions: dict[str, list[int]] = {}
        for position, run in enumerate(self.runs):
            positions.setdefault(str(run.task_id), []).append(position)
        return positions

    def _is_passing(self, position: int) -> bool:
        """Whether a run passes, found out once by each process; of one that takes too long it is not known to."""
        if position not in self._passing:
            self._passing[position] = False
            with self._limit_time():
                task, run = self._find(self.runs[position].task_id), self._load(position)
                runs = [] if run is None else [run]
                is_passing = task is not None and bool(select_passing(build_examiner(task, self.settings, runs), runs))
                self._passing[position] = is_passing
        return self._passing[position]

    @contextmanager
    def _limit_time(self) -> Iterator[None]:
        """The time of a task. What takes longer ends without an error."""
        try:
            with limit_time(self.settings.timeout):
                yield
        except EvaluationError as error:
            if error.code != TIMED_OUT:
                raise

    def _load(self, position: int) -> RecordedRun | None:
        """The recording of a run; None for one that cannot be read, or is too long."""
        run = self.runs[position]
        try:
            run.check()
            attempt = Attempt(run.response, run.trace)
        except (WebEvalError, ValueError):
            return None
        finally:
            run.release()
        is_short = attempt.trace is not None and len(attempt.trace.events) <= MOST_EVENTS
        return RecordedRun(run.label, attempt, run.task_id) if is_short else None

    def _load_all(self, positions: Iterable[int]) -> list[RecordedRun]:
        return [run for run in map(self._load, positions) if run is not None]

    def audit_one(self, task_id: int | str, evaluators: Mapping[str, Evaluator] | None = None) -> TaskAudit:
        """The audit of one task; of an invalid definition the finding says why. A session may have own evaluators."""
        try:
            task = self.tasks.get(task_id)
        except TaskDefinitionError as error:
            finding = Finding(task_id, "invalid_definition", "", "", (), str(error))
            return TaskAudit(task_id, 0, (finding,), ())
        material = self.counts.commonest(task), self._load_others(task), self._load_spare(task)
        audit, is_finished = None, False
        settings = self.settings if evaluators is None else replace(self.settings, evaluators=evaluators)
        with self._limit_time():
            runs = self._load_own(task_id)
            audit = Audit(build_examiner(task, settings, runs), runs, *material)
            audit.run()
            is_finished = True
        if audit is not None and is_finished:
            return audit.sum_up()
        note = Finding(task_id, NOT_AUDITED, "", "", (), f"it takes more than {self.settings.timeout:g} s")
        return TaskAudit(task_id, 0, (), (note,)) if audit is None else audit.sum_up(note)

    def _load_own(self, task_id: int | str) -> list[RecordedRun]:
        """A few runs of the task, those first that pass."""
        positions = self.runs_by_task.get(str(task_id), [])[:MOST_OWN]
        ordered = sorted(positions, key=lambda position: (not self._is_passing(position), position))
        return self._load_all(ordered[:MOST_RUNS])

    def _load_others(self, task: Task) -> list[RecordedRun]:
        """Passing runs of the tasks that are most like this one."""
        return self._load_all(islice(filter(self._is_passing, self._list_nearest(task)), MOST_OTHERS))

    def _load_spare(self, task: Task) -> list[NetworkTrace]:
        """Traces of failing runs of the task, and of runs of tasks that are like it."""
        if not any(config.get("should_not_exist") for config in task.eval):
            return []
        positions = self.runs_by_task.get(str(task.task_id), [])
        failing = islice((position for position in positions if not self._is_passing(position)), MOST_RUNS)
        runs = self._load_all([*failing, *self._list_nearest(task)])
        return [run.attempt.trace for run in runs if run.attempt.trace is not None]

    def _list_nearest(self, task: Task) -> list[int]:
        """A few runs of other tasks with the same sites, those of the same template first, in the order of the runs."""
        own, chosen = str(task.task_id), dict[int, None]()
        for position in chain.from_iterable(self._alike.get(group, ()) for group in _list_groups(task)):
            if str(self.runs[position].task_id) != own:
                chosen[position] = None
            if len(chosen) == MOST_NEAREST:
                break
        return list(chosen)

    @cached_property
    def _alike(self) -> dict[Any, list[int]]:
        """Positions of the runs of tasks with a template, and with the same sites."""
        positions: dict[Any, list[int]] = {}
        for position, run in enumerate(self.runs):
            task = self._find(run.task_id)
            for group in _list_groups(task) if task is not None else ():
                positions.setdefault(group, []).append(position)
        return positions


def _list_groups(task: Task) -> list[Any]:
    """What tasks that are alike have in common: the template, if the task has one, and the sites."""
    template = template_of(task)
    return [*([] if template is None else [template]), tuple(task.sites)]


_shared: list[SuiteAudit] = []  # in a process that was forked for an audit


def _audit_shared(task_id: int | str) -> TaskAudit:
    return _shared[-1].audit_one(task_id)
