"""What other packages add: an entry point in a group such as `pytest_webeval.formats`, by its name.

The name is what the `eval` of a task, the `type` of a schema, `--webeval-judge` or `export --to` says. What stands
behind the names of a group is imported when a session first asks for one that is not built in, or for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.safety.text import shorten_repr

GROUP = "pytest_webeval."
Build = Callable[[str, Any], Any]


@cache
def _read_all() -> Any:
    """The entry points of all groups: they are in a file of each installed package."""
    return entry_points()


@cache
def load_extensions(kind: str, own: tuple[str, ...], build: Build) -> Mapping[str, Any]:
    """The extensions of a kind by their names, as `build` makes each of its name and what its entry point names.

    Raises `SettingsError` for one that cannot be imported or built, and for a name that two things have; `own` are
    the names of what is built in.
    """
    found: dict[str, EntryPoint] = {}
    for point in _read_all().select(group=GROUP + kind):
        other = found.setdefault(point.name, point)
        if point.name in own or other.value != point.value:
            taken = "pytest-webeval" if point.name in own else other.value
            problem = f"{point.value} is called {point.name!r} among the {kind}, as is one of {taken}"
            raise SettingsError(f"{problem}; rename its entry point, or uninstall its package")
    return {name: _build(point, build) for name, point in found.items()}


def _build(point: EntryPoint, build: Build) -> Any:
    try:
        return build(point.name, point.load())
    except (Exception, SystemExit) as error:
        told = str(error) if isinstance(error, WebEvalError) else f"{type(error).__name__}: {error}"
        problem = f"cannot use {point.value}, {point.name!r} of {point.group}: {told}"
        raise SettingsError(f"{problem}; fix it, or uninstall its package") from error


def check_name(name: str, found: Any, base: type, attribute: str) -> Any:
    """What was found, or an instance of it if it is a subclass of `base`.

    Raises `SettingsError` for anything else, and if its `attribute` is not the name of the entry point.
    """
    built = found() if isinstance(found, type) and issubclass(found, base) else found
    own_name = getattr(built, attribute, None)
    if not isinstance(built, base) or own_name != name:
        problem = f"{shorten_repr(found)} has the {attribute} {shorten_repr(own_name)}"
        raise SettingsError(f"{problem}, expected {name!r} as its entry point is called")
    return built
