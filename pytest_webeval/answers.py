"""What an agent answered, in either dialect, as text, fenced text or JSON (spec §1.1, §1.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_webeval.errors import RecordingError
from pytest_webeval.rules import Rules

_FENCE = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
_DOCUMENTED = {"action": "task_type", "results": "retrieved_data"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A decoded response: `parsed` as JSON gives it, `fields` under the current names or None where it is no object."""

    parsed: Any
    fields: Mapping[str, Any] | None

    @property
    def is_none(self) -> bool:
        """Whether there is no response at all: nothing, or a JSON value that says nothing."""
        return not self.parsed

    @property
    def data(self) -> Any:
        """The retrieved data, None where it is empty; 0 and false are data (spec §1.3)."""
        found = None if self.fields is None else self.fields.get("retrieved_data")
        return None if found is None or found in ("", [], {}) else found

    @property
    def advice(self) -> str:
        """What to write instead, for a response that lacks keys."""
        present = ", ".join(sorted(self.parsed)) or "none"
        return f"it has: {present}; write task_type (or action), status and retrieved_data (or results)"


def read_answer(content: bytes, rules: Rules) -> Answer:
    """The answer in the bytes of a response file. Raises `RecordingError` where they are no UTF-8."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RecordingError(f"agent_response.json is not UTF-8: {error.reason} @ byte {error.start}") from error
    if not rules.byte_order_mark_fails:
        text = text.removeprefix("\ufeff")
    parsed = _parsed(text.strip())
    return Answer(parsed, _fields(parsed, rules) if isinstance(parsed, dict) and parsed else None)


def _parsed(text: str) -> Any:
    fence = _FENCE.search(text)
    body = fence.group(1).strip() if fence else text
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def _fields(parsed: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    fields = dict(parsed)
    if "task_type" not in fields and "performed_operation" in fields:
        fields["task_type"] = fields["performed_operation"]
    if rules.documented_dialect:
        for documented, current in _DOCUMENTED.items():
            if current not in fields and documented in fields:
                fields[current] = fields[documented]
    return fields
