"""Tools that read exports, each in an environment of its own in pytest's cache, and a session to export.

Where a tool cannot be installed its tests are skipped, unless WEBEVAL_EXPORTS=required.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exports.harness.tool_environment import TOOLS, ToolEnvironment
from tests.parity.harness.reference_environment import NotInstallable

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items):
    """Leave tests that need a tool to the suite `exports`: to install both takes a minute."""
    for item in items:
        if "run_tool" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.whole)


@pytest.fixture(scope="session")
def run_tool(request, tmp_path_factory):
    """Runs the program of a tool in a directory, or another one of its environment; gives what it did."""
    cache = getattr(request.config, "cache", None)
    home = tmp_path_factory.mktemp("home")

    def run(name, *arguments, directory, program=None):
        try:
            if cache is None:
                raise NotInstallable("tools are installed in pytest's cache: run without -p no:cacheprovider")
            python = ToolEnvironment.of(TOOLS[name], cache.mkdir("tools")).installed()
        except NotInstallable as error:
            if os.environ.get("WEBEVAL_EXPORTS") == "required":
                raise
            pytest.skip(str(error))
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", "LANG": "C.UTF-8"}
        command = [python.parent / (program or name), *arguments]
        return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    """The results of the example suite: recordings, trajectories, errors, and runs without a verdict."""
    scratch = tmp_path_factory.mktemp("session")
    ignored = shutil.ignore_patterns("eval_*.json")
    shutil.copytree(ROOT / "example_suite/runs", scratch / "runs", ignore=ignored)
    shutil.copytree(ROOT / "example_suite/trajectories/runs", scratch / "trajectories", ignore=ignored)
    shutil.copy(ROOT / "example_suite/config.json", scratch)
    (scratch / "pytest.ini").write_text("[pytest]\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--webeval-config=config.json"]
    command += ["--webeval-runs=runs", "--webeval-runs=trajectories", "--webeval-output=out"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=scratch, env=environment, capture_output=True, check=False)
    return scratch


@pytest.fixture
def export(session, tmp_path):
    """Exports the session, or another directory, to a path."""

    def run(target, *options, source=None, output="export"):
        path = tmp_path / output
        command = [sys.executable, "-m", "pytest_webeval", "export", str(source or session / "out"), "--to", target]
        subprocess.run([*command, "--output", str(path), *options], cwd=ROOT, check=True, capture_output=True)
        return path

    return run
