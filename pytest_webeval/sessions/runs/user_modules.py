"""Modules of users that can change a verdict: those with fixtures, evaluators and formats, and what these import."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_webeval import evaluators, values
from pytest_webeval.recordings import formats
from pytest_webeval.safety.files import sha256

_STANDARD = str(Path(os.__file__).parent)
_INSTALLED = ("/site-packages/", "/dist-packages/")
_OURS = f"{Path(__file__).parents[2]}{os.sep}"
Names = Mapping[str, Any]  # the global names of a module


def checksum_modules(functions: Iterable[Callable[..., Any]]) -> str:
    """SHA-256 of the modules that define some functions or classes, and of the local modules that these import.

    Imports within functions count too. Of an installed package only the module itself counts, for its version changes
    with its files. Empty if there are none but those of pytest and of this package.
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
            waiting += _list_imported(sources[file], str(names.get("__package__") or ""))
    return sha256(b"\0".join(sources[file] for file in sorted(sources))) if sources else ""


def list_installed_types() -> list[type]:
    """The types of other packages that can change a verdict. Raises `SettingsError` for one that cannot be used."""
    installed = (*evaluators.load_installed().values(), *formats.load_installed().values())
    return [*map(type, installed), *values.load_installed().values()]


def checksum_hooks(plugins: Iterable[object]) -> str:
    """SHA-256 of the modules of users with hooks of pytest, without what they import; empty if there are none.

    A conftest.py with fixtures alone counts where these are used.
    """
    modules = [vars(plugin) for plugin in plugins if isinstance(plugin, ModuleType)]
    files = {str(names.get("__file__")) for names in modules if any(name.startswith("pytest_") for name in names)}
    known = {str(names.get("__file__")) for names in modules if _is_known(names, str(names.get("__file__")))}
    sources = sorted(_read(file) for file in files - known if not _is_installed(file))
    return sha256(b"\0".join(sources)) if any(sources) else ""


def _list_imported(source: bytes, package: str) -> Iterator[Names]:
    """The modules that a module imports anywhere, without those that are installed or cannot be located."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):  # it is another than that which was imported
        return
    for node in nodes:
        for name in _name_modules(node, package):
            names = _locate(name)
            if names is not None and not _is_installed(str(names["__file__"])):
                yield names


def _name_modules(node: ast.AST, package: str) -> Iterator[str]:
    """The modules that a statement names; each name after `import` may be one as well."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            parents = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(filter(None, [*parents, base]))
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _locate(name: str) -> Names | None:
    """The names of a module, or where its file is if it has not been imported yet; None if it has no file."""
    if (module := sys.modules.get(name)) is not None:
        return vars(module) if isinstance(getattr(module, "__file__", None), str) else None
    with suppress(ImportError, AttributeError, ValueError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None and spec.has_location:
            return {"__file__": spec.origin, "__name__": name, "__package__": spec.parent}
    return None


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


def _read(file: str) -> bytes:
    with suppress(OSError):
        return Path(file).read_bytes()
    return b""  # gone since it was imported
