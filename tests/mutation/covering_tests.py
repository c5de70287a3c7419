"""Which tests run which lines of the code, and how long they take: a mutant meets only tests that can notice it.

`python -m tests.mutation.covering_tests OUT.json MODULE...` runs all unit tests and measures the modules.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from coverage import Coverage

TESTS = "tests/unit"
FEW = 15  # tests that a mutant meets first


class Recorder:
    """A plugin that tells the measurement which test function runs, and adds up how long each takes."""

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test with its fixtures."""
        name, started = item.nodeid.partition("[")[0], time.perf_counter()
        self.coverage.switch_context(name)
        try:
            return (yield)
        finally:
            self.coverage.switch_context("")
            self.seconds[name] += time.perf_counter() - started


@dataclass(frozen=True)
class CoveringTests:
    """Test functions, the fastest first, and for each module and line the numbers of those that run it."""

    names: list[str]
    lines: dict[str, dict[int, list[int]]]

    @classmethod
    def load(cls, path: Path) -> CoveringTests:
        """What the command wrote."""
        names, modules = json.loads(path.read_text())
        lines = {module: {int(line): tests for line, tests in rows.items()} for module, rows in modules.items()}
        return cls(names, lines)

    def find_stages(self, module: str, first: int, last: int) -> list[tuple[str, ...]]:
        """The tests that a change in these lines meets, one list after the other.

        Lines that run only at import may change what any test sees, so that all tests come last there.
        """
        rows = self.lines.get(module, {})
        numbers = {number for line in range(first, last + 1) for number in rows.get(line, ())}
        if numbers:
            return self._split(numbers)
        in_module = {number for row in rows.values() for number in row}
        return [*_find_tests_of(module), *self._split(in_module), (TESTS,)]

    def _split(self, numbers: set[int]) -> list[tuple[str, ...]]:
        names = tuple(self.names[number] for number in sorted(numbers))
        return [part for part in (names[:FEW], names[FEW:]) if part]


def _find_tests_of(module: str) -> list[tuple[str, ...]]:
    """The test file that mirrors a module, if there is one."""
    path = Path(module)
    file = Path(TESTS, *path.parent.parts[1:], f"test_{path.name}")
    return [(str(file),)] if file.is_file() else []


def measure(modules: list[str]) -> tuple[list[str], dict[str, dict[int, list[int]]]]:
    """Run all unit tests. Raises `RuntimeError` where one fails."""
    coverage = Coverage(data_file=None, include=[str(Path(module).resolve()) for module in modules], config_file=False)
    recorder = Recorder(coverage)
    coverage.start()
    options = ("-q", "--tb=short", "-p", "no:cacheprovider", "-p", "pytest_webeval.plugin.entry")
    status = pytest.main([*options, TESTS], plugins=[recorder])
    coverage.stop()
    if status:
        raise RuntimeError(f"{TESTS} fail before anything is changed; fix them first")
    names = sorted(recorder.seconds, key=lambda name: recorder.seconds[name])
    numbers = {name: number for number, name in enumerate(names)}
    data = coverage.get_data()
    return names, {
        os.path.relpath(file): {
            line: sorted(numbers[name] for name in contexts if name)
            for line, contexts in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(measure(sys.argv[2:])))
