"""Configuration files that lie in a run root, where pytest finds them before those of the project."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from glob import iglob
from pathlib import Path
from types import ModuleType

import pytest

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.settings.option_source import PytestSource, read_keys
from pytest_webeval.plugin.settings.options import INI_NAMES
from pytest_webeval.sessions.settings.settings import read_values

_KEY = "webeval_runs"


def reject_run_root_config(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` where the file that pytest obeys lies in a run root of a file further up.

    That one names the run roots, but pytest looks no further: with `pytest runs/107` it would obey what the agent left
    there, and import a conftest.py next to it.
    """
    config_file = config.inipath
    if config_file is None or config.known_args_namespace.inifilename:
        return
    directory = Path(os.path.realpath(config_file)).parent
    for ancestor in directory.parents:
        for root in _read_root_paths(ancestor):
            if directory.is_relative_to(root):
                problem = f"configuration inside a run root is not trusted: {config_file} lies in {root}"
                raise pytest.UsageError(f"{problem}; name the configuration file in {ancestor} with -c")


def _read_root_paths(directory: Path) -> Iterator[Path]:
    tables = (table for name in INI_NAMES for table in read_keys(directory / name, _KEY))
    for value in (table.get(_KEY) for table in tables):
        if isinstance(value, str | list):
            names = shlex.split(value) if isinstance(value, str) else map(str, value)
            yield from (Path(os.path.realpath(directory / root)) for root in names)


CONFTEST = "conftest.py"


def block_conftest(config: pytest.Config, directory: Path) -> None:
    """Keep pytest from importing `conftest.py` in a directory: it takes an empty module of that name for loaded."""
    name = str(directory / CONFTEST)
    if os.path.lexists(name) and not config.pluginmanager.has_plugin(name):
        config.pluginmanager.register(ModuleType("conftest"), name)


def isolate_run_roots(config: pytest.Config) -> None:
    """Shield what pytest would import for arguments or `testpaths` inside a run root. Raises `pytest.UsageError`."""
    namespace = config.known_args_namespace
    try:
        roots = _find_roots(config)
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error
    if config.inipath is not None and _is_inside(config.inipath, roots):
        problem = f"configuration inside a run root is not trusted: {config.inipath}"
        raise pytest.UsageError(f"{problem}; name another configuration file with -c")
    arguments = namespace.file_or_dir or _testpaths(config)
    argument_paths = [Path(os.path.abspath(str(argument).partition("::")[0])) for argument in arguments]  # noqa: PTH100
    paths = (*argument_paths, config.invocation_params.dir, *roots)
    for directory in dict.fromkeys(parent for path in paths for parent in (path, *path.parents)):
        if _is_inside(directory, roots):
            block_conftest(config, directory)
            for below in directory.glob(f"test*/{CONFTEST}"):  # pytest looks one level down as well
                block_conftest(config, below.parent)
    namespace.file_or_dir[:] = [_enterable(argument, roots) for argument in namespace.file_or_dir]


def _find_roots(config: pytest.Config) -> tuple[Path, ...]:
    """The run roots, with the directories of those in stores. Raises `WebEvalError`."""
    values = read_values(PytestSource(config, is_early=True), ("runs", "cache", "cache_size", "limits"))
    locations = [root for root in values["runs"] if isinstance(root, str)]
    mirrored: list[Path] = []
    if locations:
        from pytest_webeval.sessions.settings.remote_roots import open_early  # few sessions have stores

        mirrored = open_early(locations, values["cache"], values["cache_size"], values["limits"])
    return (*(root for root in values["runs"] if isinstance(root, Path)), *mirrored)


def _enterable(argument: str, roots: tuple[Path, ...]) -> str:
    """The argument, or its run root if the run is not accessible, for the search of conftest.py."""
    path = Path(os.path.abspath(str(argument).partition("::")[0]))  # noqa: PTH100  (links are kept)
    root = next((root for root in roots if path.is_relative_to(root)), None)
    return argument if root is None or os.access(path, os.X_OK) else str(root)


def _testpaths(config: pytest.Config) -> list[str]:
    """The paths that pytest collects without arguments."""
    patterns = config.getini("testpaths")
    return [path for pattern in patterns for path in iglob(pattern, recursive=True)]  # noqa: PTH207  (as pytest)


def _is_inside(path: Path, roots: tuple[Path, ...]) -> bool:
    """Whether a path lies in a root, as spelled or after resolving links."""
    return any(path.is_relative_to(root) or path.resolve().is_relative_to(root.resolve()) for root in roots)
