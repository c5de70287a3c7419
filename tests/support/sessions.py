"""Sessions of pytest in processes of their own, and the files that they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# Without plugins that see each phase of a test, as most users have none, and without a cache directory.
PLAIN = ("-pno:cacheprovider", "-pno:hypothesispytest", "-pno:benchmark", "-pno:rerunfailures")


def read_files(root: Path, pattern: str = "eval_*.json") -> dict[str, Any]:
    """The results, and the summary, below a directory by their place, without what differs between two sessions."""
    files: dict[str, Any] = {}
    for path in sorted(root.rglob(pattern)):
        files[path.relative_to(root).as_posix()] = without_times(json.loads(path.read_bytes()))
    return files


def without_times(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a result or summary without what differs between two sessions."""
    content.pop("timestamp", None)
    content["webeval"].update(wall_time=0, slowest=[])
    for row in content.get("task_results", ()):
        row.pop("wall_time", None)
    return content
