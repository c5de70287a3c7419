"""Runs of the example suite are judged by replies that are committed, and nobody is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STORE = ROOT / "example_suite/judge_replies"
REPLIES = ("--webeval-judge=example-judge", "--webeval-judge-replies=example_suite/judge_replies")
REFUSED = 99
# A plugin that ends a session where it connects to a server, or imports the client of one.
GUARD = f"""
import os
import sys


def refuse(event, arguments):
    if event == "socket.connect" or (event == "import" and arguments[0].partition(".")[0] == "openai"):
        os._exit({REFUSED})


sys.addaudithook(refuse)
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """A directory with a copy of the example suite."""
    directory = tmp_path_factory.mktemp("judged")
    ignore = shutil.ignore_patterns("eval_*.json", "__pycache__", "shop", "screenshots")
    shutil.copytree(ROOT / "example_suite", directory / "example_suite", ignore=ignore)
    (directory / "pytest.ini").write_text("[pytest]\nwebeval_config = example_suite/config.json\n", "utf-8")
    (directory / "guard.py").write_text(GUARD, "utf-8")
    return directory


def score(suite, *arguments):
    """A session that may neither connect to a server nor import the client of one, without a key."""
    command = [sys.executable, "-m", "pytest", "-p", "guard", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI")}
    environment["PYTHONPATH"] = os.pathsep.join([str(suite), str(ROOT)])
    return subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_there_is_a_reply_about_the_trajectory_without_a_verdict(suite):
    roots = ("--webeval-runs=example_suite/trajectories", "--webeval-tasks=example_suite/trajectories/tasks.tsv")
    done = score(suite, *roots, *REPLIES, "-k", "books_old_1")
    assert "1 passed" in done.stdout
    assert "judge example-judge (rubric 1): 1 run judged, 1 reply" in done.stdout


def test_a_session_that_asks_a_server_would_be_noticed(suite):
    done = score(suite, "--webeval-runs=example_suite/unjudged", *REPLIES, "--webeval-judge-mode=live")
    assert done.returncode == REFUSED


def test_the_script_writes_the_replies_that_are_committed(tmp_path):
    script = [sys.executable, str(ROOT / "example_suite/record_judge_replies.py"), "--output", str(tmp_path / "new")]
    subprocess.run(script, check=True, capture_output=True, timeout=120)
    written = read_files(tmp_path / "new")
    assert len(written) == 4
    assert written == read_files(STORE)


def read_files(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
