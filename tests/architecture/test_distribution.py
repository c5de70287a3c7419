"""What hatchling packs: it leaves out each file that .gitignore names, tracked or not."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_no_file_of_the_package_is_ignored():
    lines = (PROJECT / ".gitignore").read_text().splitlines()
    patterns = [line.strip("/") for line in lines if not line.startswith("/")]
    paths = (path.relative_to(PROJECT) for path in (PROJECT / "pytest_webeval").rglob("*"))
    names = {part for path in paths if "__pycache__" not in path.parts for part in path.parts}
    ignored = {name: pattern for name in sorted(names) for pattern in patterns if fnmatch(name, pattern)}

    assert "eval_result.json" in patterns
    assert ignored == {}
