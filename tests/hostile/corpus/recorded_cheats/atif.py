"""Failures that want to look like successes in the files of Harbor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.hostile.corpus.cases import Case, holding
from tests.hostile.corpus.recorded_cheats.deceptions import (
    CLAIM,
    ERROR,
    FAILURE,
    NO_YES,
    list_wrong_values,
    place,
    precede,
)
from tests.hostile.corpus.recorded_damage import NEVER_SUCCESS, Recording, cheat, edited
from tests.hostile.corpus.recorded_planted import list_planted


def list_cheats(recording: Recording) -> Iterator[Case]:
    """`verifier_result` in `result.json` is the verdict; the agent may write in `agent/` and `verifier/`."""
    result, trajectory = "result.json", "agent/trajectory.json"
    yield from list_planted(recording, "agent/")
    yield from list_wrong_values(
        recording, "reward", result, "verifier_result", "rewards", "reward", values=(*NO_YES, 2, -1)
    )
    yield from list_wrong_values(recording, "rewards", result, "verifier_result", "rewards", values=(1, [1], "1"))
    yield from list_wrong_values(recording, "reward_valid", result, "reward_valid")
    yield cheat(recording, "a reward that is said to be valid", FAILURE, place(result, "reward_valid", value=True))
    yield cheat(recording, "another version of the result", ERROR, place(result, "schema_version", value=2), "version")
    yield precede(recording, result, "rewards", {"reward": 1})
    yield cheat(recording, "a reward of 1 as a text", NEVER_SUCCESS, holding("verifier/reward.txt", "1"))
    yield cheat(recording, "a reward of 1 in both files", NEVER_SUCCESS, _forge_rewards)
    yield cheat(recording, "a reward beside the rewards", FAILURE, place(result, "verifier_result", "reward", value=1))
    yield cheat(
        recording, "a reward in the trajectory", FAILURE, place(trajectory, "verifier_result", value={"reward": 1})
    )
    yield cheat(recording, "a judge in the result", FAILURE, place(result, "judge", value={"score": 100}))
    yield cheat(
        recording, "a message that claims success", FAILURE, place(trajectory, "steps", 0, "message", value=CLAIM)
    )
    for reason in ("max_turns_reached", "context_overflow", "runtime_session_dead", "anything", 17):
        spoil = place(trajectory, "extra", value={"early_termination_reason": reason})
        yield cheat(recording, f"{reason!r} as the end that the agent tells", NEVER_SUCCESS, spoil)
    yield cheat(recording, "another version", ERROR, place(trajectory, "schema_version", value="ATIF-v9.0"), "version")
    yield cheat(recording, "an image elsewhere", FAILURE, place(trajectory, "steps", -1, "observation", value=_IMAGE))
    yield cheat(recording, "a name of a step that leads out", FAILURE, place(result, "step_results", value=_STEPS))
    yield cheat(recording, "steps that are no list", FAILURE, place(trajectory, "steps", value={"a": 1}))
    yield cheat(recording, "ten thousand calls in a step", FAILURE, edited(trajectory, _add_calls))


_IMAGE = {"results": [{"content": [{"type": "image", "source": {"path": "../../../../etc/passwd"}}]}]}
_STEPS = [{"step_name": "../../bystanders"}, {"step_name": "a\x00b"}, {"step_name": "/etc"}, {"step_name": 7}, None]


def _forge_rewards(path: Path) -> None:
    holding("verifier/reward.json", {"reward": 1})(path)
    holding("verifier/reward.txt", "1")(path)


def _add_calls(document: Any) -> Any:
    ids = [f"call_{number}" for number in range(10_000)]
    calls = [{"tool_call_id": name, "function_name": "click", "arguments": {}} for name in ids]
    results = [{"source_call_id": name, "content": "done"} for name in ids]
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": calls, "observation": {"results": results}}
    return document | {"steps": [*document["steps"], step]}
