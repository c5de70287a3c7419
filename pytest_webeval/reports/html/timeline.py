"""A trajectory as the step viewer of a report has it: what the agent saw, thought and did, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.action_trace import ActionTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trace_actions import TYPED
from pytest_webeval.recordings.trajectory.recorded import Trajectory
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, Target
from pytest_webeval.reports.html.screenshots import Picture, ScreenshotSource
from pytest_webeval.reports.html.step_alignment import align_events
from pytest_webeval.safety.text import truncate_words

MOST_STEPS = 200
LONGEST_TEXT = 4_000  # characters


def step_timeline(
    run: Run, pictures: ScreenshotSource | None, actions: ActionTrace | None = None
) -> list[dict[str, Any]] | None:
    """The steps of a trajectory or of a trace, at most the last `MOST_STEPS`. None of a run that has neither.

    Of a trajectory whose log cannot be read, or holds no action, the screenshots alone are shown.
    """
    trajectory = run.trajectory
    if trajectory is None and actions is None:
        return None
    steps = list(map(_bound_arguments, actions.steps[-MOST_STEPS:])) if actions is not None else _steps(trajectory)
    if trajectory is not None and not steps:
        return [
            _screenshot_to_json(number, shot, pictures)
            for number, shot in enumerate(trajectory.screenshots[-MOST_STEPS:], 1)
        ]
    ranges = _ranges(run, steps)
    last_steps = list(zip_longest(steps, ranges))[-MOST_STEPS:]
    return [_step_to_json(step, events, pictures) for step, events in last_steps]


def _bound_arguments(step: Step) -> Step:
    return replace(step, arguments=truncate_json(step.arguments, LONGEST_TEXT))


def list_agent_values(run: Run, steps: Sequence[Mapping[str, Any]] | None) -> Any:
    """What the agent wrote of the steps, which may repeat secrets of the recording: of a trace what it typed."""
    if run.trajectory is not None or not steps:
        return steps
    return [step["arguments"][name] for step in steps for name in sorted(TYPED.intersection(step["arguments"]))]


def _steps(trajectory: Trajectory | None) -> Sequence[Step]:
    try:
        return trajectory.steps if trajectory is not None else ()
    except WebEvalError:
        return ()


def _ranges(run: Run, steps: Sequence[Step]) -> Sequence[tuple[int, int] | None]:
    """The events that the browser made during each step, where there is a recording of them."""
    try:
        return align_events(steps, run.trace.all_events) if run.has_trace else ()  # ranges of indices
    except WebEvalError:
        return ()


def _step_to_json(step: Step, events: tuple[int, int] | None, pictures: ScreenshotSource | None) -> dict[str, Any]:
    before, after = (_picture(shot, pictures) for shot in (step.before, step.after))
    return {
        "index": step.index,
        "action": step.action,
        "arguments": _truncate(step.arguments),
        "thought": _truncate(step.thought),
        "observation": _truncate(step.observation),
        "url": _truncate(step.url),
        "before": before.url,
        "after": after.url,
        "problem": before.problem or after.problem,
        "size": before.size and list(before.size),
        "target": _target_to_json(step.target, before),
        "events": events and list(events),
    }


def _screenshot_to_json(number: int, shot: Screenshot, pictures: ScreenshotSource | None) -> dict[str, Any]:
    empty = dict.fromkeys(("observation", "url", "before", "size", "target", "events"))
    after = _picture(shot, pictures)
    step = {"index": number, "action": "", "arguments": {}, "thought": "", "after": after.url, "problem": after.problem}
    return step | empty


def _picture(shot: Screenshot | None, pictures: ScreenshotSource | None) -> Picture:
    return pictures.of(shot) if shot is not None and pictures is not None else Picture()


def _target_to_json(target: Target | None, before: Picture) -> list[float] | None:
    """Left, top, width and height in pixels of the screenshot; None without one that is shown."""
    if target is None or before.url is None:
        return None
    place = target.in_pixels(before.size)
    return [round(number, 1) for number in (place.x, place.y, place.width, place.height)]


def _truncate(tree: Any) -> Any:
    """The same JSON with shortened texts."""
    if isinstance(tree, str):
        return truncate_words(tree, LONGEST_TEXT)
    if isinstance(tree, Mapping):
        return {str(name): _truncate(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_truncate(element) for element in tree]
    return tree
