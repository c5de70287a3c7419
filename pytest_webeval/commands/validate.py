"""`webeval validate`: whether files are what their JSON Schemas say, and where they are not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pytest_webeval.commands.command import argument, print_text
from pytest_webeval.errors import SettingsError
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.schemas.checked_files import CheckedFile, list_files
from pytest_webeval.schemas.registry import get_schema
from pytest_webeval.schemas.validation import MOST_PROBLEMS
from pytest_webeval.summary.results.redacted_results import redact_text
from pytest_webeval.summary.results.result_files import read_rows
from pytest_webeval.summary.summary_file import read_summary_file

HELP = "check files by their JSON Schemas"
SHOWN = 10  # problems of one file
_WITH_SIDE_FILES = ("eval_summary", "eval_shard")
ARGUMENTS = (
    argument("files", "FILE", "a file, or a directory with files", nargs="+"),
    argument("--schema", "NAME", "the schema to use, whatever the names of the files are"),
)


def run(arguments: argparse.Namespace) -> int:
    """Print a line for each problem and one that counts the files. Returns the exit code: 1 for an invalid file.

    Raises `SettingsError` for a missing file, an unknown schema, and tables without the library that reads them.
    """
    schema = get_schema(arguments.schema) if arguments.schema is not None else None
    checked = [each for name in arguments.files for each in list_files(Path(name), schema)]
    invalid = 0
    for each in checked:
        problems = each.find_problems() or _find_in_other_files(each)
        invalid += bool(problems)
        name = str(each.path) if str(each.path).isprintable() else repr(str(each.path))  # on one line
        for line in _format_problems(name, problems):
            print_text(sanitize(redact_text(line)))
    files = pluralize(len(checked), "file")
    print_text(f"{invalid} of {files} invalid" if invalid else f"{files} valid")
    return 1 if invalid else 0


def _find_in_other_files(checked: CheckedFile) -> list[str]:
    """What is wrong with the side files of a valid file, or with the shards of a manifest. Raises `SettingsError`."""
    problems: list[str] = []
    if checked.schema.name == "eval_results":
        manifest = checked.path.resolve() if checked.is_named else checked.path
        for _ in read_rows(manifest.parent, manifest.name, problems):
            pass
    elif checked.schema.name in _WITH_SIDE_FILES:
        try:
            read_summary_file(checked.path, "it")
        except SettingsError as error:
            problems.append(str(error).partition("; ")[0])
    return problems


def _format_problems(name: str, problems: Sequence[str]) -> list[str]:
    lines = [f"{name}: {problem}" for problem in problems[:SHOWN]]
    if (left := len(problems) - SHOWN) > 0:
        at_least = "at least " if len(problems) >= MOST_PROBLEMS else ""
        lines.append(f"{name}: … and {at_least}{left:,} more")
    return lines
