"""A verdict that is NaN or out of range is damaged, in whatever format: it is not as good as none."""

from __future__ import annotations

import json
import math
import shutil

import pytest

from pytest_webeval.recordings.formats import load_run
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass
from pytest_webeval.rules import RULES
from tests.support.recorded_runs import list_runs

HARBOR, CLAWBENCH, AGENTLAB = "shop-success__aB3dE5f", "openclaw-901-shop-success", "ScriptedAgent-example-model-1_on_"
LAST_RESULT = ("history", -1, "result", -1)
# Format, part of the name of a run, file, and the way to the member.
MEMBERS = [
    ("online-mind2web", "lamp_success", "result.json", ("judge",)),
    ("online-mind2web", "lamp_success", "result.json", ("judge", "score")),
    ("stagehand", "", "scores/result.json", ("outcomeSuccess",)),
    ("stagehand", "", "scores/result.json", ("processScore",)),
    ("stagehand", "", "scores/result.json", ("graded",)),
    ("stagehand", "", "scores/result.json", ("perCriterion", 0, "earnedPoints")),
    ("atif", HARBOR, "result.json", ("verifier_result",)),
    ("atif", HARBOR, "result.json", ("verifier_result", "rewards")),
    ("atif", HARBOR, "result.json", ("verifier_result", "rewards", "reward")),
    ("atif", HARBOR, "result.json", ("exception_info",)),
    ("browser-use", "shop-judged-success", "AgentHistory.json", (*LAST_RESULT, "judgement")),
    ("browser-use", "shop-judged-success", "AgentHistory.json", (*LAST_RESULT, "judgement", "verdict")),
    ("browser-use", "shop-judged-success", "AgentHistory.json", (*LAST_RESULT, "judgement", "impossible_task")),
    ("browser-use", "shop-judged-success", "AgentHistory.json", (*LAST_RESULT, "judgement", "failure_reason")),
    ("browser-use", "shop-judged-success", "AgentHistory.json", (*LAST_RESULT, "is_done")),
    ("agentlab", f"{AGENTLAB}toy.success_0", "summary_info.json", ("cum_reward",)),
    ("agentlab", f"{AGENTLAB}toy.success_0", "summary_info.json", ("terminated",)),
    ("agentlab", f"{AGENTLAB}toy.success_0", "summary_info.json", ("truncated",)),
    ("agentlab", f"{AGENTLAB}toy.success_0", "summary_info.json", ("err_msg",)),
    ("clawbench", CLAWBENCH, "judge.json", ("match",)),
    ("clawbench", CLAWBENCH, "judge.json", ("raw",)),
    ("clawbench", CLAWBENCH, "run-meta.json", ("intercepted",)),
    ("clawbench", CLAWBENCH, "run-meta.json", ("judge",)),
    ("clawbench", CLAWBENCH, "run-meta.json", ("pass",)),
    ("clawbench", CLAWBENCH, "run-meta.json", ("failure_reason",)),
]


def damage(path, way, value):
    """Put a value into a JSON file."""
    document = json.loads(path.read_text())
    place = document
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    path.write_text(json.dumps(document))


@pytest.mark.thinned
@pytest.mark.parametrize("value", [math.nan, -math.inf, 10**400], ids=["NaN", "-Infinity", "400 digits"])
@pytest.mark.parametrize(("name", "part", "file", "way"), MEMBERS, ids=str)
def test_such_a_verdict_is_an_error(tmp_path, name, part, file, way, value):
    run = next(run for run in list_runs(name) if part in run.name and (run / file).exists())
    path = tmp_path / run.name
    shutil.copytree(run, path)
    before = load_run(path, RULES["default"]).trajectory.outcome
    assert before.kind is OutcomeClass.COMPLETED
    damage(path / file, way, value)
    outcome = load_run(path, RULES["default"]).trajectory.outcome
    assert outcome.kind is OutcomeClass.UNREADABLE
    assert outcome.message.startswith(file)


def test_a_number_elsewhere_does_not_damage_the_verdict(tmp_path):
    run = next(run for run in list_runs("agentlab") if "toy.success_0" in run.name)
    path = tmp_path / run.name
    shutil.copytree(run, path)
    damage(path / "summary_info.json", ("stats.cum_cost",), math.nan)
    trajectory = load_run(path, RULES["default"]).trajectory
    assert (trajectory.outcome.kind, trajectory.judgements[0].success) == (OutcomeClass.COMPLETED, True)
    assert "summary_info.json: it has NaN or an out-of-range number, read as null" in trajectory.warnings[0]
