"""What an agent answered, in either dialect, as text, fenced text or JSON (spec §1.1, §1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pytest_webeval.errors import EvaluationError
from pytest_webeval.rules import Rules
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL, Limits

_FENCE = re.compile(r"```(?:json)?(.*?)```", re.DOTALL)
_ANY_FENCE = re.compile(r"```(?:json5?)?(.*?)```", re.DOTALL | re.IGNORECASE)
_FENCE_MARK, _BYTE_ORDER_MARK = "```", "\ufeff"
_DECODING_SWITCHES = ("json_before_fence", "tolerant_decoding")
_UNDECODABLE = object()
_DOCUMENTED = {"action": "task_type", "results": "retrieved_data"}


@dataclass(frozen=True, slots=True)
class AgentResponse:
    """A decoded response: `parsed` as JSON gives it, `fields` under the current names, None where it is not an object.

    `repairs` names the switches of the rule set without which it might have been decoded to something else.
    """

    parsed: Any
    fields: Mapping[str, Any] | None
    repairs: frozenset[str] = frozenset()

    @property
    def is_none(self) -> bool:
        """Whether there is no response at all: nothing, or an empty JSON value."""
        return not self.parsed

    @property
    def data(self) -> Any:
        """The retrieved data, None where it is empty; 0 and false are data (spec §1.3)."""
        data = None if self.fields is None else self.fields.get("retrieved_data")
        return None if data is None or data in ("", [], {}) else data

    @property
    def advice(self) -> str:
        """What to write instead, for a response that lacks keys."""
        present = ", ".join(sorted(self.parsed)) or "none"
        return f"it has: {present}; write task_type (or action), status and retrieved_data (or results)"


def parse_response(content: bytes, rules: Rules, limits: Limits = USUAL) -> AgentResponse:
    """Decode the bytes of a response file, which are UTF-8: a run whose file is not cannot be scored.

    Raises `EvaluationError` for one that is beyond the limits.
    """
    if len(content) > limits.answer_size:  # of a format whose answer is in the file of its steps
        raise EvaluationError(f"the answer has {len(content):,} bytes; {limits.describe('answer_size')}")
    text = content.decode("utf-8", "replace").strip()
    parsed = _decode_json(text, rules, limits)
    repairs = {
        name
        for name in _DECODING_SWITCHES
        if getattr(rules, name) and (_FENCE_MARK in text or _BYTE_ORDER_MARK in text)
    }
    if not isinstance(parsed, dict) or not parsed:
        return AgentResponse(parsed, None, frozenset(repairs))
    fields = _read_fields(parsed, rules)
    if rules.documented_dialect and not parsed.keys() >= fields.keys():
        repairs.add("documented_dialect")
    return AgentResponse(parsed, fields, frozenset(repairs))


def _decode_json(text: str, rules: Rules, limits: Limits) -> Any:
    if rules.tolerant_decoding:
        text = text.removeprefix(_BYTE_ORDER_MARK).lstrip()
    documents = _load_candidates(text, rules, limits)
    first = next(documents, _UNDECODABLE)
    if rules.tolerant_decoding and not isinstance(first, dict):  # a list before it may be what the agent thought
        first = next((document for document in documents if isinstance(document, dict)), first)
    if first is not _UNDECODABLE:
        return first
    fence = _FENCE.search(text)
    return fence.group(1).strip() if fence else text


def _load_candidates(text: str, rules: Rules, limits: Limits) -> Iterator[Any]:
    """What is JSON where JSON may stand, in the order in which it is looked for."""
    fences = (_ANY_FENCE if rules.tolerant_decoding else _FENCE).findall(text)
    candidates = [text] if rules.json_before_fence and text.startswith("{") else []
    candidates += (fences if rules.tolerant_decoding else fences[:1]) or [text]
    for candidate in candidates:
        with suppress(ValueError):
            yield load_bounded(candidate.strip(), limits, "the response")


def _read_fields(parsed: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    fields = dict(parsed)
    if "task_type" not in fields and "performed_operation" in fields:
        fields["task_type"] = fields["performed_operation"]
    if rules.documented_dialect:
        for documented, current in _DOCUMENTED.items():
            if current not in fields and documented in fields:
                fields[current] = fields[documented]
    return fields
