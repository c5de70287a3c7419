"""Proposals of `new-task` mean the same to the reference: golden runs succeed, and failing runs of the task fail."""

from __future__ import annotations

import pytest

from pytest_webeval.api import load_run
from pytest_webeval.authoring.proposal.proposal import propose
from tests.support.derived_runs import CONFIG
from tests.unit.authoring.proposal.test_example_suite import DEFINITIONS, SITES, list_failing, right


@pytest.mark.parametrize("task_id", DEFINITIONS)
def test_the_reference_gives_the_same_verdicts_under_a_proposal(task_id, reference, tmp_path):
    golden = right(task_id)
    runs = {"golden": golden} | {problem: change(golden) for problem, change in list_failing(task_id).items()}
    paths = {name: run.write(tmp_path / str(number)) for number, (name, run) in enumerate(runs.items())}
    task = propose([load_run(paths["golden"])], SITES, intent=DEFINITIONS[task_id]["intent"]).definition
    request = {"command": "verdict", "task": task, "config": str(CONFIG), "trace_name": "network.har"}
    verdicts = {name: reference.now(directory=str(path), **request)["status"] for name, path in paths.items()}
    assert verdicts == {name: "success" if name == "golden" else "failure" for name in paths}
