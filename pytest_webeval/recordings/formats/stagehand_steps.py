"""What Stagehand's `writeTrajectoryDir` wrote to `trajectory.json`, as steps of a trajectory.

The keys are those of `Trajectory` in `lib/v3/verifier/types.ts` of browserbase/stagehand: npm 3.5.0 to 3.7.3, the
branch of May 2026 before them (pull request 2130), and `packages/evaluator` after them (97279c40b).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.recordings.trajectory.answer import Usage
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass, TrajectoryOutcome
from pytest_webeval.recordings.trajectory.step import (
    IMAGES,
    Screenshot,
    Step,
    Target,
    UnreadableTrajectory,
    build_step,
    find_target,
)
from pytest_webeval.safety.json import format_validation_error, to_strict_json
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.text import preview, truncate
from pytest_webeval.safety.warning_log import WarningLog

FILE = "trajectory.json"
MAX_OBSERVATION = 2000  # characters; a page's accessibility tree is not read at all
_REPAIR_HINT = "record the run again"
_STATUSES = ("complete", "aborted", "stalled", "error")
# As `packages/evaluator/src/diagnostics.ts` recognizes a budget, without what stands between the words.
_BUDGETS = ("stepbudget", "maxsteps", "steplimit")
_NOT_A_LETTER = re.compile(r"[^a-z]")
_NUMBER = re.compile(r"([0-9]{1,9})(?:_[0-9]{1,9})?$")


class _Rubric(Struct, frozen=True):
    items: list[dict[str, Any]] = field(default_factory=list)


class TaskSpec(Struct, frozen=True, rename="camel"):
    """What the agent was asked. Unlike `precomputed_rubric` of task lists, the rubric has `maxPoints`."""

    id: str
    instruction: str
    init_url: str | None = None
    precomputed_rubric: _Rubric | None = None
    expected_answer: str | None = None


class _Modality(Struct, frozen=True, rename="camel"):
    type: str = ""
    image_path: str | None = None
    bytes_base64: msgspec.Raw = msgspec.Raw()


class _Evidence(Struct, frozen=True):
    modalities: list[_Modality] = field(default_factory=list)


class _Probe(Struct, frozen=True, rename="camel"):
    url: str | None = None
    screenshot_path: str | None = None


class _Output(Struct, frozen=True):
    ok: bool
    result: msgspec.Raw = msgspec.Raw()
    error: str | None = None


class _Clicked(Struct, frozen=True):
    coordinates: Any = None


class _Step(Struct, frozen=True, rename="camel"):
    action_name: str
    action_args: dict[str, Any] = field(default_factory=dict)
    reasoning: str = ""
    agent_evidence: _Evidence = field(default_factory=_Evidence)
    probe_evidence: _Probe = field(default_factory=_Probe)
    tool_output: _Output | None = None
    finished_at: str | None = None


class _Usage(Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    inference_time_ms: float | None = None


class _Document(Struct, frozen=True, rename="camel"):
    task: TaskSpec
    steps: list[_Step]
    status: str
    final_answer: str | None = None
    final_observation: _Probe | None = None
    usage: _Usage | None = None
    termination_reason: str | None = None


class StagehandTrajectory(Struct, frozen=True):
    """The file's content. `screenshots` are in the order of the steps, those of several steps once.

    `usage` is None where the writer counted nothing: it writes 0 then, which no run takes. `inference_seconds` is the
    time that the models took, not that of the run, which is not stored.
    """

    task: TaskSpec
    status: str
    steps: tuple[Step, ...]
    screenshots: tuple[Screenshot, ...]
    final_answer: str | None = None
    termination_reason: str | None = None
    usage: Usage | None = None
    inference_seconds: float | None = None
    warnings: tuple[str, ...] = ()


def read_trajectory(content: bytes, limits: Limits = USUAL) -> StagehandTrajectory:
    """The trajectory in the bytes of the file. Raises `UnreadableTrajectory` for another document, or a damaged one.

    That the screenshots are there is not checked.
    """
    document = _decode(content, limits)
    warnings = WarningLog(FILE)
    if document.status not in _STATUSES:
        status = preview(document.status, 40, is_ascii=True)
        warnings.add(f"unknown status {status}, expected {', '.join(_STATUSES)}; read as complete")
    steps = tuple(_build_step(raw, index, warnings) for index, raw in enumerate(document.steps, 1))
    last = _find_screenshot(document.final_observation, warnings) if document.final_observation else None
    shots = dict.fromkeys(filter(None, [*(shot for step in steps for shot in (step.before, step.after)), last]))
    usage = document.usage
    return StagehandTrajectory(
        task=document.task,
        status=document.status,
        steps=steps,
        screenshots=tuple(shots),
        final_answer=document.final_answer,
        termination_reason=document.termination_reason,
        usage=_build_usage(usage) if usage else None,
        inference_seconds=usage.inference_time_ms / 1000 if usage and usage.inference_time_ms else None,
        warnings=warnings.texts,
    )


def _decode(content: bytes, limits: Limits) -> _Document:
    try:
        content.decode()  # msgspec does not check texts that it skips
        return _decode_strict(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        # Half of a surrogate pair is what JavaScript writes for a text that was cut.
        strict = to_strict_json(content, limits)
    if strict is None:
        raise UnreadableTrajectory("trajectory_invalid", f"cannot parse {FILE} as JSON; {_REPAIR_HINT}")
    try:
        return _decode_strict(strict)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableTrajectory("trajectory_invalid", f"cannot parse {FILE}: {error}; {_REPAIR_HINT}") from error


def _decode_strict(content: bytes) -> _Document:
    try:
        return msgspec.json.decode(content, type=_Document)
    except msgspec.ValidationError as error:
        problem = f"{FILE} is not a trajectory of Stagehand: {format_validation_error(error)}"
        raise UnreadableTrajectory("trajectory_invalid", f"{problem}; {_REPAIR_HINT}") from error


def _build_step(raw: _Step, index: int, warnings: WarningLog) -> Step:
    output = raw.tool_output
    seen = next((shot for shot in _list_agent_images(raw, warnings) if shot), None)
    return build_step(
        index,
        raw.action_name,
        raw.action_args,
        thought=raw.reasoning,
        url=raw.probe_evidence.url,
        observation=_format_output(output) if output else None,
        timestamp=raw.finished_at,
        before=seen,
        after=_find_screenshot(raw.probe_evidence, warnings),
        target=_find_target(raw),
    )


def _find_target(raw: _Step) -> Target | None:
    """The point of an action. A tool returns where it clicked: some models give their coordinates in thousandths."""
    content = bytes(raw.tool_output.result) if raw.tool_output else b""
    clicked = _Clicked()
    if content.startswith(b"{"):
        with suppress(msgspec.DecodeError, RecursionError):
            clicked = msgspec.json.decode(content, type=_Clicked)
    done = find_target(raw.action_name, {"coordinates": clicked.coordinates})
    return done or find_target(raw.action_name, raw.action_args)


def _format_output(output: _Output) -> str | None:
    """What the action gave back, as text: its error if it failed, JSON for what is no text."""
    if output.error or not output.ok:
        return truncate(f"error: {output.error or 'the action failed'}", MAX_OBSERVATION)
    content = bytes(output.result)
    if content in (b"", b"null"):
        return None
    text = json.loads(content) if content.startswith(b'"') else msgspec.json.format(content, indent=-1).decode()
    return truncate(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), MAX_OBSERVATION)


def _list_agent_images(raw: _Step, warnings: WarningLog) -> Iterator[Screenshot | None]:
    for modality in raw.agent_evidence.modalities:
        if modality.image_path is not None:
            yield parse_image_path(modality.image_path, warnings)
        elif bytes(modality.bytes_base64):
            warnings.add("images inside the file (bytesBase64) are not read")


def _find_screenshot(probe: _Probe, warnings: WarningLog) -> Screenshot | None:
    return None if probe.screenshot_path is None else parse_image_path(probe.screenshot_path, warnings)


def parse_image_path(path: str, warnings: WarningLog) -> Screenshot | None:
    """The image at a path below the directory, None with a warning for a path that leads out or is of no image."""
    pure = PurePosixPath(path)
    is_inside = path.isprintable() and not pure.is_absolute() and not {"..", "."} & set(path.split("/"))
    if not is_inside or "\\" in path or ":" in path or pure.suffix.lower() not in IMAGES:
        warnings.add(f"not an image below the run directory: {preview(path, 60, is_ascii=True)}; ignored")
        return None
    match = _NUMBER.search(pure.stem)
    return Screenshot(path, int(match[1]) if match else 0)


def _build_usage(raw: _Usage) -> Usage | None:
    counts = (raw.input_tokens, raw.output_tokens)
    if not any(counts) or any(count < 0 for count in counts):
        return None
    extra = {} if raw.cached_input_tokens is None else {"cached_input_tokens": raw.cached_input_tokens}
    return Usage(raw.input_tokens, raw.output_tokens, raw.reasoning_tokens, None, extra)


def is_budget(reason: str | None) -> bool:
    """Whether a reason for the end is that the agent took all the steps it had."""
    letters = _NOT_A_LETTER.sub("", (reason or "")[:400].lower())
    return any(words in letters for words in _BUDGETS)


def classify(trajectory: StagehandTrajectory, *, is_graded: bool) -> TrajectoryOutcome:
    """The outcome of a run. An error does not take away a verdict: the task may be done before the browser was lost.

    Stagehand before September 2026 stores no reason for the end: such a run that took all its steps is completed.
    """
    reason = trajectory.termination_reason
    if is_budget(reason):
        message = f"the agent took all its steps ({preview(reason, 80, is_ascii=True)})"
        return TrajectoryOutcome(OutcomeClass.OVER_BUDGET, ("step_budget",), message)
    if trajectory.status in ("aborted", "stalled"):
        return TrajectoryOutcome(OutcomeClass.ABORTED, (trajectory.status,), f"the run was {trajectory.status}")
    if trajectory.status == "error" and not is_graded:
        more = f": {preview(reason, 80, is_ascii=True)}" if reason else ""
        return TrajectoryOutcome(OutcomeClass.ABORTED, ("error",), f"the run ended with an error{more}")
    reasons = [] if (trajectory.final_answer or "").strip() else ["empty_answer"]
    reasons += ["error"] if trajectory.status == "error" else []
    return TrajectoryOutcome(OutcomeClass.COMPLETED, tuple(reasons), "the agent finished")
