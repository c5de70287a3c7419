"""Compare what two versions of the package write about the same runs.

`python -m tests.equivalence.compare_sessions BEFORE AFTER` takes two checkouts. It scores the example suite, its
trajectories and the hostile corpus with each, and compares every result and summary file. It prints each kind of
difference with an example, and exits with 1 for a difference that `EXPECTED` does not list.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
# Members that differ between any two sessions, or between any two versions of the code.
IGNORED = {"timestamp", "wall_time", "slowest", "webarena_verified_evaluator_checksum", "evaluator_checksums"}
# Differences that are meant: where (a pattern for the path of the member), what was there, what is there now.
EXPECTED: list[tuple[str, str, str]] = []
SUITES = {
    "example": ["--webeval-runs=example_suite/runs", "--webeval-config=example_suite/config.json"],
    "trajectories": [
        "--webeval-runs=example_suite/trajectories",
        "--webeval-tasks=example_suite/trajectories/tasks.tsv",
    ],
    "hostile": [
        *("-c", "pytest.ini", "-p", "no:hypothesispytest"),
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
    unexpected = [kind for kind in kinds if not is_expected(*kind)]
    for where, before, after in sorted(kinds):
        names = kinds[where, before, after]
        mark = "DIFFERENT" if (where, before, after) in unexpected else "as meant"
        print(f"{mark}: {where}: {before} -> {after} ({len(names)} files, first {names[0]})")
    print(f"{files} files compared, {len(kinds)} kinds of differences, {len(unexpected)} of them not expected")
    return bool(unexpected)


def score(tree: Path, suite: str, scratch: Path) -> Path:
    """Score a suite with the package of a checkout. Returns the directory with the results."""
    place = scratch / suite / str(len(list(scratch.glob(f"{suite}/*"))))
    place.mkdir(parents=True)
    root = hostile_corpus(scratch) if suite == "hostile" else PROJECT
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *SUITES[suite]]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        [*command, f"--webeval-output={place}"], cwd=root, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise SystemExit(
            f"{suite} with {tree}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        )
    return place


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
        for where, old, new in compare(*trees, "$"):
            yield name, (re.sub(r"\[\d+\]", "[*]", where), shortened(old), shortened(new))


def read(path: Path) -> Any:
    """The content of a JSON file, None if there is none. Paths of the scratch directory are taken out."""
    if not path.is_file():  # a recording may have a directory of that name
        return None
    place = re.escape(str(Path(tempfile.gettempdir())))
    return json.loads(re.sub(place + r"/tmp\w+/\w+/\d+", "OUTPUT", path.read_text("utf-8", "surrogatepass")))


def compare(old: Any, new: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    """Places where two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in IGNORED:
                yield from compare(old.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from compare(before, after, f"{where}[{index}]")
    elif old != new:
        yield where, old, new


def shortened(value: Any) -> str:
    """A value in one line."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 200 else f"{text[:200]}…"


def is_expected(where: str, old: str, new: str) -> bool:
    """Whether a difference is one that is meant."""
    return any(all(map(re.fullmatch, row, (where, old, new))) for row in EXPECTED)


if __name__ == "__main__":
    sys.exit(main())
