"""The live test of the README and of the manual's page passes as it stands there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.browser.live_agents import SUITE, open_shop

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/how-to/record-and-score.md")
TEST = re.compile(r"^```python\n(import pytest\n.*?webeval_recording.*?)^```$", re.DOTALL | re.MULTILINE)
AWAITING = re.compile(r"^```python\n(import asyncio\n.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^pytest (--webeval-record=live .*)$", re.MULTILINE)


def test_the_page_shows_a_live_test_in_15_lines(pytester):
    tests, commands = set(), set()
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        tests.update(TEST.findall(text))
        commands.update(COMMAND.findall(text))
    ((test,), (command,)) = tests, commands
    assert len(test.splitlines()) <= 15
    (pytester.path / "example_suite/runs").mkdir(parents=True)
    shutil.copy(SUITE / "runs/tasks.json", pytester.path / "example_suite/runs")
    (awaiting,) = AWAITING.findall((ROOT / PAGES[1]).read_text("utf-8"))
    (pytester.path / "test_agent.py").write_text(test + awaiting)
    with open_shop(pytester.path / "example_suite/config.json"):
        pytester.runpytest_subprocess(*command.split()).assert_outcomes(passed=2)
    assert all((pytester.path / "live" / task / "network.har").exists() for task in ("107", "108"))
