"""What the README shows works as it stands there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval.tasks.task import read_task

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if re.match("pytest (?!tests/)", line)]


@pytest.fixture
def place(tmp_path):
    """A directory with all that the commands name: runs, a configuration, the suite and a data set package."""
    ignore = shutil.ignore_patterns("eval_*.json", "__pycache__", "shop")
    shutil.copytree(ROOT / "example_suite", tmp_path / "example_suite", ignore=ignore)
    shutil.copytree(tmp_path / "example_suite/runs", tmp_path / "runs")
    shutil.copytree(tmp_path / "example_suite/trajectories/runs", tmp_path / "eval/runs")
    shutil.copy(tmp_path / "example_suite/conftest.py", tmp_path)
    shutil.copy(tmp_path / "example_suite/config.json", tmp_path)
    package = tmp_path / "webarena_verified"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(tmp_path / "runs/tasks.json", package / "webarena-verified.json")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_pytest_command_scores_runs(command, place):
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert re.search(r"^[1-9]\d* scored:", done.stdout, re.MULTILINE), done.stdout


def test_there_are_commands_to_run():
    assert len(COMMANDS) >= 6


def test_the_python_example_prints_what_it_scored():
    done = subprocess.run(
        [sys.executable, "-c", *blocks("python")[-1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 of 2\n"


def test_the_example_of_trajectories_prints_what_became_of_each():
    (example,) = [block for block in blocks("python") if "run.trajectory" in block]
    done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 7
    assert "books_find_7 completed ['web_search', 'left_click', 'terminate'] 25.5" in lines


def test_the_task_example_is_a_task():
    examples = [json.loads(block) for block in blocks("json")]
    assert [read_task(example, "README").task_type for example in examples] == ["NAVIGATE"]


def test_the_evaluators_shown_are_those_of_the_example_suite():
    assert (ROOT / "example_suite/conftest.py").read_text("utf-8") in blocks("python")


def test_the_manual_of_fixtures_is_printed(place):
    command = [sys.executable, "-m", "pytest", "--fixtures", "--webeval-runs=runs", "--rootdir=."]
    done = subprocess.run(command, cwd=place / "runs/..", capture_output=True, text=True, check=True)
    manual = README.partition("is the manual of all fixtures:")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", manual)
    assert len(named) == 10
    for name in named:
        assert re.search(rf"^{name}\b", done.stdout, re.MULTILINE), name


def test_every_option_of_the_table_exists(place):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], cwd=place, capture_output=True, text=True, check=True
    )
    options = set(re.findall(r"--webeval-[\w-]+", done.stdout))
    named = set(re.findall(r"--webeval-[\w-]+", README))
    assert len(named) > 10
    assert named <= options
