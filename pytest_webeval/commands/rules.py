"""`webeval rules`: the rule table."""

from __future__ import annotations

import argparse
import sys
import textwrap

from pytest_webeval.rules import QUIRKS, RULE_SETS, Quirk

HELP = "print the rule table: what reference, default and strict do differently"
WIDTH = 100
ORIGIN = """\
Without --webeval-rules, default judges the published tasks of WebArena-Verified, and strict all other tasks, such as
your own. Pass --webeval-rules=default to judge your own tasks as WebArena-Verified does. Results name their rules."""
SWITCH_WIDTH = max(len(quirk.switch) for quirk in QUIRKS) + 2
ARGUMENTS = ()


def run(arguments: argparse.Namespace) -> int:  # noqa: ARG001  (the signature of all commands)
    """Print the table. Returns the exit code."""
    sys.stdout.write(f"{format_rule_table()}\n")
    return 0


def format_rule_table() -> str:
    """Each quirk of the reference and of webeval, what each rule set does about it, and which tasks it touches."""
    head = f"{'':8}{'switch':<{SWITCH_WIDTH}}" + "".join(f"{name:<12}" for name in RULE_SETS) + "tasks of the data set"
    return "\n".join([ORIGIN, "", head, *("\n".join(_format_quirk(quirk)) for quirk in QUIRKS)])


def _format_quirk(quirk: Quirk) -> list[str]:
    columns = "".join(f"{quirk.column(name):<12}" for name in RULE_SETS)
    text = f"{quirk.behaviour}; instead: {quirk.instead}" if quirk.instead else quirk.behaviour
    indented = textwrap.wrap(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return [f"{quirk.number:<8}{quirk.switch:<{SWITCH_WIDTH}}{columns}{quirk.tasks}", *indented]
