"""Run roots are data: nothing below one is imported or obeyed."""

from __future__ import annotations

import os
from glob import iglob
from pathlib import Path
from types import ModuleType

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.settings import run_roots

CONFTEST = "conftest.py"


def shield(config: pytest.Config, directory: Path) -> None:
    """Keep pytest from importing `conftest.py` in a directory: it takes an empty module of that name for loaded."""
    name = str(directory / CONFTEST)
    if os.path.lexists(name) and not config.pluginmanager.has_plugin(name):
        config.pluginmanager.register(ModuleType("conftest"), name)


def shield_arguments(config: pytest.Config) -> None:
    """Shield what pytest would import for arguments or `testpaths` inside a run root. Raises `pytest.UsageError`."""
    known = config.known_args_namespace
    try:
        roots = run_roots(config, known.webeval_runs)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from error
    _refuse_ini_file(config, roots)
    arguments = known.file_or_dir or _testpaths(config)
    here = [Path(os.path.abspath(str(argument).partition("::")[0])) for argument in arguments]  # noqa: PTH100
    paths = (*here, config.invocation_params.dir, *roots)
    for directory in dict.fromkeys(one for path in paths for one in (path, *path.parents)):
        if _is_inside(directory, roots):
            shield(config, directory)
            for below in directory.glob(f"test*/{CONFTEST}"):  # pytest looks one level down as well
                shield(config, below.parent)
    known.file_or_dir[:] = [_enterable(one, roots) for one in known.file_or_dir]


def _enterable(argument: str, roots: tuple[Path, ...]) -> str:
    """Where pytest may look for conftest.py: not in a run that nobody may enter, but in its root."""
    path = Path(os.path.abspath(str(argument).partition("::")[0]))  # noqa: PTH100  (links are kept)
    root = next((root for root in roots if path.is_relative_to(root)), None)
    return argument if root is None or os.access(path, os.X_OK) else str(root)


def _testpaths(config: pytest.Config) -> list[str]:
    """What pytest collects where no argument says it."""
    patterns = config.getini("testpaths")
    return [path for pattern in patterns for path in iglob(pattern, recursive=True)]  # noqa: PTH207  (as pytest)


def _is_inside(path: Path, roots: tuple[Path, ...]) -> bool:
    """Whether a path lies in a root, be it as spelled or behind links: the working directory has none left in it."""
    return any(path.is_relative_to(root) or path.resolve().is_relative_to(root.resolve()) for root in roots)


def _refuse_ini_file(config: pytest.Config, roots: tuple[Path, ...]) -> None:
    found = config.inipath
    if found is not None and _is_inside(found, roots):
        raise pytest.UsageError(
            f"{found} lies inside a run root, where nothing is obeyed; name a configuration file with -c"
        )
