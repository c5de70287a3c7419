"""Runs in a bucket on loopback, with the same ones on the disk, and sessions over both."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.faulty_s3 import S3Server
from tests.support.runs import Runs
from tests.support.sessions import PLAIN

PROJECT = Path(__file__).parents[2]
BUCKET = "s3://bucket/runs"
SESSIONS = {
    "pytest": ("pytest", "-q", *PLAIN),
    "xdist": ("pytest", "-q", "-n2", *PLAIN),
    "processes": ("pytest_webeval", "score", "--executor=process:2", "--batch=5", "--no-progress"),
    "dask": ("pytest_webeval", "score", "--executor=local:2", "--batch=5", "--no-progress"),
}
OTHERS = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_ENDPOINT_URL_S3")


@pytest.fixture
def s3(tmp_path, monkeypatch):
    """Our server without faults; `restart(Faults(...))` gives it some."""
    pytest.importorskip("s3fs")
    directory = tmp_path / "server"
    directory.mkdir()
    for name in OTHERS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    with S3Server(directory) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def copied(s3, tmp_path):
    """A run root of so many runs, of which the third fails, in the bucket and on the disk."""

    def copy(count):
        runs = Runs(tmp_path / "copy/runs")
        for task_id in range(1, count + 1):
            runs.add(task_id, passes=task_id != 3)
        s3.put_tree(runs.root, "runs/")
        return runs.root

    return copy


@pytest.fixture
def here(tmp_path):
    """The directory of sessions."""
    directory = tmp_path / "here"
    directory.mkdir()
    return directory


@pytest.fixture
def session(here):
    """Runs a session of a kind over a root in a process of its own."""

    def run(kind, root, *options, **variables):
        module, *others = SESSIONS[kind]
        roots = [f"--webeval-runs={root}"] if module == "pytest" else [str(root)]
        command = [sys.executable, "-m", module, *others, *roots, "--webeval-today=2026-03-01", *options]
        environment = os.environ | {"PYTHONPATH": str(PROJECT)} | variables
        done = subprocess.run(
            command, cwd=here, env=environment, capture_output=True, text=True, check=False, timeout=400
        )
        done.text = done.stdout + done.stderr
        return done

    return run
