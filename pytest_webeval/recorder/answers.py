"""What an agent answers, as `agent_response.json` has it: a response, or data with type and status around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.rules import find_rules
from pytest_webeval.tasks.expectations import STATUSES
from pytest_webeval.tasks.task import Task

SUCCESS, DEFAULT_TYPE = "SUCCESS", "RETRIEVE"
_TYPES = ("task_type", "action", "performed_operation")
_DATA = ("retrieved_data", "results")


def build_response(
    value: Any, task: Task | None, status: str | None = None, error: str | None = None
) -> dict[str, Any] | str:
    """The response for an answer: a text around a response as it is, anything else as an object with all keys.

    Raises `SettingsError` for an unknown status, and for a status or an error next to a response, which has its own.
    """
    if status is not None and status.upper() not in STATUSES:
        raise SettingsError(f"unknown status {status!r}; use one of {', '.join(STATUSES)}")
    task_type = (task.task_type if task is not None else None) or DEFAULT_TYPE
    response = value
    if isinstance(value, str):  # models write a text around one
        response = parse_response(value.encode("utf-8", "replace"), find_rules("default")).fields
    if not isinstance(response, Mapping) or not _is_response(response):
        data = list(value) if isinstance(value, list | tuple) else None if value is None else [value]
        return {"task_type": task_type, "status": status or SUCCESS, "retrieved_data": data, "error_details": error}
    if status is not None or error is not None:
        raise SettingsError("status and error belong to data, but the answer is a response; put them into the response")
    if isinstance(value, str):
        return value
    head = {} if any(name in response for name in _TYPES) else {"task_type": task_type}
    return {"status": SUCCESS} | head | dict(response)


def _is_response(fields: Mapping[str, Any]) -> bool:
    """Whether an object has a valid status, or type and data. One with other keys only is a datum."""
    has_status = isinstance(fields.get("status"), str) and fields["status"].upper() in STATUSES
    return has_status or all(any(name in fields for name in names) for names in (_TYPES, _DATA))
