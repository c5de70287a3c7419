"""The audit of a set of tasks with the runs of some of them, in one process or in several."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from typing import Any
from typing import TypeVar

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt
from pytest_webeval.authoring.audit.baselines import MOST_OTHERS
from pytest_webeval.authoring.audit.baselines import AnswerCounts
from pytest_webeval.authoring.audit.baselines import OtherRun
from pytest_webeval.authoring.audit.baselines import template_of
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.findings import Finding
from pytest_webeval.authoring.audit.findings import TaskAudit
from pytest_webeval.authoring.audit.task_audit import MOST_RUNS
from pytest_webeval.authoring.audit.task_audit import AuditSettings
from pytest_webeval.authoring.audit.task_audit import RecordedRun
from pytest_webeval.authoring.audit.task_audit import audit_task
from pytest_webeval.authoring.audit.task_audit import build_examiner
from pytest_webeval.authoring.audit.task_audit import select_passing
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.task import Task

MOST_SPARE = 4  # recordings that are searched for requests that a task forbids
MOST_EVENTS = 20_000  # of a recording of which mutants are made, each of which is searched again
CHUNK = 8  # tasks that a process takes at once
Item = TypeVar("Item")
Result = TypeVar("Result")


class SuiteAudit(Struct, frozen=True, dict=True):
    """The audit of tasks by their definitions, and by the recorded runs of those that have some.

    Each task is audited by itself: no other one, and no number of processes, changes what is found in it.
    """

    tasks: TaskSet
    settings: AuditSettings
    runs: Sequence[Run] = ()
    jobs: int = 1

    def audit(self, task_ids: Sequence[int | str] | None = None) -> list[TaskAudit]:
        """The audits of these tasks, or of all, in their order."""
        selected = list(self.tasks.task_ids if task_ids is None else task_ids)
        _ = self.counts, self.passing  # in this process, so that the others have them too
        return self._map(SuiteAudit.audit_one, selected)

    def _map(self, call: Callable[[SuiteAudit, Item], Result], items: Sequence[Item]) -> list[Result]:
        """The results of calls in the order of the items. Forked processes have what this one has loaded."""
        if self.jobs < 2 or len(items) < 2:
            return [call(self, item) for item in items]
        context = multiprocessing.get_context("fork")
        count = min(self.jobs, len(items))
        with ProcessPoolExecutor(count, context, initializer=_share, initargs=(self,)) as pool:
            return list(pool.map(_call, ((call, item) for item in items), chunksize=CHUNK))

    @cached_property
    def counts(self) -> AnswerCounts:
        """How many tasks expect which answer."""
        return AnswerCounts(self._valid_tasks())

    def _valid_tasks(self) -> Iterator[Task]:
        for task_id in self.tasks.task_ids:
            task = self._find(task_id)
            if task is not None:
                yield task

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

    @cached_property
    def passing(self) -> frozenset[int]:
        """Positions of the runs that pass."""
        results = self._map(SuiteAudit._does_pass, range(len(self.runs)))
        return frozenset(position for position, passes in enumerate(results) if passes)

    def _does_pass(self, position: int) -> bool:
        task, run = self._find(self.runs[position].task_id), self._load(position)
        if task is None or run is None:
            return False
        return bool(select_passing(self._examiner(task, [run]), [run]))

    def _examiner(self, task: Task, runs: Sequence[RecordedRun]) -> Examiner:
        return build_examiner(task, self.settings, runs, is_published=self.tasks.is_published(task.task_id))

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
        return RecordedRun(run.label, attempt) if is_short else None

    def audit_one(self, task_id: int | str) -> TaskAudit:
        """The audit of one task; of an invalid definition the finding says why."""
        try:
            task = self.tasks.get(task_id)
        except TaskDefinitionError as error:
            finding = Finding(task_id, "invalid_definition", "", "", (), str(error))
            return TaskAudit(task_id, 0, (finding,), ())
        positions = self.runs_by_task.get(str(task_id), [])
        ordered = sorted(positions, key=lambda position: (position not in self.passing, position))
        runs = [run for position in ordered[:MOST_RUNS] if (run := self._load(position)) is not None]
        examiner, commonest = self._examiner(task, runs), self.counts.commonest(task)
        return audit_task(examiner, runs, commonest, self._load_others(task), self._load_spare(task))

    def _load_others(self, task: Task) -> list[OtherRun]:
        """Passing runs of the tasks that are most like this one."""
        nearest = self._list_nearest(task, self.passing)[:MOST_OTHERS]
        runs = [(self.runs[position].task_id, self._load(position)) for position in nearest]
        return [OtherRun(str(task_id), run.attempt) for task_id, run in runs if run is not None]

    def _load_spare(self, task: Task) -> list[NetworkTrace]:
        """Traces of failing runs of the task, and of runs of tasks that are like it."""
        if not any(config.get("should_not_exist") for config in task.eval):
            return []
        own = [position for position in self.runs_by_task.get(str(task.task_id), []) if position not in self.passing]
        nearest = self._list_nearest(task, range(len(self.runs)))
        runs = [self._load(position) for position in [*own, *nearest][:MOST_SPARE]]
        return [run.attempt.trace for run in runs if run is not None and run.attempt.trace is not None]

    def _list_nearest(self, task: Task, positions: Iterable[int]) -> list[int]:
        """Runs of other tasks with the same sites, those of the same template first, in the order of the runs."""
        groups = self._by_template.get(template_of(task), []), self._by_sites.get(tuple(task.sites), [])
        allowed, own = frozenset(positions), str(task.task_id)
        chosen: dict[int, None] = {}
        for group in groups:
            for position in group:
                if len(chosen) > MOST_SPARE:
                    break
                if position in allowed and str(self.runs[position].task_id) != own:
                    chosen[position] = None
        return list(chosen)

    @cached_property
    def _by_template(self) -> dict[Any, list[int]]:
        return self._group(template_of)

    @cached_property
    def _by_sites(self) -> dict[Any, list[int]]:
        return self._group(lambda task: tuple(task.sites))

    def _group(self, key: Callable[[Task], Any]) -> dict[Any, list[int]]:
        groups: dict[Any, list[int]] = {}
        for position, run in enumerate(self.runs):
            task = self._find(run.task_id)
            if task is not None and key(task) is not None:
                groups.setdefault(key(task), []).append(position)
        return groups


_shared: list[SuiteAudit] = []  # in a process that was forked for an audit


def _share(audit: SuiteAudit) -> None:
    _shared[:] = [audit]


def _call(request: tuple[Callable[[SuiteAudit, Any], Any], Any]) -> Any:
    call, item = request
    return call(_shared[0], item)
