"""What Fara's `webeval` leaves of a run, as a trajectory: answer, log, screenshots, scores (`fara_webeval.md` §1-4)."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.answer import FinalAnswer, answer_name, name_warning, read_answer, total_usage
from pytest_webeval.recordings.trajectory.layout import (
    CORE_LOG,
    GATED,
    HARNESS_FILE,
    LOG,
    MMRUBRIC,
    RUBRIC,
    SCORES,
    TASK_DATA,
    TIMES,
    RunLocation,
    locate,
    parse_name,
)
from pytest_webeval.recordings.trajectory.log import Log, read_log
from pytest_webeval.recordings.trajectory.recorded import Gate, Judgement, OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.screenshots import Screenshots, align, count_states, find_screenshots
from pytest_webeval.recordings.trajectory.side_files import (
    CoreLog,
    TaskData,
    Times,
    read_core_log,
    read_task_data,
    read_times,
)
from pytest_webeval.recordings.trajectory.step import NO_ANSWER, Step, UnreadableTrajectory
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.json import may_hold_more
from pytest_webeval.safety.run_directory import list_names, stat_no_follow
from pytest_webeval.safety.text import pluralize
from pytest_webeval.values.string import find_equal

LOST_LOG = "web_surfer.log: no actions although the agent acted; it was truncated, or recorded without the level DEBUG"
MISMATCH = 2  # as many screenshots more or fewer than actions do not belong to them
_SELF_REPORTS = {"success": True, "failure": False}  # the statuses of `terminate`


class FaraFiles(Struct, frozen=True):
    """What the files of a run hold. Answer and log are empty where they cannot be read; the problem says why."""

    answer: FinalAnswer
    answer_problem: UnreadableTrajectory | None
    log: Log
    log_problem: UnreadableTrajectory | None
    location: RunLocation
    times: Times
    core: CoreLog
    task_data: TaskData
    screenshots: Screenshots
    unread: tuple[str, ...]  # why optional files could not be read

    @property
    def is_readable(self) -> bool:
        """Whether there are an answer and a log."""
        return self.answer_problem is None and self.log_problem is None

    @property
    def is_log_lost(self) -> bool:
        """Whether the agent acted although the log holds no action (§2.1)."""
        has_acted = len(self.screenshots.all) > 1 or self.answer.final_answer not in ("", NO_ANSWER)
        return self.is_readable and not self.log.steps and has_acted

    @property
    def outcome(self) -> TrajectoryOutcome:
        """How the run ended: completed, over budget, aborted or unreadable, with reason codes."""
        if self.answer_problem is not None:
            return classify_unanswered(self.answer_problem, self.core)
        if self.log_problem is not None and not self.answer.is_aborted:
            return _build_unreadable(self.log_problem)
        return classify_answered(self.answer, self.log.steps, self.location.max_rounds)

    def list_flags(self, alignment: str) -> tuple[str, ...]:
        """Codes of unusual facts of a run with an answer and a log."""
        last = self.log.steps[-1].action if self.log.steps else ""
        conditions = {
            "log_lost": self.is_log_lost,
            "misaligned": alignment == "misaligned",
            "missing_screenshots": bool(self.screenshots.missing),
            "nonstandard_stop": last == "stop",
            "several_attempts": self.core.attempts > 1,
        }
        return tuple(code for code, holds in conditions.items() if holds and self.is_readable)

    def list_warnings(self, task_id: str) -> tuple[str, ...]:
        """Anomalies in the files, each with its file and place."""
        name = name_warning(task_id, self.answer.name) if self.answer_problem is None else None
        logged = (*self.log.warnings, *([LOST_LOG] if self.is_log_lost else ()))
        others = (self.screenshots.warnings, self.times.warnings, self.core.warnings, self.task_data.warnings)
        return (*filter(None, [name]), *self.answer.warnings, *logged, *chain(*others), *self.unread)


class FaraTrajectory(Trajectory, frozen=True, kw_only=True, dict=True):
    """A trajectory of Fara's harness. Its verdicts are score files, which are read with the policy of the session.

    `alignment` says how many screenshots there are for n actions: `n`, `n+1`, `n-1` or `misaligned`.
    """

    files: FaraFiles
    alignment: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The log's events as Fara's own loader gives them, where that can read the log."""
        return list(self.files.log.events)

    @property
    def actions(self) -> list[str]:
        """The arguments of each action as JSON text, without the thoughts."""
        return list(self.files.log.actions)

    @property
    def thoughts(self) -> list[str]:
        """What the agent thought before each action."""
        return list(self.files.log.thoughts)

    @property
    def final_answer(self) -> str | None:
        """As Fara stores it; None of an aborted run, which need not have one. Raises `UnreadableTrajectory`."""
        if self.outcome.kind is OutcomeClass.ABORTED:
            return None
        answer = self.find_answer()
        return NO_ANSWER if answer is None else answer

    def find_answer(self) -> str | None:
        """What the agent answered, in a run that was aborted later as well. Raises `UnreadableTrajectory`."""
        if self.files.answer_problem is not None:
            raise self.files.answer_problem
        return self.answer

    def count_steps(self) -> int:
        """How many actions the log holds. Raises `UnreadableTrajectory`."""
        if self.files.log_problem is not None:
            raise self.files.log_problem
        return len(self.steps)

    @cached_property
    def score_names(self) -> tuple[str, ...]:
        """Names of the JSON files in `scores/`, sorted. Raises `RecordingError` if that is not a directory.

        An unreadable directory is an error as well: there may be a verdict in it.
        """
        folder = self.path / SCORES
        if not exists_no_follow(folder):
            return ()
        try:
            if not stat.S_ISDIR(stat_no_follow(folder).st_mode):
                problem = f"{SCORES} in {self.path} is not a directory; replace it with a directory, not with a link"
                raise RecordingError(problem)
            return tuple(name for name in sorted(list_names(folder)) if name.endswith(".json"))
        except OSError as error:
            raise RecordingError(f"cannot list {folder}: {error.strerror}; make it readable") from error

    @property
    def rubric_names(self) -> tuple[str, ...]:
        """Files outside of `scores/`, which may be downloads: they count only if a session asks for them by name."""
        return (RUBRIC, TASK_DATA)

    @property
    def verdict_sources(self) -> tuple[str, ...]:
        """All score files, and a rubric next to `scores/`."""
        scores = tuple(f"{SCORES}/{name}" for name in self.score_names)
        return (*scores, RUBRIC) if exists_no_follow(self.path / RUBRIC) else scores

    @property
    def reason_unjudged(self) -> str:
        """Why no file counts as a verdict."""
        others = self.verdict_sources
        hint = f"{' or '.join(others)} counts only with --webeval-score-file" if others else "judge the run"
        return f"no verdict in {SCORES}/; {hint}"

    @property
    def missing_evidence(self) -> str | None:
        """Why no success follows from the log and the screenshots, or None.

        Where the answer file lists no screenshots, those in the directory count: some recorders leave the list empty.
        """
        if not self.steps:
            return f"{LOG} holds no action"
        listed = self.files.answer.screenshots or [shot.name for shot in self.screenshots]
        shots = count_states([*dict.fromkeys(listed)])
        if abs(shots - len(self.steps)) < MISMATCH:
            return None
        actions = pluralize(len(self.steps), "action")
        return f"{LOG} holds {actions}, and the recording {pluralize(shots, 'screenshot')}"

    def is_gated(self, benchmark: str) -> bool:
        """Whether the benchmark turns runs away by itself. Where it is unknown, its kind of score file decides."""
        benchmarks = {self.files.location.benchmark_kind, benchmark} - {None, ""}
        if benchmarks:
            return GATED in benchmarks
        return any(parse_name(name).kind == MMRUBRIC for name in self.score_names)

    def find_gate(self, ends: Sequence[str]) -> Gate | None:
        """The first gate that the run does not pass, or None (§4.3)."""
        return gate_of(self.steps, len(self.files.answer.screenshots), ends)

    def judged(self, external: tuple[Judgement, ...] = ()) -> FaraTrajectory:  # noqa: ARG002  (read with score files)
        """The same: no judgement changes the outcome of its log."""
        return self

    def to_json(self) -> dict[str, Any]:
        """The facts of any trajectory, those of the log and of the answer only where their files can be read."""
        facts = self.facts_to_json()
        if self.files.log_problem is None:
            details = {"details": dict(self.details)} if self.details else {}
            facts |= {"dialect": self.files.log.dialect, "alignment": self.alignment} | details
            if self.files.answer_problem is None:
                facts |= {"answer": self.files.answer.final_answer, "screenshots": len(self.screenshots)}
        return facts | {"group": self.group}


def read(files: RecordedFiles) -> FaraTrajectory:
    """The trajectory of a run. What is damaged is empty in it, and a problem or a warning."""
    parts = _read_files(files)
    outcome, log, location = parts.outcome, parts.log, parts.location
    steps, alignment = align(log.steps, parts.screenshots.all)
    reported, tokens = find_self_report(log.steps), parts.answer.token_usage
    return FaraTrajectory(
        inputs=files.inputs,
        outcome=outcome,
        answer=parts.answer.final_answer if parts.answer.is_answered else None,
        steps=steps,
        has_steps=parts.log_problem is None and not parts.is_log_lost,
        screenshots=parts.screenshots.all,
        task_text=parts.task_data.text or "",
        start_url=parts.task_data.init_url,
        usage=total_usage(tokens) if parts.is_readable and tokens else None,
        duration=parts.times.duration,
        system=location.system,
        model=location.model,
        benchmark=location.benchmark,
        group=location.split,
        run_id=location.run_id,
        max_rounds=location.max_rounds,
        attempts=parts.core.attempts or None,
        last_error=parts.core.last_error,
        is_long=parts.core.is_long,
        flags=parts.list_flags(alignment),
        warnings=parts.list_warnings(files.path.name),
        details={} if reported is None else {"self_reported_success": reported},
        dialect=None if parts.log_problem or outcome.kind is OutcomeClass.ABORTED else log.dialect,
        task_data=parts.task_data,
        is_verdict_stale=parts.core.evaluation_is_stale,
        unsupported=_check_layout(files),
        files=parts,
        alignment=alignment,
    )


def _read_files(files: RecordedFiles) -> FaraFiles:
    answer, answer_problem = _read_answer(files)
    log, log_problem = _read_log(files)
    optional = _OptionalFiles(files)
    times, core = read_times(optional.read_json(TIMES)), read_core_log(optional.read(CORE_LOG))
    return FaraFiles(
        answer=answer,
        answer_problem=answer_problem,
        log=log,
        log_problem=log_problem,
        location=locate(files.path.absolute()),
        times=times,
        core=core,
        task_data=read_task_data(optional.read_json(TASK_DATA) or b"{}"),
        screenshots=find_screenshots(answer.screenshots, answer.is_rel_paths, files.names, files.path),
        unread=tuple(optional.problems),
    )


def _check_layout(files: RecordedFiles) -> UnreadableTrajectory | None:
    if HARNESS_FILE not in files.names or LOG in files.names:
        return None
    message = f"{files.path} has the layout of Fara 1.5 ({HARNESS_FILE}), which is not supported"
    return UnreadableTrajectory("unsupported_layout", f"{message}; convert it to a webeval trajectory")


def _read_answer(files: RecordedFiles) -> tuple[FinalAnswer, UnreadableTrajectory | None]:
    """The answer file, empty with the problem if there is none, several, or none that can be read."""
    try:
        name = answer_name(files.path.name, files.names)
        return read_answer(name, files.inputs.read_answer(name)), None
    except UnreadableTrajectory as error:
        return FinalAnswer(""), error
    except RecordingError as error:
        return FinalAnswer(""), UnreadableTrajectory("answer_invalid", str(error))


def _read_log(files: RecordedFiles) -> tuple[Log, UnreadableTrajectory | None]:
    try:
        return read_log(files.inputs.read(LOG, MAX_FILE_BYTES)), None
    except RecordingError as error:
        return read_log(b""), UnreadableTrajectory("log_missing", str(error))


@dataclass(frozen=True)
class _OptionalFiles:
    """Files that need not be there: what cannot be read is as good as missing, and a problem."""

    files: RecordedFiles
    problems: list[str] = field(default_factory=list)

    def read(self, name: str) -> bytes | None:
        try:
            return self.files.inputs.read(name, MAX_FILE_BYTES) if name in self.files.names else None
        except RecordingError as error:
            self.problems.append(f"{name}: {error}")
            return None

    def read_json(self, name: str) -> bytes | None:
        """The same of a file whose JSON is read at once, which takes many times its size."""
        content, limits = self.read(name), self.files.inputs.limits
        if content is None or not may_hold_more(content.decode("utf-8", "replace"), limits.values):
            return content
        self.problems.append(f"{name} holds more values than {limits.values:,}; {limits.describe('values')}")
        return None


def _build_unreadable(problem: UnreadableTrajectory) -> TrajectoryOutcome:
    """The outcome of an unreadable trajectory."""
    return TrajectoryOutcome(OutcomeClass.UNREADABLE, (problem.code,), str(problem))


def classify_unanswered(problem: UnreadableTrajectory, core: CoreLog) -> TrajectoryOutcome:
    """The outcome where no answer file can be used: a crash if the log of the execution shows one (§4.2, rows 1, 2)."""
    has_crashed = core.crash is not None or (core.attempts > 0 and not core.is_completed)
    if problem.code == "answer_missing" and has_crashed:
        message = f"the run crashed: {core.crash}" if core.crash else "the run did not finish and has no answer"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("crash_no_answer",), message)
    return _build_unreadable(problem)


def classify_answered(answer: FinalAnswer, steps: Sequence[Step], max_rounds: int | None) -> TrajectoryOutcome:
    """The outcome of a trajectory with an answer file and a log (§4.2, rows 3, 5, 6)."""
    if answer.is_aborted:
        more = ("aborted_with_answer",) if answer.is_answered else ()
        message = "the environment failed during the run (is_aborted)"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("flagged", *more), message)
    if not answer.is_answered:
        return TrajectoryOutcome(
            OutcomeClass.OVER_BUDGET,
            ("no_answer", *_list_budget_reasons(steps, max_rounds)),
            f"the agent gave no answer in {pluralize(len(steps), 'step')}",
        )
    return TrajectoryOutcome(OutcomeClass.COMPLETED, tuple(_list_answer_reasons(answer, steps)), "the agent answered")


def _list_budget_reasons(steps: Sequence[Step], max_rounds: int | None) -> list[str]:
    reasons = ["below_budget"] if max_rounds is not None and len(steps) < max_rounds else []
    return [*reasons, "terminate_without_answer"] if _is_terminated(steps) else reasons


def _list_answer_reasons(answer: FinalAnswer, steps: Sequence[Step]) -> list[str]:
    reasons = [] if answer.final_answer.strip() else ["empty_answer"]
    if not _is_terminated(steps):
        return [*reasons, "no_terminate"]
    return [*reasons, "self_reported_failure"] if find_self_report(steps) is False else reasons


def find_self_report(steps: Sequence[Step]) -> bool | None:
    """Whether the agent reports a success with its last action; None if it reports neither success nor failure."""
    status = steps[-1].arguments.get("status") if _is_terminated(steps) else None
    return _SELF_REPORTS.get(find_equal(status, tuple(_SELF_REPORTS)) or "")


def _is_terminated(steps: Sequence[Step]) -> bool:
    return bool(steps) and steps[-1].action == "terminate"


def gate_of(steps: Sequence[Step], listed_screenshots: int, ends: Sequence[str] = ("terminate",)) -> Gate | None:
    """The first gate that a run does not pass, or None. `ends` are the actions that end a run in good order."""
    if not steps:
        return Gate(1, "No actions found in the trajectory")
    last = steps[-1].action
    if last not in ends and not last.startswith("finished("):
        return Gate(2, f'The last action must be "terminate", it is {last[:80]!r}')
    if abs(listed_screenshots - len(steps)) >= MISMATCH:
        return Gate(3, f"Actions and screenshots mismatch: {len(steps)} actions, {listed_screenshots} screenshots")
    return None
