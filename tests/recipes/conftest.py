"""Live tests of the manual in the environment of their agent's library, which is made in pytest's cache.

Where a library cannot be installed, or there is no Chromium, its tests are skipped, unless WEBEVAL_EXPORTS=required.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.exports.harness.tool_environment import Tool, ToolEnvironment
from tests.parity.harness.reference_environment import NotInstallable

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
# The package is installed for its metadata; its code is that of this directory.
OURS = (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["record"], "flask>=3.1", str(ROOT))
LIBRARIES = {
    "browser-use": Tool("browser-use==0.13.14", 11, OURS),
    "stagehand": Tool("stagehand==4.3.0", 11, OURS),
}
SECONDS = 300
SHOP = """
import json

import pytest
from shop.sites import fresh_sites

from pytest_webeval.recorder.browser import BrowserOptions
from pytest_webeval.tasks.sites import parse_sites


@pytest.fixture(scope="session")
def webeval_sites():
    with fresh_sites(0, 0) as urls:
        yield parse_sites(json.dumps(urls.as_config()).encode(), "the shop")


@pytest.fixture(scope="session")
def webeval_browser():
    return BrowserOptions(args=("--no-sandbox",))
"""


@dataclass(frozen=True)
class LiveSession:
    """What a session of live tests has printed, and the directory of its run."""

    printed: str
    run: Path

    def read_json(self, name):
        return json.loads((self.run / name).read_bytes())

    @property
    def requests(self):
        """Method and path of each request to the shop."""
        entries = self.read_json("network.har")["log"]["entries"]
        requests = [entry["request"] for entry in entries if entry["request"]["url"].startswith("http://127.0.0.1:")]
        return [(request["method"], re.sub("^http://[^/]*", "", request["url"])) for request in requests]

    @property
    def steps(self):
        path = self.run / "webeval_steps/steps.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def environment(tmp_path):
    """Variables for a library that must not ask anybody, and for the shop."""
    return {
        "ANONYMIZED_TELEMETRY": "false",
        "BROWSER_USE_CLOUD_SYNC": "false",
        "BROWSER_USE_CONFIG_DIR": str(tmp_path / "config"),
        "BROWSER_USE_VERSION_CHECK": "false",
        "HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'example_suite'}",
    }


@pytest.fixture
def run_live(request, tmp_path, environment):
    """Runs the test of a page for task 105 of the example suite, with a fixture `model`."""

    def run(library, page, model):
        python = find_python(request.config, library)
        (code,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
        (tmp_path / "test_agent.py").write_text(code, "utf-8")
        (tmp_path / "conftest.py").write_text(SHOP + model, "utf-8")
        (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
        tasks = json.loads((ROOT / "example_suite/runs/tasks.json").read_bytes())
        (task,) = (each for each in tasks if each["task_id"] == 105)
        checks = [check for check in task["eval"] if check["evaluator"] != "PageBudgetEvaluator"]
        (tmp_path / "tasks.json").write_text(json.dumps([task | {"eval": checks}]), "utf-8")
        done = run_pytest(python, tmp_path, environment, "--webeval-record=webeval-runs")
        return LiveSession(done.stdout + done.stderr, tmp_path / "webeval-runs/105")

    return run


@pytest.fixture
def score_again(request, tmp_path, environment):
    """Scores the recordings of a session later, and returns what is printed."""

    def score(library):
        python = find_python(request.config, library)
        (tmp_path / "conftest.py").unlink()  # its shop would have another address
        state = json.loads((tmp_path / "webeval-runs/105/webeval_recording.json").read_bytes())
        config = {"environments": {"__SHOPPING__": {"urls": [state["start_url"]]}}}
        (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
        options = ("--webeval-runs=webeval-runs", "--webeval-config=config.json", "webeval-runs")
        return run_pytest(python, tmp_path, environment, *options).stdout

    return score


def find_python(config, library):
    """The interpreter of the environment of a library; skips the test where there is none."""
    cache = getattr(config, "cache", None)
    try:
        if cache is None:
            raise NotInstallable("libraries are installed in pytest's cache: run without -p no:cacheprovider")
        if shutil.which("chromium") is None:
            raise NotInstallable("no chromium on this machine: apt-get install chromium")
        return ToolEnvironment.of(LIBRARIES[library], cache.mkdir("libraries")).installed()
    except NotInstallable as error:
        if os.environ.get("WEBEVAL_EXPORTS") == "required":
            raise
        pytest.skip(str(error))


def run_pytest(python, directory, environment, *arguments):
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS
    )
