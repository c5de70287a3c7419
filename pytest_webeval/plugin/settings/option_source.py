"""Where the values of options of a session of pytest come from: its command line and its configuration file.

pytest itself says only what declared keys hold, and not what `-o` replaces.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.sessions.settings import options
from pytest_webeval.sessions.settings.options import Option
from pytest_webeval.sessions.settings.settings import Settings, read_settings

_LARGEST = 2**20  # bytes; nobody's configuration is larger


class PytestSource(Struct, frozen=True):
    """Command line and ini file of a session."""

    config: pytest.Config
    is_early: bool = False  # before plugins have read their options

    def given(self, option: Option) -> Any:
        """The value on the command line; None or False without one."""
        namespace = self.config.known_args_namespace if self.is_early else self.config.option
        return getattr(namespace, option.key) if option.is_flag else None

    def configured(self, option: Option) -> Any:
        """The value in the ini file, or its default. Raises `ValueError`."""
        try:
            return self.config.getini(option.key)
        except pytest.UsageError as error:
            raise ValueError(str(error)) from error

    def split(self, option: Option) -> tuple[Sequence[str], Sequence[str]]:
        """The values of a list in the ini file, also in `addopts`, and those on the command line, also in `-o`."""
        configured, given = self.configured(option) or [], self.given(option) or []
        added = {argument.removeprefix(f"{option.flag}=") for argument in self.config.getini("addopts")}
        of_file, typed = [text for text in given if text in added], [text for text in given if text not in added]
        if option.key not in _list_overrides(self.config):
            return [*configured, *of_file], typed
        return [*read_lines(self.config.inipath, option.key), *of_file], [*configured, *typed]

    def locate(self, path: str | os.PathLike[str]) -> str:
        """A path of the ini file, relative to it; pytest has done so for those of type `paths`."""
        return os.fspath(path) if self.config.inipath is None else str(self.config.inipath.parent / path)


def read_pytest_settings(config: pytest.Config) -> Settings:
    """The settings of a session. Raises `pytest.UsageError`."""
    try:
        _refuse_keys(config)
        return read_settings(PytestSource(config))
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error


def _list_overrides(config: pytest.Config) -> list[str]:
    """The keys that `-o` names, each as often as it does."""
    return [text.partition("=")[0].strip() for text in config.getoption("override_ini", default=None) or ()]


def _refuse_keys(config: pytest.Config) -> None:
    """Raise `SettingsError` for a key that is gone, and for a list in two `-o`, of which pytest keeps one."""
    overrides, path = _list_overrides(config), config.inipath
    keys = {*overrides, *(key for table in (read_keys(path, "webeval_") if path else ()) for key in table)}
    for name, advice in options.REMOVED.items():
        if f"webeval_{name}" in keys:
            raise SettingsError(f"webeval_{name} was removed; {advice}")
    for option in options.OPTIONS:
        if option.is_repeatable and overrides.count(option.key) > 1:
            advice = f"repeat {option.flag}" if option.is_flag else "write its lines into one -o"
            raise SettingsError(f"-o {option.key} is passed twice, and pytest keeps the last; {advice}")


def read_keys(path: Path, word: str) -> list[dict[str, Any]]:
    """The tables of pytest in a file that has a word; none in a damaged one, since pytest would reject it as well."""
    try:
        is_likely = path.is_file() and path.stat().st_size <= _LARGEST
        text = path.read_text("utf-8", "replace") if is_likely else ""
    except OSError:
        return []
    if word not in text:
        return []
    return _list_tables(text) if path.suffix == ".toml" else _list_sections(text)


def read_lines(path: Path | None, key: str) -> list[str]:
    """The lines or texts of a key that is a list."""
    values = [table.get(key) for table in (read_keys(path, key) if path is not None else ())]
    lists = [
        value.split("\n") if isinstance(value, str) else value for value in values if isinstance(value, str | list)
    ]
    return [line for lines in lists for text in lines if (line := str(text).strip())]


def _list_sections(text: str) -> list[dict[str, Any]]:
    import configparser  # few sessions have keys of ours in an ini file

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return [dict(parser[name]) for name in ("pytest", "tool:pytest") if name in parser]


def _list_tables(text: str) -> list[dict[str, Any]]:
    import tomllib  # same

    try:
        tree = tomllib.loads(text)
    except ValueError:
        return []
    return [_table(tree, "pytest"), _table(tree, "tool", "pytest"), _table(tree, "tool", "pytest", "ini_options")]


def _table(tree: Any, *names: str) -> dict[str, Any]:
    for name in names:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree if isinstance(tree, dict) else {}
