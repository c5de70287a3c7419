"""A worker that is killed while it writes a result leaves nothing behind: a file is there as a whole, or not at all."""

from __future__ import annotations

import json
import time

import pytest
from msgspec.structs import replace

from pytest_webeval import NetworkEventEvaluator, score_runs
from pytest_webeval.__main__ import main
from pytest_webeval.api import _list_runs, _open
from pytest_webeval.sessions.placement.batch_scoring import remove_unfinished
from pytest_webeval.sessions.placement.score_settings import ScoreSettings
from tests.support.killing_evaluators import WriteKillingEvaluator

IDS = (101, 102, 103, 104)
FOREIGN = ".eval_result.json.0123456789abcdef"  # which an agent may have left
MODULE = """
from pathlib import Path
from tests.support.killing_evaluators import WriteKillingEvaluator

def webeval_evaluators(ours):
    return [WriteKillingEvaluator(102, {once}), *ours[1:]]
"""
CONFTEST = """
import os, signal

def pytest_runtest_setup(item):
    if item.nodeid == "runs/102::task":
        os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def some(runs):
    """Four runs, with a file in each that looks like one of ours, and is not."""
    for number in IDS:
        runs.add(number)
        (runs.root / str(number) / FOREIGN).touch()
    return runs


def list_unfinished(top):
    """Files without their name, and those that are not whole."""
    paths = [path for path in top.rglob("*") if path.is_file() and path.name.startswith(".")]
    for path in top.rglob("eval_result.json"):
        json.loads(path.read_bytes())
    return sorted(str(path.relative_to(top)) for path in paths)


def test_nothing_is_removed_behind_a_link_that_took_the_place_of_a_group(runs, tmp_path):
    runs.add(101, name="group/101")
    workspace = _open(ScoreSettings(), runs.root)
    targets = _list_runs(workspace, runs.root)
    (runs.root / "group").rename(tmp_path / "outside")
    (runs.root / "group").symlink_to(tmp_path / "outside")
    (tmp_path / "outside/101" / FOREIGN).touch()
    remove_unfinished(replace(workspace, started=0), targets)
    assert (tmp_path / "outside/101" / FOREIGN).exists()


def check_all(some, output):
    """Whether each result is there, and nothing else."""
    top = output or some.root
    assert {int(path.parent.name) for path in top.rglob("eval_result.json")} == set(IDS)
    assert list_unfinished(some.root) == [f"{number}/{FOREIGN}" for number in IDS]
    assert output is None or list_unfinished(output) == []


@pytest.mark.parametrize("is_apart", [False, True], ids=["in place", "output"])
@pytest.mark.parametrize("is_once", [False, True], ids=["always", "once"])
def test_a_worker_of_score_runs_leaves_nothing(some, tmp_path, is_apart, is_once):
    output, once = tmp_path / "out" if is_apart else None, tmp_path / "killed" if is_once else None
    evaluators = [WriteKillingEvaluator(102, once), NetworkEventEvaluator()]
    results = list(score_runs(some.root, output=output, evaluators=evaluators, executor="process:2", batch_size=2))
    assert [result.status for result in results] == ["success", "success" if is_once else "error", "success", "success"]
    check_all(some, output)


@pytest.mark.parametrize("output", ["", "out"], ids=["in place", "output"])
@pytest.mark.parametrize("once", ["None", "Path('killed').absolute()"], ids=["always", "once"])
def test_a_worker_of_the_command_score_leaves_nothing(some, pytester, capsys, output, once):
    pytester.makepyfile(own=MODULE.format(once=once))
    options = [f"--output={output}"] if output else []
    code = main(["score", "runs", "--executor=process:2", "--batch=2", "--evaluators-from=own.py", *options])
    assert code == (1 if once == "None" else 0), capsys.readouterr().out
    check_all(some, pytester.path / output if output else None)


@pytest.mark.whole
@pytest.mark.parametrize("output", ["", "out"], ids=["in place", "output"])
def test_a_worker_of_xdist_leaves_nothing(some, webeval_apart, pytester, output):
    pytester.makeconftest(CONFTEST)
    webeval_apart("-n2", *([f"--webeval-output={output}"] if output else [])).assert_outcomes(passed=3, failed=1)
    check_all(some, pytester.path / output if output else None)


@pytest.mark.whole
@pytest.mark.parametrize("is_apart", [False, True], ids=["in place", "output"])
def test_a_session_that_is_stopped_removes_what_its_workers_were_writing(some, tmp_path, is_apart):
    output = tmp_path / "out" if is_apart else None
    evaluators = [WriteKillingEvaluator(102, hangs=True), NetworkEventEvaluator()]
    results = score_runs(some.root, output=output, evaluators=evaluators, executor="process:1", batch_size=1)
    next(results)
    top, end = output or some.root, time.monotonic() + 30
    while not [name for name in list_unfinished(top) if FOREIGN not in name] and time.monotonic() < end:
        time.sleep(0.02)
    assert any(name.startswith("102/.eval_result.json.") for name in list_unfinished(top) if FOREIGN not in name)
    results.close()
    assert list_unfinished(some.root) == [f"{number}/{FOREIGN}" for number in IDS]
    assert output is None or list_unfinished(output) == []
