"""Equal values of very many rows are kept once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

MOST_VALUES = 10_000  # that are remembered: a column with more hardly repeats itself

Row = TypeVar("Row", bound=Struct)


class SharedValues:
    """Lets rows share the texts, and the lists and mappings of texts, that stand in some of their fields.

    Nobody may change such a list or mapping afterwards. Any other value stays as it is.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._kept: dict[Any, Any] = {}

    def share(self, row: Row) -> Row:
        """The row, whose values are those of earlier rows where they are equal."""
        for name in self._names:
            value = getattr(row, name)
            if value is not None:
                force_setattr(row, name, self._find(value))
        return row

    def _find(self, value: Any) -> Any:
        key = _build_key(value)
        if key is None:
            return value
        if len(self._kept) < MOST_VALUES:
            return self._kept.setdefault(key, value)
        return self._kept.get(key, value)


def _build_key(value: Any) -> Hashable | None:
    """What only an equal value has; None for what is not shared."""
    if type(value) is str:
        return value
    if type(value) is list and _are_texts(value):
        return (list, *value)
    if type(value) is dict and _are_texts(value) and _are_texts(value.values()):
        return (dict, *value.items())
    return None


def _are_texts(values: Iterable[Any]) -> bool:
    return all(type(value) is str for value in values)
