"""Bodies in which a task finds what it asks for: keys of a task definition unfolded into fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.parity.harness.drafts import JSON, Body
from tests.parity.harness.patterns import accepted_text, is_pattern
from tests.parity.harness.recording import SITES

_STEP = re.compile(r"\.(?P<name>[\w-]+)|\['(?P<quoted>[^']+)'\]|\[(?P<index>\d+|\*)\]|\[\?\(@\.(?P<filter>[^)]+)\)\]")
_CONDITION = re.compile(r"(?P<key>[\w.-]+)\s*==\s*(?P<value>.+)")
_PLACEHOLDER = re.compile(r"__([A-Z_]+?)__")
FORM_KEY = {"form_key": "Zt9hX3qW"}  # one more field, so that a body is never empty


def rendered(value: Any) -> Any:
    """The value with site addresses for placeholders and texts for patterns, at every depth."""
    if isinstance(value, Mapping):
        return {name: rendered(member) for name, member in value.items()}
    if isinstance(value, list):
        return [rendered(item) for item in value]
    return rendered_text(accepted_text(value) if is_pattern(value) else value) if isinstance(value, str) else value


def rendered_text(text: str) -> str:
    """The text with site addresses for placeholders; names that are no site's stay."""
    return _PLACEHOLDER.sub(_address, text)


def _address(match: re.Match[str]) -> str:
    if match[1] == "SSH_HOST":
        return "git.test"
    addresses = SITES.get(match[1].lower())
    return addresses[0] if addresses else match[0]


def post_body(expected: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Body:
    """A body that carries the expected post data: JSON where a key walks into objects, a form elsewhere."""
    kinds = (schema or {}).get("properties", {})
    fields = unfolded(expected, lambda key: kinds.get(key, {}).get("type") == "array")
    walks = any(key.startswith("$.") and not key.startswith("$.^") for key in expected)
    return Body({**FORM_KEY, **fields}, JSON) if walks else Body({**FORM_KEY, **fields})


def content_body(expected: Mapping[str, Any]) -> Body:
    """A JSON answer that carries the expected content."""
    return Body(unfolded(expected, lambda _: True), JSON)


def unfolded(expected: Mapping[str, Any], is_array: Callable[[str], bool]) -> dict[str, Any]:
    """Fields in which each key finds its value. Of a list that is no array the first item is taken."""
    fields: dict[str, Any] = {}
    for key, wanted in expected.items():
        value = rendered(wanted if is_array(key) else _first(wanted))
        if is_pattern(key.removeprefix("$.")):
            fields[accepted_text(key.removeprefix("$."))] = value
        elif key.startswith("$"):
            _place(fields, list(_STEP.finditer(key)), value)
        else:
            fields[key] = value
    return fields


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _place(holder: Any, steps: list[re.Match[str]], value: Any) -> None:
    """Put the value where the steps lead to; null means that nothing is there."""
    if value is None or not steps:
        return
    step, *rest = steps
    if step["filter"]:
        _place_filtered(holder, step["filter"], rest, value)
    elif step["index"]:
        _place_indexed(holder, step["index"], rest, value)
    else:
        _place_named(holder, step["name"] or step["quoted"], rest, value)


def _place_named(holder: dict[str, Any], name: str, rest: list[re.Match[str]], value: Any) -> None:
    if not rest:
        holder[name] = value
        return
    _place(holder.setdefault(name, {} if rest[0]["name"] or rest[0]["quoted"] else []), rest, value)


def _place_indexed(holder: list[Any], index: str, rest: list[re.Match[str]], value: Any) -> None:
    values = value if index == "*" and isinstance(value, list) else [value]
    for place, item in enumerate(values, 0 if index == "*" else int(index)):
        holder.extend({} for _ in range(place + 1 - len(holder)))
        if rest:
            _place(holder[place], rest, item)
        else:
            holder[place] = item


def _place_filtered(holder: list[Any], condition: str, rest: list[re.Match[str]], value: Any) -> None:
    """One member for each value, and one that the filter passes over."""
    wanted = _CONDITION.fullmatch(condition.strip())
    if wanted is None:
        raise ValueError(f"a filter that cannot be unfolded: {condition}")
    text = wanted["value"].strip()
    operand = text.strip("'\"") if text[0] in "'\"" else int(text)
    for item in value if isinstance(value, list) else [value]:
        member: dict[str, Any] = {wanted["key"]: operand}
        _place(member, rest, item)
        holder.append(member)
    holder.append({wanted["key"]: f"not {operand}"})
