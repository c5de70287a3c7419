"""Compare what two versions of the package write about the same runs.

`python -m tests.equivalence.compare_sessions BEFORE AFTER` takes two checkouts. It scores the example suite, its
trajectories and the hostile corpus with each, and compares every result and summary file. It prints each kind of
difference with an example, and exits with 1 for a difference that `differences.py` and `reworded.txt` do not list.

`WEBEVAL_BEFORE=BEFORE pytest tests/parity -m whole -n 2` does the same for each result of the parity suite.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.equivalence.differences import compare
from tests.support.sessions import PLAIN

PROJECT = Path(__file__).parents[2]
SUITES = {
    "example": ["--webeval-runs=example_suite/runs", "--webeval-config=example_suite/config.json"],
    "trajectories": [
        "--webeval-runs=example_suite/trajectories",
        "--webeval-tasks=example_suite/trajectories/tasks.tsv",
    ],
    "hostile": [
        *("-c", "pytest.ini"),
        *("--webeval-runs=runs", "--webeval-runs=alone", "--webeval-config=config.json", "--webeval-own-tasks"),
    ],
}


def main() -> int:
    """Score all suites twice and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES, help="only these (default: all)")
    arguments = parser.parse_args()
    kinds: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    files = 0
    with tempfile.TemporaryDirectory() as scratch:
        for suite in arguments.suite or SUITES:
            places = [score(tree.resolve(), suite, Path(scratch)) for tree in (arguments.before, arguments.after)]
            for name, difference in differences(*places):
                kinds[difference].append(f"{suite}/{name}")
            files += sum(1 for _ in places[1].rglob("eval_*.json"))
    for (where, before, after), names in sorted(kinds.items()):
        print(f"{where}: {before} -> {after} ({len(names)} files, first {names[0]})")
    print(f"{files} files compared, {len(kinds)} kinds of differences")
    return bool(kinds)


def score(tree: Path, suite: str, scratch: Path) -> Path:
    """Score a suite with the package of a checkout. Returns the directory with the results."""
    place = scratch / suite / str(len(list(scratch.glob(f"{suite}/*"))))
    place.mkdir(parents=True)
    root = hostile_corpus(scratch) if suite == "hostile" else example_suite(scratch)
    command = [sys.executable, "-P", "-m", "pytest", "-q", *PLAIN, *SUITES[suite]]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        [*command, f"--webeval-output={place}"], cwd=root, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(
            f"{suite} with {tree}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
    return place


def example_suite(scratch: Path) -> Path:
    """A copy of the example suite without the project around it, whose ini file would put this package first."""
    directory = scratch / "copy"
    if not directory.exists():
        shutil.copytree(PROJECT / "example_suite", directory / "example_suite")
        (directory / "pytest.ini").write_text("[pytest]\n")
    return directory


def hostile_corpus(scratch: Path) -> Path:
    """The hostile corpus, written once."""
    directory = scratch / "corpus"
    if not directory.exists():
        command = [sys.executable, "-m", "tests.hostile.write_corpus", str(directory)]
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
        (directory / "pytest.ini").write_text("[pytest]\nwebeval_timeout = 20\n")
    return directory


def differences(before: Path, after: Path) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Each difference between two directories of results: the file, and path, old and new value of the member."""
    names = {path.relative_to(place).as_posix() for place in (before, after) for path in place.rglob("eval_*.json")}
    for name in sorted(names):
        trees = [read(place / name) for place in (before, after)]
        for where, old, new in compare(*trees):
            yield name, (where, old, new)


def read(path: Path) -> Any:
    """The content of a JSON file, None if there is none. Paths of the scratch directory are taken out."""
    if not path.is_file():  # a recording may have a directory of that name
        return None
    place = re.escape(str(Path(tempfile.gettempdir())))
    return json.loads(re.sub(place + r"/tmp\w+/\w+/\d+", "OUTPUT", path.read_text("utf-8", "surrogatepass")))


if __name__ == "__main__":
    sys.exit(main())
