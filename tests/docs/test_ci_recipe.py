"""The steps of the workflow in the manual, run as shell commands in a scratch repository beside a made-up `gh`."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.runs import Runs

ROOT = Path(__file__).parents[2]
RECIPE = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/how-to/ci.md").read_text("utf-8"), re.DOTALL)[0]
TASKS = range(101, 113)
# `gh run list` and `gh run download`, as far as the workflow uses them: any other argument is an error.
GH = """
import argparse, json, pathlib, shutil, sys
place = pathlib.Path(__file__).resolve().parent.parent / "github"
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command", required=True)
listing, download = commands.add_parser("list"), commands.add_parser("download")
for name in ("workflow", "branch", "status", "limit", "json", "jq"):
    listing.add_argument(f"--{name}", required=True)
download.add_argument("id")
for name in ("name", "dir"):
    download.add_argument(f"--{name}", required=True)
assert sys.argv[1] == "run", sys.argv
arguments = parser.parse_args(sys.argv[2:])
if arguments.command == "list":
    assert (arguments.json, arguments.jq) == ("databaseId", ".[].databaseId"), arguments
    runs = json.loads((place / "runs.json").read_text())
    wanted = {"workflow": arguments.workflow, "branch": arguments.branch}
    runs = [run for run in runs if wanted.items() <= run.items() and arguments.status in run["statuses"]]
    for run in sorted(runs, key=lambda run: -run["id"])[: int(arguments.limit)]:
        print(run["id"])
else:
    artifact = place / "artifacts" / arguments.id / arguments.name
    if not artifact.is_dir():
        sys.exit("no valid artifacts found to download")
    shutil.copytree(artifact, arguments.dir)
"""


def read_steps(recipe):
    """The steps with a command: `name`, `if`, `run` and `env`, as a YAML reader gives them."""
    for item in re.split(r"^      - ", recipe, flags=re.MULTILINE)[1:]:
        text = textwrap.dedent(f"        {item}")
        step = dict(re.findall(r"^(name|if|run): (?!\|)(.*)$", text, re.MULTILINE))
        if block := re.search(r"^run: \|\n((?:  .*\n)+)", text, re.MULTILINE):
            step["run"] = textwrap.dedent(block[1])
        if variables := re.search(r"^env:\n((?:  .*\n)+)", text, re.MULTILINE):
            step["env"] = dict(re.findall(r"^  (\w+): (.*)$", variables[1], re.MULTILINE))
        if "run" in step:
            yield step


STEPS = list(read_steps(RECIPE))


def test_the_steps_are_those_that_a_yaml_reader_reads():
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(RECIPE)["jobs"]["score"]["steps"]
    assert [step for step in steps if "run" in step] == STEPS


def test_the_workflow_installs_fetches_scores_and_compares():
    assert [step.get("name", "install") for step in STEPS] == [
        "install",
        "fetch the summary of the last green session of the main branch",
        "score",
        "compare with the release",
    ]
    assert {step.get("if") for step in STEPS} == {None, "always()"}


@dataclass
class Repository:
    """A repository with runs and a release, and what GitHub has of its builds."""

    place: Path
    runs: Runs
    builds: list[dict[str, object]] = field(default_factory=list)
    printed: str = ""
    page: str = ""

    def score(self, **passes):
        """Record all runs anew: those of `t101=False` and the like fail."""
        shutil.rmtree(self.runs.root, ignore_errors=True)
        self.runs.tasks.clear()
        for task_id in TASKS:
            if passes.get(f"t{task_id}") is not None or f"t{task_id}" not in passes:
                self.runs.add(task_id, passes=passes.get(f"t{task_id}", True))

    def release(self):
        """Pin a release."""
        self._shell("pytest --webeval-runs=runs --webeval-output=release --webeval-gate=complete", {})

    def build(self, branch="main", *, new_baseline=False, conclusion=None):
        """Run the workflow. Returns how it ended, which is what later builds know of it."""
        for name in ("results", "baseline"):
            shutil.rmtree(self.place / name, ignore_errors=True)
        page = self.place.parent / "page.md"
        page.unlink(missing_ok=True)
        variables = {"NEW_BASELINE": str(new_baseline).lower(), "GITHUB_STEP_SUMMARY": str(page), "CI": "true"}
        failed, self.printed = False, ""
        for step in STEPS[1:]:
            if not failed or step.get("if") == "always()":
                own = {name: self._expand(value) for name, value in step.get("env", {}).items()}
                failed |= self._shell(step["run"], variables | own) != 0
        self.page = page.read_text("utf-8") if page.exists() else ""
        self._upload(branch, conclusion or ("failure" if failed else "success"))
        return "red" if failed else "green"

    def _expand(self, value):
        return {"${{ github.token }}": "token", "${{ github.workflow }}": "web agent"}[value]

    def _shell(self, command, variables):
        environment = os.environ | {
            "PATH": os.pathsep.join([str(self.place.parent / "bin"), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "PYTEST_XDIST_AUTO_NUM_WORKERS": "0",  # in this process
        }
        done = subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.place,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        self.printed += done.stdout + done.stderr
        return done.returncode

    def _upload(self, branch, conclusion):
        number = len(self.builds) + 1
        run = {"id": number, "workflow": "web agent", "branch": branch, "statuses": ["completed", conclusion]}
        self.builds.append(run)
        (self.place.parent / "github/runs.json").write_text(json.dumps(self.builds))
        if (summary := self.place / "results/eval_summary.json").exists():
            artifact = self.place.parent / f"github/artifacts/{number}/webeval-summary"
            artifact.mkdir(parents=True)
            shutil.copy(summary, artifact)


@pytest.fixture
def repository(tmp_path):
    """A repository whose release and runs solve all tasks. No build was made yet."""
    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine: the steps need it")
    for name in ("bin", "github", "repository"):
        (tmp_path / name).mkdir()
    (tmp_path / "github/runs.json").write_text("[]")
    programs = {
        "gh": f"#!{sys.executable}\n{GH}",
        "pytest": f'#!/bin/sh\nexec "{sys.executable}" -m pytest -p no:cacheprovider "$@"\n',
        "webeval": f'#!/bin/sh\nexec "{sys.executable}" -m pytest_webeval "$@"\n',
    }
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(text, "utf-8")
        (tmp_path / "bin" / name).chmod(stat.S_IRWXU)
    place = tmp_path / "repository"
    (place / "pytest.ini").write_text("[pytest]\n", "utf-8")
    repository = Repository(place, Runs(place / "runs"))
    repository.score()
    repository.release()
    return repository


@pytest.mark.whole
def test_without_a_baseline_no_build_is_green_until_somebody_accepts_one(repository):
    assert repository.build() == "red"
    assert "::error::no green session of the main branch; run this workflow there by hand" in repository.printed
    assert not (repository.place / "results").exists()
    assert repository.build(new_baseline=True) == "green"
    assert repository.build() == "green"
    of_main, of_release = repository.page.split("<code>release/eval", 1)
    assert "Since the baseline of" in of_main
    assert all("no task of 12 changed sides" in part for part in (of_main, of_release))


@pytest.mark.whole
def test_a_regression_is_red_and_stays_red_until_it_is_repaired(repository):
    repository.build(new_baseline=True)
    repository.score(t104=False)
    assert [repository.build(), repository.build()] == ["red"] * 2
    assert "1 regressed: 104" in repository.printed
    repository.score()
    assert repository.build() == "green"


@pytest.mark.whole
@pytest.mark.parametrize("lost", ["artifact", "release", "task"])
def test_a_lost_baseline_or_task_is_red(repository, lost):
    repository.build(new_baseline=True)
    if lost == "task":
        repository.score(t104=None)
    else:
        shutil.rmtree(repository.place / {"artifact": "../github/artifacts", "release": "release"}[lost])
    assert repository.build() == "red"


@pytest.mark.whole
@pytest.mark.parametrize("conclusion", ["cancelled", "failure", "timed_out"])
def test_a_session_of_main_that_was_not_green_is_no_baseline(repository, conclusion):
    repository.build(new_baseline=True)
    repository.score(t104=False)
    repository.build(conclusion=conclusion)  # whose artifact has all tasks, one of them worse
    assert repository.build() == "red"
    repository.score()
    assert repository.build() == "green"


@pytest.mark.whole
def test_a_branch_is_no_baseline(repository):
    repository.build(new_baseline=True)
    repository.score(t104=False)
    repository.build("feature", conclusion="success")
    assert repository.build() == "red"


@pytest.mark.whole
def test_losses_that_were_accepted_one_by_one_are_red_against_the_release(repository):
    repository.build(new_baseline=True)
    lost = {f"t{task_id}": False for task_id in TASKS[:5]}
    repository.score(**lost)
    assert repository.build(new_baseline=True) == "green"  # five of twelve can be noise
    repository.score(**lost, t111=False, t112=False)
    assert repository.build(new_baseline=True) == "red"
    assert "no-regression beyond noise" in repository.page


@pytest.mark.whole
def test_a_session_that_is_stopped_is_red_and_leaves_no_baseline(repository):
    repository.build(new_baseline=True)
    (repository.place / "conftest.py").write_text("def pytest_runtest_setup():\n    raise KeyboardInterrupt\n")
    assert repository.build() == "red"
    assert not (repository.place / "results/eval_summary.json").exists()
    (repository.place / "conftest.py").unlink()
    assert repository.build() == "green"
