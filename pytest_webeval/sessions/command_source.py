"""The options of a session on the command line of a command, as pytest has them."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pytest_webeval.sessions import options
from pytest_webeval.sessions.options import Option, refuse

RUNS, PREFIX = "runs", "--webeval-"
LINE = "LINE"  # what pytest takes from its ini file alone


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


def add_session_options(parser: argparse.ArgumentParser, left_out: Container[str]) -> None:
    """Declare the options of sessions: `--tasks` is also called `--webeval-tasks`, as in pytest and in messages."""
    group = parser.add_argument_group("as in pytest, where their names begin with --webeval-")
    for option in options.OPTIONS:
        if option.name not in left_out and option.name != RUNS:
            name, action = f"--{option.name.replace('_', '-')}", option.action
            names = (name, option.flag) if option.is_flag else (name,)
            action |= {"metavar": LINE} if option.is_repeatable and not option.is_flag else {}
            action |= {"action": InOrder, "const": option.is_repeatable} | ({"nargs": 0} if option.is_switch else {})
            group.add_argument(*names, dest=option.key, help=option.help.replace("%", "%%"), **action)


class InOrder(argparse.Action):
    """Keeps the arguments in the order of the command line, in which a command that scores again repeats them."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:  # noqa: ARG002  (argparse passes it)
        """Take a value; of a repeatable option one more, of a switch that it is on."""
        namespace, value, _ = given
        earlier = vars(namespace).pop(self.dest, None)
        value = True if self.nargs == 0 else value
        setattr(namespace, self.dest, [*(earlier or ()), value] if self.const else value)


def add_refusals(parser: argparse.ArgumentParser, refusals: Mapping[str, str]) -> None:
    """Let the command refuse options of pytest, by their names there, with advice."""
    for flag, advice in refusals.items():
        names = (flag, f"--{flag.removeprefix(PREFIX)}") if flag.startswith(PREFIX) else (flag,)
        parser.add_argument(*names, dest=f"refused{flag}", **refuse(f"is not an option of this command; {advice}"))


def add_removed(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Let the command refuse options that are gone, with what replaces them."""
    for name in names:
        flag = name.replace("_", "-")
        reason = f"was removed; {options.REMOVED[name]}"
        parser.add_argument(f"--{flag}", f"{PREFIX}{flag}", dest=f"removed_{name}", **refuse(reason))


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
