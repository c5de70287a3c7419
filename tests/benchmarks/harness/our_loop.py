"""Scores a run root with the Python API, in one process.

    python our_loop.py RUNS TASKS CONFIG

The package is the one that the interpreter has installed.
"""

from __future__ import annotations

import sys

from pytest_webeval import load_sites, load_tasks, score_runs


def main(runs: str, tasks: str, config: str) -> None:
    """Score each run and write its result."""
    for _ in score_runs(runs, load_tasks(tasks), load_sites(config)):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
