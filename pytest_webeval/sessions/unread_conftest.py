"""What a conftest.py says of verdicts, where a session without pytest would not read it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Iterator
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


def refuse_conftest(roots: Iterable[Path], here: Path, *, has_evaluators: bool) -> None:
    """Raise `SettingsError` for a conftest.py whose evaluators or formats pytest would use for the runs."""
    advice = {FORMATS: "score with pytest"}
    if not has_evaluators:
        advice[EVALUATORS] = "pass evaluators with --evaluators-from=MODULE, or score with pytest"
    for path in _list_conftests(roots, here):
        names = set(_list_names(path))
        for unread, what_to_do in advice.items():
            if defined := sorted(names & unread):
                raise SettingsError(f"{path} defines {', '.join(defined)}, which `score` does not read; {what_to_do}")


def _list_conftests(roots: Iterable[Path], here: Path) -> list[Path]:
    """Those in the current directory, and between it and the run roots. Those in a root are never read."""
    directories = {here}
    for root in roots:
        directories.update(parent for parent in root.parents if parent.is_relative_to(here))
    inside = {directory for directory in directories for root in roots if directory.is_relative_to(root)}
    return [directory / CONFTEST for directory in sorted(directories - inside)]


def _list_names(path: Path) -> Iterator[str]:
    """What a module defines or imports by name; nothing for one that cannot be read, about which pytest complains."""
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        if path.is_file() and path.stat().st_size <= _LARGEST:
            for node in ast.parse(path.read_bytes()).body:
                yield from _name_statement(node)


def _name_statement(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
        keywords = (each for call in node.decorator_list if isinstance(call, ast.Call) for each in call.keywords)
        yield from (str(each.value.value) for each in keywords if isinstance(each.value, ast.Constant))
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
