"""The log of a trajectory, `web_surfer.log`, of which every line that is whole is kept (`fara_webeval.md` §2.1, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.trajectory.actions import FARA, GPT_SOLVER, SUMMARY, TEXT, Action
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.log_lines import Line, read_lines
from pytest_webeval.recordings.trajectory.log_steps import LoggedStep, read_steps
from pytest_webeval.recordings.trajectory.step import Step
from pytest_webeval.safety.warning_log import WarningLog

MIXED, EMPTY = "mixed", "empty"


class Log(Struct, frozen=True):
    """What a log records.

    `dialect` is `fara`, `gpt_solver`, `text`, `mixed` if steps of several kinds are in it, or `empty` if none is.
    `events`, `actions` and `thoughts` are those that the original loader has (§3.1), with these exceptions. What it
    loses with a damaged line or text is there. For gpt-solver logs it leaves actions and thoughts empty (Q7), and here
    they are the normal form: the renamed action, then its arguments. `actions` and `thoughts` go with `steps`.
    """

    dialect: str
    steps: tuple[Step, ...]
    events: tuple[dict[str, Any], ...]
    actions: tuple[str, ...]
    thoughts: tuple[str, ...]
    warnings: tuple[str, ...]


def read_log(content: bytes) -> Log:
    """The log in the bytes of its file, whatever they are. Damaged data are ignored or repaired, with a warning."""
    in_lines, in_steps = WarningLog(LOG), WarningLog(LOG)
    lines = read_lines(content, in_lines)
    logged_steps = read_steps(lines, in_steps)
    dialect = _detect_dialect(lines, logged_steps)
    return Log(
        dialect=dialect,
        steps=tuple(logged.step for logged in logged_steps),
        events=_convert_events(dialect, lines, logged_steps),
        actions=tuple(logged.action.json for logged in logged_steps),
        thoughts=tuple(logged.action.thought for logged in logged_steps),
        warnings=(*in_steps.texts, *in_lines.texts),
    )


def _detect_dialect(lines: Sequence[Line], logged_steps: Sequence[LoggedStep]) -> str:
    dialects = {logged.action.dialect for logged in logged_steps}
    if not dialects:
        return GPT_SOLVER if any(line.event.get("source") == SUMMARY for line in lines) else EMPTY
    return dialects.pop() if len(dialects) == 1 else MIXED


def _convert_events(
    dialect: str, lines: Sequence[Line], logged_steps: Sequence[LoggedStep]
) -> tuple[dict[str, Any], ...]:
    """The events as the original has them in each of its modes (§3.1)."""
    if dialect in {FARA, MIXED}:
        return tuple(line.event for line in lines)
    return tuple(
        _convert_text_event(logged.action)
        if dialect == TEXT
        else _convert_solver_event(logged.action, logged.line.event)
        for logged in logged_steps
    )


def _convert_text_event(action: Action) -> dict[str, Any]:
    return {"action": action.name, "arguments": {**action.logged, "thoughts": action.thought}}


def _convert_solver_event(action: Action, event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "arguments": {**action.logged, "action": action.name}}
