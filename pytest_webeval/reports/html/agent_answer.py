"""The agent's answer as the page of its task has it, in the agent's own words."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from pytest_webeval.diagnostics.difference import truncate_json
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.agent_response import AgentResponse, parse_response
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from pytest_webeval.safety.text import truncate, truncate_words

LONGEST_TEXT, LONGEST_NAME = 10_000, 100  # characters
MOST_FIELDS = 20
MOST_BYTES = 8 * 2**20  # of a file that is read for the page alone
# What an agent may write for a name of an answer, in the order in which they count.
_OTHER_NAMES = {"task_type": ("performed_operation", "action"), "retrieved_data": ("results",)}
# Names in results, which have the dialect of the documentation.
_RESULT_NAMES = {"action": "task_type", "results": "retrieved_data"}


class ShownAnswer(NamedTuple):
    """An answer as JSON, not yet redacted; None where there is none, or it is in the result. `words` are its names."""

    data: dict[str, Any] | None
    words: Mapping[str, str]


def recorded_answer(run: Run) -> ShownAnswer:
    """The answer of a run that is no trajectory: its fields, or a value where it is not an object."""
    if run.is_trajectory:
        return ShownAnswer(None, {})
    response = _read_response(run)
    if response is None:
        return ShownAnswer(None, {})
    if not isinstance(response.parsed, dict):
        value = response.parsed
        data = {"value": _cut(value) if isinstance(value, str) else truncate_json(value, LONGEST_TEXT)}
        return ShownAnswer(data, {})
    fields = list(response.parsed.items())
    shown = [{"name": truncate(name, LONGEST_NAME), "value": _bound(value)} for name, value in fields[:MOST_FIELDS]]
    return ShownAnswer({"fields": shown, "more": max(len(fields) - MOST_FIELDS, 0)}, _choose_words(response))


def _read_response(run: Run) -> AgentResponse | None:
    """None for one that is missing, or cannot be read within the limits."""
    with suppress(WebEvalError, RecursionError):
        is_read = "response" in vars(run)
        content = run.response if is_read else run.inputs.peek(run.response_file, MOST_BYTES, "file_size")
        return parse_response(content, run.rules, run.inputs.limits)
    return None


def _choose_words(response: AgentResponse) -> dict[str, str]:
    """The names that the agent wrote for others, as far as the rules of the run know them."""
    fields = response.fields or {}
    return {
        name: next(other for other in others if other in response.parsed)
        for name, others in _OTHER_NAMES.items()
        if name in fields and name not in response.parsed
    }


def _bound(value: Any) -> Any:
    return _cut(value) if isinstance(value, str) else truncate_json(value, LONGEST_TEXT)


def _cut(text: str) -> str:
    return truncate_words(text, LONGEST_TEXT)


def final_answer(trajectory: Any) -> dict[str, Any] | None:
    """The final answer of a trajectory, from what its result says of it; an empty text where there was none."""
    if not isinstance(trajectory, Mapping) or "answer" not in trajectory:
        return None
    answer = trajectory["answer"]
    return {"value": _cut(answer) if isinstance(answer, str) and answer != NO_ANSWER else ""}


def result_in_words(value: Any, words: Mapping[str, str]) -> Any:
    """An answer as results have it, with the names as the agent wrote them."""
    if not isinstance(value, dict):
        return value
    names = {name: words.get(current, current) for name, current in _RESULT_NAMES.items()}
    return {names.get(name, name): member for name, member in value.items()}
