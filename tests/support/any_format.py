"""One run of a defined task in each format, with or without the evidence that its definition asks for.

Each run stores a verdict of its own, so that a check which leaves something out shows in the result.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.support import recorded
from tests.support.agentlab import find_experiment
from tests.support.recorded_runs import find_run, list_runs
from tests.support.runs import navigation
from tests.support.stagehand import sample

SHOP = "http://shop.test"
CHAT_BEGIN = {"role": "user", "content": f"Now given a task: Find it. Please interact with {SHOP}/ and get the answer."}
VERDICTS = {True: "SUCCESS", False: "NOT SUCCESS"}


class Recorded(Struct, frozen=True):
    """What is recorded of a run. None stands for evidence that is missing; `is_aborted` marks the run as aborted."""

    answer: str | None = None
    has_traffic: bool = False
    verdict: bool | None = True
    is_aborted: bool = False


def write_run(path: Path, name: str, run: Recorded) -> Path:
    """Write a run in a format, in which the shop and then its cart were visited if there is traffic."""
    path.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[name](path, run)
    if run.has_traffic and name != "clawbench":
        entries = [navigation(f"{SHOP}/"), navigation(f"{SHOP}/cart")]
        _put(path / "network.har", {"log": {"entries": entries}})
    return path


def _put(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def _change(path: Path, **changed: Any) -> None:
    """Replace members of a JSON file; `...` removes one."""
    fields = json.loads(path.read_text()) | changed
    _put(path, {key: value for key, value in fields.items() if value is not ...})


def _write_response(path: Path, run: Recorded) -> None:
    path.mkdir()
    if run.answer is not None:
        _put(path / "agent_response.json", run.answer)
    if run.verdict is not None:
        _put(path / "rubric.json", recorded.payload(outcome=run.verdict))


def _write_fara(path: Path, run: Recorded) -> None:
    answer = recorded.final_answer(run.answer or "<no_answer>", is_aborted=run.is_aborted or run.answer is None)
    scores = None if run.verdict is None else recorded.score_file(recorded.payload(outcome=run.verdict))
    recorded.write(path, answer=answer, scores=scores)


def _write_online_mind2web(path: Path, run: Recorded) -> None:
    shutil.copytree(find_run("online-mind2web", "lamp_success"), path)
    judge = ... if run.verdict is None else {"score": 100 * run.verdict, "reasoning": "as seen"}
    answer = ... if run.answer is None else run.answer
    status = "error_during_execution" if run.is_aborted else "success"
    _change(path / "result.json", judge=judge, final_result_response=answer, result_status=status)


def _write_stagehand(path: Path, run: Recorded) -> None:
    shutil.copytree(sample("06", "success"), path)
    status = "aborted" if run.is_aborted else "error" if run.answer is None else "complete"
    _change(path / "trajectory.json", finalAnswer=... if run.answer is None else run.answer, status=status)
    _change(path / "task_data.json", result=..., verdict=...)
    if run.verdict is None:
        shutil.rmtree(path / "scores")
    elif not run.verdict:
        _put(path / "scores/gates.json", {"judgeOutcomeSuccess": True, "outcomeSuccess": False, "outcomeGates": ["x"]})


def _write_atif(path: Path, run: Recorded) -> None:
    shutil.copytree(find_run("atif", "shop-success"), path)
    verdict = None if run.verdict is None else {"rewards": {"reward": float(run.verdict)}}
    error = {"exception_type": "EnvironmentError", "exception_message": "lost"} if run.is_aborted else None
    _change(path / "result.json", verifier_result=verdict, exception_info=error)
    shutil.rmtree(path / "verifier")
    trajectory = path / "agent/trajectory.json"
    if run.answer is None:
        trajectory.unlink()
    else:
        steps = [{"step_id": 1, "source": "agent", "message": run.answer}]
        _change(trajectory, steps=steps)


def _write_webvoyager(path: Path, run: Recorded) -> None:
    path.mkdir()
    chat = [CHAT_BEGIN]
    if run.answer is not None and not run.is_aborted:
        chat.append({"role": "assistant", "content": f"Thought: Done.\nAction: ANSWER; {run.answer}"})
    _put(path / "interact_messages.json", chat)
    if run.verdict is not None:
        judged = {"role": "assistant", "content": f"Verdict: {VERDICTS[run.verdict]}", "success": int(run.verdict)}
        _put(path / "eval_res.json", [judged])


def _write_browser_use(path: Path, run: Recorded) -> None:
    shutil.copytree(find_run("browser-use", "shop-judged-success"), path)
    (path / "network.har").unlink()
    history = json.loads((path / "AgentHistory.json").read_text())
    last = history["history"][-1]["result"][-1]
    last["extracted_content"] = run.answer
    if run.verdict is None:
        del last["judgement"]
    else:
        last["judgement"]["verdict"] = run.verdict
    _put(path / "AgentHistory.json", {"history": []} if run.answer is None or run.is_aborted else history)


def _write_agentlab(path: Path, run: Recorded) -> None:
    shutil.copytree(find_experiment("success"), path)
    ended = {"terminated": None, "err_msg": "lost", "stack_trace": "lost"} if run.is_aborted else {}
    reward = 0 if run.is_aborted else int(bool(run.verdict))
    _change(path / "summary_info.json", cum_reward=reward, **ended)
    log = path / "experiment.log"
    if run.answer is None:
        log.unlink()
    else:
        log.write_text(log.read_text().replace("'It has 12 reviews.'", repr(run.answer)))


def _write_clawbench(path: Path, run: Recorded) -> None:
    case = {True: "901-shop-success", False: "902-shop-judge-mismatch", None: "906-shop-not-judged"}[run.verdict]
    case = "905-shop-browser-failed" if run.is_aborted else case
    shutil.copytree(next(found for found in list_runs("clawbench") if f"-{case}-" in found.name), path)
    messages = path / "data/agent-messages.jsonl"
    messages.unlink(missing_ok=True)
    if run.answer is not None:
        _put(messages, {"message": {"role": "assistant", "content": [{"type": "text", "text": run.answer}]}})
    log = path / "data/requests.jsonl"
    if not run.has_traffic:
        log.unlink(missing_ok=True)
    elif run.is_aborted:
        _put(log, {"timestamp": 1795510062.2, "url": f"{SHOP}/cart", "method": "POST", "headers": {}})


WRITERS: dict[str, Callable[[Path, Recorded], None]] = {
    "webarena-verified": _write_response,
    "fara": _write_fara,
    "online-mind2web": _write_online_mind2web,
    "stagehand": _write_stagehand,
    "atif": _write_atif,
    "webvoyager": _write_webvoyager,
    "browser-use": _write_browser_use,
    "agentlab": _write_agentlab,
    "clawbench": _write_clawbench,
}
