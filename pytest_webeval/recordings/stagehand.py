"""Trajectory directories of Stagehand: `trajectory.json`, `task_data.json`, `screenshots/`, `scores/*.json`.

The writer is `writeTrajectoryDir` of GitHub `browserbase/stagehand` (npm 3.5.0 to 3.7.3,
`lib/v3/verifier/trajectory.ts`), which `packages/evals` calls (`framework/trajectoryRecorder.ts` and
`framework/harnesses/persistTrajectory.ts`, 4960e3b50, 06289148e). Where the scores are moved three times in 2026:
`scores/mmrubric_v1.json` (May, before any release), `scores/result.json` with further `result_<label>.json` (June), the
same below a directory for each task (July), and a `judge` within, or `graded: false` (September, pull request 2901).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.files import MAX_FILE_BYTES
from pytest_webeval.recordings.trajectory.outcome import OutcomeClass
from pytest_webeval.recordings.trajectory.outcome import TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.recorded import RecordedTrajectory
from pytest_webeval.recordings.trajectory.stagehand_result import is_invalid_task
from pytest_webeval.recordings.trajectory.stagehand_result import read_judgement
from pytest_webeval.recordings.trajectory.stagehand_steps import FILE
from pytest_webeval.recordings.trajectory.stagehand_steps import StagehandTrajectory
from pytest_webeval.recordings.trajectory.stagehand_steps import classify
from pytest_webeval.recordings.trajectory.stagehand_steps import read_trajectory
from pytest_webeval.recordings.trajectory.step import Screenshot
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import preview

TASK_DATA = "task_data.json"
METADATA = "metadata.json"
SCORES = "scores"
GATES = "gates.json"
IMAGES = ("screenshots/agent", "screenshots/probe", "")
LIVE = ("result.json", "mmrubric_v1.json")  # of the run itself; files by other names are of later judgements
_PREFIXES = ("result", "mmrubric")
MOST_RESULTS = 50


def read(files: RecordedFiles) -> RecordedTrajectory:
    """The trajectory with its judgements, that of the run first. Raises `UnreadableTrajectory`, or `RecordingError`."""
    trajectory = read_trajectory(files.inputs.read(FILE, MAX_FILE_BYTES), files.inputs.limits)
    results = dict(_read_results(files))
    judgements = _read_judgements(files, results)
    graded = next((judgement for judgement in judgements if judgement.ungraded is None), None)
    outcome = classify(trajectory, is_graded=graded is not None)
    if graded and graded.success is False and is_invalid_task(results[graded.source]):
        outcome = _without_solution(outcome)
    metadata = files.read_optional_json(METADATA)
    images = {shot.name: shot for folder in IMAGES for shot in files.list_images(folder)}
    _check_id(files, trajectory)
    return RecordedTrajectory(
        inputs=files.inputs,
        outcome=outcome,
        answer=trajectory.final_answer,
        steps=tuple(_keep_images(step, images) for step in trajectory.steps),
        screenshots=tuple(shot for shot in trajectory.screenshots if shot.name in images),
        judgements=judgements,
        task_text=trajectory.task.instruction,
        start_url=trajectory.task.init_url,
        usage=trajectory.usage,
        model=metadata.text("model") if metadata else None,
        run_id=metadata.text("runId") if metadata else None,
        last_error=trajectory.termination_reason,
        flags=_list_flags(trajectory, images),
        warnings=trajectory.warnings,
        details=_list_details(trajectory),
    )


def _read_results(files: RecordedFiles) -> Iterator[tuple[str, dict[str, object]]]:
    """The documents of `scores/` by their names, that of the run first.

    Raises `UnreadableTrajectory` if the first is damaged: a damaged verdict is not as good as none.
    """
    names = [name for name in files.list_names(SCORES) if name.startswith(_PREFIXES) and name.endswith(".json")]
    ordered = sorted(names, key=lambda name: (name not in LIVE, name))
    for index, name in enumerate(ordered[:MOST_RESULTS]):
        source = f"{SCORES}/{name}"
        fields = files.read_json(source) if index == 0 else files.read_optional_json(source)
        if fields is not None:
            yield source, dict(fields.raw)


def _read_judgements(files: RecordedFiles, results: dict[str, dict[str, object]]) -> tuple[Judgement, ...]:
    gates = files.read_optional_json(f"{SCORES}/{GATES}")
    judgements: list[Judgement] = []
    for source, fields in results.items():
        is_live = source.rpartition("/")[2] in LIVE
        try:
            judgements.append(read_judgement(source, fields, gates.raw if gates and is_live else None))
        except UnreadableTrajectory as error:
            if not judgements:
                raise
            files.warnings.add(f"{error}; ignored")
    return _check_copy(files, results, judgements)


def _check_copy(
    files: RecordedFiles, results: dict[str, dict[str, object]], judgements: list[Judgement]
) -> tuple[Judgement, ...]:
    """The judgements; the first contradicts itself if `task_data.json` has a copy of a result that is of no file."""
    task_data = files.read_optional_json(TASK_DATA)
    copy = (task_data.raw.get("result") or task_data.raw.get("verdict")) if task_data else None
    if copy is None or copy in results.values():
        return tuple(judgements)
    if not judgements:
        files.warnings.add(f"{TASK_DATA} has a result, but {SCORES}/ has none: it does not count")
        return ()
    problem = f"{TASK_DATA} has another result than {', '.join(list(results)[:3])}"
    first = judgements[0]
    problems = (*first.contradictions, problem)
    return (structs.replace(first, contradictions=problems, rubric=None), *judgements[1:])


def _without_solution(outcome: TrajectoryOutcome) -> TrajectoryOutcome:
    """The outcome of a run whose task is invalid, as the judge says. A run that did not end by itself stays so."""
    if outcome.kind is not OutcomeClass.COMPLETED:
        return outcome
    message = "the judge says that the task cannot be done"
    return TrajectoryOutcome(OutcomeClass.IMPOSSIBLE, ("task_invalid", *outcome.reasons), message)


def _check_id(files: RecordedFiles, trajectory: StagehandTrajectory) -> None:
    """Warn of an id in the file that is not that of the path: an id may hold `/`, as `webtailbench/agent`."""
    name = trajectory.task.id.rpartition("/")[2]
    path = files.path.absolute()
    if name not in (path.name, path.parent.name):
        quoted = preview(trajectory.task.id, 80, is_ascii=True)
        files.warnings.add(f"{FILE} is of the task {quoted}; the directory's name is used as the task id")


def _keep_images(step: Step, images: dict[str, Screenshot]) -> Step:
    """The step without screenshots that are not there."""
    before, after = (shot if shot and shot.name in images else None for shot in (step.before, step.after))
    return structs.replace(step, before=before, after=after)


def _list_flags(trajectory: StagehandTrajectory, images: dict[str, Screenshot]) -> tuple[str, ...]:
    is_missing = any(shot.name not in images for shot in trajectory.screenshots)
    return ("missing_screenshots",) if is_missing else ()


def _list_details(trajectory: StagehandTrajectory) -> dict[str, object]:
    facts = {
        "status": trajectory.status,
        "termination_reason": trajectory.termination_reason,
        "inference_seconds": trajectory.inference_seconds,
    }
    return {name: value for name, value in facts.items() if value is not None}
