"""Writes a tree of hostile directories, healthy ones among them, and what must become of each.

    python -m tests.hostile.write_corpus DIR [FAMILY ...]

DIR then holds the run roots `runs` (with `tasks.json`) and `alone` (whose runs bring definitions of their own), the
addresses of the sites in `config.json`, what nobody may touch in `bystanders`, and `manifest.jsonl` with a line for
each directory: its label, what it is, the outcome (`success`, `failure`, `error`, `skipped`, or several with a bar
between) and a pattern that its reason matches. Planted code that ran would have left `obeyed.txt`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

from tests.hostile.corpus import healthy, honest, table
from tests.hostile.corpus.cases import Case
from tests.support import recorded

SITES = {"environments": {"__SHOPPING__": {"urls": ["http://shop.test"]}}}
SAFE = "/-_.~+=@, "


def write(directory: Path, *families: str, every: int = 1) -> list[dict[str, str]]:
    """Write the corpus, or some families of it, or every so many of its directories. Returns the manifest."""
    bystanders = directory / "bystanders"
    bystanders.mkdir(parents=True)
    for name in ("victim.json", "victim.txt"):
        (bystanders / name).write_text(json.dumps(honest.answer()))
    honest.write(bystanders / "run", honest.asked())
    tasks: list[dict[str, object]] = []
    manifest = [_written(directory, *place, tasks) for place in _placed(families, every)]
    for name, content in (("runs/tasks.json", tasks), ("config.json", SITES)):
        (directory / name).write_bytes(json.dumps(content).encode())
    told = "".join(f"{json.dumps(line)}\n" for line in manifest)
    (directory / "manifest.jsonl").write_text(told)
    return manifest


def _placed(families: tuple[str, ...], every: int) -> Iterator[tuple[str, int, Case]]:
    """Each case with its family and number, the healthy ones spread among the others."""
    rows = [
        (name, case) for name, cases in table.FAMILIES.items() if name in (families or table.FAMILIES) for case in cases
    ]
    rows = rows[::every]
    for index, case in enumerate(healthy.CASES):  # from the end, so that places before it stay
        position = len(rows) * (len(healthy.CASES) - index) // len(healthy.CASES)
        rows.insert(position, ("healthy", case))
    return ((name, number, case) for number, (name, case) in enumerate(rows, 1001))


def _written(directory: Path, family: str, number: int, case: Case, tasks: list[dict[str, object]]) -> dict[str, str]:
    path = directory / case.root / family / (case.name or str(number))
    if case.write is not None:
        case.write(path)
    elif case.is_trajectory:
        path = directory / case.root / recorded.RUN / (case.name or f"{family}_{number}")
        recorded.write(path, **case.changed)
    else:
        task = {**case.task, "task_id": number}
        honest.write(path, task)
        (tasks.append if case.root == "runs" else lambda task: _define(path, task))(task)
    case.spoil(path)
    label = quote_from_bytes(os.fsencode(path.relative_to(directory)), safe=SAFE)
    return {"directory": label, "what": case.what, "outcome": case.outcome, "says": case.says}


def _define(path: Path, task: dict[str, object]) -> None:
    (path / "task.json").write_text(json.dumps(task))


if __name__ == "__main__":
    lines = write(Path(sys.argv[1]).absolute(), *sys.argv[2:])
    print(f"{len(lines)} directories")
