"""`.ci/run` with programs that only note their calls: its order, its exit code and what it prints."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = ["lint", "types", "contracts", "docs"]
SUITES = ["libraries", "parity", "browser", "hostile", "rest"]
README = """
python3 -m venv .venv && .venv/bin/pytest --webeval-runs=example_suite/runs
python3 -m venv .venv && .venv/bin/pytest -n 2
"""
# Each call is noted; FAILING names the one that fails, and the first README command exits with 1 as it must.
NOTED = """#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >> "$CALLS"
case "$call" in *"$FAILING"*) exit 3 ;; esac
case "$call" in *"$SLOW"*) eval "$BEFORE_SLEEP"; exec sleep 30 ;; esac
case "$call" in *--webeval-runs=*) exit "$FIRST" ;; esac
"""
MAKE_ENVIRONMENT = """
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin"
  for name in pip pytest nox; do cp "$0" "$3/bin/$name"; done
fi
"""


@pytest.fixture
def run_ci(tmp_path):
    """Runs a copy of `.ci/run`; gives what it did and the calls that it made."""
    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine: .ci/run needs it")
    (tmp_path / ".ci").mkdir()
    script = (ROOT / ".ci/run").read_text("utf-8")
    (tmp_path / "README.md").write_text(README, "utf-8")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("python3", "chromium", "valgrind"):
        (programs / name).write_text(NOTED + MAKE_ENVIRONMENT, "utf-8")
        (programs / name).chmod(stat.S_IRWXU)

    def run(failing="no call at all", first=1, slow="no call at all", limit=600, before_sleep=""):
        quick = script.replace("$((35 * 60))", str(limit)).replace("--kill-after=30", "--kill-after=1")
        (tmp_path / ".ci/run").write_text(quick, "utf-8")
        calls = tmp_path / "calls"
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        env = os.environ | {"PATH": path, "CALLS": str(calls), "FAILING": failing, "SLOW": slow, "FIRST": str(first)}
        env["BEFORE_SLEEP"] = before_sleep
        command = ["bash", str(tmp_path / ".ci/run")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
        return done, calls.read_text("utf-8").splitlines()

    return run


def test_all_steps_run_in_order_and_their_times_are_printed(run_ci):
    done, calls = run_ci()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [call for call in calls if call.startswith("nox")] == [
        *(f"nox --no-venv --session {name}" for name in CHECKS),
        *(f"nox --no-venv --session {name} -- --maxfail=1" for name in SUITES),
    ]
    assert [call for call in calls if call.startswith("pytest")] == [
        "pytest --webeval-runs=example_suite/runs",
        "pytest -n 2",
    ]
    steps = done.stdout.partition("== steps\n")[2].splitlines()
    names = [step.partition(" s  ")[2] for step in steps]
    assert names == [
        *("chromium", "valgrind", "environment", *CHECKS),
        *("README command 1", "README command 2", *SUITES),
    ]


@pytest.mark.parametrize(
    ("failing", "step"),
    [
        ("pip install", "environment"),
        ("--session types", "types"),
        ("pytest -n 2", "README command 2"),
        ("--session parity", "parity"),
    ],
)
def test_the_first_step_that_fails_is_named_and_the_last(run_ci, failing, step):
    done, calls = run_ci(failing)
    assert done.returncode != 0
    assert failing in calls[-1]
    assert done.stdout.splitlines()[-1].startswith(f"step failed: {step} (exit code ")


@pytest.mark.parametrize("before_sleep", ["", "trap '' TERM"], ids=["ended", "killed"])
def test_a_suite_that_the_limit_ends_is_named_and_no_failure(run_ci, before_sleep):
    done, calls = run_ci(slow="--session browser", limit=3, before_sleep=before_sleep)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hostile" not in "".join(calls)
    for name in ("browser", "hostile", "rest"):
        assert f"{name}: not finished after 0 minutes in all" in done.stdout


@pytest.mark.parametrize("status", [0, 2])
def test_the_first_readme_command_has_to_exit_with_1(run_ci, status):
    done, _ = run_ci(first=status)
    assert done.returncode == 1
    assert f"README command 1 exited with {status}, expected 1" in done.stdout
