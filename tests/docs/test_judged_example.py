"""The first command of the README judges runs of the example suite by replies that are committed, and asks nobody."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STORE = ROOT / "example_suite/judge_replies"
README = (ROOT / "README.md").read_text("utf-8")
FIRST = re.search(r"\.venv/bin/pytest (--webeval-runs=.*)\n```\n\n.*\n\n```text\n([^`]*)```", README)
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


@pytest.fixture(scope="module")
def session(suite):
    """What the first command of the README prints. It exits with 1 as some runs fail on purpose."""
    done = score(suite, *shlex.split(FIRST[1]))
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_the_command_prints_what_the_readme_shows(session):
    printed, shown = iter(session.splitlines()), FIRST[2].splitlines()
    assert len(shown) == 3
    assert not [line for line in shown if line not in printed]  # in this order


@pytest.mark.parametrize(
    ("task", "status", "points"), [("atlas_cart_1", "success", (7, 7)), ("atlas_price_3", "failure", (2.5, 9))]
)
def test_the_judge_decides_by_a_rubric_of_the_task_or_its_own(suite, session, task, status, points):
    result = read_result(suite, task)
    (rubric,) = result["evaluators_results"]
    assert (result["status"], rubric["evaluator_name"]) == (status, "RubricEvaluator")
    assert (rubric["actual"]["earned_points"], rubric["actual"]["max_points"]) == points
    assert rubric["actual"]["judge"]["model"] == "example-judge"


def test_a_run_that_shows_too_little_is_excluded(suite, session):
    facts = read_result(suite, "atlas_cart_2")["webeval"]
    assert facts["excluded"].startswith("not scored: the evidence does not suffice for the judge: ")
    assert facts["judge"]["failure"] == "uncertain"


def read_result(suite, task):
    return json.loads((suite / "example_suite/unjudged" / task / "eval_result.json").read_text("utf-8"))


@pytest.mark.whole
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
