"""Trajectory directories that tests write: each file by default as Fara leaves it after a run that went well."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

RUN = "runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf/r1/traj"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SEARCH = {"action": "web_search", "query": "pocket atlas"}
CLICK = {"action": "left_click", "coordinate": [410, 266]}
TERMINATE = {"action": "terminate", "status": "success"}
WORKED = (SEARCH, CLICK, TERMINATE)


def log(*actions: dict[str, Any], source: str = "FaraAgent") -> str:
    """A log with three lines for each action."""
    lines = [line for number, action in enumerate(actions, 1) for line in _step(number, action, source)]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def _step(number: int, action: dict[str, Any], source: str) -> list[dict[str, Any]]:
    stamp, thought = f"2026-03-01T10:00:{number:02}", f"thought {number}"
    text = f"\nThought #{number}: {thought}\nAction #{number}: executing tool '{action['action']}' with arguments "
    structured = {"source": source, "message": "computer_use( {...} )", "url": "https://shop.test/"}
    return [
        {"timestamp": stamp, "type": "OtherEvent", "message": text + json.dumps(action)},
        {
            "timestamp": stamp,
            "type": "OtherEvent",
            **structured,
            "action": "computer_use",
            "arguments": {**action, "thoughts": thought},
        },
        {"timestamp": stamp, "type": "OtherEvent", "message": f"Observation#{number}: saw {number}"},
    ]


def core_log(task_id: str, *, crash: str | None = None, ended: bool = True, evaluated: bool = False) -> str:
    """The log of one attempt."""
    lines = [f"2026-03-01 10:00:00,000 [INFO] webeval.core.{task_id} - [Execution {task_id}] Start"]
    if crash:
        told = f"[Execution {task_id}] Error running task: {crash}"
        lines.append(f"2026-03-01 10:00:20,000 [ERROR] webeval.core.{task_id} - {told}")
    elif ended:
        lines.append(f"2026-03-01 10:00:25,500 [INFO] webeval.core.{task_id} - [Execution {task_id}] Completed")
    if evaluated:
        told = f"[Evaluation {task_id}] Completed: score=1, duration=25.5"
        lines.append(f"2026-03-01 10:01:10,000 [INFO] webeval.core.{task_id} - {told}")
    return "".join(f"{line}\n" for line in lines)


def final_answer(answer: str | None = "done", shots: int = 4, **fields: Any) -> dict[str, Any]:
    """The content of an answer file."""
    listed = [f"screenshot{number}.png" for number in range(shots)]
    usual = {"env_state_json": "<no_answer>", "env_state_raw": "<no_answer>", "is_aborted": False, "is_rel_paths": True}
    usage = {"FaraAgent": {"prompt_tokens": 9100, "completion_tokens": 240}}
    return {"final_answer": answer, "screenshots": listed, **usual, "token_usage": usage, **fields}


def item(most: float, earned: float, **fields: Any) -> dict[str, Any]:
    """A scored leaf of a rubric."""
    told = {"criterion": f"worth {most}", "description": "d", "max_points": most, "earned_points": earned}
    images = {
        "applicable_evidence": "Screenshot 1",
        "post_image_justification": "j",
        "post_image_earned_points": earned,
    }
    return {**told, "justification": "j", **images, **fields}


def payload(*, outcome: bool | None = True, items: tuple[Any, ...] = (item(4, 4), item(3, 2.5)), **fields: Any) -> Any:
    """A verdict as WebTailBench's evaluator stored it in spring 2026, with points that add up."""
    most, earned = (sum(one[key] for one in items) for key in ("max_points", "post_image_earned_points"))
    criterion = fields.get("success_criterion", "outcome")
    process = earned / most >= 0.8
    success = {"outcome": outcome is True, "process": process, "both": process and outcome is True}[criterion]
    return {
        "is_success": int(success),
        "success_criterion": criterion,
        "final_answer": "done",
        "outcome_success": outcome,
        "outcome_reasoning": "as seen",
        "outcome_primary_intent": "a price",
        "rubric_is_success": int(process),
        "rubric_total_max_points": most,
        "rubric_total_earned_points": earned,
        "rubric_items": list(items),
        "rubric_outcome_verification": {"primary_intent": "a price", "reasoning": "as seen", "output_success": outcome},
        **fields,
    }


def score_file(told: Any, score: Any = None) -> str:
    """A score file; the score is that of the payload unless another is given."""
    text = told if isinstance(told, str) else json.dumps(told)
    given = told["is_success"] if score is None and isinstance(told, dict) else score
    return json.dumps({"score": given, "gpt_response_text": text})


def write(path: Path, **changed: str | bytes | dict[str, Any] | None) -> Path:
    """Write a trajectory that was completed and judged a success.

    Names of files with `_` for `.` change one: `answer`, `web_surfer_log`, `times_json`, `core_log`, `scores` (of
    mmrubric_0.8-5-3.json). None leaves it out.
    """
    path.mkdir(parents=True)
    files: dict[str, Any] = {
        "answer": final_answer(),
        "web_surfer_log": log(*WORKED),
        "times_json": {"start_time": 1772359200.0, "end_time": 1772359225.5, "duration": 25.5},
        "core_log": core_log(path.name, evaluated=True),
        "scores": score_file(payload()),
    } | changed
    names = {
        "answer": f"{path.name}_final_answer.json",
        "web_surfer_log": "web_surfer.log",
        "times_json": "times.json",
        "core_log": "core.log",
        "scores": "scores/mmrubric_0.8-5-3.json",
    }
    for key, content in files.items():
        if content is not None:
            put(path / names[key], content)
    answer = files["answer"] if isinstance(files["answer"], dict) else {}
    for name in answer.get("screenshots", ()):
        put(path / name, PIXEL)
    return path


def put(path: Path, content: str | bytes | dict[str, Any]) -> None:
    """Write a file, JSON for an object."""
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def actions(log):
    """What the steps of a log did, as JSON in the words of their lines."""
    return tuple(json.dumps({"action": step.raw_action, **step.arguments}) for step in log.steps)


def thoughts(log):
    return tuple(step.thought for step in log.steps)
