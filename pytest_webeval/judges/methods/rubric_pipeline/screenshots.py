"""Which screenshots are judged: one for each action, of the state before it (`fara_webeval.md` §6.8)."""

from __future__ import annotations

from itertools import pairwise
from typing import NoReturn

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.questions import Image
from pytest_webeval.safety.text import pluralize


def select_screenshots(evidence: Evidence) -> tuple[Image, ...]:
    """The screenshot before each action, in order. Raises `JudgeFailed` unless each action has its own."""
    if not evidence.steps:
        _refuse("the run has no actions")
    before = tuple(step.before for step in evidence.steps)
    images = tuple(image for image in before if image is not None)
    if len(images) < len(before):
        _refuse(f"action {before.index(None) + 1} of {len(before)} has no screenshot before it")
    names = [image.name for image in evidence.screenshots]
    positions = [names.index(image.name) for image in images if image.name in names]
    if len(positions) < len(images) or any(first >= second for first, second in pairwise(positions)):
        _refuse("two actions share a screenshot, or the screenshots are not in the order of the actions")
    if len(names) > len(images) + 1:
        _refuse(f"the run has {pluralize(len(images), 'action')} and {pluralize(len(names), 'screenshot')}")
    return images


def _refuse(problem: str) -> NoReturn:
    advice = "the rubric pipeline needs exactly one screenshot before each action; use another method"
    raise JudgeFailed(f"{problem}; {advice}", "unjudgeable")
