"""What a conftest.py says of verdicts, where a session without pytest would not read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_webeval.errors import SettingsError

CONFTEST = "conftest.py"
FORMATS = frozenset({"pytest_webeval_recognize"})
EVALUATORS = frozenset(
    {
        "webeval_evaluators",
        "webeval_network_event",
        "webeval_request_pattern",
        "webeval_response",
        "webeval_rubric",
    }
)
_LARGEST = 2**20  # bytes


def refuse_conftest(roots: Sequence[Path], here: Path, *, has_evaluators: bool) -> None:
    """Raise `SettingsError` for a conftest.py whose evaluators or formats pytest would use for the runs."""
    advice = {FORMATS: "score with pytest"}
    if not has_evaluators:
        advice[EVALUATORS] = "pass evaluators with --evaluators-from=MODULE, or score with pytest"
    directories = {here, *here.parents, *(parent for root in roots for parent in root.parents)}
    inside = {directory for directory in directories for root in roots if directory.is_relative_to(root)}
    for path in (directory / CONFTEST for directory in sorted(directories - inside)):  # those in a root are never read
        names = set(_list_names(path))
        for unread, what_to_do in advice.items():
            if defined := sorted(names & unread):
                raise SettingsError(f"{path} defines {', '.join(defined)}, which `score` does not read; {what_to_do}")


def _list_names(path: Path) -> Iterator[str]:
    """What a module next to others defines or imports; nothing for one that cannot be read: pytest complains of it."""
    for node in _list_nodes(path):
        yield from _name_node(node)
        for module in _list_sources(node):
            for inner in _list_nodes(path.parent.joinpath(*module.split(".")).with_suffix(".py")):
                yield from _name_node(inner)


def _list_nodes(path: Path) -> list[ast.AST]:
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            return list(ast.walk(ast.parse(path.read_bytes())))
    return []


def _list_sources(node: ast.AST) -> list[str]:
    """The modules of which all names count: `from evaluators import *`, and `pytest_plugins = ["evaluators"]`."""
    if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == "*" for alias in node.names):
        return [node.module]
    if isinstance(node, ast.Assign) and "pytest_plugins" in _name_node(node):
        return [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return []


def _name_node(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        keywords = (each for call in node.decorator_list if isinstance(call, ast.Call) for each in call.keywords)
        return [node.name, *(str(each.value.value) for each in keywords if isinstance(each.value, ast.Constant))]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []
