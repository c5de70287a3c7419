"""What Fara's `webeval` leaves of a run, as a trajectory: answer, log, screenshots, scores (`fara_webeval.md` §1-4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory import layout, side_files
from pytest_webeval.recordings.trajectory.answer import FinalAnswer, answer_name, name_warning, read_answer, total_usage
from pytest_webeval.recordings.trajectory.log import Log, read_log
from pytest_webeval.recordings.trajectory.recorded import MISMATCH, OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.screenshots import Screenshots, align, count_states, find_screenshots
from pytest_webeval.recordings.trajectory.step import NO_ANSWER, Step, UnreadableTrajectory
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.json import may_hold_more
from pytest_webeval.safety.run_directory import is_directory, list_names
from pytest_webeval.safety.text import pluralize
from pytest_webeval.values.string import find_equal

LOST_LOG = "web_surfer.log: no actions although the agent acted; it was truncated, or recorded without the level DEBUG"
_SELF_REPORTS = {"success": True, "failure": False}  # the statuses of `terminate`


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a run. What is damaged is empty in it, and a problem or a warning."""
    answer, answer_problem = _read_answer(files)
    log, log_problem = _read_log(files)
    unread: list[str] = []
    times = side_files.read_times(_read_optional_json(files, layout.TIMES, unread))
    core = side_files.read_core_log(_read_optional(files, layout.CORE_LOG, unread))
    task_data = side_files.read_task_data(_read_optional_json(files, layout.TASK_DATA, unread) or b"{}")
    shots = find_screenshots(answer.screenshots, answer.is_rel_paths, files.names, files.path)
    location = layout.locate(files.path.absolute())
    steps, alignment = align(log.steps, shots.all)
    problem = answer_problem or (None if answer.is_aborted else log_problem)
    outcome = None if problem is None else _classify_unreadable(problem, core)
    is_readable = answer_problem is None and log_problem is None
    # The agent acted although the log holds no action (§2.1).
    is_log_lost = is_readable and not steps and (len(shots.all) > 1 or answer.final_answer not in ("", NO_ANSWER))
    named = [name_warning(files.path.name, answer.name)] if answer_problem is None else []
    lost = [LOST_LOG] if is_log_lost else []
    others = [warning for each in (shots, times, core, task_data) for warning in each.warnings]
    return Trajectory(
        inputs=files.inputs,
        outcome=outcome or classify_answered(answer, log.steps, location.max_rounds),
        answer=answer.final_answer if answer.is_answered else None,
        answer_problem=answer_problem,
        steps=steps,
        steps_problem=log_problem,
        has_steps=log_problem is None and not is_log_lost,
        screenshots=shots.all,
        usage=total_usage(answer.token_usage) if is_readable and answer.token_usage else None,
        flags=_list_flags(log, shots, core, alignment, is_log_lost=is_log_lost) if is_readable else (),
        warnings=(*filter(None, named), *answer.warnings, *log.warnings, *lost, *others, *unread),
        details={} if (done := _find_self_report(steps)) is None else {"self_reported_success": done},
        dialect=None if log_problem else log.dialect,
        unsupported=_check_layout(files),
        missing_evidence=_find_missing_evidence(answer, shots, steps),
        listed_screenshots=len(answer.screenshots),
        alignment=alignment,
        **_list_side_facts(times, core, task_data),
        **_list_place(location),
        **_list_scores(files),
    )


def _list_side_facts(
    times: side_files.Times, core: side_files.CoreLog, task_data: side_files.TaskData
) -> dict[str, Any]:
    return {
        "duration": times.duration,
        "attempts": core.attempts or None,
        "last_error": core.last_error,
        "is_long": core.is_long,
        "is_verdict_stale": core.evaluation_is_stale,
        "task_text": task_data.text or "",
        "start_url": task_data.init_url,
        "task_data": task_data,
    }


def _list_place(location: layout.RunLocation) -> dict[str, Any]:
    names = ("system", "model", "benchmark", "run_id", "max_rounds", "benchmark_kind")
    return {name: getattr(location, name) for name in names} | {"group": location.split}


def _check_layout(files: RecordedFiles) -> UnreadableTrajectory | None:
    if layout.HARNESS_FILE not in files.names or layout.LOG in files.names:
        return None
    message = f"{files.path} has the layout of Fara 1.5 ({layout.HARNESS_FILE}), which is not supported"
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
        return read_log(files.inputs.read(layout.LOG, MAX_FILE_BYTES)), None
    except RecordingError as error:
        return read_log(b""), UnreadableTrajectory("log_missing", str(error))


def _read_optional(files: RecordedFiles, name: str, problems: list[str]) -> bytes | None:
    """A file that need not be there: one that cannot be read is as good as missing, and a problem."""
    try:
        return files.inputs.read(name, MAX_FILE_BYTES) if name in files.names else None
    except RecordingError as error:
        problems.append(f"{name}: {error}")
        return None


def _read_optional_json(files: RecordedFiles, name: str, problems: list[str]) -> bytes | None:
    """The same of a file whose JSON is read at once, which takes many times its size."""
    content, limits = _read_optional(files, name, problems), files.inputs.limits
    if content is None or not may_hold_more(content.decode("utf-8", "replace"), limits.values):
        return content
    problems.append(f"{name} holds more values than {limits.values:,}; {limits.describe('values')}")
    return None


def _list_scores(files: RecordedFiles) -> dict[str, Any]:
    """The JSON files in `scores/`, or why they cannot be listed: there may be a verdict in it."""
    folder, names, problem = files.path / layout.SCORES, [], None
    try:
        if exists_no_follow(folder) and not is_directory(folder):
            advice = "replace it with a directory, not with a link"
            problem = f"{layout.SCORES} in {files.path} is not a directory; {advice}"
        elif exists_no_follow(folder):
            names = [name for name in sorted(list_names(folder)) if name.endswith(".json")]
    except OSError as error:
        problem = f"cannot list {folder}: {error.strerror}; make it readable"
    return {
        "has_score_files": True,
        "names_of_scores": tuple(names),
        "score_problem": None if problem is None else RecordingError(problem),
        "rubric_names": (layout.RUBRIC, layout.TASK_DATA),
    }


def _find_missing_evidence(answer: FinalAnswer, shots: Screenshots, steps: Sequence[Step]) -> str | None:
    """Why no success follows from the log and the screenshots, or None.

    Where the answer file lists no screenshots, those in the directory count: some recorders leave the list empty.
    """
    if not steps:
        return f"{layout.LOG} holds no action"
    listed = answer.screenshots or [shot.name for shot in shots.all]
    count = count_states([*dict.fromkeys(listed)])
    if abs(count - len(steps)) < MISMATCH:
        return None
    return f"{layout.LOG} holds {pluralize(len(steps), 'action')}, and the recording {pluralize(count, 'screenshot')}"


def _list_flags(
    log: Log, shots: Screenshots, core: side_files.CoreLog, alignment: str, *, is_log_lost: bool
) -> tuple[str, ...]:
    conditions = {
        "log_lost": is_log_lost,
        "misaligned": alignment == "misaligned",
        "missing_screenshots": bool(shots.missing),
        "nonstandard_stop": bool(log.steps) and log.steps[-1].action == "stop",
        "several_attempts": core.attempts > 1,
    }
    return tuple(code for code, holds in conditions.items() if holds)


def _classify_unreadable(problem: UnreadableTrajectory, core: side_files.CoreLog) -> TrajectoryOutcome:
    """The outcome without a usable answer or log: a crash if the log of the execution shows one (§4.2)."""
    has_crashed = core.crash is not None or (core.attempts > 0 and not core.is_completed)
    if problem.code == "answer_missing" and has_crashed:
        message = f"the run crashed: {core.crash}" if core.crash else "the run did not finish and has no answer"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("crash_no_answer",), message)
    return TrajectoryOutcome(OutcomeClass.UNREADABLE, (problem.code,), str(problem))


def classify_answered(answer: FinalAnswer, steps: Sequence[Step], max_rounds: int | None) -> TrajectoryOutcome:
    """The outcome of a trajectory with an answer file and a log (§4.2, rows 3, 5, 6)."""
    if answer.is_aborted:
        more = ("aborted_with_answer",) if answer.is_answered else ()
        message = "the environment failed during the run (is_aborted)"
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("flagged", *more), message)
    if not answer.is_answered:
        reasons = ["no_answer"]
        reasons += ["below_budget"] if max_rounds is not None and len(steps) < max_rounds else []
        reasons += ["terminate_without_answer"] if _is_terminated(steps) else []
        return TrajectoryOutcome(
            OutcomeClass.OVER_BUDGET,
            tuple(reasons),
            f"the agent gave no answer in {pluralize(len(steps), 'step')}",
        )
    reasons = [] if answer.final_answer.strip() else ["empty_answer"]
    if not _is_terminated(steps):
        reasons.append("no_terminate")
    elif _find_self_report(steps) is False:
        reasons.append("self_reported_failure")
    return TrajectoryOutcome(OutcomeClass.COMPLETED, tuple(reasons), "the agent answered")


def _find_self_report(steps: Sequence[Step]) -> bool | None:
    """Whether the agent reports a success with its last action; None if it reports neither success nor failure."""
    status = steps[-1].arguments.get("status") if _is_terminated(steps) else None
    return _SELF_REPORTS.get(find_equal(status, tuple(_SELF_REPORTS)) or "")


def _is_terminated(steps: Sequence[Step]) -> bool:
    return bool(steps) and steps[-1].action == "terminate"
