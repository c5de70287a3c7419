"""The fields of a body that an expectation asks for: plain keys, ``^…$`` names and JSONPath (spec §4.4)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from collections.abc import Mapping
from functools import cache
from functools import lru_cache
from typing import Any

from pytest_webeval.clock import at_most
from pytest_webeval.errors import EvaluationError
from pytest_webeval.patterns import SECONDS
from pytest_webeval.patterns import NotAPattern
from pytest_webeval.patterns import matches
from pytest_webeval.values.base import Alternatives

ABSENT = object()
# What a filter raises over a body that it was not written for, or over a number of thousands of digits.
_NOT_MEANT = (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError)


def project(keys: Iterable[str], body: Mapping[str, Any], missing: object = None) -> dict[str, Any]:
    """What a body holds under each key; `missing` stands for a plain key that it lacks, `ABSENT` leaves it out.

    Raises `EvaluationError` for a path or pattern that cannot be looked up in this body.
    """
    found = {key.strip(): _lookup(key.strip(), body, missing) for key in keys}
    return {key: value for key, value in found.items() if value is not ABSENT}


def _lookup(key: str, body: Mapping[str, Any], missing: object) -> Any:
    if key.endswith("$") and key.startswith(("^", "$.^")):
        return _by_name(key.removeprefix("$."), body)
    if key.startswith("$"):
        return _by_path(key, body)
    return body.get(key, missing)


def _by_name(pattern: str, body: Mapping[str, Any]) -> Any:
    try:
        hits = [value for name, value in body.items() if matches(pattern, name)]
    except NotAPattern:
        return None
    return _several(hits)


def _several(hits: list[Any]) -> Any:
    if len(hits) > 1:
        return Alternatives(hits)
    return hits[0] if hits else None


def _by_path(path: str, body: Mapping[str, Any]) -> Any:
    try:
        with at_most(SECONDS, f"the path {path!r:.80} takes more than {SECONDS:g} s in a body; write a plainer one"):
            hits = _hits(path, dict(body)) or _hits(path, _unfolded(dict(body)))
    except RecursionError:  # nested deeper than anything that a task asks for
        return None
    except _NOT_MEANT as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise EvaluationError(f"{path!r:.80} cannot be looked up in a body: {told:.200}; mend the path") from error
    # A filter means "any of those": one hit of it stays a list of one, which only an array type reads (Q21).
    return Alternatives(hits) if hits and "?(" in path else _several(hits)


def _hits(path: str, body: Any) -> list[Any]:
    found = _compiled(path)
    return [hit.value for hit in found.find(body)] if found is not None else []


@lru_cache(maxsize=1024)
def _compiled(path: str) -> Any:
    from jsonpath_ng.exceptions import JSONPathError  # type: ignore[import-untyped]  # 91 of 663 checks use a path

    try:
        return _parser().parse(path)
    except JSONPathError:
        return None


@cache
def _parser() -> Any:
    """One parser for all paths: making one takes a hundred times as long as parsing a path."""
    from jsonpath_ng.ext.parser import ExtentedJsonPathParser  # type: ignore[import-untyped]

    return ExtentedJsonPathParser()


def _unfolded(value: Any) -> Any:
    """A copy in which each member text that is JSON is replaced by what it says; list items stay (spec §4.4)."""
    if isinstance(value, dict):
        return {
            key: _decoded(member) if isinstance(member, str) else _unfolded(member) for key, member in value.items()
        }
    return [_unfolded(item) for item in value] if isinstance(value, list) else value


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
