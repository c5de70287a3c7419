"""Tokens that the components of an agent used (`fara_webeval.md` §2.2)."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from pytest_webeval.oddities import Warnings

_REQUIRED = ("prompt_tokens", "completion_tokens")
_OPTIONAL = ("reasoning_tokens", "num_calls")
_MOST = 2**53  # beyond it not every reader of JSON keeps whole numbers apart


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and calls of a component, or of several. None is unknown, which is not zero."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = None
    num_calls: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together; reasoning is a part of the completion."""
        return self.prompt_tokens + self.completion_tokens


def total_usage(components: Mapping[str, Usage]) -> Usage:
    """The sum over components. What one of them does not know, nobody knows of the sum."""
    each = list(components.values())
    return Usage(
        sum(usage.prompt_tokens for usage in each),
        sum(usage.completion_tokens for usage in each),
        _sum(usage.reasoning_tokens for usage in each),
        _sum(usage.num_calls for usage in each),
    )


def read_usage(raw: Mapping[str, Any], warnings: Warnings) -> dict[str, Usage]:
    """The usage of each component whose numbers can be believed; a warning for each that is left out."""
    found = {}
    for component, fields in raw.items():
        try:
            found[component] = _usage(fields)
        except ValueError as error:
            warnings.add(f"token_usage of {component!r:.80} is left out of the sum: {error}")
    return found


def _usage(fields: object) -> Usage:
    if not isinstance(fields, dict):
        raise ValueError(f"it is {reprlib.repr(fields):.80}; wanted an object with {' and '.join(_REQUIRED)}")
    prompt, completion = (_count(fields, key) for key in _REQUIRED)
    reasoning, calls = (None if fields.get(key) is None else _count(fields, key) for key in _OPTIONAL)
    extra = {key: value for key, value in fields.items() if key not in (*_REQUIRED, *_OPTIONAL)}
    return Usage(prompt, completion, reasoning, calls or None, extra)  # zero calls used no tokens: not counted (Q45)


def _count(fields: Mapping[str, object], key: str) -> int:
    raw = fields.get(key)
    count = int(raw) if isinstance(raw, float) and raw.is_integer() else raw
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MOST:
        told = f"{key} is {reprlib.repr(raw):.80}" if key in fields else f"it has no {key}"
        raise ValueError(f"{told}; wanted a whole number")
    return count


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return sum(count for count in known if count is not None) if known and None not in known else None
