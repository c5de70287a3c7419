"""What other packages add: an entry point in a group such as `pytest_webeval.formats`, by its name.

The name is what the `eval` of a task, the `type` of a schema, `--webeval-judge` or `export --to` says. What stands
behind a name is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pytest_webeval.errors import SettingsError

GROUP = "pytest_webeval."


@cache
def _read_all() -> Any:
    """Those of all groups: it takes a file of each installed package."""
    return entry_points()


def list_extensions(kind: str, own: Container[str] = ()) -> dict[str, Callable[[], Any]]:
    """What loads each extension of a kind, by name. `own` are the names of what is built in.

    Raises `SettingsError` for a name that two things have.
    """
    found: dict[str, EntryPoint] = {}
    for point in _read_all().select(group=GROUP + kind):
        other = found.setdefault(point.name, point)
        if point.name in own or other.value != point.value:
            taken = "pytest-webeval" if point.name in own else other.value
            problem = f"{point.value} is called {point.name!r} among the {kind}, as is one of {taken}"
            raise SettingsError(f"{problem}; rename its entry point, or uninstall its package")
    return {name: _load_lazily(point) for name, point in found.items()}


@cache
def _load_lazily(point: EntryPoint) -> Callable[[], Any]:
    @cache
    def load() -> Any:
        try:
            return point.load()
        except Exception as error:
            problem = f"cannot import {point.value}, {point.name!r} of {point.group}: {type(error).__name__}: {error}"
            raise SettingsError(f"{problem}; fix it, or uninstall its package") from error

    return load
