"""Raw data and a JSON schema become a tree of values (spec §6.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.rules import RuleListener, ignore_rule
from pytest_webeval.safety.text import ELLIPSIS
from pytest_webeval.values import list_value_types, value_type
from pytest_webeval.values.base import Alternatives, ParseContext, Value, looks_like_pattern
from pytest_webeval.values.string import StringValue
from pytest_webeval.values.text import is_foreign_letter


class UnparsedValue(Struct, frozen=True):
    """A datum that its type does not understand. `reason` says why.

    It equals nothing, but for a list that is the whole list of an expected value: `read_item` reads an item of it.
    """

    raw: Any
    reason: str
    read_item: Callable[[Any], Value] | None = None


class ValueParser(Struct, frozen=True):
    """Reads one side of a comparison. `strict` is for what a task wrote: bad data there is an `EvaluationError`.

    `notice` is called with the switch of the rule set that made a difference, and where.
    """

    context: ParseContext
    strict: bool
    where: str
    notice: RuleListener = ignore_rule

    def array(self, items: Sequence[Any], schema: Mapping[str, Any]) -> list[Any]:
        """The results of a retrieve task. Raises `EvaluationError` for a schema of anything but an array."""
        if schema.get("type", "array") != "array":
            raise EvaluationError(f"data given, but results_schema has type {schema.get('type')!r}, not array")
        item_schema = schema.get("items") or {}
        return [self._parse_item(item, item_schema, f"{self.where}[{index}]") for index, item in enumerate(items)]

    def member(self, raw: Any, schema: Mapping[str, Any] | None, where: str) -> Any:
        """A property of an object, or a posted field: what its schema says, a string where it says nothing."""
        if raw is None:
            return None
        schema = require_object(schema or {})
        if schema.get("type") == "array":
            return self._parse_nested(raw, schema.get("items") or {}, where)
        if schema.get("type") == "object":
            return self._parse_object(raw, schema, where)
        return self._parse_value(_find_type(schema) or StringValue, raw, where)

    def text(self, raw: Any, where: str) -> Any:
        """A string or null: a cookie, or a header that is not a URL."""
        return self._parse_value(StringValue, raw, where)

    def _parse_item(self, raw: Any, schema: Mapping[str, Any], where: str) -> Any:
        if require_object(schema).get("type") == "object":
            decoded = _decode_json(raw, dict)
            if isinstance(decoded, list) and all(isinstance(member, dict) for member in decoded):
                return [self._parse_object(member, schema, where) for member in decoded]
            return self._parse_object(raw, schema, where)
        kind = _find_type(schema)
        if kind is None:
            raise EvaluationError(f"{_format_unknown_type(schema)} in results_schema")
        return self._parse_value(kind, raw, where)

    def _parse_object(self, raw: Any, schema: Mapping[str, Any], where: str) -> Any:
        decoded = _decode_json(raw, dict)
        if not isinstance(decoded, dict):
            return self._refuse(raw, "a datum is not an object; write an object as in its schema", where)
        properties = require_object(schema.get("properties") or {})
        return {key: self.member(decoded[key], properties.get(key), f"{where}.{key}") for key in sorted(decoded)}

    def _parse_nested(self, raw: Any, schema: Mapping[str, Any], where: str) -> Any:
        while require_object(schema).get("type") == "array":  # of arrays in arrays the innermost type counts
            schema = schema.get("items") or {}
        kind, decoded = _find_type(schema), list(raw) if isinstance(raw, Alternatives) else _decode_json(raw, list)
        if not isinstance(decoded, list):
            return self._refuse(raw, "a datum is not a list; write a list as in its schema", where)
        if schema.get("type") == "object":
            return [self._parse_object(item, schema, f"{where}[{index}]") for index, item in enumerate(decoded)]
        if kind is None:
            return self._refuse(raw, f"{_format_unknown_type(schema)} of a list", where)
        return [self._parse_value(kind, item, f"{where}[{index}]") for index, item in enumerate(decoded)]

    def _parse_value(self, kind: type[Value], raw: Any, where: str) -> Any:
        if not self.context.patterns and isinstance(raw, str) and looks_like_pattern(raw.strip(_IGNORED_AROUND)):
            self.notice("no_recorded_patterns", where)
        if self.context.foreign_letters and isinstance(raw, str) and any(map(is_foreign_letter, raw)):
            self.notice("foreign_letters", where)
        if not self.context.alternatives and isinstance(raw, list) and len(raw) > 1:
            self.notice("no_recorded_alternatives", where)
        try:
            value = kind.read(raw, self.context)
        except ValueParseError as error:
            if error.rule:
                self.notice(error.rule, where)
            refused = self._refuse(raw, str(error), where)
            is_list = isinstance(raw, list) and len(raw) > 1 and not self.context.alternatives
            return replace(refused, read_item=partial(kind.read, context=self.context)) if is_list else refused
        for switch in value.departures(self.context):
            self.notice(switch, where)
        return value

    def _refuse(self, raw: Any, reason: str, where: str) -> UnparsedValue:
        if self.strict:
            raise EvaluationError(reason, where=where)
        return UnparsedValue(raw, reason)


def require_object(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema, which a task's author may have written as anything. Raises `EvaluationError`."""
    if isinstance(schema, Mapping):
        return schema
    raise EvaluationError(f"invalid schema {schema!r:.80}: expected an object; fix the schema of the task")


def _find_type(schema: Mapping[str, Any]) -> type[Value] | None:
    """The value type that a schema names, by its format or else its type; None where there is no such type."""
    kind = schema.get("format") or schema.get("type") or "string"
    return value_type(kind) if isinstance(kind, str) else None


def _format_unknown_type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("format") or schema.get("type")
    return f"unknown type {kind!r} (known: {', '.join(list_value_types())})"


def _decode_json(raw: Any, expected_type: type) -> Any:
    if not isinstance(raw, str):
        return raw
    try:
        decoded = json.loads(raw)
    except (ValueError, RecursionError):
        return raw
    return decoded if isinstance(decoded, expected_type) else raw


# What preparing a text takes away around it.
_IGNORED_AROUND = " \t\r\n\f\v\u00a0™®℠©"

# What an agent nested deeper than this is cut from reports, which could not be written otherwise.
MAX_REPORT_DEPTH = 100


def to_plain_json(tree: Any, depth: int = MAX_REPORT_DEPTH) -> Any:
    """The tree as plain JSON values, for reports."""
    if not depth:
        return ELLIPSIS
    if isinstance(tree, Value):
        return to_plain_json(tree.to_json(), depth)  # a number without end is one that JSON lacks
    if isinstance(tree, UnparsedValue):
        return to_plain_json(tree.raw, depth)
    if isinstance(tree, float) and not isfinite(tree):
        return str(tree)  # JSON has no such number
    if isinstance(tree, Mapping):
        return {key: to_plain_json(member, depth - 1) for key, member in tree.items()}
    return [to_plain_json(member, depth - 1) for member in tree] if isinstance(tree, list | tuple) else tree
