"""Write the reference tables from the code: a line `% generated: NAME` in a page becomes the text of `PARTS[NAME]`."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

from definition_keys import EVALUATORS, Key, list_keys

import pytest_webeval
from pytest_webeval.lint.checks import CHECKS
from pytest_webeval.plugin import entry
from pytest_webeval.rules import QUIRKS, RULE_SETS, Quirk
from pytest_webeval.safety.limits import Limits
from pytest_webeval.schemas.registry import SCHEMAS, Schema
from pytest_webeval.tasks.task import DefinedTask
from pytest_webeval.values import VALUE_TYPES, value_type

MARK = re.compile(r"^% generated: (.+)$", re.MULTILINE)
# The parts of the Python API: a heading, and the modules whose public names belong there.
API = {
    "Find and score": ("api", "summary."),
    "Results": ("results", "exports."),
    "Tasks and sites": ("tasks.",),
    "Runs": ("recordings.",),
    "Evaluators": ("evaluators", "evaluators."),
    "Judges": ("judges.",),
    "Settings": ("rubrics.", "safety.", "sessions.", "redaction.", "rules"),
    "Errors": ("errors",),
}


class PytestParser:
    """Collects what the plugin declares, in place of pytest's own parser."""

    def __init__(self) -> None:
        self.flags: dict[str, tuple[str, str]] = {}  # by name: the flag with its metavar, and the help text
        self.keys: dict[str, tuple[str, str]] = {}  # by name: the type of the ini key, and the help text

    def getgroup(self, *_: object) -> PytestParser:
        """Return the group that collects the options: the parser itself."""
        return self

    def addoption(self, flag: str, **how: Any) -> None:
        """Collect one option."""
        shown = f"{flag}={how['metavar']}" if how.get("metavar") else flag
        self.flags[flag.removeprefix("--").replace("-", "_")] = shown, how["help"]

    def addini(self, name: str, text: str, **how: Any) -> None:
        """Collect one ini key."""
        self.keys[name] = how.get("type") or "string", text


def declared() -> PytestParser:
    """Return the options and ini keys, as the plugin declares them to pytest."""
    parser = PytestParser()
    entry.pytest_addoption(parser)  # type: ignore[arg-type]
    return parser


def option_table() -> str:
    """Write the options: flag, ini key, meaning."""
    parser = declared()
    rows = ((f"`{flag}`", _key(name, parser), text) for name, (flag, text) in parser.flags.items())
    return _table(("option", "ini key", "meaning"), rows)


def ini_table() -> str:
    """Write the ini keys that have no option."""
    parser = declared()
    keys = ((name, *how) for name, how in parser.keys.items() if name not in parser.flags)
    return _table(("ini key", "type", "meaning"), ((f"`{name}`", kind, text) for name, kind, text in keys))


def _key(name: str, parser: PytestParser) -> str:
    if name not in parser.keys:
        return "none"
    kind, _ = parser.keys[name]
    return f"`{name}`" if kind == "string" else f"`{name}` ({kind})"


def rule_table() -> str:
    """Write the quirks of the benchmarks' own code, and what each rule set does about them."""
    return _table(("quirk", "what happens", *RULE_SETS, "tasks of the data set"), map(_rule_row, QUIRKS))


def _rule_row(quirk: Quirk) -> tuple[str, ...]:
    text = f"{quirk.behaviour}; instead: {quirk.instead}" if quirk.instead else quirk.behaviour
    switch = f" (`{quirk.switch}`)" if quirk.switch else ""
    return quirk.number, _literal(text) + switch, *map(quirk.column, RULE_SETS), _literal(quirk.tasks)


def value_types() -> str:
    """Write the value types: name, what it is, what its canonical form is."""
    return _table(("type", "what it is", "how it is read"), map(_value_row, VALUE_TYPES))


def _value_row(name: str) -> tuple[str, str, str]:
    kind = value_type(name)
    if kind is None:
        raise LookupError(name)
    own = vars(kind).get("canonical") or vars(kind).get("read")
    return f"`{name}`", _paragraph(kind.__doc__), _paragraph(own.__func__.__doc__ if own else "")


def limit_table() -> str:
    """Write the limits with their defaults and the comments of their table."""
    about = dict(re.findall(r"^    (\w+): int = .*?# (.*)$", inspect.getsource(Limits), re.MULTILINE))
    rows = ((f"`{limit.name}`", _amount(limit.default), about[limit.name]) for limit in fields(Limits))
    return _table(("limit", "default", "what it bounds"), rows)


def _amount(number: Any) -> str:
    return f"{number // 2**20} MiB" if number >= 2**20 and number % 2**20 == 0 else str(number)


def lint_table() -> str:
    """Write the checks of the lint: name, what each reports, severity, and whether runs are errors."""
    rows = (
        (f"`{check.name}`", check.reports, check.severity.value + ", error of runs" * check.is_fatal)
        for check in CHECKS
    )
    return _table(("check", "reports", "severity"), rows)


def schema_table() -> str:
    """Write the schemas with their files; in brackets, names of files that only count where a user names them."""
    rows = ((f"`{schema.name}`", schema.title, _file_names(schema), _address(schema)) for schema in SCHEMAS)
    return _table(("name", "content", "files", "address"), rows)


def _file_names(schema: Schema) -> str:
    return ", ".join([*(f"`{name}`" for name in schema.patterns), *(f"(`{name}`)" for name in schema.generic)])


def _address(schema: Schema) -> str:
    return f"[{schema.published_name}]({schema.address})"


def publish_schemas(directory: Path) -> None:
    """Write all schemas into a directory, each under the last part of its address."""
    directory.mkdir(parents=True, exist_ok=True)
    for schema in SCHEMAS:
        (directory / schema.published_name).write_text(schema.text, "utf-8")


def task_keys() -> str:
    """Write the keys of a task."""
    return _key_table(list_keys(DefinedTask))


def eval_keys() -> str:
    """Write the keys of an entry of `eval`, evaluator by evaluator."""
    return "\n\n".join(f"## {name}\n\n{_entry_tables(list_keys(struct))}" for name, struct in EVALUATORS.items())


def _entry_tables(keys: list[Key]) -> str:
    """Write the table of an entry, and of what is expected in it."""
    inner = (
        f"`{key.name}` is an object, {key.meaning}:\n\n{_key_table(list_keys(key.inner))}" for key in keys if key.inner
    )
    return "\n\n".join([_key_table(keys), *inner])


def _key_table(keys: list[Key]) -> str:
    rows = ((f"`{key.name}`", _key_types(key), _key_default(key), key.meaning) for key in keys)
    return _table(("key", "type", "default", "meaning"), rows)


def _key_types(key: Key) -> str:
    types = (f"{kind} of strings" if kind == "array" and key.items else kind for kind in key.types)
    choices = f": {', '.join(f'`{choice}`' for choice in key.choices)}" if key.choices else ""
    return " or ".join(types) + choices


def _key_default(key: Key) -> str:
    if key.is_required:
        return "required"
    stands_for_none = key.at_least is not None or key.default in (None, "", [], {})
    return "none" if stands_for_none else f"`{json.dumps(key.default).strip(chr(34))}`"


def tolerances() -> str:
    """Write by how much values of each type may differ."""
    return _table(("type", "tolerance"), ((f"`{name}`", _tolerance(name)) for name in VALUE_TYPES))


def _tolerance(name: str) -> str:
    kind = value_type(name)
    return kind.tolerance if kind else ""


def fixtures() -> str:
    """Write the fixtures with their scopes and docstrings."""
    source = Path(import_module("pytest_webeval.plugin.fixtures").__file__ or "").read_text("utf-8")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return "\n\n".join(_fixture(node) for node in functions if _scope(node))


def _scope(node: ast.FunctionDef) -> str:
    """Return the scope of a fixture; empty for any other function."""
    for mark in node.decorator_list:
        scope = re.fullmatch(r"pytest\.fixture(?:\(.*?scope='(\w+)'.*\))?", ast.unparse(mark))
        if scope:
            return scope[1] or "function"
    return ""


def _fixture(node: ast.FunctionDef) -> str:
    returned = f", `{ast.unparse(node.returns)}`" if node.returns else ""
    return f"## {node.name}\n\n*{_scope(node)} scope{returned}*\n\n{inspect.cleandoc(ast.get_docstring(node) or '')}"


def api() -> str:
    """Write the public names, part by part, for autodoc."""
    parts = {title: [name for name in pytest_webeval.__all__ if _belongs(name, homes)] for title, homes in API.items()}
    missing = set(pytest_webeval.__all__) - {name for names in parts.values() for name in names}
    if missing:
        raise LookupError(f"no part of the API page for {', '.join(sorted(missing))}; add the module to API")
    return "\n\n".join(f"## {title}\n\n{_autodoc(names)}" for title, names in parts.items())


def _belongs(name: str, homes: Iterable[str]) -> bool:
    module = getattr(pytest_webeval, name).__module__.removeprefix("pytest_webeval.")
    return any(module.startswith(home) if home.endswith(".") else module == home for home in homes)


def _autodoc(names: Iterable[str]) -> str:
    kinds = ((name, inspect.isclass(getattr(pytest_webeval, name))) for name in names)
    lines = (f".. auto{'class' if is_class else 'function'}:: pytest_webeval.{name}" for name, is_class in kinds)
    return "\n".join(["```{eval-rst}", *lines, "```"])


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "\n".join(_line(row) for row in (head, ("---",) * len(head), *rows))


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _literal(text: str) -> str:
    """Keep Markdown from taking a plain text for markup."""
    return re.sub(r"([\\*_<>\[\]$^])", r"\\\1", text)


def _paragraph(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


PARTS: dict[str, Callable[[], str]] = {
    "options": option_table,
    "ini keys without an option": ini_table,
    "rules": rule_table,
    "value types": value_types,
    "task keys": task_keys,
    "eval keys": eval_keys,
    "tolerances": tolerances,
    "limits": limit_table,
    "fixtures": fixtures,
    "schemas": schema_table,
    "lint checks": lint_table,
    "python api": api,
}


def expand(text: str) -> str:
    """Return a page with each mark replaced by what it names. Raises `KeyError` for an unknown name."""
    return MARK.sub(lambda mark: PARTS[mark[1]](), text)


def _on_source_read(_app: object, _page: str, source: list[str]) -> None:
    source[0] = expand(source[0])


def _on_build_finished(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        publish_schemas(Path(app.outdir) / "schemas")


def _list_generated(app: Any, env: Any, added: Any, changed: Any, removed: Any) -> list[str]:  # noqa: ARG001
    """The pages with a mark, which are old whenever the code is new."""
    return [name for name in env.found_docs if MARK.search(Path(env.doc2path(name)).read_text("utf-8"))]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("source-read", _on_source_read)
    app.connect("build-finished", _on_build_finished)
    app.connect("env-get-outdated", _list_generated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
