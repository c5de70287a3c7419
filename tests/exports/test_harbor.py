"""Harbor's own statistics count the trials that we count, whatever exceptions they and their steps raised."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from pytest_webeval import find_runs, score

RECORDED = Path(__file__).parents[1] / "recorded/atif/shop-success__aB3dE5f"
# Writes a trial for each name, place and reward into a directory, as Harbor stores it, and prints its statistics.
WRITER = """
import json, sys, uuid
from itertools import product
from pathlib import Path
from harbor.models.job.result import JobStats
from harbor.models.trial.error_policy import ERROR_POLICIES
from harbor.models.trial.result import TrialResult

template, root, trials = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), []
rewards = (None, {"reward": 1.0}, {"reward": 0.0})
for index, (name, place, reward, is_old) in enumerate(
    product((None, "WeirdError", *ERROR_POLICIES), ("trial", "step"), rewards, (False, True))
):
    info = {"exception_type": name, "exception_message": "", "exception_traceback": "", "occurred_at": "2026-11-20"}
    trial = template | {"id": str(uuid.uuid4()), "task_name": f"task{index}", "trial_name": f"task{index}__aB3dE5f"}
    trial["verifier_result"] = None if reward is None else {"rewards": reward}
    if name and place == "trial":
        trial["exception_info"] = info
    elif name:
        trial["step_results"] = [{"step_name": "a"}, {"step_name": "b", "exception_info": info}]
    trials.append(TrialResult.model_validate(trial))
    directory = root / trials[-1].trial_name
    directory.mkdir(parents=True)
    (directory / "trial.log").touch()
    (directory / "result.json").write_text(json.dumps(trial) if is_old else trials[-1].model_dump_json())
(stats,) = JobStats.from_trial_results(trials).evals.values()
print(json.dumps({"total": len(trials), "reward": stats.reward_stats["reward"]}))
"""


def test_the_rate_is_that_of_harbor_over_trials_with_every_exception(run_tool, tmp_path):
    arguments = ("-c", WRITER, str(RECORDED / "result.json"), str(tmp_path / "trials"))
    done = run_tool("harbor", *arguments, directory=tmp_path, program="python")
    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout)
    results = {run.path.name: score(run) for run in find_runs(tmp_path / "trials")}
    counted = {name: result for name, result in results.items() if not result.webeval["skipped"]}
    rewards = {name: float(reward) for reward, names in stats["reward"].items() for name in names}
    assert len(results) == stats["total"] == 12 * 60
    assert {name: result.score for name, result in counted.items()} == rewards
    assert Counter(rewards.values()) == {1.0: 40, 0.0: 40}
