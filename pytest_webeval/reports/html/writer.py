"""Our own report as files: one page of static HTML, its style, its script, and a script for each task.

A report is opened from a disk, where browsers refuse to load modules. So all modules in `assets/report` become one
ordinary script with one scope. What would mean something else in one scope is refused, as a name that two modules have.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from pytest_webeval.errors import SettingsError
from pytest_webeval.results import WORST_FIRST
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import to_compact_json
from pytest_webeval.safety.text import escape_surrogates, sanitize, truncate
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.storage import to_json_bytes, write_in_place, write_text

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


_LONGEST = 2_000  # characters of one text in what is written as HTML; the index holds all of it
_OUTCOMES = ("success", "partial_match", "failure", "error", "excluded")
_POLICY = "default-src 'none'; script-src {script}; style-src {style}; img-src 'self' data:; {forms}"
STATIC_POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
PICTURE_POLICY = STATIC_POLICY.replace("img-src data:", "img-src 'self' data:")  # of a static page with screenshots
ADVICE = "choose another directory with --webeval-report"
_FORMS = "base-uri 'none'; form-action 'none'"
# Inside JSON these stand in texts only; each would mean something to HTML or to old JavaScript.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def inert_json(value: Any) -> str:
    """JSON that is safe inside HTML: without tags, entities and ends of scripts."""
    encoded = to_compact_json(value)
    if encoded is not None:
        text = encoded.decode()
    else:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            text.encode()  # halves of surrogate pairs are no text that can be written
        except (ValueError, RecursionError):  # what is spelled in another way, or nests very deep, stays indented
            text = to_json_bytes(value).decode().rstrip()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def data_name(label: str) -> str:
    """The name of a task's script without its suffix, the same for the same run label."""
    return f"task-{sha256(label.encode('utf-8', 'backslashreplace'))[:16]}"


def events_name(label: str) -> str:
    """The name of the script with the details of a task's events, without its suffix."""
    return f"{data_name(label)}-events"


def task_script(label: str, data: Mapping[str, Any], function: str = "task") -> str:
    """A script that hands a function of the page what it shows of one task, or of its events.

    The JSON is a text in it: as an object of JavaScript, a key `__proto__` would be none.
    """
    return f"webeval.{function}({inert_json(label)}, '{quote_json(data)}');\n"


def quote_json(data: Any) -> str:
    """JSON as it stands between the apostrophes of a text in a script."""
    return inert_json(data).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


def write_page(index: Mapping[str, Any], directory: Path) -> None:
    """Write index.html, report.css and report.js into a directory, which is made where it is missing.

    Raises `SettingsError` if they cannot be written.
    """
    policy = _POLICY.format(script="'self'", style="'self'", forms=_FORMS)
    write_text(directory / "index.html", _render(index, policy=policy), advice=ADVICE)
    write_text(directory / "report.js", read_report_script(), advice=ADVICE)
    _write_style(directory)


PAGES = "data"  # the directory of the scripts of tasks
COPY = "report.html"  # the report as one file
COMPARISON, HISTORY, AUDIT = "comparison.html", "history.html", "audit.html"
_STATIC_MARK = 'name="generator" content="pytest-webeval '


def check_static_page(path: Path) -> None:
    """Raise `SettingsError` for a file that is no static page of ours."""
    try:
        is_other = path.exists() and _STATIC_MARK not in path.read_text("utf-8", "replace")[:2_000]
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror or error}; choose another directory") from error
    if is_other:
        raise SettingsError(f"{path} was not written by pytest-webeval; choose another directory or delete it")


def _write_style(directory: Path) -> None:
    """Write report.css, the style of all pages, into a directory. Raises `SettingsError`."""
    write_text(directory / "report.css", _read_asset("report.css"), advice=ADVICE)


def write_task(label: str, data: Mapping[str, Any], directory: Path) -> str:
    """Write the script of one task and return its name for the index."""
    name = data_name(label)
    write_in_place(directory / PAGES / f"{name}.js", task_script(label, data), ADVICE)
    return name


def write_events(
    label: str, events: Sequence[Mapping[str, Any]], headers: Sequence[Mapping[str, str]], directory: Path
) -> None:
    """Write the script with the details of a task's events, if any; their headers are positions in `headers`."""
    if events:
        script = task_script(label, {"headers": headers, "events": events}, "events")
        write_in_place(directory / PAGES / f"{events_name(label)}.js", script, ADVICE)


def write_single(index: Mapping[str, Any], scripts: Iterable[str], path: Path) -> None:
    """Write the page with its style, its script and the scripts of its tasks as one file."""
    write_text(path, single_page(index, scripts), advice=ADVICE)


def single_page(index: Mapping[str, Any], scripts: Iterable[str]) -> str:
    """That page. Without scripts it is as much smaller as these are long."""
    style, script, tasks = _read_asset("report.css"), read_report_script(), "".join(scripts)
    policy = _POLICY.format(script=f"{_hash(script)} {_hash(tasks)}", style=_hash(style), forms=_FORMS)
    return _render(index, policy=policy, style=style, script=script, tasks=tasks)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read_asset(name: str) -> str:
    return files("pytest_webeval.reports.html").joinpath("assets", name).read_text(encoding="utf-8")


def _render(index: Mapping[str, Any], policy: str, style: str = "", script: str = "", tasks: str = "") -> str:
    from markupsafe import Markup

    visible = escape_surrogates({**index, "rows": ()})
    assets = {"style": Markup(style), "script": Markup(script), "tasks": Markup(tasks)}  # noqa: S704  (own text, or inert)
    outcomes = [(status, visible["totals"].get(status, 0)) for status in _OUTCOMES]
    stacked: list[tuple[str, float, float]] = []  # left end and width of parts of the bar of all outcomes, in percent
    total, left = sum(count for _, count in outcomes) or 1, 0
    for status, count in outcomes:
        stacked.append((status, 100 * left / total, 100 * count / total))
        left += count
    view = {**visible, **assets} | {
        "policy": policy,
        "index": Markup(inert_json(index)),  # noqa: S704  (nothing in it means anything to HTML)
        "outcomes": outcomes,
        "stacked": stacked,
    }
    return _fill_template("index.html.jinja", view)


def write_static_page(path: Path, template: str, view: Mapping[str, Any]) -> Path:
    """Write a page without scripts from a template among the assets, with its style beside it. Returns its path.

    Raises `SettingsError` for a file that is no static page of ours, and if nothing can be written.
    """
    check_static_page(path)
    page = _fill_template(template, escape_surrogates({**view, "version": own_version()}))
    write_text(path, page, advice="choose another directory")
    _write_style(path.parent)
    return path


def _fill_template(name: str, view: Mapping[str, Any]) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(_read_asset))
    environment.filters["spelled"] = lambda value: sanitize(truncate(str(value), _LONGEST, is_marker_extra=True))
    environment.filters["counted"] = "{:,}".format
    return environment.get_template(name).render(**view)


def write_copy(index: Mapping[str, Any], directory: Path, budget: int) -> Path:
    """Write the single-file copy of a report and return its path.

    Runs that did not succeed come first. The list marks the runs whose pages do not fit. Raises `SettingsError`.
    """
    if "row_parts" in index:
        raise refuse_copy(index["row_parts"]["count"])
    columns: Sequence[str] = index["columns"]
    status, data = columns.index("status"), columns.index("data")
    least = len(single_page({**index, "embedded": True}, "\n").encode())
    if least > budget:
        problem = f"--webeval-report-embed: {budget:,} bytes are too few: the task list needs {least:,} bytes"
        raise SettingsError(f"{problem}; raise the limit to write {COPY}")
    left = budget - least
    scripts, rows = [], list(index["rows"])
    ranks = {str(each): rank for rank, each in enumerate(WORST_FIRST)}
    order = sorted(range(len(rows)), key=lambda position: ranks.get(rows[position][status], len(ranks)))
    for row_index in order:
        script = directory / PAGES / f"{rows[row_index][data]}.js"
        size = script.stat().st_size if script.is_file() else 0
        if size and size <= left:
            left -= size
            scripts.append(script.read_text("utf-8"))
        else:
            rows[row_index] = [None if position == data else value for position, value in enumerate(rows[row_index])]
    path = directory / COPY
    write_single({**index, "rows": rows, "embedded": True}, scripts, path)
    return path


def refuse_copy(count: int) -> SettingsError:
    """The error for a copy of a report of too many runs."""
    problem = f"--webeval-report-embed: {count:,} runs are too many for one file"
    return SettingsError(f"{problem}; share the directory of the report instead of {COPY}")
