"""Evaluators of one's own from a module that an option names, where no conftest.py has a fixture for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import cast

from pytest_webeval.errors import SettingsError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.sessions.runs.user_modules import checksum_modules, list_installed_types

FUNCTION, SUFFIX = "webeval_evaluators", ".py"


def load_evaluators(name: str | None) -> tuple[list[Evaluator], str]:
    """The evaluators of a session, and the checksum of the modules of users that decide, empty without any.

    `name` is a module that can be imported, or the path of a file. Its function `webeval_evaluators` takes ours as a
    list and returns those of the session, as the fixture of that name does. Raises `SettingsError`.
    """
    installed = list_installed_types()
    if name is None:
        return default_evaluators(), checksum_modules(installed)
    function = _find_function(_load_module(name), name)
    try:
        returned = function(default_evaluators())
        evaluators = [*returned] if isinstance(returned, Iterable) else [returned]
    except (Exception, SystemExit) as error:
        raise SettingsError(f"{name}: {FUNCTION} raised {_describe(error)}; fix it") from error
    return list(_check(evaluators, name)), checksum_modules([function, *map(type, evaluators), *installed])


def locate_module(name: str | None) -> str | None:
    """The same name, or the absolute path of a file, which a process in another directory can load as well."""
    return os.path.abspath(name) if name is not None and name.endswith(SUFFIX) else name  # noqa: PTH100


def _load_module(name: str) -> ModuleType:
    try:
        return _load_file(Path(name)) if name.endswith(SUFFIX) else import_module(name)
    except (Exception, SystemExit) as error:
        advice = "use a module that is installed or on PYTHONPATH, or the path of a .py file"
        raise SettingsError(f"cannot import {name}: {_describe(error)}; {advice}") from error


def _load_file(path: Path) -> ModuleType:
    """The module in a file, which its classes find by its name. It takes the place of no other module."""
    absolute = path.resolve()
    name = f"webeval_evaluators_from_{absolute.stem}"
    spec = spec_from_file_location(name, absolute)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _find_function(module: ModuleType, name: str) -> Callable[[list[Evaluator]], object]:
    function = getattr(module, FUNCTION, None)
    if type(function).__module__.partition(".")[0] == "_pytest":
        problem = f"{name}: {FUNCTION} is a fixture, which only pytest can call"
        raise SettingsError(f"{problem}; name a module with a function that takes our evaluators")
    if not callable(function):
        raise SettingsError(f"{name} has no function {FUNCTION}; let it take our evaluators and return those to use")
    return cast("Callable[[list[Evaluator]], object]", function)


def _check(evaluators: Iterable[object], name: str) -> Iterator[Evaluator]:
    for evaluator in evaluators:
        if not isinstance(evaluator, Evaluator):
            problem = f"{name}: {FUNCTION} returned {shorten_repr(evaluator)}, which is not an Evaluator"
            raise SettingsError(f"{problem}; return a list of evaluators")
        yield evaluator


def _describe(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
