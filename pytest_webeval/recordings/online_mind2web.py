"""Online-Mind2Web results, the format of its leaderboard: `<id>/result.json` and `trajectory/*.png`.

The layouts are those of GitHub `OSU-NLP-Group/Online-Mind2Web` (README, "Submission format"): version 1 with a list of
actions and thoughts, version 2 with `schema_version` and one object a step. A verdict in the file, as
`browser-use/online-mind2web` publishes it, is `judge: {score, reasoning}` with a score of 0 or 100.
"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import PurePosixPath

from pytest_webeval.recordings.recorded_files import JsonFields
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.outcome import TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.recorded import RecordedTrajectory
from pytest_webeval.recordings.trajectory.recorded import build_step
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.safety.text import pluralize

RESULT = "result.json"
IMAGES = "trajectory"
FULL_SCORE = 100


def read(files: RecordedFiles) -> RecordedTrajectory:
    """The trajectory of a result of either version. Raises `UnreadableTrajectory`."""
    result = files.read_json(RESULT)
    shots = files.list_images(IMAGES)
    steps = tuple(_read_steps(result, shots))
    answer = result.text("final_result_response")
    task_id = result.text("task_id")
    if task_id is not None and task_id != files.path.name:
        files.warnings.add(f"{RESULT} is of the task {task_id!r:.80}; the directory's name is used as the task id")
    return RecordedTrajectory(
        inputs=files.inputs,
        outcome=_classify(answer, steps),
        answer=answer,
        steps=steps,
        screenshots=shots,
        judgements=tuple(_read_judgements(result)),
        task_text=result.text("task", "confirmed_task") or "",
        start_url=result.text("website", "start_url"),
        model=result.text("model"),
        benchmark="om2w",
        group=result.text("level"),
        duration=result.number("duration", "time"),
        details={"schema_version": version} if (version := result.text("schema_version")) else {},
    )


def _classify(answer: str | None, steps: tuple[Step, ...]) -> TrajectoryOutcome:
    """A result without an answer is one of an agent that was stopped; an empty answer is one."""
    if answer is None:
        message = f"the agent gave no answer in {pluralize(len(steps), 'step')}"
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("no_answer",), message)
    reasons = () if answer.strip() else ("empty_answer",)
    return TrajectoryOutcome(OutcomeClass.COMPLETED, reasons, "the agent answered")


def _read_steps(result: JsonFields, shots: tuple[Screenshot, ...]) -> list[Step]:
    history = result.items("action_history")
    if any(isinstance(entry, dict) for entry in history):
        by_name = {PurePosixPath(shot.name).name: shot for shot in shots}
        return [_read_step(index, step, by_name) for index, step in enumerate(result.objects("action_history"), 1)]
    actions, thoughts = result.texts("action_history"), result.texts("thoughts")
    pairs = zip_longest(actions, thoughts[: len(actions)], fillvalue="")
    after = dict(enumerate(shots))  # the first image is of the page before any action
    return [
        build_step(index, action, thought=thought, before=after.get(index - 1), after=after.get(index))
        for index, (action, thought) in enumerate(pairs, 1)
    ]


def _read_step(index: int, step: JsonFields, shots: dict[str, Screenshot]) -> Step:
    """A step of version 2; the screenshot that it names is of the page on which the agent decided."""
    name = PurePosixPath(step.text("screenshot") or "").name
    action = step.raw.get("action")
    if isinstance(action, dict):
        fields = step.member("action")
        verb = fields.text("type", "name", "action") or "unparsed"
        arguments = {key: value for key, value in fields.raw.items() if value != verb}
    else:
        verb, arguments = step.text("action") or "unparsed", {}
    return build_step(
        index, verb, arguments, thought=step.text("thought") or "", url=step.text("url"), before=shots.get(name)
    )


def _read_judgements(result: JsonFields) -> list[Judgement]:
    if "judge" not in result:
        return []
    judge = result.member("judge")
    score = judge.number("score")
    return [
        Judgement(
            source=f"{RESULT} judge",
            judge="stored judge",
            success=None if score is None else score >= FULL_SCORE,
            score=score,
            full_score=FULL_SCORE,
            reasoning=judge.text("reasoning") or "",
            ungraded="the judge stored no score" if score is None else None,
        )
    ]
