"""One option: its names on the command line and in configuration files, and what it takes."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple, NoReturn


class Option(NamedTuple):
    """A row: `name` is `rules` for the option `--webeval-rules`, the ini key `webeval_rules` and `settings.rules`.

    `parse` names an entry of `option_values.PARSERS`. `choices` are the valid words, the default first; one that also
    takes a file lists only the words. The ini types `paths` and `linelist` make an option repeatable.
    """

    name: str
    help: str
    metavar: str = ""
    parse: str = "switch"
    choices: tuple[str, ...] = ()
    ini_type: str = "string"
    is_flag: bool = True
    is_ini_key: bool = True
    in_rerun: bool = False  # whether rerun commands repeat it
    affects_results: bool = True  # whether a session with another value may reuse no result of this one

    @property
    def key(self) -> str:
        """The ini key, and the name by which pytest stores the option."""
        return f"webeval_{self.name}"

    @property
    def flag(self) -> str:
        """The option on the command line, without its value."""
        return f"--{self.key.replace('_', '-')}"

    @property
    def is_switch(self) -> bool:
        """Whether the option is on or off."""
        return self.parse == "switch"

    @property
    def is_repeatable(self) -> bool:
        """Whether the option may be given several times."""
        return self.ini_type != "string"

    @property
    def action(self) -> dict[str, Any]:
        """How a parser of command lines takes the option."""
        if self.is_switch:
            return {"action": "store_true", "default": False}
        return {"action": "append" if self.is_repeatable else "store", "default": None, "metavar": self.metavar}


class Refusal(argparse.Action):
    """An option that the program does not have. `const` says why, and what to do instead."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> NoReturn:
        """End the program."""
        *_, name = given
        parser.error(f"{name} {self.const}")


def refuse(reason: str) -> dict[str, Any]:
    """How a parser of command lines takes an option only to refuse it."""
    return {"nargs": "?", "const": reason, "action": Refusal, "help": argparse.SUPPRESS}
