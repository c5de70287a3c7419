"""SECURITY.md names, for each promise, tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = re.findall(r"^\| (\d) \| [^|]+ \| ([^|]+) \|$", PAGE, re.MULTILINE)


def test_each_promise_names_tests():
    promises = re.findall(r"^(\d)\. \*\*", PAGE, re.MULTILINE)
    assert len(promises) >= 8
    assert sorted({number for number, _ in ROWS}) == promises


def test_the_tests_exist():
    for _, cell in ROWS:
        for name in re.findall(r"`(tests/[^`]+)`", cell):
            file, _, function = name.partition("::")
            assert (f"def {function}(" if function else "def test_") in (ROOT / file).read_text("utf-8"), name
