"""Agents that buy notebooks in the example shop, well or badly, and a project with a live test for each."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SUITE = Path(__file__).parents[2] / "example_suite"
TASK = 108  # put 5 notebooks into the cart
WALL_TIME = re.compile(rb'"wall_time": [0-9.e-]+')
HELPERS = """
import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_webeval.errors import SettingsError


def buy(recording, quantity="5", page=None):
    page = page or recording.page
    page.goto(f"{recording.start_url}/product/dot-notebook")
    page.get_by_label("Quantity").fill(quantity)
    page.get_by_role("button", name="Add to cart").click()


async def buy_async(recording, context):
    page = context.pages[0] if context.pages else await context.new_page()
    await page.goto(f"{recording.start_url}/product/dot-notebook")
    await page.get_by_label("Quantity").fill("5")
    await page.get_by_role("button", name="Add to cart").click()


def descendants(pid):
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from descendants(child)


def let_time_pass():
    signal.setitimer(signal.ITIMER_REAL, 0.1, 5)  # as if the time limit of the test were nearly over


def kill_browser():
    names = {pid: Path(f"/proc/{pid}/comm").read_text() for pid in list(descendants(os.getpid()))}
    os.kill(next(pid for pid, name in names.items() if "chrom" in name), signal.SIGKILL)
    time.sleep(0.5)
"""


@dataclass
class Project:
    """A project with live tests. Each task of the file is usually to buy 5 notebooks, and is named after its test."""

    pytester: pytest.Pytester

    @property
    def runs(self) -> Path:
        """Where its tests record."""
        return self.pytester.path / "runs"

    def write(self, tests: str, task_id: int = TASK) -> None:
        """Write the tests, and a task for each that is a copy of one of the example suite."""
        self.pytester.makepyfile(test_agents=HELPERS + tests)
        definitions = json.loads((SUITE / "runs/tasks.json").read_text())
        task = next(each for each in definitions if each["task_id"] == task_id)
        names = re.findall(r"def test_(\w+)", tests)
        (self.pytester.path / "tasks.json").write_text(json.dumps([task | {"task_id": name} for name in names]))

    def record(self, *arguments: str) -> pytest.RunResult:
        """Let the agents work."""
        return self._run("--webeval-record=runs", *arguments)

    def score(self, *arguments: str) -> pytest.RunResult:
        """Score what they left."""
        return self._run("--webeval-runs=runs", *arguments)

    def _run(self, *arguments: str) -> pytest.RunResult:
        config = f"--webeval-config={self.pytester.path / 'config.json'}"
        return self.pytester.runpytest_subprocess(config, "-p", "no:cacheprovider", *arguments)

    def files(self, name: str) -> set[str]:
        """The names of the files of a run."""
        return {path.name for path in (self.runs / name).iterdir()}

    def read(self, name: str, file: str) -> Any:
        """A JSON file of a run."""
        return json.loads((self.runs / name / file).read_bytes())

    def statuses(self) -> dict[str, str]:
        """The verdict on each run."""
        paths = sorted(self.runs.rglob("eval_result.json"))
        return {path.parent.name: json.loads(path.read_bytes())["status"] for path in paths}

    def results(self) -> dict[str, bytes]:
        """The result files, without the time that scoring took."""
        return {path.parent.name: WALL_TIME.sub(b"", path.read_bytes()) for path in self.runs.rglob("eval_result.json")}


@contextmanager
def open_shop(config: Path) -> Iterator[None]:
    """Let the example shop listen on a free port, and write the configuration that says where."""
    sys.path.insert(0, str(SUITE))
    try:
        from shop.sites import fresh_sites
    finally:
        sys.path.remove(str(SUITE))
    with fresh_sites(0, 0) as urls:
        config.write_text(json.dumps(urls.as_config()))
        yield
