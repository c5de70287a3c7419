"""Declares the options of a session and their ini keys. Every session of pytest loads this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_webeval.sessions.settings import options
from pytest_webeval.sessions.settings.options import Option, refuse

# Files in which pytest looks for its configuration.
INI_NAMES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")

SCORED_ROOTS = pytest.StashKey[tuple[Path, ...]]()  # of a session with runs


def add_options(parser: pytest.Parser) -> None:
    """Declare the options and their ini keys."""
    group = parser.getgroup("webeval", "recorded web-agent tasks")
    for option in options.OPTIONS:
        if option.is_flag:
            group.addoption(option.flag, dest=option.key, help=option.help.replace("%", "%%"), **option.action)
        if option.is_ini_key:
            parser.addini(option.key, option.help, **_ini_value(option))
    for name, advice in options.REMOVED.items():
        flag = f"--webeval-{name.replace('_', '-')}"
        group.addoption(flag, dest=f"webeval_removed_{name}", **refuse(f"was removed; {advice}"))


def _ini_value(option: Option) -> dict[str, Any]:
    if option.is_switch:
        return {"type": "bool", "default": False}
    return {"type": option.ini_type, "default": [] if option.is_repeatable and not option.is_flag else None}
