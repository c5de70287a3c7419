"""Scores one run again and again, from its files to the bytes of its result.

    python hot_path.py DIRECTORY TIMES

The directory is that of a corpus with a single run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_webeval import load_run, load_sites, load_tasks, score
from pytest_webeval.results import Status
from pytest_webeval.storage import to_json_bytes


def main(directory: Path, times: int) -> None:
    """Score it; what is not a success would be no measure of anything."""
    tasks, sites = load_tasks(str(directory / "tasks.json")), load_sites(directory / "config.json")
    for _ in range(times):
        result = score(load_run(directory / "runs" / "1"), tasks, sites)
        to_json_bytes(result.to_json())
        assert result.status is Status.SUCCESS, result.error_msg


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
