"""Configuration files that lie in a run root, where pytest finds them before those of the project."""

from __future__ import annotations

import configparser
import os
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.plugin.entry import INI_NAMES

_KEY = "webeval_runs"
_LARGEST = 2**20  # bytes; nobody's configuration is larger


def refuse_foreign_ini(config: pytest.Config) -> None:
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
