"""Where the values of options of a session of pytest come from."""

from __future__ import annotations

import os
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.sessions.option import Option
from pytest_webeval.sessions.settings import Settings
from pytest_webeval.sessions.settings import read_settings


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

    def locate(self, path: str | os.PathLike[str]) -> str:
        """A path of the ini file, relative to it; pytest has done so for those of type `paths`."""
        return os.fspath(path) if self.config.inipath is None else str(self.config.inipath.parent / path)


def read_pytest_settings(config: pytest.Config) -> Settings:
    """The settings of a session. Raises `pytest.UsageError`."""
    try:
        return read_settings(PytestSource(config))
    except WebEvalError as error:
        raise pytest.UsageError(str(error)) from error
