"""`python -m pytest_webeval rules` prints the rule table."""

from __future__ import annotations

import argparse
import sys
import textwrap

from pytest_webeval.rules import QUIRKS
from pytest_webeval.rules import RULE_SETS
from pytest_webeval.rules import Quirk

WIDTH = 100
SWITCH_WIDTH = max(len(quirk.switch) for quirk in QUIRKS) + 2


def format_rule_table() -> str:
    """Each quirk of the reference and of webeval, what each rule set does about it, and which tasks it touches."""
    head = f"{'':8}{'switch':<{SWITCH_WIDTH}}" + "".join(f"{name:<12}" for name in RULE_SETS) + "tasks of the data set"
    return "\n".join([head, *("\n".join(_format_quirk(quirk)) for quirk in QUIRKS)])


def _format_quirk(quirk: Quirk) -> list[str]:
    columns = "".join(f"{quirk.column(name):<12}" for name in RULE_SETS)
    text = f"{quirk.behaviour}; instead: {quirk.instead}" if quirk.instead else quirk.behaviour
    indented = textwrap.wrap(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return [f"{quirk.number:<8}{quirk.switch:<{SWITCH_WIDTH}}{columns}{quirk.tasks}", *indented]


def main() -> None:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m pytest_webeval", description="Recorded web-agent tasks as tests.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("rules", help="print the rule table: what reference, default and strict do differently")
    parser.parse_args()
    sys.stdout.write(f"{format_rule_table()}\n")


if __name__ == "__main__":
    main()
