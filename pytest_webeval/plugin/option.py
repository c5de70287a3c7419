"""One option: its names on the command line and in configuration files, and how pytest is asked for it."""

from __future__ import annotations

from typing import Any
from typing import NamedTuple

import pytest


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

    def declare(self, parser: pytest.Parser, group: pytest.OptionGroup) -> None:
        """Declare the option in its group, and its ini key."""
        if self.is_flag:
            group.addoption(self.flag, dest=self.key, help=self.help.replace("%", "%%"), **self._action)
        if self.is_ini_key:
            parser.addini(self.key, self.help, **self._ini_value)

    @property
    def _action(self) -> dict[str, Any]:
        if self.is_switch:
            return {"action": "store_true", "default": False}
        return {"action": "append" if self.is_repeatable else "store", "default": None, "metavar": self.metavar}

    @property
    def _ini_value(self) -> dict[str, Any]:
        if self.is_switch:
            return {"type": "bool", "default": False}
        return {"type": self.ini_type, "default": None if self.is_flag else []}
