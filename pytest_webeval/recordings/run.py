"""The recording of an agent: `Run`, whose big parts are read on first use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from pytest_webeval.errors import RecordingError, TaskDefinitionError
from pytest_webeval.recordings.inputs import DECODE, RunInputs
from pytest_webeval.recordings.labels import default_task_id
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR

if TYPE_CHECKING:
    from typing import Any

    from pytest_webeval.recordings.discovery import DirectoryListing
    from pytest_webeval.recordings.network.events import NetworkTrace
    from pytest_webeval.recordings.trajectory.recorded import Judgement, Trajectory
    from pytest_webeval.rules import Rules
    from pytest_webeval.safety.limits import Limits
    from pytest_webeval.tasks.dataset import TaskSet
    from pytest_webeval.tasks.task import Expectation, Task


_OF_TRACES = frozenset({NETWORK_EVALUATOR, REQUEST_EVALUATOR})
LoadTrace = Callable[[RunInputs], "NetworkTrace"]


@dataclass(frozen=True)
class Run:
    """One recorded attempt at one task. `label` names it in reports and node ids: its place below the run root.

    `is_named_by_run` says that the directory is named after the run, and the one above it after the task. `external`
    are judgements from files that the session names, which count before those in the directory; `external_problem` is
    why nobody can say which of them is meant.
    """

    path: Path
    label: str
    task_id: int | str
    format: str
    response_file: str
    inputs: RunInputs
    rules: Rules
    load_trace: LoadTrace = field(repr=False)
    is_named_by_run: bool = field(default=False, kw_only=True)
    evaluator_choice: tuple[str, ...] = field(default=(), kw_only=True)  # names of evaluators; empty for all
    external: tuple[Judgement, ...] = field(default=(), kw_only=True)
    external_problem: str | None = field(default=None, kw_only=True)

    def choosing(self, evaluators: tuple[str, ...]) -> Self:
        """The same run, which these evaluators alone score. Empty for all."""
        return replace(self, evaluator_choice=evaluators) if evaluators != self.evaluator_choice else self

    def for_task(self, task: Task | None) -> Self:
        """The same run with the rules that judge its task. None is for a task that nobody defines."""
        rules = self.rules.choose(is_published=task is not None and task.is_published)
        return replace(self, rules=rules) if rules is not self.rules else self

    def select_expectations(self, task: Task) -> tuple[Expectation, ...]:
        """The expectations of a task that are evaluated: those for the chosen evaluators, or all."""
        expectations = self.list_expectations(task)
        if not self.evaluator_choice:
            return expectations
        return tuple(each for each in expectations if each.evaluator in self.evaluator_choice)

    def list_expectations(self, task: Task) -> tuple[Expectation, ...]:
        """The expectations of a task, and what else decides about a run of this format."""
        return task.expectations

    @property
    def requires_trace(self) -> bool:
        """Whether the run cannot be scored without a trace: not if only the answer or a verdict is checked."""
        return not self.evaluator_choice or not _OF_TRACES.isdisjoint(self.evaluator_choice)

    def within(self, limits: Limits) -> Self:
        """The same run, of which no more is read than these limits allow."""
        if limits == self.inputs.limits:
            return self
        return replace(self, inputs=replace(self.inputs, limits=limits))

    def below(self, root: Path) -> Self:
        """The same run, of a directory to which no link may lead from a run root on."""
        return replace(self, inputs=replace(self.inputs, root=root))

    @cached_property
    def response(self) -> bytes:
        """The agent's response as it lies in its file. Raises `RecordingError`."""
        return self.inputs.read_answer(self.response_file)

    @property
    def absence(self) -> str | None:
        """Why there is no answer where the agent is to blame for that; None for all other runs."""
        return None

    @cached_property
    def trace(self) -> NetworkTrace:
        """What the browser sent and received. Raises `RecordingError`."""
        with self.inputs.durations.phase(DECODE):
            return self.load_trace(self.inputs).under(self.rules)

    @property
    def is_trace_loaded(self) -> bool:
        """Whether the trace has been read and is still in memory."""
        return "trace" in vars(self)

    def release(self) -> None:
        """Free the memory of all that was read. What is needed again is read again."""
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            del vars(self)[name]

    @property
    def repairs(self) -> str | None:
        """What the reference would not read of the trace, or None where there is nothing of that kind."""
        return self.trace.repairs if self.requires_trace or self.is_trace_loaded else None

    @property
    def trace_warnings(self) -> tuple[str, ...]:
        """What the rules leave out of a trace that was read, or sort in it."""
        if not self.is_trace_loaded:
            return ()
        from pytest_webeval.recordings.network.gaps import list_warnings  # for traces alone

        return tuple(list_warnings(self.trace, self.rules))

    @property
    def has_trace(self) -> bool:
        """Whether there should be a recording of the browser's traffic."""
        return True

    @property
    def trajectory(self) -> Trajectory | None:
        """Steps, thoughts, screenshots and outcome where the run is a trajectory; None where it is not."""
        return None

    @property
    def is_trajectory(self) -> bool:
        """Whether the run is a trajectory, so that it needs no definition. Reads nothing."""
        return self.trajectory is not None

    @property
    def is_labelled(self) -> bool:
        return bool(self.external) and self.external[0].is_human

    def judged(self, external: tuple[Judgement, ...], problem: str | None = None) -> Self:
        """The same run with judgements from files that the session names."""
        return replace(self, external=external, external_problem=problem)

    def mark_judged(self) -> None:
        """Note that the session judged the run, which its own files do not say."""

    @property
    def exclusion(self) -> str | None:
        """Why the run says nothing about the agent and is excluded from rates; None for all other runs."""
        return None

    @property
    def exclusion_kind(self) -> str:
        """What the run is counted as where it is excluded."""
        return "aborted"

    @property
    def is_superseded(self) -> bool:
        """Whether the recorder ran the task again and keeps this run under another name."""
        return False

    def find_exclusion(self, task: Task | None) -> str | None:
        """Why the run is excluded as an attempt at a task, or of none that is defined; None where it counts.

        The files of a run never exclude it where the definition says what to check. A benchmark that defines both the
        check and the files keeps its rules.
        """
        is_counted = task is not None and bool(task.own_expectations) and getattr(task, "benchmark", "") != self.format
        return None if is_counted and not self.is_superseded else self.exclusion

    @property
    def warnings(self) -> tuple[str, ...]:
        """Anomalies in the files of the run that do not prevent a verdict."""
        return ()

    def task(self, tasks: TaskSet | None) -> Task:
        """The task of the agent. Raises `TaskDefinitionError` if it is required and unknown."""
        if tasks is None:
            raise TaskDefinitionError(f"no task definitions for {self.label}; pass a file with --webeval-tasks")
        return tasks.get(self.task_id)

    def find_task_id(self, tasks: TaskSet) -> int | str | None:
        """The id under which these definitions have the task of the run; None if they have none."""
        return self.task_id if self.task_id in tasks else None

    def describe(self, task: Task | None) -> dict[str, Any]:  # noqa: ARG002  (a format may need the definition)
        """What a result says of the run beyond what all formats have in common, as plain JSON."""
        return {}

    def check(self) -> None:
        """Raise `RecordingError` unless response and trace can be read, and the trace holds what the rules want.

        Where no evaluator of traces is chosen, the trace may be missing or damaged.
        """
        try:
            self.response.decode()
        except UnicodeDecodeError as error:
            message = f"{self.response_file} in {self.path} is not UTF-8: {error.reason} @ byte {error.start}"
            raise RecordingError(f"{message}; write it as UTF-8") from error
        if self.requires_trace:
            self.check_trace()

    def check_trace(self) -> None:
        """Raise `RecordingError` unless the trace can be read, and holds what the rules want."""
        if self.trace.repairs and not self.rules.repaired_traces:
            raise RecordingError(f"{self.trace.repairs}; use --webeval-rules=default, which reads it")
        if self.trace.is_empty and self.rules.events_required:
            message = f"the trace in {self.path} has no usable events: {self.trace.emptiness}"
            raise RecordingError(message, rule="events_required")

    def check_evidence(self, expectations: Sequence[Expectation]) -> None:
        """Raise `RecordingError` if a run that can be read says nothing about these expectations. Most runs do."""


def placeholder_run(path: Path, label: str, rules: Rules) -> Run:
    """A stand-in for a directory that no format recognizes, so that a result can be written about it."""

    def nothing(inputs: RunInputs) -> NetworkTrace:  # noqa: ARG001  (the signature of a loader)
        raise RecordingError(f"unknown layout of {path}: no network trace; add one, or move the directory away")

    return Run(path, label, path.name, "unknown", "", RunInputs(path), rules, nothing)


@dataclass(frozen=True)
class BrokenRun(Run):
    """A directory that should be a run, or may be one. Reading it raises `RecordingError` with the problem."""

    problem: str = field(kw_only=True)

    @classmethod
    def at(cls, path: Path, label: str, rules: Rules, problem: str) -> Self:
        task_id, trace = default_task_id(path), placeholder_run(path, label, rules).load_trace
        return cls(path, label, task_id, "unknown", "", RunInputs(path), rules, trace, problem=problem)

    @property
    def response(self) -> bytes:
        """Raises `RecordingError`."""
        raise RecordingError(self.problem)

    @property
    def trace(self) -> NetworkTrace:
        """Raises `RecordingError`."""
        raise RecordingError(self.problem)


class RunFormat(Protocol):
    """A layout of run directories: recognizes a directory and loads it as a `Run`.

    Results and `-k` spell the format as its `name`. Its `expected_files` say in a few words which files make a
    directory a run of this format. A subclass defines these two, `recognizes` and `load`.
    """

    name: str
    expected_files: str

    @abstractmethod
    def recognizes(self, path: Path) -> bool:
        """Whether a directory is a run of this format. Opens no recording."""

    @abstractmethod
    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run in a directory that was recognized."""

    def recognizes_listing(self, listing: DirectoryListing) -> bool:
        """The same as `recognizes` for a directory whose names are already listed."""
        return self.recognizes(listing.path)

    def accepts_listing(self, listing: DirectoryListing) -> bool:  # noqa: ARG002  (for formats with such places)
        """Whether a directory that no format recognizes may be a run of this one, by its place or some files."""
        return False

    def list_signs(self, listing: DirectoryListing) -> list[tuple[list[str], list[str]]]:  # noqa: ARG002  (same)
        """Of each layout the files that are there and those that are missing, for a message."""
        return []

    def list_damage(self, listing: DirectoryListing) -> dict[str, str]:  # noqa: ARG002  (same)
        """What is wrong with files that are there and damaged, by how `list_signs` calls them."""
        return {}

    def has_typical_file(self, listing: DirectoryListing) -> bool:  # noqa: ARG002  (for formats with such files)
        """Whether a directory that is no run has a file of this format, so that it may be a broken run."""
        return False
