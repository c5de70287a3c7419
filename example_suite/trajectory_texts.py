"""The texts of a Fara trajectory as its writers leave them: logs, answer, times and score (`fara_webeval.md` §2)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

NO_ANSWER = "<no_answer>"
Record = tuple[float, str, str]  # seconds after the start, level, message


@dataclass(frozen=True, slots=True)
class Step:
    """One action of an agent. `at` is when it spoke, when that was logged and when it saw what came of it."""

    at: tuple[str, str, str]
    url: str
    thought: str
    arguments: dict[str, Any]
    observation: str
    type: str = "WebSurferEvent"


def compact(value: object) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fara_log(day: str, *steps: Step) -> str:
    """Three lines a step: what the agent thinks, what it calls, what it sees."""
    return _lines(
        line
        for number, step in enumerate(steps, 1)
        for line in (_spoken(day, number, step), _called(day, step), _seen(day, number, step))
    )


def text_log(day: str, *steps: Step) -> str:
    """The same run as an old agent logged it: the text of each step and no structured event."""
    return _lines(
        line for number, step in enumerate(steps, 1) for line in (_spoken(day, number, step), _seen(day, number, step))
    )


def solver_log(day: str, *steps: Step, end: str) -> str:
    """Two lines a step, a summary and the tool that was called, and at the end a line without an action."""
    last = _event(f"{day}T{steps[-1].at[2]}", "WebSurfer", end, steps[-1].url)
    return _lines([*(line for step in steps for line in _solved(day, step)), last])


def damaged(log: str) -> str:
    """A log with a blank line after the first step, and cut off in the middle of its last line."""
    lines = log.splitlines(keepends=True)
    return "".join([*lines[:3], "\n", *lines[3:-1], lines[-1][: len(lines[-1]) // 2]])


def answer_file(text: str, *screenshots: str, **others: object) -> str:
    """What the current writer says about an answer; `others` replace or add members."""
    usual = {
        "final_answer": text,
        "env_state_json": NO_ANSWER,
        "env_state_raw": NO_ANSWER,
        "screenshots": screenshots,
        "is_aborted": False,
        "is_rel_paths": True,
        "token_usage": {},
    }
    return compact(usual | others)


def times_file(started: datetime, seconds: float) -> str:
    """When the solver was called, in Unix seconds, and for how long."""
    start = started.timestamp()
    return compact({"start_time": start, "end_time": start + seconds, "duration": seconds})


def core_log(task_id: str, started: datetime, *records: Record) -> str:
    """The log of the task; in messages `<id>` stands for the task."""
    lines = []
    for seconds, level, message in records:
        stamp = f"{started + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S,%f}"[:-3]
        lines.append(f"{stamp} [{level}] webeval.core.{task_id} - {message.replace('<id>', task_id)}\n")
    return "".join(lines)


def score_file(score: float, verdict: object) -> str:
    """A score and the text of the judge: free text unchanged, anything else as JSON within a string."""
    said = verdict if isinstance(verdict, str) else json.dumps(verdict, ensure_ascii=False)
    return compact({"score": score, "gpt_response_text": said})


def _lines(events: Iterable[object]) -> str:
    return "".join(f"{compact(event)}\n" for event in events)


def _spoken(day: str, number: int, step: Step) -> dict[str, Any]:
    call = f"executing tool '{step.arguments['action']}' with arguments {json.dumps(step.arguments)}"
    message = f"\nThought #{number}: {step.thought}\nAction #{number}: {call}"
    return {"timestamp": f"{day}T{step.at[0]}", "type": "OtherEvent", "message": message}


def _called(day: str, step: Step) -> dict[str, Any]:
    event = _event(f"{day}T{step.at[1]}", "FaraAgent", "computer_use( {...} )", step.url)
    call = {"action": "computer_use", "arguments": {**step.arguments, "thoughts": step.thought}}
    return event | call | {"type": step.type}


def _seen(day: str, number: int, step: Step) -> dict[str, Any]:
    message = f"Observation#{number}: {step.observation}"
    return {"timestamp": f"{day}T{step.at[2]}", "type": "OtherEvent", "message": message}


def _solved(day: str, step: Step) -> list[dict[str, Any]]:
    arguments = {"state_description": step.observation, "reasoning": step.thought, **step.arguments}
    action = arguments.pop("action")
    summary = _event(f"{day}T{step.at[0]}", "WebSurfer-SummarizedAction", step.thought, step.url)
    event = _event(f"{day}T{step.at[1]}", "WebSurfer", f"{action}( {json.dumps(arguments)} )", step.url)
    return [summary, event | {"action": action, "arguments": arguments}]


def _event(timestamp: str, source: str, message: str, url: str) -> dict[str, Any]:
    return {
        "timestamp": timestamp,
        "type": "WebSurferEvent",
        "source": source,
        "message": message,
        "url": url,
        "action": None,
        "arguments": None,
    }
