"""Evaluators of one's own from a module that an option names, where no conftest.py has a fixture for them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from importlib.util import module_from_spec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.safety.text import shorten_repr

FUNCTION = "webeval_evaluators"


def load_evaluators(name: str | None) -> tuple[list[Evaluator], str]:
    """The evaluators of a session, and the checksum of the modules of users that decide, empty without any.

    `name` is a module that can be imported, or the path of a file. Its function `webeval_evaluators` takes ours as a
    list and returns those of the session, as the fixture of that name does. Raises `SettingsError`.
    """
    if name is None:
        return default_evaluators(), ""
    from pytest_webeval.sessions.user_modules import checksum_modules  # few sessions have such a module

    function = getattr(_load_module(name), FUNCTION, None)
    if not callable(function):
        raise SettingsError(f"{name} has no function {FUNCTION}; let it take our evaluators and return those to use")
    try:
        evaluators = list(function(default_evaluators()))
    except Exception as error:
        raise SettingsError(f"{name}: {FUNCTION} raised {_describe(error)}; fix it") from error
    _check(evaluators, name)
    return evaluators, checksum_modules([function, *map(type, evaluators)])


def _load_module(name: str) -> ModuleType:
    is_file = name.endswith(".py")
    if is_file and (other := _find_other(Path(name).resolve())) is not None:
        raise SettingsError(f"{name} has the name of another module, {other}; rename the file")
    try:
        return _load_file(Path(name)) if is_file else import_module(name)
    except Exception as error:
        advice = "use a module that Python can import, or the path of a .py file"
        raise SettingsError(f"cannot import {name}: {_describe(error)}; {advice}") from error


def _find_other(path: Path) -> str | None:
    """The file of another module that has the name of this file, which would take its place."""
    with suppress(ImportError, ValueError):  # no module can have such a name, or it has no file
        spec = find_spec(path.stem)
        if spec is not None and spec.origin is not None and Path(spec.origin).resolve() != path:
            return spec.origin
    return None


def _load_file(path: Path) -> ModuleType:
    """The module in a file, which other processes find by its name."""
    absolute = path.resolve()
    spec = spec_from_file_location(absolute.stem, absolute)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[absolute.stem] = module
    spec.loader.exec_module(module)
    return module


def _check(evaluators: Iterable[object], name: str) -> None:
    for evaluator in evaluators:
        if not isinstance(evaluator, Evaluator):
            problem = f"{name}: {FUNCTION} returned {shorten_repr(evaluator)}, not an Evaluator"
            raise SettingsError(f"{problem}; return a list of evaluators")


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
