"""The options of a session on the command line of a command, as pytest has them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.sessions import options
from pytest_webeval.sessions.options import Option

RUNS = "runs"


class CommandSource(Struct, frozen=True):
    """A command line."""

    arguments: argparse.Namespace

    def given(self, option: Option) -> Any:
        """The value on the command line; None or False without one."""
        return getattr(self.arguments, option.key, None)

    def configured(self, option: Option) -> Any:
        """What stands for no value: a command reads no configuration file."""
        if option.is_switch:
            return False
        return [] if option.is_repeatable else None

    def split(self, option: Option) -> tuple[Sequence[str], Sequence[str]]:
        """No values of a file, and those of the command line."""
        return [], self.given(option) or []

    def locate(self, path: str) -> str:
        """The path as it is."""
        return path


def list_rerun_options(source: CommandSource) -> Iterator[str]:
    """The options but the runs with which pytest scores a run of the session again, as a person would write them."""
    by_key = {option.key: option for option in options.OPTIONS if option.in_rerun and option.name != RUNS}
    for key, value in vars(source.arguments).items():
        if (option := by_key.get(key)) is None or not value:
            continue
        if option.is_switch:
            yield option.flag
        elif not option.is_flag:
            yield from ("-o", f"{key}={value}")
        else:
            yield from (f"{option.flag}={each}" for each in (value if option.is_repeatable else (value,)))
