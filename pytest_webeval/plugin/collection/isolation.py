"""Configuration files that lie in a run root, where pytest finds them before those of the project."""

from __future__ import annotations

import configparser
import os
import shlex
import tomllib
from collections.abc import Iterator
from glob import iglob
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.options import INI_NAMES
from pytest_webeval.plugin.settings import run_roots

_KEY = "webeval_runs"
_LARGEST = 2**20  # bytes; nobody's configuration is larger


def reject_run_root_config(config: pytest.Config) -> None:
    """Raise `pytest.UsageError` where the file that pytest obeys lies in a run root of a file further up.

    That one names the run roots, but pytest looks no further: with `pytest runs/107` it would obey what the agent left
    there, and import a conftest.py beside it.
    """
    found = config.inipath
    if found is None or config.known_args_namespace.inifilename:
        return
    directory = Path(os.path.realpath(found)).parent
    for above in directory.parents:
        for root in _roots_named_in(above):
            if directory.is_relative_to(root):
                told = f"{found} lies inside the run root {root} of a configuration file in {above}"
                raise pytest.UsageError(f"{told}, and nothing in there is obeyed; name that file with -c")


def _roots_named_in(directory: Path) -> Iterator[Path]:
    for name in INI_NAMES:
        text = _text_of(directory / name)
        given = _named_in(text, is_toml=name.endswith(".toml")) if _KEY in text else ()
        yield from (Path(os.path.realpath(directory / root)) for root in given)


def _text_of(path: Path) -> str:
    """What a file says; nothing where there is none, or one that is not for us to read."""
    try:
        is_likely = path.is_file() and path.stat().st_size <= _LARGEST
        return path.read_text("utf-8", "replace") if is_likely else ""
    except OSError:
        return ""


def _named_in(text: str, *, is_toml: bool) -> list[str]:
    """The run roots that a configuration file names; none where it is damaged, as pytest would not obey it either."""
    try:
        return _in_toml(tomllib.loads(text)) if is_toml else _in_ini(text)
    except (ValueError, configparser.Error):
        return []


def _in_ini(text: str) -> list[str]:
    found = configparser.ConfigParser(interpolation=None, strict=False)
    found.read_string(text)
    sections = (found[name] for name in ("pytest", "tool:pytest") if name in found)
    return [root for section in sections for root in shlex.split(section.get(_KEY, ""))]


def _in_toml(tree: dict[str, Any]) -> list[str]:
    tables = [_table(tree, "pytest"), _table(tree, "tool", "pytest"), _table(tree, "tool", "pytest", "ini_options")]
    found: list[str] = []
    for value in (table.get(_KEY) for table in tables):
        if isinstance(value, str | list):
            found += shlex.split(value) if isinstance(value, str) else map(str, value)
    return found


def _table(tree: Any, *names: str) -> dict[str, Any]:
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}


CONFTEST = "conftest.py"


def block_conftest(config: pytest.Config, directory: Path) -> None:
    """Keep pytest from importing `conftest.py` in a directory: it takes an empty module of that name for loaded."""
    name = str(directory / CONFTEST)
    if os.path.lexists(name) and not config.pluginmanager.has_plugin(name):
        config.pluginmanager.register(ModuleType("conftest"), name)


def isolate_run_roots(config: pytest.Config) -> None:
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
            block_conftest(config, directory)
            for below in directory.glob(f"test*/{CONFTEST}"):  # pytest looks one level down as well
                block_conftest(config, below.parent)
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
