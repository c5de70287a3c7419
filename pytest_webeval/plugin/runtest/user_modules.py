"""Modules of users that can change a verdict: those with fixtures, evaluators and formats, and what these import."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_webeval.safety.files import sha256

_STANDARD = str(Path(os.__file__).parent)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_OURS = f"{Path(__file__).parents[2]}{os.sep}"
Names = Mapping[str, Any]  # the global names of a module


def checksum_modules(functions: Iterable[Callable[..., Any]]) -> str:
    """SHA-256 of the modules that define some functions or classes, and of the local modules that these use.

    Of an installed package only the module itself counts, for its version changes with its files. Empty if there are
    none but those of pytest and of this package.
    """
    sources: dict[str, bytes] = {}
    waiting = [names for function in functions if (names := _names_of(function)) is not None]
    while waiting:
        names = waiting.pop()
        file = names.get("__file__")
        if not isinstance(file, str) or file in sources or _is_known(names, file):
            continue
        sources[file] = _read(file)
        if not _is_installed(file):
            waiting += _list_used(names)
    return sha256(b"\0".join(sources[file] for file in sorted(sources))) if sources else ""


def _is_installed(file: str) -> bool:
    return file.startswith(_STANDARD) or any(part in file for part in _INSTALLED)


def _is_known(names: Names, file: str) -> bool:
    is_pytest = str(names.get("__name__")).partition(".")[0] in {"_pytest", "pytest", "xdist"}
    return is_pytest or file.startswith(_OURS)


def _names_of(value: object) -> Names | None:
    """The global names of the module that defines something; None where that is not known."""
    names = getattr(value, "__globals__", None)
    if isinstance(names, dict):
        return names
    module = value if isinstance(value, ModuleType) else sys.modules.get(str(getattr(value, "__module__", None)))
    return None if module is None else vars(module)


def _list_used(names: Names) -> Iterator[Names]:
    """The modules of what a module has imported, without those that are installed."""
    for value in list(names.values()):
        if not isinstance(value, ModuleType | type) and not hasattr(value, "__globals__"):
            continue
        used = _names_of(value)
        file = used.get("__file__") if used is not None else None
        if used is not None and isinstance(file, str) and not _is_installed(file):
            yield used


def _read(file: str) -> bytes:
    with suppress(OSError):
        return Path(file).read_bytes()
    return b""  # gone since it was imported
