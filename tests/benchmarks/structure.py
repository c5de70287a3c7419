"""Count what one has to read of the package, and what happens to a failing run: `python -m tests.benchmarks.structure`.

The run is 106 of the example suite. Calls are those of functions of the package while pytest runs its test. A value
visits a call if one of its arguments holds the value, in whatever it is stored.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pytest_webeval"
FIRST, RUN = "105", "106"  # two that fail: what the first imports does not count
VALUE = "price_desc"  # which is in the HAR of the run, where another value is expected
MOST_DEPTH = 6  # of what is searched for the value
SESSION = (
    "-q",
    "-p",
    "no:cacheprovider",
    "--webeval-runs=example_suite/runs",
    "--webeval-config=example_suite/config.json",
    f"-k[{FIRST}] or [{RUN}]",
)


def count_sources(package: Path = PACKAGE) -> dict[str, float]:
    """Lines, modules, modules of the largest folder but `values`, and the share of private functions used once."""
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    folders = Counter(path.parent for path in texts if path.parent.name != "values")
    functions, uses = 0, Counter[str]()
    private: set[str] = set()
    for text in texts.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions += 1
                private |= {node.name} if node.name.startswith("_") and not node.name.startswith("__") else set()
            elif isinstance(node, ast.Name | ast.Attribute):
                uses[node.id if isinstance(node, ast.Name) else node.attr] += 1
    return {
        "lines": sum(text.count("\n") for text in texts.values()),
        "modules": len(texts),
        "modules of the largest folder": max(folders.values()),
        "private functions used once, %": round(100 * sum(uses[name] == 1 for name in private) / functions, 1),
    }


class CallCount:
    """Plugin of pytest that counts calls while a test runs."""

    def __init__(self) -> None:
        self.calls = self.visits = 0
        self.modules: set[str] = set()
        self.visited: set[str] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count from the first to the last phase of the run."""
        sys.setprofile(self._count if item.path.name == RUN else None)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    def _count(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event != "call" or not path.startswith(str(PACKAGE)):
            return
        self.calls += 1
        self.modules.add(path)
        arguments = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        if any(_holds(frame.f_locals.get(name)) for name in arguments):
            self.visits += 1
            self.visited.add(path)


def _holds(value: Any, depth: int = MOST_DEPTH) -> bool:
    if isinstance(value, str | bytes | msgspec.Raw):
        return VALUE in value if isinstance(value, str) else VALUE.encode() in bytes(value)
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = (part for pair in value.items() for part in pair)
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif isinstance(value, msgspec.Struct):
        parts = (getattr(value, name, None) for name in value.__struct_fields__)
    return depth > 0 and any(_holds(part, depth - 1) for part in parts)


def count_calls() -> dict[str, float]:
    """Calls and modules of one failing run, and those that one value of its HAR visits; in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.structure", "--calls"]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # sets have one order
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    counts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return counts


def _run_session(output: str) -> dict[str, float]:
    count = CallCount()
    pytest.main([*SESSION, f"--webeval-output={output}"], plugins=[count])
    return {
        "calls of one failing run": count.calls,
        "modules of one failing run": len(count.modules),
        "calls that one value visits": count.visits,
        "modules that one value visits": len(count.visited),
    }


def main() -> None:
    """Print the counts; with `--calls` alone those of a session, as JSON."""
    if "--calls" in sys.argv:
        import tempfile

        with tempfile.TemporaryDirectory() as output:
            print(f"\n{json.dumps(_run_session(output))}")
        return
    for name, count in (count_sources() | count_calls()).items():
        print(f"{count:>10,}  {name}")


if __name__ == "__main__":
    main()
