"""The options of a session on the command line of a command, as pytest has them."""

from __future__ import annotations

import argparse
from collections.abc import Container
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from pytest_webeval.sessions import options
from pytest_webeval.sessions.option import Option

RUNS = "runs"


class CommandSource(Struct, frozen=True):
    """A command line, of which `left_out` names the options that the command does not have."""

    arguments: argparse.Namespace
    left_out: Container[str] = ()

    def given(self, option: Option) -> Any:
        """The value on the command line; None or False without one."""
        return getattr(self.arguments, option.key, None)

    def configured(self, option: Option) -> Any:
        """What stands for no value: a command reads no configuration file."""
        if option.is_switch:
            return False
        return [] if option.is_repeatable else None

    def locate(self, path: str) -> str:
        """The path as it is."""
        return path


def add_session_options(parser: argparse.ArgumentParser, left_out: Container[str]) -> None:
    """Declare the options of sessions: `--tasks` is also called `--webeval-tasks`, as in pytest and in messages."""
    group = parser.add_argument_group("as in pytest, where their names begin with --webeval-")
    for option in options.OPTIONS:
        if option.name not in left_out and option.name != RUNS:
            names = (f"--{option.name.replace('_', '-')}", option.flag)
            group.add_argument(*names, dest=option.key, help=option.help.replace("%", "%%"), **option.action)


def list_rerun_options(source: CommandSource) -> Iterator[str]:
    """The options but the runs with which pytest scores a run of the session again, as a person would write them."""
    for option in options.OPTIONS:
        value = source.given(option) if option.in_rerun and option.name != RUNS else None
        if option.is_switch and value:
            yield option.flag
        elif option.is_repeatable:
            yield from (f"{option.flag}={each}" for each in value or ())
        elif isinstance(value, str):
            yield f"{option.flag}={value}"
