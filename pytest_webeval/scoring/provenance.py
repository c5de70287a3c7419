"""SHA-256 of inputs, of task definitions and of the code that decides verdicts."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path

from pytest_webeval import values
from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.safety.files import sha256

_PACKAGE = Path(__file__).parents[1]
# What can change a verdict. The other rooms only carry results around.
DECIDING = (
    "errors.py",
    "evaluators",
    "extensions.py",
    "judges",
    "lint",
    "recordings",
    "results.py",
    "rubrics",
    "rules.py",
    "safety",
    "scoring",
    "tasks",
    "values",
)


# What else makes the text and the record of a result, which a session may reuse.
RECORDING = (
    "diagnostics",
    "plugin/runtest",
    "redaction",
    "reports/failure_text.py",
    "sessions",
    "storage.py",
    "summary/record.py",
    "summary/result_facts.py",
)


_READ = (".py", ".txt")  # modules, and the table of published tasks


@cache
def _own_code(rooms: tuple[str, ...] = DECIDING) -> bytes:
    names = sorted(chain.from_iterable(map(_list_files, rooms)), key=lambda name: name.split("/"))
    return b"".join(name.encode() + b"\0" + (_PACKAGE / name).read_bytes() for name in names)


def _list_files(name: str) -> Iterator[str]:
    """A file of this package, or all files of a room that decide, by their path in the package."""
    if name.endswith(_READ):
        yield name
        return
    with os.scandir(_PACKAGE / name) as entries:
        for entry in entries:
            if entry.name.endswith(_READ) or (entry.is_dir() and entry.name != "__pycache__"):
                yield from _list_files(f"{name}/{entry.name}")


@cache
def code_checksum(*overrides: type) -> str:
    """SHA-256 of exactly the code that decides verdicts: ours, and the source of the users' evaluator classes."""
    foreign = (_source_of(kind) for kind in overrides if not kind.__module__.startswith(f"{_PACKAGE.name}."))
    return sha256(_own_code() + b"".join(sorted(foreign)))


@cache
def record_code_checksum() -> str:
    """SHA-256 of our code that decides verdicts, or makes records and texts of results."""
    return sha256(_own_code() + _own_code(RECORDING))


def _source_of(kind: type) -> bytes:
    try:
        return inspect.getsource(inspect.getmodule(kind) or kind).encode()
    except (OSError, TypeError):  # typed in, compiled or gone: only the name is left
        return f"{kind.__module__}.{kind.__qualname__}".encode()


_DECIDING_LIBRARIES = (
    "geopy",
    "jsonpath-ng",
    "msgspec",
    "pint",
    "price-parser",
    "pydantic",
    "python-dateutil",
    "pytimeparse2",
    "rapidfuzz",
    "text-unidecode",
    "thefuzz",
    "url-normalize",
    "us",
    "usaddress",
    "usaddress-scourgify",
    "word2number",
)


def deciding_checksum(evaluators: Iterable[Evaluator]) -> str:
    """Checksum of the code that decides verdicts, the users' evaluators included."""
    foreign: set[type] = {type(evaluator) for evaluator in evaluators} - set(EVALUATORS.values())
    foreign.update(values.load_installed().values())
    return code_checksum(*sorted(foreign, key=lambda kind: f"{kind.__module__}.{kind.__qualname__}"))


def own_version() -> str:
    """The version of this package."""
    return libraries()["pytest-webeval"]


@cache
def libraries() -> dict[str, str]:
    """Versions of the libraries that decide verdicts, ours included; those of an extra only where it is installed."""
    versions = {}
    for name in ("pytest-webeval", *_DECIDING_LIBRARIES):
        with suppress(metadata.PackageNotFoundError):
            versions[name] = _read_version(metadata.distribution(name))
    return versions


def _read_version(distribution: metadata.Distribution) -> str:
    """As `metadata.version` has it, which parses the whole README of a package for that line."""
    head = (distribution.read_text("METADATA") or "").partition("\n\n")[0]
    version = re.search(r"^Version:[ \t]*(\S+)[ \t]*$", head, re.MULTILINE)
    return version[1] if version else distribution.version
