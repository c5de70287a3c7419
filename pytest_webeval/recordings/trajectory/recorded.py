"""A trajectory as any recorder leaves it: what its reader takes from the files, in the words of all formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES, RunInputs
from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.layout import GATED, MMRUBRIC, RUBRIC, SCORES, parse_name
from pytest_webeval.recordings.trajectory.side_files import TaskData
from pytest_webeval.recordings.trajectory.step import NO_ANSWER, Screenshot, Step, UnreadableTrajectory
from pytest_webeval.safety.files import exists_no_follow, sha256
from pytest_webeval.safety.json import read_number
from pytest_webeval.safety.text import preview

MISMATCH = 2  # as many screenshots more or fewer than actions do not belong to them
INVALID_REWARD = "invalid_reward"  # the reason of a run that its benchmark leaves out of its own means
SUPERSEDED = "superseded"  # the reason of a run that its recorder replaced by another one


class OutcomeClass(StrEnum):
    """How a trajectory ended. Only formats that store more than a verdict have the last two."""

    COMPLETED = "completed"
    OVER_BUDGET = "over_budget"
    ABORTED = "aborted"
    UNREADABLE = "unreadable"
    IMPOSSIBLE = "impossible"  # the judge says that nobody can do the task
    UNGRADED = "ungraded"  # the agent is done, and nobody has judged it


class TrajectoryOutcome(Struct, frozen=True):
    """A class with its reason codes, the first of which decided; `message` says it to a person in one line."""

    kind: OutcomeClass
    reasons: tuple[str, ...]
    message: str

    @property
    def is_scored(self) -> bool:
        """Whether the run says something about the agent, so that it counts in means."""
        return self.kind in (OutcomeClass.COMPLETED, OutcomeClass.OVER_BUDGET, OutcomeClass.IMPOSSIBLE)


class Gate(Struct, frozen=True):
    """A reason for which WebTailBench gives a run no points without asking a judge (§4.3); `number` is 1 to 3."""

    number: int
    reason: str


HUMAN = "human"  # the judge of a label that a person gave


class ReplyForm(StrEnum):
    """Which part of a judge's reply is the verdict."""

    STATUS = "status"  # the last line `Status: success` or `Status: failure`
    CAPITALS = "capitals"  # `SUCCESS`, unless `NOT SUCCESS` is anywhere
    FAILURE = "failure"  # a success, unless `FAILURE` is anywhere


class Judgement(Struct, frozen=True, kw_only=True):
    """A verdict that is stored with a run, or in a file of verdicts, before anything is derived again.

    `source` is the file, with the key where it holds more than the verdict, and `judge` who gave it. `success` is the
    stored verdict; None where the judge could not tell, and `ungraded` says why where nobody judged. `is_impossible` is
    for a task that nobody can do, as the judge sees it.

    `score` is the number that was stored, of which `full_score` is a success. `reply` is the judge's text if the
    verdict is a part of it, of the form `reply_form`. `rubric` holds criteria with points, in the keys of webeval's
    rubrics, which are added up again. `notes` are further findings of the judge, which decide nothing. `contradictions`
    are what the reader saw to be inconsistent: nothing follows from such a verdict; `warnings` had no effect on it.
    `replaces` are the sources of judges that were not asked because of this verdict, so that it counts where one of
    them is chosen.
    """

    source: str
    judge: str
    success: bool | None = None
    reasoning: str = ""
    score: float | None = None
    full_score: float = 1.0
    reply: str | None = None
    reply_form: ReplyForm = ReplyForm.STATUS
    rubric: Mapping[str, Any] | None = None
    notes: Mapping[str, bool] = field(default_factory=dict)
    contradictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ungraded: str | None = None
    is_impossible: bool = False
    replaces: tuple[str, ...] = ()

    @property
    def is_human(self) -> bool:
        return self.judge == HUMAN

    @property
    def checksum(self) -> str:
        return sha256(repr(self).encode("utf-8", "backslashreplace"))


class Trajectory(Struct, frozen=True, kw_only=True):
    """What an agent did, read-only. `answer` is None where it gave none; a text that is unknown is empty.

    `duration` is in seconds. `system` is the agent, `group` what results of a benchmark are divided by. The judgement
    that counts is the first of `judgements`. `flags` are codes of unusual facts, `details` facts of one format.
    `load_image` returns the bytes of a screenshot that is not a file of its own. `is_complete` says that all that the
    agent said was recorded, so that it gave no answer where there is none. `has_steps` says that the steps were
    recorded, so that an empty list of them means none.

    `dialect` is that of the log, which says what actions the agent had; None where nobody can know them. `task_data` is
    what a rubric verifier wrote about the task. `is_verdict_stale` says that the verdict is older than the answer; None
    where nobody can know. `unsupported` is why a recording of this layout cannot be scored, `missing_evidence` why no
    success follows from it, whatever verdict is stored. Where the answer or the steps cannot be read, `answer_problem`
    and `steps_problem` say why.

    A harness that `has_score_files` stores its verdicts in files of `scores/`, whose `score_names` are known and whose
    content is read with the policy of the session; `score_problem` is why they cannot be listed. `rubric_names` are
    files outside of it, which may be downloads: they count only if a session asks for them by name.
    """

    inputs: RunInputs
    outcome: TrajectoryOutcome
    answer: str | None = None
    is_complete: bool = False
    steps: tuple[Step, ...] = ()
    has_steps: bool = True
    screenshots: tuple[Screenshot, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    task_text: str = ""
    start_url: str | None = None
    usage: Usage | None = None
    duration: float | None = None
    system: str | None = None
    model: str | None = None
    benchmark: str | None = None
    group: str | None = None
    run_id: str | None = None
    max_rounds: int | None = None
    attempts: int | None = None
    last_error: str | None = None
    flags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    load_image: Callable[[Screenshot], bytes] | None = None
    dialect: str | None = None
    task_data: TaskData = TaskData()
    is_verdict_stale: bool | None = None
    is_long: bool = False
    unsupported: UnreadableTrajectory | None = None
    missing_evidence: str | None = None
    answer_problem: UnreadableTrajectory | None = None
    steps_problem: UnreadableTrajectory | None = None
    has_score_files: bool = False
    names_of_scores: tuple[str, ...] = ()
    score_problem: RecordingError | None = None
    rubric_names: tuple[str, ...] = ()
    benchmark_kind: str | None = None  # of a harness that gates benchmarks, if it is known
    listed_screenshots: int = 0
    alignment: str | None = None  # of screenshots to n actions: `n`, `n+1`, `n-1` or `misaligned`

    @property
    def path(self) -> Path:
        return self.inputs.directory

    @property
    def final_answer(self) -> str | None:
        """The answer that verdicts are about; None where the agent gave none, or none that counts.

        A harness with score files judges its own mark for no answer. Raises `UnreadableTrajectory`.
        """
        if self.has_score_files and self.outcome.kind is OutcomeClass.ABORTED:
            return None
        return self._mark_no_answer(self.find_answer())

    def _mark_no_answer(self, answer: str | None) -> str | None:
        return NO_ANSWER if answer is None and self.has_score_files else answer

    def find_answer(self) -> str | None:
        """The recorded answer, of an aborted run as well. Raises `UnreadableTrajectory` if its file cannot be read."""
        if self.answer_problem is not None:
            raise self.answer_problem
        return self.answer

    def count_steps(self) -> int:
        """The number of steps. Raises `UnreadableTrajectory` where their file cannot be read."""
        if self.steps_problem is not None:
            raise self.steps_problem
        return len(self.steps)

    @property
    def has_no_answer(self) -> bool:
        """Whether the recording shows that the agent ended without an answer, or was stopped before it gave one."""
        is_ended = self.is_complete and self.outcome.kind not in (OutcomeClass.ABORTED, OutcomeClass.UNREADABLE)
        return self.answer is None and (is_ended or self.outcome.kind is OutcomeClass.OVER_BUDGET)

    @property
    def score_names(self) -> tuple[str, ...]:
        """Names of the score files, whose content is yet to be read. Raises `RecordingError`."""
        if self.score_problem is not None:
            raise self.score_problem
        return self.names_of_scores

    @property
    def verdict_sources(self) -> tuple[str, ...]:
        """Places of all verdicts in the directory, whether they count or not. Raises `RecordingError`."""
        if not self.has_score_files:
            return tuple(judgement.source for judgement in self.judgements)
        rubric = (RUBRIC,) if exists_no_follow(self.path / RUBRIC) else ()
        return (*(f"{SCORES}/{name}" for name in self.score_names), *rubric)

    @property
    def reason_unjudged(self) -> str:
        """Why there is no verdict, in one line. Raises `RecordingError`."""
        if self.has_score_files:
            others = self.verdict_sources
            hint = f"{' or '.join(others)} counts only with --webeval-score-file" if others else "judge the run"
            return f"no verdict in {SCORES}/; {hint}"
        why = next((judgement.ungraded for judgement in self.judgements), None)
        return why or "not judged yet; no file of the run holds a verdict"

    def is_gated(self, benchmark: str) -> bool:
        """Whether the recorder gives no points to some runs without asking a judge.

        `benchmark` is that of the task's definition, if there is one. Where no benchmark is known, the kind of score
        file decides.
        """
        if not self.has_score_files:
            return False
        benchmarks = {self.benchmark_kind, benchmark} - {None, ""}
        if benchmarks:
            return GATED in benchmarks
        return any(parse_name(name).kind == MMRUBRIC for name in self.score_names)

    def find_gate(self, ends: Sequence[str] = ("terminate",)) -> Gate | None:
        """The first gate of a gated run that it does not pass (§4.3). `ends` are the actions that end it well."""
        if not self.steps:
            return Gate(1, "No actions found in the trajectory")
        last, listed = self.steps[-1].action, self.listed_screenshots
        if last not in ends and not last.startswith("finished("):
            return Gate(2, f'The last action must be "terminate", it is {last[:80]!r}')
        if abs(listed - len(self.steps)) >= MISMATCH:
            return Gate(3, f"Actions and screenshots mismatch: {len(self.steps)} actions, {listed} screenshots")
        return None

    def image(self, shot: Screenshot) -> bytes:
        """The bytes of a screenshot. Raises `RecordingError`."""
        return self.load_image(shot) if self.load_image else self.inputs.read(shot.name, MAX_FILE_BYTES)

    def judged(self, external: tuple[Judgement, ...] = ()) -> Trajectory:
        """The same with judgements that count before its own, and with the outcome that follows from all of them.

        It is `ungraded` where a complete run has no verdict.
        """
        if self.has_score_files:
            return self  # no judgement changes the outcome of its log
        judgements = (*external, *self.judgements)
        outcome = self.outcome
        if judgements and (first := judgements[0]).is_impossible:
            why = first.ungraded or first.reasoning
            outcome = TrajectoryOutcome(OutcomeClass.IMPOSSIBLE, ("not_executable",), why)
        elif outcome.kind is OutcomeClass.COMPLETED and None not in (reasons := [each.ungraded for each in judgements]):
            why = next(filter(None, reasons), "not judged yet")
            outcome = TrajectoryOutcome(OutcomeClass.UNGRADED, ("no_verdict", *outcome.reasons), why)
        return structs.replace(self, judgements=judgements, outcome=outcome)

    def to_json(self) -> dict[str, Any]:
        """What a result says of the trajectory, as plain JSON; None where unknown, without what cannot be read."""
        usage = self.usage
        facts: dict[str, Any] = {
            "class": self.outcome.kind.value,
            "reasons": list(self.outcome.reasons),
            "message": self.outcome.message,
            "flags": list(self.flags),
            "system": self.system,
            "model": self.model,
            "benchmark": self.benchmark,
            "run_id": self.run_id,
            "max_rounds": self.max_rounds,
            "duration": self.duration,
            "attempts": self.attempts,
            "last_error": self.last_error,
            "is_long": self.is_long,
            "steps": len(self.steps) if self.has_steps else None,
            "usage": None if usage is None else {name: getattr(usage, name) for name in _COUNTS},
        }
        is_readable = self.steps_problem is None
        if is_readable and self.alignment is not None:
            facts |= {"dialect": self.dialect, "alignment": self.alignment}
        if is_readable and self.answer_problem is None:
            facts |= {"answer": self._mark_no_answer(self.answer), "screenshots": len(self.screenshots)}
        details = {"details": dict(self.details)} if self.details and is_readable else {}
        return facts | {"group": self.group} | details


_COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "num_calls")


# Rewards as verdicts: one rule for every environment and verifier that stores a number. A reward is the share of a
# task that was done: 1 is a success. Neither Harbor nor BrowserGym sets a range. But what `validate` of all tasks in
# BrowserGym (9e779f0) and WorkArena (4134527) gives is from 0 to 1, and a reward above 0 ends the task, so that the
# sum over the steps of an experiment is in that range as well. Another number is damaged, or of a task with a scale
# of its own, on which nobody can say what a success is. It is an error: to skip the run would take failures out of
# the rates.
FULL_REWARD = 1
DIGITS = 9  # after the point; a sum of ten times 0.1 is a full reward, whatever the last bits of the sum are
RANGE = f"a number from 0 to {FULL_REWARD}"


def check_reward(value: object, where: str) -> float:
    """The reward if it is a number from 0 to 1. Raises `UnreadableTrajectory` for any other value."""
    number = read_number(value)
    reward = None if number is None or not -1 < number < 2 else round(number, DIGITS)
    if reward is None or not 0 <= reward <= FULL_REWARD:
        raise build_damage_error(where, value, RANGE)
    return reward


def build_damage_error(where: str, value: object, expected: str) -> UnreadableTrajectory:
    """The error for a damaged value on which the verdict depends."""
    problem = f"{where} is {preview(value, 60, is_ascii=True)}, expected {expected}"
    return UnreadableTrajectory("score_unreadable", f"{problem}; run the task again, or fix the file")


def judge_reward(
    source: str, judge: str, reward: float, contradictions: tuple[str, ...], outcome: TrajectoryOutcome
) -> Judgement:
    """The verdict by a reward that was checked: only the full one is a success. Its reason has an unusual end."""
    has_usual_end = not outcome.reasons or not outcome.is_scored
    return Judgement(
        source=source,
        judge=judge,
        success=reward >= FULL_REWARD,
        score=reward,
        reasoning=f"reward {reward:g}" if has_usual_end else f"reward {reward:g} ({outcome.message})",
        contradictions=contradictions,
    )
