"""Runs of further recorders, spoilt: one family for each format, by a row of the table `RECORDINGS`."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.corpus.cases import Case
from tests.hostile.corpus.recorded_cheats.table import CHEATS
from tests.hostile.corpus.recorded_damage import Recording, copied, list_damaged, list_marked
from tests.support.agentlab import find_experiment
from tests.support.recorded_runs import find_run, list_runs
from tests.support.stagehand import sample

SUCCESS, ERROR = "success", "error"
_REWARD = {"verifier/reward.txt": "success|error"}


def _judged(reply: str, success: int) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": reply, "success": success}]


def _gates(*names: str, success: bool) -> str:
    return json.dumps({"judgeOutcomeSuccess": True, "outcomeSuccess": success, "outcomeGates": list(names)})


def _clawbench(name: str) -> Any:
    return next(run for run in list_runs("clawbench") if f"-{name}-" in run.name)


RECORDINGS = (
    Recording(
        "online-mind2web",
        success=copied(find_run("online-mind2web", "lamp_success")),
        failure=copied(find_run("online-mind2web", "lamp_failure")),
        files={"result.json": ERROR},
        verdicts=("result.json",),
        difference="result.json",
    ),
    Recording(
        "stagehand",
        success=copied(sample("06", "success"), scores__gates_json=_gates(success=True)),
        failure=copied(sample("06", "success"), scores__gates_json=_gates("final_state", success=False)),
        files={
            "trajectory.json": ERROR,
            "scores/result.json": ERROR,
            "scores/gates.json": ERROR,
            "task_data.json": "success|error",
            "core.log": SUCCESS,
        },
        verdicts=("scores/result.json", "scores/gates.json"),
        difference="scores/gates.json",
    ),
    Recording(
        "atif",
        success=copied(find_run("atif", "shop-success"), verifier__reward_txt="1.0\n"),
        failure=copied(find_run("atif", "shop-partial")),
        files={"result.json": ERROR, "agent/trajectory.json": ERROR, "trial.log": SUCCESS, **_REWARD},
        verdicts=("result.json",),
    ),
    Recording(
        "webvoyager",
        success=copied(find_run("webvoyager", "taskShop--0"), eval_res_json=_judged("Verdict: SUCCESS", 1)),
        failure=copied(find_run("webvoyager", "taskShop--0"), eval_res_json=_judged("Verdict: NOT SUCCESS", 0)),
        files={"interact_messages.json": ERROR, "eval_res.json": ERROR, "agent.log": SUCCESS},
        verdicts=("eval_res.json",),
        difference="eval_res.json",
    ),
    Recording(
        "browser-use",
        success=copied(find_run("browser-use", "shop-judged-success")),
        failure=copied(find_run("browser-use", "shop-judged-failure")),
        files={"AgentHistory.json": ERROR},
        verdicts=("AgentHistory.json",),
    ),
    Recording(
        "agentlab",
        success=copied(find_experiment("success")),
        failure=copied(find_experiment("failure")),
        files={"summary_info.json": ERROR, "experiment.log": SUCCESS},
        verdicts=("summary_info.json",),
        texts=("err_msg", "stack_trace"),
    ),
    Recording(
        "clawbench",
        success=copied(_clawbench("901-shop-success")),
        failure=copied(_clawbench("902-shop-judge-mismatch")),
        files={
            "run-meta.json": ERROR,
            "judge.json": ERROR,
            "data/interception.json": "success|error",
            "data/requests.jsonl": "success|error",
            "data/actions.jsonl": SUCCESS,
        },
        verdicts=("run-meta.json", "judge.json"),
    ),
)
FAMILIES: dict[str, tuple[Case, ...]] = {
    recording.name: (
        *list_damaged(recording),
        *list_marked(recording),
        *CHEATS.get(recording.name, lambda recording: ())(recording),
    )
    for recording in RECORDINGS
}
