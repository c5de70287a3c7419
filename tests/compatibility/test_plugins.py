"""Plugins of others see the same calls and reports beside run items without fixtures as beside those with them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.harness.environments import install
from tests.compatibility.plugins import PLUGINS
from tests.support.runs import Runs
from tests.support.sessions import read_files

PAGE = Path(__file__).parents[2] / "docs/explanation/performance.md"
ADDS_FIXTURES = "pytest-asyncio"
CONFTEST = Path(__file__).with_name("recording_conftest.py")
# With an override in it, each item looks up its fixtures. The lines are not counted by pytest-cov.
OVERRIDE = """

import pytest  # pragma: no cover

@pytest.fixture  # pragma: no cover
def webeval_evaluators(webeval_evaluators):
    return webeval_evaluators
"""
# With a PYTHONPATH, sessions might load the package from a checkout and not the one that is installed.
CLEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTHONPATH": ""}
TIMES = re.compile(r"\d+(\.\d+)? ?(s|ms|us|seconds)\b|\d+:\d\d:\d\d(\.\d+)?|\d+\.\d{2,}")
RULED = re.compile("={3,}")  # as long as a time leaves room for
PROGRESS = re.compile(r"^[.FER]+(?= +\[)", re.MULTILINE)


@pytest.fixture(scope="session")
def python(request):
    """The interpreter of an environment with all of the plugins."""
    packages = [plugin.package for plugin in PLUGINS]
    return install(request.config.cache.mkdir("compatibility") / "environment", *packages)


@pytest.fixture
def run_session(tmp_path, python):
    """Scores eight runs with a plugin, with fixtures or without, and returns what is left of the session."""

    def run(plugin, way):
        directory = tmp_path / "session"  # the same for both, because messages name it
        directory.mkdir()
        runs = Runs(directory / "runs")
        for number in range(101, 109):
            runs.add(number, passes=number not in (103, 104))
        (runs.root / "105/network.har").write_text("{")
        (directory / "conftest.py").write_text(CONFTEST.read_text() + OVERRIDE * (way == "with"))
        (directory / "pytest.ini").write_text("[pytest]\n")
        loaded = [f"-p{name}" for name in ("webeval", *plugin.entries)]
        command = [python, "-m", "pytest", "-pno:cacheprovider", *loaded, *plugin.options, "--webeval-runs=runs"]
        environment = os.environ | CLEAN | dict(plugin.environment)
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
        return done, directory.rename(tmp_path / way)

    return run


def read_calls(directory):
    """The calls of each process that are about no fixture; a worker of xdist scores what it is given: sorted."""
    files = {path.name: path.read_text().splitlines() for path in directory.glob("calls-*.jsonl")}
    calls = {name: [line for line in lines if "pytest_fixture_" not in line] for name, lines in files.items()}
    workers = sorted(line for name, lines in calls.items() if "gw" in name for line in lines)
    main = calls["calls-main.jsonl"]
    return (sorted(main) if workers else main), workers


def normalize(output):
    """The lines of an output without times; those of workers of xdist are sorted, because any may come first."""
    lines = PROGRESS.sub(
        lambda match: "".join(sorted(match[0])), RULED.sub("=", TIMES.sub("TIME", output))
    ).splitlines()
    return sorted(re.sub(r"\[gw\d\]", "[gw]", line) for line in lines) if "[gw" in output else lines


def count_fixtures(directory):
    return sum(json.loads(path.read_text())["pytest_fixture_setup"] for path in directory.glob("count-*.json"))


@pytest.mark.whole
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.package)
def test_a_plugin_sees_the_same_calls_and_reports(plugin, run_session):
    without, first = run_session(plugin, "without")
    overridden, second = run_session(plugin, "with")
    assert without.returncode == overridden.returncode, without.stdout + without.stderr
    assert plugin.is_measuring or normalize(without.stdout) == normalize(overridden.stdout)
    assert normalize(without.stderr) == normalize(overridden.stderr)
    calls = read_calls(first)
    assert calls == read_calls(second)
    assert any(calls) == plugin.is_called
    results = read_files(first, "eval_result.json")
    assert len(results) == 8
    assert results == read_files(second, "eval_result.json")
    assert (count_fixtures(first) > 0) == (plugin.package == ADDS_FIXTURES)


@pytest.mark.whole
@pytest.mark.parametrize("options", [("--testmon",), ("--testmon-noselect", "-pxdist", "-n2")], ids=str)
def test_testmon_is_refused_for_runs_alone(tmp_path, python, options):
    Runs(tmp_path / "runs").add(101)
    (tmp_path / "test_other.py").write_text("def test_other(): pass")
    (tmp_path / "pytest.ini").write_text("[pytest]\nwebeval_runs = runs\n")
    command = [python, "-m", "pytest", "-pwebeval", "-ppytest-testmon", *options]
    codes = {}
    for arguments in ((), ("--no-testmon",), ("test_other.py",)):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=os.environ | CLEAN, capture_output=True, text=True, check=False
        )
        codes[arguments] = done.returncode, "--testmon selects tests by changes of code" in done.stderr
    assert codes == {(): (4, True), ("--no-testmon",): (0, False), ("test_other.py",): (0, False)}


def test_the_manual_counts_the_plugins():
    assert f"Of the {len(PLUGINS)} plugins that the tests of this project check, `{ADDS_FIXTURES}` alone adds one" in (
        PAGE.read_text()
    )
