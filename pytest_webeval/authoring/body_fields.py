"""Fields of a posted body under the keys by which a task names them: names, and paths into JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from pytest_webeval.evaluators.network.body_matcher import BOOLEANS, KEYWORDS
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.safety.limits import Limits
from pytest_webeval.values.base import looks_like_pattern

MOST_FIELDS = 100  # of a body
LONGEST_TEXT = 2_000  # characters of a value
_MOST_ITEMS = 20  # objects in a list
_DEEPEST = 10
_PLAIN_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOO_MANY, _TOO_LONG, _NO_KEY = "one field too many", "too long", "a name that a task cannot spell"

Fields = dict[str, Any]


def read_fields(event: NetworkEvent, limits: Limits) -> tuple[Fields, dict[str, str]]:
    """What was posted, by the keys of `post_data`; and why other fields cannot be named there.

    Raises `EvaluationError` for a body that cannot be read.
    """
    body = event.read_post()
    if body is not None and body.load_text is not None:
        body = replace(body, text=body.load_text())
    parsed = parse_fields(body, limits)
    if parsed is None:
        return {}, {}
    return _select(_flatten(parsed.first | parsed.repeated))


def _select(pairs: Iterator[tuple[str | None, Any]]) -> tuple[Fields, dict[str, str]]:
    fields: Fields = {}
    dropped: dict[str, str] = {}
    for key, value in pairs:
        if len(fields) + len(dropped) >= MOST_FIELDS:
            dropped["…"] = _TOO_MANY
            break
        if key is None:
            dropped[value] = _NO_KEY
        elif looks_like_pattern(key) or key.startswith("$.^") or key != key.strip():
            dropped[key] = _NO_KEY
        elif _is_long(value):
            dropped[key] = _TOO_LONG
        else:
            fields[key] = value
    return fields, dropped


def _is_long(value: Any) -> bool:
    texts = value if isinstance(value, list) else (value,)
    return sum(len(text) if isinstance(text, str) else 1 for text in texts) > LONGEST_TEXT


def _flatten(members: Mapping[str, Any]) -> Iterator[tuple[str | None, Any]]:
    """Each scalar and each list of scalars of an object, with its name or the path to it.

    Of what no key can name, None with the name that no key can hold.
    """
    for name, value in members.items():
        if isinstance(value, Mapping) or _has_objects(value):
            yield from _walk_member("$", name, value, _DEEPEST)
        else:
            yield (None, name) if name.startswith("$") else (name, value)


def _walk_member(path: str, name: str, value: Any, depth: int) -> Iterator[tuple[str | None, Any]]:
    step = _add_step(path, name)
    if step is None or depth == 0:
        yield None, name
    else:
        yield from _walk(step, value, depth - 1)


def _walk(path: str, value: Any, depth: int) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _walk_member(path, name, member, depth)
    elif _has_objects(value) and depth > 0:
        for index, item in enumerate(value[:_MOST_ITEMS]):
            yield from _walk(f"{path}[{index}]", item, depth - 1)
    else:
        yield path, value


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value)


def _add_step(path: str, name: str) -> str | None:
    """The path to a member; None for a name that no path can hold."""
    if _PLAIN_STEP.fullmatch(name) and name not in KEYWORDS and not name.startswith(BOOLEANS):
        return f"{path}.{name}"
    return f"{path}['{name}']" if name.isprintable() and not {"'", "\\"} & set(name) else None
