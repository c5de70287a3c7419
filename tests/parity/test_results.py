"""Result files that the plugin writes for the example suite, against what the reference says of the same runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from tests.parity.harness.run_directories import RunDirectory

SUITE = Path(__file__).parents[2] / "example_suite"
CONFIG = SUITE / "config.json"
KNOWN = {"AgentResponseEvaluator", "NetworkEventEvaluator"}
TASKS = json.loads((SUITE / "runs/tasks.json").read_text("utf-8"))


def known_part(task):
    """The task without evaluators that the reference does not have."""
    return {**task, "eval": [config for config in task["eval"] if config["evaluator"] in KNOWN]}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The directory of result files under the reference's rules, without the suite's own evaluators."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "tasks.json").write_text(json.dumps([known_part(task) for task in TASKS]), "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    options = [f"--webeval-runs={SUITE / 'runs'}", "--webeval-rules=reference", f"--webeval-config={CONFIG}"]
    options += ["--webeval-tasks=tasks.json", f"--webeval-output={folder / 'out'}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "--rootdir=.", "--noconftest", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stdout  # some recordings fail on purpose
    return folder / "out"


def found(written, task):
    """Our result file for a task."""
    return written / str(task["task_id"]) / "eval_result.json"


def of_reference(reference, task):
    """The reference's result for the same directory."""
    path = SUITE / "runs" / str(task["task_id"])
    trace = next(name for name in TRACE_NAMES if (path / name).exists())
    return reference.answer(reference.ask_verdict(RunDirectory(path, known_part(task), trace, CONFIG)))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["task_id"])
def test_status_and_score_are_the_reference_s(reference, written, tally, task):
    ours = json.loads(found(written, task).read_text("utf-8"))
    theirs = of_reference(reference, task)
    tally.pairs += 1
    assert ours["status"] == theirs["status"]
    assert ours["score"] == theirs["score"]
    each = [[one["evaluator_name"], one["status"]] for one in ours["evaluators_results"]]
    assert each == theirs["evaluators"]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["task_id"])
def test_the_reference_s_own_model_reads_our_file(reference, written, task):
    path = found(written, task)
    ours = json.loads(path.read_text("utf-8"))
    read = reference.now(command="read_result", path=str(path))
    assert (read["task_id"], read["status"], read["score"]) == (task["task_id"], ours["status"], ours["score"])
    assert len(read["evaluators"]) == len(ours["evaluators_results"])
