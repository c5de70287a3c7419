"""Files that tests leave, checked by their schemas with `jsonschema` itself, not with our command."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from copy import deepcopy
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import pytest_webeval
from pytest_webeval.safety.files import walk_directories

FILES = Path(pytest_webeval.__file__).parent / "schemas/files"
LARGEST = 8 * 2**20  # bytes; larger files are those of tests about memory, and have the same rows many times over
OUR_FORMATS = ("fara", "webarena-verified")
# How files of ours begin whose names users choose.
_BEGINNINGS = {
    b'{\n  "schema_version": 1,\n  "comparisons"': "comparison",
    b'{\n  "schema_version": 1,\n  "sessions"': "history",
    b'{\n  "timestamp": ': "eval_summary",
}
_NAMES = {
    "eval_result.json": "eval_result",
    "eval_results.json": "eval_results",
    "eval_summary.json": "eval_summary",
    "eval_summary.partial.json": "eval_summary",
}


def load(name: str) -> Any:
    """The schema of that name."""
    return json.loads((FILES / f"{name}.v1.json").read_text("utf-8"))


@cache
def validator(name: str) -> Draft202012Validator:
    """What checks a value by the schema of that name."""
    schema = load(name)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@cache
def strict_result_validator() -> Draft202012Validator:
    """The same for a result of one of our own formats, to which nobody adds keys."""
    schema = deepcopy(load("eval_result"))
    schema["properties"]["webeval"]["additionalProperties"] = False
    return Draft202012Validator(schema)


def list_written(root: Path) -> Iterator[tuple[str, Path]]:
    """The files of ours below a directory, each with the name of its schema."""
    for directory, _, file_names in walk_directories(root):
        for file_name in file_names:
            if file_name.endswith(".json"):
                path = directory / file_name
                if schema := _find_schema(path):
                    yield schema, path


def _find_schema(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file() or not os.access(path, os.R_OK) or path.stat().st_size > LARGEST:
        return None
    if path.name in _NAMES:
        return _NAMES[path.name]
    if fnmatch(path.name, "eval_shard-*-of-*.json"):
        return "eval_shard"
    with path.open("rb") as stream:
        head = stream.read(64)
    return next((name for beginning, name in _BEGINNINGS.items() if head.startswith(beginning)), None)


def list_problems(root: Path) -> list[str]:
    """A line for each file below a directory that its schema refuses."""
    return [problem for name, path in list_written(root) for problem in _check(name, path, root)]


def _check(name: str, path: Path, root: Path) -> Iterator[str]:
    where = path.relative_to(root).as_posix()
    try:
        content = json.loads(path.read_bytes(), parse_constant=_refuse)
    except ValueError as error:
        yield f"{where}: {error}"
        return
    checker = validator(name)
    if name == "eval_result" and isinstance(content, dict) and isinstance(content.get("webeval"), dict):
        is_ours = content["webeval"].get("format") in OUR_FORMATS
        checker = strict_result_validator() if is_ours else checker
    for error in checker.iter_errors(content):
        yield f"{where}: {error.message:.300} @ {error.json_path}"
        return


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
