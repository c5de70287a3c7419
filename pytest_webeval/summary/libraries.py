"""Libraries that only some files need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pytest_webeval.errors import SettingsError


def import_library(name: str, package: str) -> Any:
    """The module. Raises `SettingsError` with the line that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = name.partition(".")[0]
        raise SettingsError(f"{missing} is not installed; run: pip install {package}") from error
