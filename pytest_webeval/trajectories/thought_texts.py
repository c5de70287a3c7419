"""What the text lines of a log say: a thought with its action, or an observation (`fara_webeval.md` §2.1, §3.2)."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import deque
from dataclasses import dataclass
from typing import Any

from pytest_webeval.trajectories.lenient_json import NotJson
from pytest_webeval.trajectories.lenient_json import read_json
from pytest_webeval.trajectories.lenient_json import shown

MAX_LITERAL = 20_000  # characters of a Python literal; JSON may be as long as it likes

_OBSERVATION = re.compile(r"\s*Observation ?#([0-9]{1,9}):(.*)", re.DOTALL)
_STEP = re.compile(r"\s*(?:Thought|Action) #")
_THOUGHT = re.compile(r"\s*Thought #([0-9]{1,9})[0-9]*:")
_ACTIONS = (
    re.compile(r"^[ \t]*Action #([0-9]{1,9}): executing tool '", re.MULTILINE),
    re.compile(r"^[ \t]*Action #([0-9]{1,9}):", re.MULTILINE),
    re.compile(r"Action #([0-9]{1,9}):"),
)
_TOOL = re.compile(r"[ \t]*Action #[0-9]+: executing tool '([^'\n]*)'")
_MARK = "with arguments"


@dataclass(frozen=True, slots=True)
class ObservationText:
    """What the agent saw after the step of that number."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class StepText:
    """A step that is told as text. `action` is still to be read: from the line of the action to the end."""

    number: int
    thought: str
    action: str


@dataclass(frozen=True, slots=True)
class ActionText:
    """The tool that a text names and the arguments it was called with, None where they cannot be read."""

    tool: str | None
    arguments: dict[str, Any] | None
    oddities: tuple[str, ...] = ()


def read_text(message: str) -> ObservationText | StepText | None:
    """What a message tells; None of one that begins as neither, even if it quotes such lines."""
    seen = _OBSERVATION.match(message)
    if seen:
        return ObservationText(int(seen[1]), seen[2].strip())
    action = _last_action(message) if _STEP.match(message) else None
    if action is None:
        return None
    start, thought = action.start(), _THOUGHT.match(message)
    text = message[thought.end() : start].strip() if thought else ""
    return StepText(int((thought or action)[1]), text, message[start:])


def quotes_step(message: str) -> bool:
    """Whether a message holds both words by which the original tells a step, wherever they stand (§3.1)."""
    return "Thought #" in message and "Action #" in message


def _last_action(message: str) -> re.Match[str] | None:
    """Where the action stands: in the last line of that form, as those before it belong to what the agent thought."""
    for pattern in _ACTIONS:
        last = deque(pattern.finditer(message), maxlen=1)
        if last:
            return last[0]
    return None


def read_action(text: str) -> ActionText:
    """The tool and the arguments, from the first brace after the words that announce them. Nothing is evaluated."""
    named = _TOOL.match(text)
    tool = named[1] if named else None
    called = (text[named.end() :] if named else text).partition(_MARK)[2]
    brace = called.find("{")
    if brace < 0:
        return ActionText(tool, None, ("the action has no arguments in braces",))
    try:
        found = read_json(called, brace)
    except NotJson as error:
        return _as_literal(tool, called[brace : called.rfind("}") + 1], error)
    tail = called[found.end :].strip()
    more = (f"there is text after the arguments: {shown(tail[:60])}",) if tail else ()
    return ActionText(tool, found.value, (*found.oddities, *more))


def _as_literal(tool: str | None, text: str, error: NotJson) -> ActionText:
    arguments = _literal(text)
    if arguments is None:
        return ActionText(tool, None, (f"the arguments are no JSON ({error})",))
    return ActionText(tool, arguments, ("the arguments are written as in Python",))


def _literal(text: str) -> dict[str, Any] | None:
    """A dict as Python writes it, with what JSON has no word for refused."""
    if len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in what a stranger wrote
            found = ast.literal_eval(text)
        value = read_json(json.dumps(found)).value  # refuses what nests too deep
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
