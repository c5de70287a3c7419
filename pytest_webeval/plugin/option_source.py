"""Where the values of options of a session of pytest come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.plugin.ini_files import read_keys, read_lines
from pytest_webeval.sessions import options
from pytest_webeval.sessions.options import Option
from pytest_webeval.sessions.settings import Settings, read_settings


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
