"""Sessions of pytest with a report over the example suite, each in a process of its own."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.sessions import PLAIN

SUITE = Path(__file__).parents[2] / "example_suite"
LEFT_OUT = shutil.ignore_patterns("eval_*.json", "__pycache__", "shop", "agents", "screenshots")
RUNS = ("--webeval-runs=suite/runs", "--webeval-config=suite/config.json")
TRAJECTORIES = ("--webeval-runs=suite/trajectories/runs", "--webeval-tasks=suite/trajectories/tasks.tsv")
SECONDS = 300


@dataclass(frozen=True)
class Session:
    """One that was called in a directory and has ended, with the report that it left there."""

    directory: Path
    printed: str

    @property
    def page(self) -> Path:
        """The first page of the report."""
        return self.directory / "report" / "index.html"

    @property
    def index(self) -> dict[str, Any]:
        """What it says, with a dict for each row."""
        found = re.search(r'id="webeval-index">(.*?)</script>', self.page.read_text("utf-8"), re.DOTALL)
        index = json.loads(found[1])
        return index | {"rows": [dict(zip(index["columns"], row, strict=True)) for row in index["rows"]]}

    def label(self, ending: str) -> str:
        """The label of the one run whose label ends so."""
        (label,) = [row["run"] for row in self.index["rows"] if row["run"].endswith(ending)]
        return label

    def scored_by(self, command: str) -> set[str]:
        """The runs that a command of the report scores when it is called where the session was called."""
        for path in self.directory.rglob("eval_summary*.json"):
            path.unlink()
        called(self.directory, *shlex.split(command)[1:])
        (path,) = self.directory.rglob("eval_summary.partial.json")
        return {row["run"] for row in json.loads(path.read_bytes())["task_results"]}


def copied(directory: Path) -> Path:
    """The directory with a copy of the example suite in it."""
    shutil.copytree(SUITE, directory / "suite", ignore=LEFT_OUT)
    (directory / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n", "utf-8")
    return directory


def scored(directory: Path, *options: str) -> Session:
    """A session there that writes a report."""
    return Session(directory, called(directory, *PLAIN, "-q", *options, "--webeval-report=report"))


def called(directory: Path, *arguments: str) -> str:
    """What pytest prints there. A session that could not score the runs is no session."""
    command = [sys.executable, "-m", "pytest", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout
