"""The committed recordings: every verdict is the one written down for it, however the session is run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = Path(__file__).parents[2] / "example_suite"
VERDICTS = json.loads((SUITE / "verdicts.json").read_text("utf-8"))
TIMES = ("timestamp", "wall_time", "slowest")


@pytest.fixture
def suite(tmp_path):
    """A copy that a test may write into."""
    copy = tmp_path / "example_suite"
    shutil.copytree(SUITE, copy, ignore=shutil.ignore_patterns("eval_*.json", "__pycache__"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nwebeval_config = example_suite/config.json\n", "utf-8")
    return copy


def score(suite, *options):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--webeval-runs=example_suite/runs", *options]
    return subprocess.run(command, cwd=suite.parent, capture_output=True, text=True, check=False, timeout=300)


def verdicts(runs):
    summary = json.loads((runs / "eval_summary.json").read_text("utf-8"))
    return {str(row["task_id"]): row["status"] for row in summary["task_results"]}


def timeless(value):
    if isinstance(value, dict):
        return {key: timeless(member) for key, member in value.items() if key not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def results(folder):
    return {
        str(path.relative_to(folder)): json.dumps(timeless(json.loads(path.read_text("utf-8"))))
        for path in sorted(folder.rglob("eval_*.json"))
    }


def test_every_recording_gets_the_verdict_written_down_for_it(suite):
    done = score(suite)
    assert done.returncode == 1
    assert verdicts(suite / "runs") == {task: row["status"] for task, row in VERDICTS.items()}
    assert "Traceback" not in done.stdout


@pytest.mark.whole
def test_two_workers_write_the_same_bytes_as_one_process(suite):
    score(suite, "--webeval-output=one")
    score(suite, "--webeval-output=two", "-n", "2")
    alone = results(suite.parent / "one")
    assert len(alone) == len(VERDICTS) + 1
    assert alone == results(suite.parent / "two")


@pytest.mark.whole
def test_the_custom_evaluator_and_the_overridden_one_are_recorded(suite):
    score(suite, "-k", "105")
    result = json.loads((suite / "runs/105/eval_result.json").read_text("utf-8"))
    names = {one["evaluator_name"]: one for one in result["evaluators_results"]}
    assert names["PageBudgetEvaluator"]["status"] == "success"
    assert "explained" in str(names["AgentResponseEvaluator"]["assertions"])


def test_the_python_test_runs_once_for_each_recording(suite):
    done = score(suite, "example_suite/test_every_run.py", "-q")
    assert f"{2 * len(VERDICTS) - 2} passed, 2 errors" in done.stdout


@pytest.mark.whole
def test_reference_rules_refuse_what_the_reference_cannot_read(suite):
    score(suite, "--webeval-rules=reference")
    found = verdicts(suite / "runs")
    changed = {task for task, row in VERDICTS.items() if found[task] != row["status"]}
    documented_dialect, side_file_bodies = {"103", "114", "201", "206", "302", "310"}, {"115", "302", "401"}
    assert changed == documented_dialect | side_file_bodies


def test_the_suite_stays_small():
    assert sum(path.stat().st_size for path in SUITE.rglob("*") if path.is_file()) < 10 * 2**20


@pytest.mark.browser
@pytest.mark.whole
def test_a_fresh_recording_gets_the_same_verdicts(suite):
    if not shutil.which("chromium") and os.environ.get("WEBEVAL_BROWSER") != "required":
        pytest.skip("no chromium on this machine: apt-get install chromium to record the suite afresh")
    record = [sys.executable, str(suite / "record.py"), "--output", str(suite / "runs"), "--free-ports"]
    subprocess.run(record, check=True, capture_output=True, timeout=600)
    score(suite, f"--webeval-config={suite / 'runs' / 'config.json'}")
    assert verdicts(suite / "runs") == {task: row["status"] for task, row in VERDICTS.items()}
