"""Files that are checked by their schemas: which files there are, and what is wrong with each."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, RecordingError, SettingsError
from pytest_webeval.safety.files import is_dir, read_file_inside, walk_directories
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.schemas.registry import SCHEMAS, Schema, find_schema
from pytest_webeval.schemas.validation import MOST_PROBLEMS, Problem, find_problems

_LIMITS = replace(USUAL, values=10_000_000)  # a summary of 100,000 runs has some millions


class CheckedFile(Struct, frozen=True):
    """A file and its schema. A link is followed only if the user named it: `is_named`."""

    path: Path
    schema: Schema
    is_named: bool = False

    def find_problems(self) -> list[str]:
        """What is wrong with the file, with places; empty for a valid file."""
        try:
            path = self.path.resolve() if self.is_named else self.path
            content = read_file_inside(path.parent, path.name).removeprefix(BOM_UTF8)  # which our readers skip as well
        except (OSError, RuntimeError, RecordingError) as error:  # links that lead to each other
            return [_first_part(error)]
        if not self.schema.of_lines and self.path.suffix != ".jsonl":
            return list(map(str, _find_in_text(content, self.schema)))
        return _find_in_lines(content, self.schema)


def _find_in_text(content: bytes, schema: Schema) -> list[Problem]:
    try:
        value: Any = load_bounded(content.decode(), _LIMITS, "it")
    except UnicodeDecodeError as error:
        return [Problem(f"is not UTF-8: {error.reason} @ byte {error.start}")]
    except ValueError as error:
        return [Problem(f"is not JSON: {error}")]
    except EvaluationError as error:
        return [Problem(_first_part(error))]
    problems = find_problems(schema.name, value)
    for name, inner in schema.members:
        if isinstance(value, dict) and isinstance(value.get(name), dict):
            problems += (
                Problem(each.text, f"{name}.{each.path}".rstrip(".")) for each in find_problems(inner, value[name])
            )
    return problems


def _find_in_lines(content: bytes, schema: Schema) -> list[str]:
    lines = []
    for number, line in enumerate(BytesIO(content), 1):
        for problem in _find_in_text(line.rstrip(b"\n"), schema) if line.strip() else ():
            where = f"line {number}, {problem.path}" if problem.path else f"line {number}"
            lines.append(f"{problem.text} @ {where}")
        if len(lines) >= MOST_PROBLEMS:
            break
    return lines[:MOST_PROBLEMS]


def _first_part(error: Exception) -> str:
    """What is wrong, without the advice: the reader knows where the file comes from."""
    return str(error).partition("; ")[0]


def list_files(path: Path, schema: Schema | None = None) -> Iterator[CheckedFile]:
    """The file of that name, or all files with a schema below a directory, sorted. Raises `SettingsError`.

    Of a directory `schema` selects the files; a file is checked by it whatever its name is.
    """
    if not os.path.lexists(path):
        raise SettingsError(f"file not found: {path}; check the path")
    if not is_dir(path):
        own = schema or find_schema(path.absolute(), is_named=True)
        if own is None:
            names = ", ".join(each.name for each in SCHEMAS)
            raise SettingsError(f"no schema for files of the name {path.name!r:.80}; use --schema with one of {names}")
        yield CheckedFile(path, own, is_named=True)
        return
    checked = (each for each in _list_below(path) if schema in (None, each.schema))
    first = next(checked, None)
    if first is None:
        raise SettingsError(f"no file with a schema below {path}; name a file")
    yield first
    yield from checked


def _list_below(root: Path) -> Iterator[CheckedFile]:
    """The files with a schema; neither links nor hidden ones."""
    for directory, _, file_names in walk_directories(root):
        for name in file_names:
            path = directory / name
            schema = None if name.startswith(".") else find_schema(path.absolute(), is_named=False)
            if schema is not None and not path.is_symlink():
                yield CheckedFile(path, schema)
