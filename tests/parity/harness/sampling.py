"""A few tasks that together use everything that any task uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")
# Members of these are named by the task's author: what counts is how they are spelled, not which they are.
NAMED = {"post_data", "response_content", "query_params", "properties", "response_cookies"}
TOLD = {"type", "format", "http_method", "response_status", "status", "task_type", "evaluator"}


def covering(tasks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Each task in which something appears that no earlier one had."""
    seen: set[tuple[str, ...]] = set()
    for task in tasks:
        found = {*features(task["eval"]), ("sites", *task["sites"])}
        if found - seen:
            seen |= found
            yield task


def thinned(groups: Iterable[Iterable[Item]], share: int) -> Iterator[Item]:
    """One in so many of each group, the first of one group, the second of the next and so on."""
    for place, group in enumerate(groups):
        yield from islice(group, place % share, None, share)


def features(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """What a definition makes use of: each path in it, with the values of those that are chosen from a few."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            step = spelling(name) if path and path[-1] in NAMED else name
            yield from features(member, (*path, step))
    elif isinstance(value, list | tuple):
        yield (*path, f"list of {min(len(value), 2)}")
        for item in value:
            yield from features(item, path)
    elif path and path[-1] in TOLD:
        yield (*path, str(value))
    else:
        yield (*path, spelling(value) if isinstance(value, str) else type(value).__name__)


def spelling(text: str) -> str:
    """The notation of a text: a JSON path, a pattern, or plain."""
    if text.startswith("$"):
        return "filter" if "?(" in text else "path"
    return "pattern" if text.startswith("^") and text.endswith("$") else "text"
