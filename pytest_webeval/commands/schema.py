"""`webeval schema`: the JSON Schemas of the files that are read or written."""

from __future__ import annotations

import argparse

from pytest_webeval.commands.command import argument, print_text
from pytest_webeval.schemas.registry import SCHEMAS, Schema, get_schema

HELP = "print the JSON Schema of a file, or the list of schemas"
ARGUMENTS = (argument("name", "NAME", "a schema; without a name, all are listed", nargs="?"),)


def run(arguments: argparse.Namespace) -> int:
    """Print the schema, or a line for each. Returns the exit code. Raises `SettingsError` for an unknown name."""
    if arguments.name is not None:
        print_text(get_schema(arguments.name).text.rstrip("\n"))
        return 0
    width = max(len(schema.name) for schema in SCHEMAS)
    for schema in SCHEMAS:
        print_text(f"{schema.name:<{width}}  {schema.title} ({describe_files(schema)})")
    return 0


def describe_files(schema: Schema) -> str:
    """The names of the files that a schema is about."""
    return ", ".join(schema.patterns + schema.generic)
