"""The single values in the data of an answer, and the data with one of them replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Leaf:
    """A value, where it stands, and the name of its type in the task's schema."""

    path: Path
    value: Any
    type_name: str

    @property
    def where(self) -> str:
        """The place for people: `[0].name`."""
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)


def leaves(value: Any, schema: Mapping[str, Any], path: Path = ()) -> Iterator[Leaf]:
    """The values in the data, in reading order. A point on the map is one value."""
    name = str(schema.get("format") or schema.get("type") or "string")
    if isinstance(value, list) and name != "coordinates":
        for index, item in enumerate(value):
            yield from leaves(item, schema.get("items", {}), (*path, index))
    elif isinstance(value, dict) and name != "coordinates":
        for key, member in value.items():
            yield from leaves(member, schema.get("properties", {}).get(key, {}), (*path, key))
    else:
        yield Leaf(path, value, name)


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The data with another value at that place."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, list):
        return [replaced(item, tuple(rest), new) if index == step else item for index, item in enumerate(value)]
    return {key: replaced(member, tuple(rest), new) if key == step else member for key, member in value.items()}


def dropped(value: Any, path: Path) -> Any:
    """The data without what stands at that place."""
    step, *rest = path
    if rest:
        return replaced(value, (step,), dropped(value[step], tuple(rest)))
    if isinstance(value, list):
        return [item for index, item in enumerate(value) if index != step]
    return {key: member for key, member in value.items() if key != step}
