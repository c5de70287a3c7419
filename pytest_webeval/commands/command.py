"""What commands share: rows for their arguments, how they read numbers and sites, and what they print and write."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import MODES
from pytest_webeval.safety.limits import parse_integer
from pytest_webeval.safety.text import sanitize
from pytest_webeval.sessions.settings.option_values import CommandSource
from pytest_webeval.sessions.settings.options import OPTIONS, REMOVED, refuse
from pytest_webeval.storage import to_json_bytes, write_json
from pytest_webeval.summary.results.redacted_results import redact_text
from pytest_webeval.tasks.sites import Sites, load_sites

RUNS, PREFIX = "runs", "--webeval-"
AS_IN_PYTEST = f"as in pytest, where their names begin with {PREFIX}"  # a group
ALTERNATIVES = "alternatives"  # the group of options of which one alone may be passed


class Argument(NamedTuple):
    """A row of the arguments of a command: its names, and how `argparse` takes it."""

    names: Sequence[str]
    how: Mapping[str, Any]
    group: str | None = None


def argument(name: str, metavar: str | None, text: str, *, group: str | None = None, **how: Any) -> Argument:
    """A row, with the word for the value in the help; a switch has none, nor has what takes one of some words."""
    shown = {} if metavar is None else {"metavar": metavar}
    return Argument((name,), shown | {"help": text} | how, group)


def switch(name: str, text: str, *, group: str | None = None) -> Argument:
    """The row of an option that is on or off."""
    return argument(name, None, text, group=group, action="store_true")


REDACT = argument("--redact", None, f"redact secrets (default: {MODES[0]})", choices=MODES, default=MODES[0])


def refusal(flag: str, reason: str) -> Argument:
    """The row of an option that a command has not, by its name in pytest and without the beginning of that."""
    names = (flag, f"--{flag.removeprefix(PREFIX)}") if flag.startswith(PREFIX) else (flag,)
    return Argument(names, {"dest": f"refused{flag}"} | refuse(reason))


def list_removed(names: Iterable[str]) -> Iterator[Argument]:
    """Rows of options that are gone, with what replaces them."""
    return (refusal(f"{PREFIX}{name.replace('_', '-')}", f"was removed; {REMOVED[name]}") for name in names)


def list_session_arguments(left_out: Container[str] = ()) -> Iterator[Argument]:
    """Rows of the options of sessions: `--tasks` is also called `--webeval-tasks`, as in pytest and in messages."""
    for option in OPTIONS:
        if option.name not in left_out and option.name != RUNS:
            name, how = f"--{option.name.replace('_', '-')}", option.action | {"dest": option.key}
            how |= {"metavar": "LINE"} if option.is_repeatable and not option.is_flag else {}  # of an ini file
            how |= {"action": InOrder, "const": option.is_repeatable} | ({"nargs": 0} if option.is_switch else {})
            names = (name, option.flag) if option.is_flag else (name,)
            yield Argument(names, how | {"help": option.help.replace("%", "%%")}, AS_IN_PYTEST)


class InOrder(argparse.Action):
    """Keeps the arguments in the order of the command line, in which a command that scores again repeats them."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:  # noqa: ARG002  (argparse passes it)
        """Take a value; of a repeatable option one more, of a switch that it is on."""
        namespace, value, _ = given
        earlier = vars(namespace).pop(self.dest, None)
        value = True if self.nargs == 0 else value
        setattr(namespace, self.dest, [*(earlier or ()), value] if self.const else value)


def list_rerun_options(source: CommandSource) -> Iterator[str]:
    """The options but the runs with which pytest scores a run of the session again, as a person would write them."""
    by_key = {option.key: option for option in OPTIONS if option.in_rerun and option.name != RUNS}
    for key, value in vars(source.arguments).items():
        if (option := by_key.get(key)) is None or not value:
            continue
        if option.is_switch:
            yield option.flag
        elif not option.is_flag:
            yield from ("-o", f"{key}={value}")
        else:
            yield from (f"{option.flag}={each}" for each in (value if option.is_repeatable else (value,)))


def add_arguments(parser: argparse.ArgumentParser, rows: Iterable[Argument]) -> None:
    """Declare the arguments and options of a command."""
    groups: dict[str | None, Any] = {None: parser}
    for row in rows:
        if row.group not in groups:
            is_exclusive = row.group == ALTERNATIVES
            groups[row.group] = (
                parser.add_mutually_exclusive_group() if is_exclusive else parser.add_argument_group(row.group)
            )
        groups[row.group].add_argument(*row.names, **row.how)


def read_number(text: str, option: str, expected: str = "a number", allowed: range = range(10**9)) -> int:
    """The number that an option has. Raises `SettingsError`."""
    try:
        return parse_integer(text, allowed)
    except ValueError as error:
        raise SettingsError(f"invalid {option} {text!r:.80}; use {expected}") from error


def read_sites(config: str | None) -> Sites | None:
    """The sites of a file, if an option names one. Raises `SettingsError`."""
    return None if config is None else load_sites(config)


def print_text(text: str) -> None:
    """Print a text with a line break, with escapes for characters that the terminal has not."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def warn(problems: Iterable[str]) -> None:
    """Print what could not be read, which may quote what an agent wrote."""
    for problem in problems:
        sys.stderr.write(f"WARNING: {sanitize(redact_text(problem))}\n")


def to_text(content: Any) -> str:
    """Some JSON as a command prints it."""
    return to_json_bytes(content).decode().rstrip("\n")


def write_content(name: str | None, content: Any) -> None:
    """Write what a command found to the file that `--json` names, if it does. Raises `SettingsError`."""
    if name:
        write_json(Path(name), content, advice="choose another file with --json")
