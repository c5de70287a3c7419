"""SHA-256 of inputs, of task definitions and of the code that decides verdicts."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent
# What can change a verdict. The plugin layer, the reports and these modules only carry results around.
_CARRIERS = (
    "__init__.py",
    "__main__.py",
    "api.py",
    "capture_check.py",
    "durations.py",
    "event_alignment.py",
    "journal.py",
    "subsets.py",
    "summary.py",
    "trajectory_rows.py",
    "writing.py",
)
_DECIDING_PACKAGES = ("evaluators", "formats", "judges", "rubrics", "traces", "trajectories", "values")


def sha256(content: bytes) -> str:
    """Hexadecimal SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


@cache
def _own_code() -> bytes:
    found = set(_modules_in("")).union(*(_modules_in(f"{package}/") for package in _DECIDING_PACKAGES))
    names = sorted(found.difference(_CARRIERS), key=lambda name: name.split("/"))
    return b"".join(name.encode() + b"\0" + (_PACKAGE / name).read_bytes() for name in names)


def _modules_in(folder: str) -> Iterator[str]:
    """Names of the modules in a folder of ours, below the package. A glob would take twice as long as reading them."""
    return (f"{folder}{name}" for name in os.listdir(_PACKAGE / folder) if name.endswith(".py"))  # noqa: PTH208


@cache
def code_checksum(*overrides: type) -> str:
    """SHA-256 of exactly the code that decides verdicts: ours, and the source of evaluator classes from elsewhere."""
    foreign = (_source_of(kind) for kind in overrides if not kind.__module__.startswith(f"{__package__}."))
    return sha256(_own_code() + b"".join(sorted(foreign)))


def _source_of(kind: type) -> bytes:
    try:
        return inspect.getsource(inspect.getmodule(kind) or kind).encode()
    except (OSError, TypeError):  # typed in, compiled or gone: the name is all that is left to tell it by
        return f"{kind.__module__}.{kind.__qualname__}".encode()
