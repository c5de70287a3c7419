"""What agents write into `agent_response.json`, in each of the spellings that are in use."""

from __future__ import annotations

import json


def current(task_type: str, *found: object, status: str = "SUCCESS", error: str | None = None) -> str:
    """Answer in the format of today: `task_type` and `retrieved_data`."""
    return _text(task_type=task_type, status=status, retrieved_data=list(found) or None, error_details=error)


def documented(action: str, *found: object, status: str = "SUCCESS", error: str | None = None) -> str:
    """Answer in the format of the older documentation: `action` and `results`."""
    return _text(action=action, status=status, results=list(found), error_details=error)


def fenced(answer: str) -> str:
    """Hand the answer over as chat models do: in a code fence below a sentence."""
    return f"Here is what I found:\n\n```json\n{answer}```\n"


def _text(**answer: object) -> str:
    return json.dumps(answer, indent=2) + "\n"
