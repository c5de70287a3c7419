"""Trajectory directories of Stagehand: `trajectory.json`, `task_data.json`, `screenshots/`, `scores/*.json`.

The writer is `writeTrajectoryDir` of GitHub `browserbase/stagehand` (npm 3.5.0 to 3.7.3,
`lib/v3/verifier/trajectory.ts`), which `packages/evals` calls (`framework/trajectoryRecorder.ts` and
`framework/harnesses/persistTrajectory.ts`, 4960e3b50, 06289148e). Where the scores are moved three times in 2026:
`scores/mmrubric_v1.json` (May, before any release), `scores/result.json` with further `result_<label>.json` (June), the
same below a directory for each task (July), and a `judge` within, or `graded: false` (September, pull request 2901).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import structs

from pytest_webeval.recordings.formats.stagehand_result import is_invalid_task, read_judgement
from pytest_webeval.recordings.formats.stagehand_steps import FILE, StagehandTrajectory, classify, read_trajectory
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES
from pytest_webeval.recordings.recorded_files import JsonFields, RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import Judgement, OutcomeClass, Trajectory, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, UnreadableTrajectory
from pytest_webeval.safety.text import to_line

TASK_DATA = "task_data.json"
METADATA = "metadata.json"
RUN_KEYS = ("task", "runId", "runDir")  # of the metadata of a run whose directory is named after it
SCORES = "scores"
GATES = "gates.json"
IMAGES = ("screenshots/agent", "screenshots/probe", "")
LIVE = ("result.json", "mmrubric_v1.json")  # of the run itself; files by other names are of later judgements
_PREFIXES = ("result", "mmrubric")
MOST_RESULTS = 50
MOST_REASON = 300  # characters of why the run ended


def read(files: RecordedFiles) -> Trajectory:
    """The trajectory with its judgements, that of the run first. Raises `UnreadableTrajectory`, or `RecordingError`."""
    trajectory = read_trajectory(files.inputs.read(FILE, MAX_FILE_BYTES), files.inputs.limits)
    results, judgements = _read_judgements(files)
    graded = next((judgement for judgement in judgements if judgement.ungraded is None), None)
    outcome = classify(trajectory, is_graded=graded is not None)
    is_invalid = graded is not None and graded.success is False and is_invalid_task(results[graded.source])
    if is_invalid and outcome.kind is OutcomeClass.COMPLETED:  # a run that did not end by itself stays so
        message = "the judge says that the task cannot be done"
        outcome = TrajectoryOutcome(OutcomeClass.IMPOSSIBLE, ("task_invalid", *outcome.reasons), message)
    metadata = files.read_optional_json(METADATA)
    images = {shot.name: shot for folder in IMAGES for shot in files.list_images(folder)}
    _check_id(files, trajectory, metadata)
    seconds = trajectory.inference_seconds
    timed = {} if seconds is None else {"inference_seconds": seconds}
    return Trajectory(
        inputs=files.inputs,
        outcome=outcome,
        answer=trajectory.final_answer,
        is_complete=trajectory.status == "complete",
        steps=tuple(_keep_images(step, images) for step in trajectory.steps),
        screenshots=tuple(shot for shot in trajectory.screenshots if shot.name in images),
        judgements=judgements,
        task_text=trajectory.task.instruction,
        start_url=trajectory.task.init_url,
        usage=trajectory.usage,
        model=metadata.text("model") if metadata else None,
        run_id=metadata.text("runId") if metadata else None,
        last_error=to_line(trajectory.termination_reason or "", MOST_REASON) or None,
        flags=("missing_screenshots",) if any(shot.name not in images for shot in trajectory.screenshots) else (),
        warnings=trajectory.warnings,
        details={"status": trajectory.status} | timed,
    )


def _read_judgements(files: RecordedFiles) -> tuple[dict[str, dict[str, object]], tuple[Judgement, ...]]:
    """The documents of `scores/` by their names, and their judgements; those of the run itself are the first.

    Raises `UnreadableTrajectory` for a damaged one that may count: one of the run, and each before the first verdict.
    """
    gates = files.read_verdict(f"{SCORES}/{GATES}") if GATES in files.list_verdicts(SCORES) else None
    results: dict[str, dict[str, object]] = {}
    judgements: list[Judgement] = []
    stored = [name for name in files.list_verdicts(SCORES) if name.startswith(_PREFIXES) and name.endswith(".json")]
    # Those of the run itself first, in the order of `LIVE`.
    names = sorted(stored, key=lambda name: (LIVE.index(name) if name in LIVE else len(LIVE), name))
    for name in names[:MOST_RESULTS]:
        source, is_live = f"{SCORES}/{name}", name in LIVE
        try:
            fields = dict(files.read_verdict(source).raw)
            judgements.append(read_judgement(source, fields, gates.raw if gates and is_live else None))
            results[source] = fields
        except UnreadableTrajectory as error:
            if is_live or all(judgement.ungraded for judgement in judgements):
                raise
            files.warnings.add(f"{error}; ignored")
    problems = (*_compare_live(results, judgements), *_check_copy(files, results))
    return results, _add_problems(judgements, problems)


def _compare_live(results: dict[str, dict[str, object]], judgements: list[Judgement]) -> Iterator[str]:
    """What a second result of the run itself says otherwise than the first: no writer leaves two."""
    live = [each for each in judgements if each.source.rpartition("/")[2] in LIVE and each.ungraded is None]
    for first, second in pairwise(live):
        verdicts = [(each.success, results[each.source].get("processScore")) for each in (first, second)]
        if verdicts[0] != verdicts[1]:
            yield f"{second.source} has another verdict than {first.source}"


def _check_copy(files: RecordedFiles, results: dict[str, dict[str, object]]) -> Iterator[str]:
    """What is wrong if `task_data.json` has a copy of a result that is of no file."""
    task_data = files.find_json(TASK_DATA)
    copies = [task_data.raw.get(key) for key in ("result", "verdict")] if task_data else []
    copy = next((copy for copy in copies if copy is not None), None)
    if copy is None or copy in results.values():
        return
    if results:
        yield f"{TASK_DATA} has another result than {', '.join(list(results)[:3])}"
    else:
        files.warnings.add(f"{TASK_DATA} has a result, but {SCORES}/ has none: it does not count")


def _add_problems(judgements: list[Judgement], problems: Sequence[str]) -> tuple[Judgement, ...]:
    """The judgements, of which the first verdict contradicts itself if there are problems.

    Raises `UnreadableTrajectory` where no judgement is a verdict: the run is not one that nobody judged.
    """
    if not problems:
        return tuple(judgements)
    index = next((index for index, each in enumerate(judgements) if each.ungraded is None), None)
    if index is None:
        raise UnreadableTrajectory("score_unreadable", f"{'; '.join(problems)}; judge the run again")
    contradictions = (*judgements[index].contradictions, *problems)
    judgements[index] = structs.replace(judgements[index], contradictions=contradictions, rubric=None)
    return tuple(judgements)


def _check_id(files: RecordedFiles, trajectory: StagehandTrajectory, metadata: JsonFields | None) -> None:
    """Warn of an id in the file that is not that of the path: an id may hold `/`, as `webtailbench/agent`."""
    path = files.path.absolute()
    is_named_by_run = metadata is not None and all(key in metadata for key in RUN_KEYS)
    if trajectory.task.id.rpartition("/")[2] != (path.parent if is_named_by_run else path).name:
        files.warn_of_name(FILE, "task", trajectory.task.id)


def _keep_images(step: Step, images: dict[str, Screenshot]) -> Step:
    before, after = (shot if shot and shot.name in images else None for shot in (step.before, step.after))
    return structs.replace(step, before=before, after=after)
