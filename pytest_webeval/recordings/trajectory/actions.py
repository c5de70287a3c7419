"""What one line of a log says that the agent did, whichever solver wrote it (`fara_webeval.md` §2.1, §3.2)."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from pytest_webeval.safety.json import InvalidJson, load_lenient, shorten_json

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


class ObservationText(Struct, frozen=True):
    """What the agent saw after the step of that number."""

    number: int
    text: str


class StepText(Struct, frozen=True):
    """A step that is written as text. `action` is still to be read: from the line of the action to the end."""

    number: int
    thought: str
    action: str


class ActionText(Struct, frozen=True):
    """The tool that a text names and the arguments it was called with, None where they cannot be read."""

    tool: str | None
    arguments: dict[str, Any] | None
    problems: tuple[str, ...] = ()


def read_text(message: str) -> ObservationText | StepText | None:
    """What a message says; None of one that begins as neither, even if it quotes such lines."""
    observation = _OBSERVATION.match(message)
    if observation:
        return ObservationText(int(observation[1]), observation[2].strip())
    action = _find_last_action(message) if _STEP.match(message) else None
    if action is None:
        return None
    start, thought = action.start(), _THOUGHT.match(message)
    text = message[thought.end() : start].strip() if thought else ""
    return StepText(int((thought or action)[1]), text, message[start:])


def quotes_step(message: str) -> bool:
    """Whether a message holds both words by which the original recognizes a step, wherever they stand (§3.1)."""
    return "Thought #" in message and "Action #" in message


def _find_last_action(message: str) -> re.Match[str] | None:
    """Where the action stands: in the last line of that form, as those before it belong to what the agent thought."""
    for pattern in _ACTIONS:
        last = deque(pattern.finditer(message), maxlen=1)
        if last:
            return last[0]
    return None


def read_action(text: str) -> ActionText:
    """The tool and the arguments, from the first brace after the words that announce them. Nothing is evaluated."""
    tool_match = _TOOL.match(text)
    tool = tool_match[1] if tool_match else None
    call = (text[tool_match.end() :] if tool_match else text).partition(_MARK)[2]
    brace = call.find("{")
    if brace < 0:
        return ActionText(tool, None, ("the action has no arguments in braces",))
    try:
        decoded = load_lenient(call, brace)
    except InvalidJson as error:
        arguments = _parse_literal(call[brace : call.rfind("}") + 1])
        problem = f"the arguments are not valid JSON ({error})"
        if arguments is not None:
            problem = "the arguments are a Python literal, not JSON"
        return ActionText(tool, arguments, (problem,))
    tail = call[decoded.end :].strip()
    trailing = (f"text after the arguments: {shorten_json(tail[:60])}",) if tail else ()
    return ActionText(tool, decoded.value, (*decoded.warnings, *trailing))


def _parse_literal(text: str) -> dict[str, Any] | None:
    """A dict as Python writes it, with what JSON has no word for refused."""
    if len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in untrusted text
            literal = ast.literal_eval(text)
        value = load_lenient(json.dumps(literal)).value  # refuses what nests too deep
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


FARA, GPT_SOLVER, TEXT = "fara", "gpt_solver", "text"
UNPARSED = "unparsed"  # the action of a step that cannot be read
SOLVER, SUMMARY = "WebSurfer", "WebSurfer-SummarizedAction"  # who writes the two lines of a gpt-solver step
RENAMED = {"stop_execution": "terminate", "stop_and_answer_question": "terminate"}
_FARA_TOOL = "computer_use"
_NOT_ARGUMENTS = frozenset({"action", "thoughts", "state_description", "screen_description", "reasoning"})


class Action(Struct, frozen=True):
    """An action in the words of its line: `raw_name` is not renamed, `logged` are all arguments as they stand there.

    `problems` say what was wrong with the line and what was made of it.
    """

    dialect: str
    raw_name: str
    is_named: bool
    tool: str | None
    logged: dict[str, Any]
    thought: str
    problems: tuple[str, ...] = ()

    @property
    def is_structured(self) -> bool:
        """Whether it comes from a structured line, not from a text."""
        return self.dialect != TEXT

    @property
    def name(self) -> str:
        """What the agent did, in Fara's words."""
        return RENAMED.get(self.raw_name, self.raw_name) if self.is_named else UNPARSED

    @property
    def arguments(self) -> dict[str, Any]:
        """With what it did it: neither the action itself nor what the agent thought."""
        return {key: value for key, value in self.logged.items() if key not in _NOT_ARGUMENTS}


def is_action(event: Mapping[str, Any]) -> bool:
    """Whether a line is an action. Its type says nothing: actions of Fara are logged as `OtherEvent` (Q5)."""
    return event.get("action") is not None and event.get("source") != SUMMARY


def parse_event_action(event: Mapping[str, Any]) -> Action:
    problems: list[str] = []
    arguments = _read_arguments(event, problems)
    outer, inner = event.get("action"), arguments.get("action")
    raw_action = outer if inner is None or inner == "" else inner
    is_named = isinstance(raw_action, str) and raw_action != ""
    if not is_named:
        problems.append(f"its action is {shorten_json(raw_action)}, not a name; recorded as {UNPARSED}")
    tool = outer if isinstance(outer, str) else None
    name = raw_action if isinstance(raw_action, str) else shorten_json(raw_action)
    thought = _read_thought(arguments, problems)
    return Action(_detect_dialect(event, arguments), name, is_named, tool, arguments, thought, tuple(problems))


def parse_text_action(text: StepText) -> Action:
    """The action of a step that is written as text; an unreadable one still counts as a step."""
    parsed = read_action(text.action)
    inner = (parsed.arguments or {}).get("action")
    name = inner if isinstance(inner, str) and inner else parsed.tool or ""
    is_named = parsed.arguments is not None and name != ""
    unnamed = f"it has no action name or no arguments; recorded as {UNPARSED}"
    problems = parsed.problems if is_named else (*parsed.problems, unnamed)
    logged = {"action": UNPARSED} if parsed.arguments is None else parsed.arguments
    return Action(TEXT, name or UNPARSED, is_named, parsed.tool, logged, text.thought, problems)


def _detect_dialect(event: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Whose action it is: the gpt solver writes neither action nor thoughts among the arguments."""
    is_fara = event.get("action") == _FARA_TOOL or event.get("source") == "FaraAgent"
    return FARA if is_fara or "action" in arguments or "thoughts" in arguments else GPT_SOLVER


def _read_arguments(event: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    arguments = raw = event.get("arguments")
    if isinstance(raw, str):
        with suppress(InvalidJson):
            arguments = load_lenient(raw.strip()).value
    if not isinstance(arguments, dict):
        problems.append(f"its arguments are {shorten_json(raw)}, not a JSON object; ignored")
        return {}
    if isinstance(raw, str):
        problems.append("its arguments are a string; parsed as JSON")
    return arguments


def _read_thought(arguments: Mapping[str, Any], problems: list[str]) -> str:
    thought = _read_text(arguments, "thoughts", problems)
    if thought.strip():
        return thought
    return (
        f"{_read_text(arguments, 'state_description', problems)} {_read_text(arguments, 'reasoning', problems)}".strip()
    )


def _read_text(arguments: Mapping[str, Any], key: str, problems: list[str]) -> str:
    raw = arguments.get(key)
    if raw is None or isinstance(raw, str):
        return raw or ""
    problems.append(f"its field {key} is {shorten_json(raw)}, not a string; converted to JSON")
    return json.dumps(raw)
