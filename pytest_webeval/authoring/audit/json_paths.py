"""Places in JSON data: which values stand where, and the same data with another value in one place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_webeval.safety.json import DEEPEST

Path = tuple[int | str, ...]


def format_path(path: Path) -> str:
    """A path as messages write it: `[0].price`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def list_values(data: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each value that is neither an object nor a list, with its path. What lies too deep is one value."""
    members = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if members is None or len(path) == DEEPEST:
        yield path, data
        return
    for step, member in members:
        yield from list_values(member, (*path, step))


def replace_value(data: Any, path: Path, value: Any) -> Any:
    """A copy of JSON data with another value at a path."""
    if not path:
        return value
    step, remaining = path[0], path[1:]
    if isinstance(data, list):
        return [replace_value(item, remaining, value) if index == step else item for index, item in enumerate(data)]
    return {key: replace_value(member, remaining, value) if key == step else member for key, member in data.items()}
