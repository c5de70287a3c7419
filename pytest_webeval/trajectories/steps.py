"""The steps of a log in one form, whichever solver wrote it (`fara_webeval.md` §3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_webeval.oddities import Warnings
from pytest_webeval.trajectories.action_events import Action
from pytest_webeval.trajectories.base import Step
from pytest_webeval.trajectories.drafts import Draft
from pytest_webeval.trajectories.drafts import draft_steps
from pytest_webeval.trajectories.lenient_json import shown
from pytest_webeval.trajectories.log_lines import Line


@dataclass(frozen=True, slots=True)
class ReadStep:
    """A step, the line that it was read from, and its action in the words of that line."""

    step: Step
    line: Line
    action: Action


def read_steps(lines: Sequence[Line], warnings: Warnings) -> list[ReadStep]:
    """All steps that a log tells, also those that only a text tells though others have structured lines (Q8)."""
    drafts = draft_steps(lines, warnings)
    _compare(drafts, warnings)
    return [_read(index, draft, warnings) for index, draft in enumerate(drafts, 1)]


def _compare(drafts: Sequence[Draft], warnings: Warnings) -> None:
    structured = sum(draft.action.is_structured for draft in drafts)
    texts = sum(draft.text is not None for draft in drafts)
    alone = len(drafts) - structured
    if structured and texts and (structured != texts or alone):
        rest = f", and {alone} that only a text tells" if alone else ""
        warnings.add(f"has {structured} structured and {texts} text steps; the structured ones count{rest}")


def _read(index: int, draft: Draft, warnings: Warnings) -> ReadStep:
    action, line = draft.action, draft.line.number
    for oddity in action.oddities:
        warnings.add(oddity, line)
    step = Step(
        index=index,
        action=action.name,
        raw_action=action.raw_name,
        tool=action.tool,
        arguments=action.arguments,
        thought=action.thought or (draft.text.thought if draft.text else ""),
        url=_text(draft.line, "url", warnings),
        timestamp=_text(draft.line, "timestamp", warnings),
        source=_text(draft.line, "source", warnings),
        observation=draft.observation,
        line=line,
    )
    return ReadStep(step, draft.line, action)


def _text(line: Line, key: str, warnings: Warnings) -> str | None:
    given = line.event.get(key)
    if given is None or isinstance(given, str):
        return given
    warnings.add(f"its {key} is {shown(given)}, not a text; read as none", line.number)
    return None
