"""`Trajectory`: what a Fara agent did on one task, from the files of its run directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from pytest_webeval.recordings.trajectory.answer import Usage, name_warning, total_usage
from pytest_webeval.recordings.trajectory.files import MAX_FILE_BYTES
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.outcome import (
    MISMATCH,
    Gate,
    OutcomeClass,
    TrajectoryOutcome,
    classify_answered,
    classify_unanswered,
    find_self_report,
    gate_of,
    unreadable,
)
from pytest_webeval.recordings.trajectory.screenshots import Screenshots, align, count_states, find_screenshots
from pytest_webeval.recordings.trajectory.step import NO_ANSWER, Screenshot, Step, UnreadableTrajectory
from pytest_webeval.recordings.trajectory.stored_scores import StoredScores
from pytest_webeval.safety.text import pluralize

LOST_LOG = "web_surfer.log: no actions although the agent acted; it was truncated, or recorded without the level DEBUG"


@dataclass(frozen=True)
class Trajectory(StoredScores):
    """A run step by step: read-only.

    Only properties that say so raise over damaged content: readable data are retained, and `warnings` list the rest.
    """

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The agent's actions in order, with the screenshots before and after each. Raises `UnreadableTrajectory`."""
        return self._aligned[0]

    @property
    def alignment(self) -> str:
        """How many screenshots there are for n actions: `n`, `n+1`, `n-1` or `misaligned`.

        Raises `UnreadableTrajectory`.
        """
        return self._aligned[1]

    @cached_property
    def _aligned(self) -> tuple[tuple[Step, ...], str]:
        return align(self.log.steps, self.screenshots)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The log's events as Fara's own loader gives them, where that can read the log.

        Raises `UnreadableTrajectory`.
        """
        return list(self.log.events)

    @property
    def actions(self) -> list[str]:
        """The arguments of each action as JSON text, without the thoughts. Raises `UnreadableTrajectory`."""
        return list(self.log.actions)

    @property
    def thoughts(self) -> list[str]:
        """What the agent thought before each action. Raises `UnreadableTrajectory`."""
        return list(self.log.thoughts)

    @property
    def observations(self) -> list[str | None]:
        """What the agent observed after each action. Raises `UnreadableTrajectory`."""
        return [step.observation for step in self.steps]

    @property
    def screenshots(self) -> tuple[Screenshot, ...]:
        """Images of the run in order; their bytes are `inputs.read(shot.name)`."""
        return self.screenshot_list.all

    def image(self, shot: Screenshot) -> bytes:
        """The bytes of a screenshot. Raises `RecordingError`."""
        return self.inputs.read(shot.name, MAX_FILE_BYTES)

    @cached_property
    def screenshot_list(self) -> Screenshots:
        """Images with those that are missing, unlisted or refused."""
        try:
            listed, is_relative = self.answer.screenshots, self.answer.is_rel_paths
        except UnreadableTrajectory:
            listed, is_relative = (), True
        return find_screenshots(listed, is_relative, self.names, self.path)

    @property
    def final_answer(self) -> str | None:
        """The text of the answer; None of an aborted run, which need not have one. Raises `UnreadableTrajectory`."""
        return None if self._may_lack_files else self.answer.final_answer

    @property
    def has_no_answer(self) -> bool:
        """Whether the agent was stopped before it answered: the answer file of any other end has an answer."""
        return self.outcome.kind is OutcomeClass.OVER_BUDGET

    @property
    def dialect(self) -> str | None:
        """The dialect of the log; None of an aborted run, which need not have one. Raises `UnreadableTrajectory`."""
        return None if self._may_lack_files else self.log.dialect

    @property
    def _may_lack_files(self) -> bool:
        return self.outcome.kind is OutcomeClass.ABORTED

    @property
    def is_aborted(self) -> bool:
        """Whether the environment failed, as the answer file has it. Raises `UnreadableTrajectory`."""
        return self.answer.is_aborted

    @property
    def attempts(self) -> int:
        """How often the task was started; 0 where no log says so."""
        return self.core.attempts

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Tokens by component. Raises `UnreadableTrajectory`."""
        return self.answer.token_usage

    @property
    def total_usage(self) -> Usage:
        """Tokens of all components together. Raises `UnreadableTrajectory`."""
        return total_usage(self.usage)

    @cached_property
    def outcome(self) -> TrajectoryOutcome:
        """The outcome of the run: completed, over budget, aborted or unreadable, with reason codes."""
        try:
            answer = self.answer
        except UnreadableTrajectory as problem:
            return classify_unanswered(problem, self.core)
        try:
            return classify_answered(answer, () if answer.is_aborted else self.log.steps, self.place.max_rounds)
        except UnreadableTrajectory as problem:
            return unreadable(problem)

    def find_gate(self, ends: Sequence[str]) -> Gate | None:
        """The first gate that the run does not pass. Raises `UnreadableTrajectory`."""
        return gate_of(self.steps, len(self.answer.screenshots), ends)

    @property
    def missing_evidence(self) -> str | None:
        """Why no success follows from the log and the screenshots, or None. Raises `UnreadableTrajectory`.

        Where the answer file lists no screenshots, those in the directory count: some recorders leave the list empty.
        """
        actions = len(self.log.steps)
        if not actions:
            return f"{LOG} holds no action"
        shots = count_states([*dict.fromkeys(self.answer.screenshots or [shot.name for shot in self.screenshots])])
        if abs(shots - actions) < MISMATCH:
            return None
        return f"{LOG} holds {pluralize(actions, 'action')}, and the recording {pluralize(shots, 'screenshot')}"

    @property
    def is_log_lost(self) -> bool:
        """Whether the agent acted although the log holds no action (§2.1). Raises `UnreadableTrajectory`."""
        answered = self.answer.final_answer not in ("", NO_ANSWER)
        return not self.log.steps and (len(self.screenshots) > 1 or answered)

    @property
    def flags(self) -> tuple[str, ...]:
        """Oddities of a run that can be scored, as codes. Raises `UnreadableTrajectory`."""
        last = self.log.steps[-1].action if self.log.steps else ""
        conditions = {
            "log_lost": self.is_log_lost,
            "misaligned": self.alignment == "misaligned",
            "missing_screenshots": bool(self.screenshot_list.missing),
            "nonstandard_stop": last == "stop",
            "several_attempts": self.attempts > 1,
        }
        return tuple(code for code, holds in conditions.items() if holds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Anomalies in the files of the run, each with its file and place."""
        parts: list[Iterable[str]] = [
            self.screenshot_list.warnings,
            self.times.warnings,
            self.core.warnings,
            self.task_data.warnings,
        ]
        with suppress(UnreadableTrajectory):
            parts.insert(0, self.log.warnings)
            parts.insert(1, (LOST_LOG,) if self.is_log_lost else ())
        with suppress(UnreadableTrajectory):
            wrong_name = name_warning(self.task_id, self.answer.name)
            parts.insert(0, (*filter(None, [wrong_name]), *self.answer.warnings))
        return tuple(chain(*parts, self.left_unread.values()))


def trajectory_to_json(trajectory: Trajectory) -> dict[str, Any]:
    """All details of a trajectory as plain JSON; None where the run does not say. Never raises over damaged content."""
    place, outcome, core = trajectory.place, trajectory.outcome, trajectory.core
    details: dict[str, Any] = {
        "class": outcome.kind.value,
        "reasons": list(outcome.reasons),
        "message": outcome.message,
        "flags": [],
        "system": place.system,
        "model": place.model,
        "benchmark": place.benchmark,
        "run_id": place.run_id,
        "max_rounds": place.max_rounds,
        "duration": trajectory.times.duration,
        "attempts": core.attempts or None,
        "last_error": core.last_error,
        "is_long": core.is_long,
        "steps": None,
        "usage": None,
    }
    with suppress(UnreadableTrajectory):
        details |= _log_to_json(trajectory)
    with suppress(UnreadableTrajectory):
        details |= _answer_to_json(trajectory)
    return details


def _log_to_json(trajectory: Trajectory) -> dict[str, Any]:
    log, reported = trajectory.log, find_self_report(trajectory.log.steps)
    details = {} if reported is None else {"details": {"self_reported_success": reported}}
    return {"dialect": log.dialect, "steps": len(log.steps), "alignment": trajectory.alignment} | details


def _answer_to_json(trajectory: Trajectory) -> dict[str, Any]:
    answer, usage = trajectory.answer, trajectory.total_usage
    tokens = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    more = {"reasoning_tokens": usage.reasoning_tokens, "num_calls": usage.num_calls}
    return {
        "answer": answer.final_answer,
        "screenshots": len(trajectory.screenshots),
        "usage": tokens | more if trajectory.usage else None,
        "flags": list(trajectory.flags),
        **({"steps": None} if trajectory.is_log_lost else {}),
    }
