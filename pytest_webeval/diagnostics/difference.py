"""Trees of values as plain JSON that stays small, whatever an agent or a site put into them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pytest_webeval.values.base import Value
from pytest_webeval.values.schema import MAX_REPORT_DEPTH
from pytest_webeval.values.schema import UnparsedValue
from pytest_webeval.values.schema import to_plain_json

LONGEST, LONGEST_PATH = 2_000, 300
CUT = "…"
_BRACKETS = _MARKS = 2  # characters around a structure or a text, and around what follows a name or an item
_MOST_BITS = 1_024  # of a whole number; Python itself refuses to write those with thousands of digits


@dataclass(slots=True)
class _Budget:
    """How many characters are left."""

    left: int

    def take(self, wanted: int) -> int:
        """As many of them as there are."""
        taken = max(min(self.left, wanted), 0)
        self.left -= wanted
        return taken


def truncate_json(tree: Any, longest: int = LONGEST) -> Any:
    """The tree as plain JSON of about so many characters. Its shape stays; what was cut off shows as an ellipsis."""
    return _bounded(tree, _Budget(longest), MAX_REPORT_DEPTH)


def bounded_path(path: str) -> str:
    """A path, without its middle where it is long: how it begins and ends says what kind of thing it leads to."""
    return path if len(path) <= LONGEST_PATH else f"{path[: LONGEST_PATH - 100]}{CUT}{path[-99:]}"


def _bounded(tree: Any, room: _Budget, depth: int) -> Any:
    if isinstance(tree, Value | UnparsedValue):
        return _bounded(tree.to_json() if isinstance(tree, Value) else tree.raw, room, depth)
    if isinstance(tree, str):
        room.take(_MARKS)
        taken = room.take(len(tree))
        return tree if taken == len(tree) else f"{tree[:taken]}{CUT}"
    if isinstance(tree, Mapping | list | tuple):
        room.take(_BRACKETS)
        if not depth:
            return CUT
        return _members(tree, room, depth) if isinstance(tree, Mapping) else _items(tree, room, depth)
    return _leaf(tree, room)


def _members(tree: Mapping[str, Any], room: _Budget, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, member in tree.items():
        if room.left <= len(name):
            return found | {CUT: CUT}
        room.take(len(name) + _MARKS + _MARKS)
        found[name] = _bounded(member, room, depth - 1)
    return found


def _items(tree: Iterable[Any], room: _Budget, depth: int) -> list[Any]:
    found: list[Any] = []
    for item in tree:
        if room.left <= 0:
            return [*found, CUT]
        room.take(_MARKS)
        found.append(_bounded(item, room, depth - 1))
    return found


def _leaf(leaf: Any, room: _Budget) -> Any:
    if isinstance(leaf, int) and leaf.bit_length() > _MOST_BITS:
        return CUT
    shown = to_plain_json(leaf)
    room.take(len(str(shown)))
    return shown


DIFFERENT, MISSING, EXTRA, UNREADABLE = "different", "missing", "extra", "unreadable"
MOST_DIFFERENCES = MOST_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where what was found is not what was expected.

    In arrays whose order does not matter, a path counts the expected items, but for what is `extra`.
    """

    path: str
    kind: str
    expected: Any = None
    actual: Any = None

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON of bounded size."""
        values = {"expected": truncate_json(self.expected), "actual": truncate_json(self.actual)}
        return {"path": bounded_path(self.path), "kind": self.kind, **values}


@dataclass(frozen=True, slots=True)
class Explanation:
    """All differences; for events the nearest one as reports show it, and the positions of the candidates."""

    differences: Iterable[Difference]
    nearest: dict[str, Any] | None = None
    candidates: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The first differences as plain JSON. Raises `WebEvalError` where one cannot be found out."""
        found = [one.to_json() for one in islice(self.differences, MOST_DIFFERENCES)]
        return {"differences": found, "nearest": self.nearest, "candidates": list(self.candidates)}
