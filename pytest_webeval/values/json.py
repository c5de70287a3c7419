"""JSON in a text, such as the settings that a form sends."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from pytest_webeval.values.base import ParseContext, Value, parse_error
from pytest_webeval.values.text import normalize_text


@dataclass(frozen=True, slots=True)
class JsonValue(Value):
    """JSON, compared as it is written: the order of keys does not count, ``1`` is not ``1.0`` (spec §5.13)."""

    type_name: ClassVar[str] = "json"

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> str:
        """The JSON with its keys sorted. Keys and texts are prepared as any text is."""
        if not isinstance(raw, str):
            raise parse_error(raw, "is not a string with JSON; write its JSON as a string")
        try:
            return json.dumps(json.loads(normalize_text(raw, context)), sort_keys=True, separators=(",", ":"))
        except (ValueError, RecursionError) as error:
            raise parse_error(raw, 'is not JSON; write it as {"name": 1}') from error
