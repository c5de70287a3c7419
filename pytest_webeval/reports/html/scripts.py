"""The script of the report, joined from the modules in `assets/report`.

A report is opened from a disk, where browsers refuse to load modules. So all modules become one ordinary script with
one scope. What would mean something else in one scope is refused, as a name that two modules have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple, NoReturn

START = "start.js"

_IMPORT = re.compile(r'^import \{ ([\w$]+(?:, [\w$]+)*) \} from "\./([\w-]+\.js)";$', re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(const|let|class|function\*?|async function) ([\w$]+)", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|class|function\*?|async function) [\w$])", re.MULTILINE)
_OTHER_FORM = re.compile(r"^\s*(?:import|export)\b.*|^(?:const|let) *[\[{].*|^var\b.*|\bimport *[(.].*", re.MULTILINE)


class Module(NamedTuple):
    """A module in parts: what it imports from which module, its names, and its code without imports and exports."""

    imports: tuple[tuple[str, tuple[str, ...]], ...]
    names: tuple[str, ...]
    exports: frozenset[str]
    code: str


@cache
def read_report_script() -> str:
    """The script that a report has as `report.js`."""
    return join_modules(read_modules())


def read_modules() -> dict[str, str]:
    """The source of each module of the report by its file name."""
    directory = files("pytest_webeval.reports.html").joinpath("assets", "report")
    sources = ((path.name, path.read_text(encoding="utf-8")) for path in directory.iterdir())
    return {name: source for name, source in sorted(sources) if name.endswith(".js")}


def join_modules(sources: Mapping[str, str], start: str = START) -> str:
    """One strict script of a module and all that it imports, each after its imports.

    Raises `ValueError` for modules that would behave in another way when they are joined.
    """
    modules = {name: parse_module(name, source) for name, source in sources.items()}
    order: dict[str, None] = {}  # each after those that it imports

    def visit(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            circle = " -> ".join((*importers[importers.index(name) :], name))
            _refuse(importers[-1], f"circular import {circle}", "pass a callback instead")
        if name in order:
            return
        for imported, names in modules[name].imports:
            if imported not in modules:
                _refuse(name, f"import of {imported}, which does not exist", "correct the file name")
            if missing := [each for each in names if each not in modules[imported].exports]:
                _refuse(name, f"import of '{missing[0]}', which {imported} does not export", "export it there")
            visit(imported, (*importers, name))
        order[name] = None

    visit(start, ())
    owners: dict[str, str] = {}  # of names: joined, the modules share one scope
    for module in order:
        for name in modules[module].names:
            if name in owners:
                _refuse(module, f"'{name}' is also a name of {owners[name]}", "rename one of them")
            owners[name] = module
    parts = (f"// {name}\n{modules[name].code}" for name in order)
    return '(() => {\n"use strict";\n\n' + "\n".join(parts) + "})();\n"


def parse_module(name: str, source: str) -> Module:
    """The parts of a module. Raises `ValueError` for forms of import and export that cannot be joined."""
    code = _EXPORT.sub("", _IMPORT.sub("", source))
    if other := _OTHER_FORM.search(code):
        form = other.group().strip()
        _refuse(name, f"unsupported form '{form}'", 'use import { a } from "./b.js"; and export before one name')
    declarations = _DECLARATION.findall(source)
    return Module(
        imports=tuple((match[2], tuple(match[1].split(", "))) for match in _IMPORT.finditer(source)),
        names=tuple(declared for _, _, declared in declarations),
        exports=frozenset(declared for exported, _, declared in declarations if exported),
        code=code.strip() + "\n",
    )


def _refuse(module: str, problem: str, advice: str) -> NoReturn:
    raise ValueError(f"cannot join report/{module}: {problem}; {advice}")
