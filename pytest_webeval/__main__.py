"""`webeval COMMAND`, or `python -P -m pytest_webeval COMMAND`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Container, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn

from pytest_webeval.commands.command import add_arguments
from pytest_webeval.errors import SettingsError, WebEvalError
from pytest_webeval.safety.text import sanitize
from pytest_webeval.stores.store import is_remote, name_object, refuse_credentials
from pytest_webeval.summary.results.redacted_results import redact_text

COMMANDS = (
    "audit",
    "calibrate",
    "compare",
    "export",
    "history",
    "lint",
    "merge",
    "new-task",
    "record",
    "rules",
    "schema",
    "score",
    "side-effects",
    "validate",
)
# Messages of what sessions share name options, and keys of ini files, as pytest has them.
_NAME = re.compile(r"--webeval-([a-z][a-z-]*[a-z])|\bwebeval_(impossible|limits|redact_allow)\b")
_USES_STORES = "score"
_URLS = frozenset({"answer", "cdp", "dataset_url", "intent", "url"})  # arguments that may be URLs, rather than paths
_INPUTS = ("tasks", "config", "gate")
_RUNS = "webeval_runs"  # which a command takes without the name of an option
INTERRUPTED, USAGE_ERROR = 2, 4  # as pytest has them


class _Parser(argparse.ArgumentParser):
    """Ends with the exit code that pytest has for a wrong option."""

    def error(self, message: str) -> NoReturn:
        """Show the usage and the problem."""
        self.print_usage(sys.stderr)
        self.exit(USAGE_ERROR, f"ERROR: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name. Returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = _Parser(prog="webeval", description="Recorded web-agent tasks as tests.")
    choices = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    needed = [name for name in COMMANDS if name in given[:1]] or COMMANDS  # the others take time to import
    modules = {name: import_module(f"pytest_webeval.commands.{name.replace('-', '_')}") for name in needed}
    for name, module in modules.items():
        usage = getattr(module, "USAGE", None)
        command = choices.add_parser(name, help=module.HELP, description=module.__doc__, usage=usage)
        add_arguments(command, module.ARGUMENTS)
    parsed = parser.parse_args(given)
    try:
        if parsed.command != _USES_STORES:
            _refuse_stores(parsed.command, vars(parsed))
        code: int = modules[parsed.command].run(parsed)
        sys.stdout.flush()
    except WebEvalError as error:
        message = redact_text(_name_options(str(error), vars(parsed)))  # some quote what an agent wrote
        sys.stderr.write(f"ERROR: {sanitize(message)}\n")
        return USAGE_ERROR
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:  # of a pager that was closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _refuse_stores(command: str, arguments: Mapping[str, Any]) -> None:
    """Raise `SettingsError` for a path that is the location of a store."""
    given = (value for name, value in arguments.items() if name not in _URLS)
    for text in (text for value in given for text in (value if isinstance(value, list) else [value])):
        if isinstance(text, str) and is_remote(text):
            refuse_credentials(text)
            raise SettingsError(f"{command} cannot use a store: '{name_object(text)}'; copy it to a directory first")


def _name_options(message: str, options: Container[str]) -> str:
    """A message with the options of the command in place of those of a session.

    A command that scores has all of them. The others share inputs alone: what else they name is an option of pytest.
    """

    def name(match: re.Match[str]) -> str:
        key = (match[1] or match[2]).replace("-", "_")
        if f"webeval_{key}" == _RUNS in options:
            return "RUNS"
        if _RUNS not in options and key not in _INPUTS:
            return match[0]
        is_known = key in options or f"webeval_{key}" in options
        return f"--{key.replace('_', '-')}" if is_known else match[0]

    return _NAME.sub(name, message)


if __name__ == "__main__":
    sys.exit(main())
