"""What one line of a log says that the agent did, whichever solver wrote it (`fara_webeval.md` §2.1, §3.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_webeval.trajectories.lenient_json import NotJson
from pytest_webeval.trajectories.lenient_json import read_json
from pytest_webeval.trajectories.lenient_json import shown
from pytest_webeval.trajectories.thought_texts import StepText
from pytest_webeval.trajectories.thought_texts import read_action

FARA, GPT_SOLVER, TEXT = "fara", "gpt_solver", "text"
UNPARSED = "unparsed"  # the action of a step of which nobody can tell what it did
SOLVER, SUMMARY = "WebSurfer", "WebSurfer-SummarizedAction"  # who writes the two lines of a gpt-solver step
RENAMED = {"stop_execution": "terminate", "stop_and_answer_question": "terminate"}
_OF_FARA = "computer_use"
_NOT_ARGUMENTS = frozenset({"action", "thoughts", "state_description", "screen_description", "reasoning"})


@dataclass(frozen=True, slots=True)
class Action:
    """An action in the words of its line: `raw_name` is not renamed, `logged` are all arguments as they stand there.

    `oddities` say what was wrong with the line and what was made of it.
    """

    dialect: str
    raw_name: str
    is_named: bool
    tool: str | None
    logged: dict[str, Any]
    thought: str
    oddities: tuple[str, ...] = ()

    @property
    def is_structured(self) -> bool:
        """Whether a structured line tells it, not a text."""
        return self.dialect != TEXT

    @property
    def name(self) -> str:
        """What the agent did, in Fara's words."""
        return RENAMED.get(self.raw_name, self.raw_name) if self.is_named else UNPARSED

    @property
    def arguments(self) -> dict[str, Any]:
        """With what it did it: neither the action itself nor what the agent thought."""
        return {key: value for key, value in self.logged.items() if key not in _NOT_ARGUMENTS}

    @property
    def json(self) -> str:
        """The action as the original lists it; for the gpt solver, where it lists none, name and arguments (Q7)."""
        if self.dialect == GPT_SOLVER:
            return json.dumps({"action": self.name, **self.arguments})
        return json.dumps({key: value for key, value in self.logged.items() if key != "thoughts"})


def is_action(event: Mapping[str, Any]) -> bool:
    """Whether a line is an action. Its type says nothing: actions of Fara are logged as `OtherEvent` (Q5)."""
    return event.get("action") is not None and event.get("source") != SUMMARY


def event_action(event: Mapping[str, Any]) -> Action:
    """The action of a structured line."""
    odd: list[str] = []
    arguments = _arguments(event, odd)
    outer, inner = event.get("action"), arguments.get("action")
    given = outer if inner is None or inner == "" else inner
    is_named = isinstance(given, str) and given != ""
    if not is_named:
        odd.append(f"its action is {shown(given)}, not a name; kept as {UNPARSED}")
    tool = outer if isinstance(outer, str) else None
    name = given if isinstance(given, str) else shown(given)
    thought = _thought(arguments, odd)
    return Action(_dialect(event, arguments), name, is_named, tool, arguments, thought, tuple(odd))


def text_action(text: StepText) -> Action:
    """The action of a step that is told as text; one that cannot be read is kept, so that the steps still count."""
    found = read_action(text.action)
    inner = (found.arguments or {}).get("action")
    name = inner if isinstance(inner, str) and inner else found.tool or ""
    is_named = found.arguments is not None and name != ""
    odd = found.oddities if is_named else (*found.oddities, f"it names no action and arguments; kept as {UNPARSED}")
    logged = {"action": UNPARSED} if found.arguments is None else found.arguments
    return Action(TEXT, name or UNPARSED, is_named, found.tool, logged, text.thought, odd)


def _dialect(event: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Whose action it is: the gpt solver writes neither action nor thoughts among the arguments."""
    is_fara = event.get("action") == _OF_FARA or event.get("source") == "FaraAgent"
    return FARA if is_fara or "action" in arguments or "thoughts" in arguments else GPT_SOLVER


def _arguments(event: Mapping[str, Any], odd: list[str]) -> dict[str, Any]:
    given = event.get("arguments")
    found = _decoded(given) if isinstance(given, str) else given
    if not isinstance(found, dict):
        odd.append(f"its arguments are {shown(given)}, not a JSON object; read as none")
        return {}
    if isinstance(given, str):
        odd.append("its arguments are a text, read as the JSON object in it")
    return found


def _decoded(text: str) -> Any:
    try:
        return read_json(text.strip()).value
    except NotJson:
        return None


def _thought(arguments: Mapping[str, Any], odd: list[str]) -> str:
    told = _words(arguments, "thoughts", odd)
    if told.strip():
        return told
    return f"{_words(arguments, 'state_description', odd)} {_words(arguments, 'reasoning', odd)}".strip()


def _words(arguments: Mapping[str, Any], key: str, odd: list[str]) -> str:
    given = arguments.get(key)
    if given is None or isinstance(given, str):
        return given or ""
    odd.append(f"its {key} are {shown(given)}, not a text; read as their JSON")
    return json.dumps(given)
