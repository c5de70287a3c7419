"""Online-Mind2Web results, the format of its leaderboard: `<id>/result.json` and `trajectory/*.png`.

The layouts are those that GitHub `OSU-NLP-Group/Online-Mind2Web` reads in `src/run.py` (commit ccdeb0d): version 1 with
lists of actions and thoughts, and version 2 with `schema_version` and one object a step. A verdict in the file, as
`browser-use/online-mind2web` publishes it (2026-03-25), is `judge: {score, reasoning}` with a score of 0 or 100.

Writers that run an agent of the Claude Agent SDK keep the `subtype` of its last message as `result_status`. Writers
that have no answer store null or an empty text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import PurePosixPath

from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import (
    Judgement,
    OutcomeClass,
    Trajectory,
    TrajectoryOutcome,
)
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, UnreadableTrajectory, build_step
from pytest_webeval.safety.json import read_number
from pytest_webeval.safety.text import pluralize, preview, to_line

RESULT = "result.json"
IMAGES = "trajectory"
HISTORY = "action_history"
VERSION_2 = "online-mind2web-v2"
FULL_SCORE = 100
MOST_NAME = 80  # characters of a level
_END = "TASK_COMPLETE"  # with which the last action of version 2 begins
# What `result_status` says of an end that is not the agent's own: at a limit, or by a failure of its environment.
STATUS, ENDED = "result_status", "success"
LIMITS = ("error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries")
FAILED = ("error_during_execution",)
_FIRST_DIGITS = re.compile(r"[0-9]{1,18}")


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory of a result of either version. Raises `UnreadableTrajectory`."""
    result = files.read_json(RESULT)
    is_second = result.text("schema_version") == VERSION_2
    shots = tuple(sorted(files.list_images(IMAGES), key=_image_order))
    steps = tuple(_read_objects(result, shots) if is_second else _read_texts(result, shots))
    task_id = result.text("task_id")
    if task_id is not None and task_id != files.path.name:
        files.warn_of_name(RESULT, "task", task_id)
    return Trajectory(
        inputs=files.inputs,
        outcome=_classify(result, steps, is_second=is_second),
        answer=result.text("agent_final_answer" if is_second else "final_result_response"),
        steps=steps,
        has_steps=HISTORY in result,
        screenshots=shots,
        judgements=tuple(_read_judgements(result)),
        task_text=result.text("task", "confirmed_task") or "",
        start_url=result.text("website", "start_url"),
        benchmark="om2w",
        group=to_line(result.text("level") or "", MOST_NAME) or None,
        details={"schema_version": VERSION_2} if is_second else {},
    )


def _image_order(shot: Screenshot) -> tuple[int, str]:
    """By the first number in the name, as the benchmark's judge sorts them."""
    name = PurePosixPath(shot.name).name
    number = _FIRST_DIGITS.search(name)
    return int(number[0]) if number else 0, name


def _classify(result: JsonFields, steps: tuple[Step, ...], *, is_second: bool) -> TrajectoryOutcome:
    """How the run ended. Version 1 need not hold the answer: its judges read the actions and the images."""
    status = result.text(STATUS) or ""
    if status not in ("", ENDED, *LIMITS, *FAILED):  # decides nothing
        result.warnings.add(f"{preview(status, 60, is_ascii=True)} is not a known status; ignored @ {RESULT}.{STATUS}")
    if status in FAILED:
        return TrajectoryOutcome(OutcomeClass.ABORTED, (status,), f"the run ended with {status}")
    if status in LIMITS:
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, (status,), f"the agent was stopped at a limit ({status})")
    name = "agent_final_answer" if is_second else "final_result_response"
    answer = result.text(name)
    is_ended = not is_second or (bool(steps) and steps[-1].action.startswith(_END))
    if not (answer or "").strip() and (name in result or not is_ended):
        steps_taken = f" in {pluralize(len(steps), 'step')}" if HISTORY in result else ""
        message = f"the agent gave no answer{steps_taken}"
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("no_answer",), message)
    reasons = () if is_ended else ("no_terminate",)
    return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, "the agent answered" if answer else "the agent ended")


def _read_texts(result: JsonFields, shots: tuple[Screenshot, ...]) -> list[Step]:
    """The steps of version 1: an action is a line of text; the first image is of the page before any action."""
    actions, thoughts = result.texts(HISTORY), result.texts("thoughts")
    by_place = dict(enumerate(shots))
    pairs = zip_longest(actions, thoughts[: len(actions)], fillvalue="")
    return [
        build_step(index, action, thought=thought, before=by_place.get(index - 1), after=by_place.get(index))
        for index, (action, thought) in enumerate(pairs, 1)
    ]


def _read_objects(result: JsonFields, shots: tuple[Screenshot, ...]) -> list[Step]:
    """The steps of version 2, each with the image that it names: of the page on which the agent decided."""
    by_name = {PurePosixPath(shot.name).name: shot for shot in shots}
    return [
        build_step(
            index,
            step.text("action") or "unparsed",
            thought=step.text("thought") or "",
            url=step.text("url") or None,
            observation=step.text("action_status"),
            before=by_name.get(step.text("screenshot") or ""),
        )
        for index, step in enumerate(result.objects(HISTORY), 1)
    ]


def _read_judgements(result: JsonFields) -> list[Judgement]:
    """The stored verdict. Raises `UnreadableTrajectory` for a damaged one, which is not as good as none."""
    result.check_finite("judge")
    raw = result.raw.get("judge")
    if raw is None:
        return []
    if not isinstance(raw, Mapping):
        raise _build_error("judge", raw, "an object with a score")
    result.member("judge").check_finite("score")
    score = read_number(raw.get("score"), 0, FULL_SCORE)
    if score is None and raw.get("score") is not None:
        raise _build_error("judge.score", raw["score"], f"a number from 0 to {FULL_SCORE}")
    return [
        Judgement(
            source=f"{RESULT} judge",
            judge="stored judge",
            success=None if score is None else score >= FULL_SCORE,
            score=score,
            full_score=FULL_SCORE,
            reasoning=result.member("judge").text("reasoning") or "",
            ungraded="the judge stored no score" if score is None else None,
        )
    ]


def _build_error(key: str, value: object, expected: str) -> UnreadableTrajectory:
    problem = f"{RESULT} has {preview(value, 60, is_ascii=True)} as {key}, expected {expected}"
    return UnreadableTrajectory("score_unreadable", f"{problem}; judge the run again")
