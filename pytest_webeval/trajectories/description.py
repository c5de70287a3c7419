"""What a result says of a trajectory, as plain JSON: outcome, steps, times, tokens, and where the run belongs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pytest_webeval.trajectories.base import Unreadable
from pytest_webeval.trajectories.trajectory import Trajectory


def described(trajectory: Trajectory) -> dict[str, Any]:
    """All that can be told; None where the run does not say. Never raises over damaged content."""
    place, outcome, core = trajectory.place, trajectory.outcome, trajectory.core
    found: dict[str, Any] = {
        "class": outcome.kind.value,
        "reasons": list(outcome.reasons),
        "message": outcome.message,
        "flags": [],
        "system": place.system,
        "model": place.model,
        "benchmark": place.benchmark,
        "run_id": place.run_id,
        "max_rounds": place.max_rounds,
        "duration": trajectory.times.duration,
        "attempts": core.attempts or None,
        "last_error": core.last_error,
        "is_long": core.is_long,
        "steps": None,
        "usage": None,
    }
    with suppress(Unreadable):
        found |= _of_log(trajectory)
    with suppress(Unreadable):
        found |= _of_answer(trajectory)
    return found


def _of_log(trajectory: Trajectory) -> dict[str, Any]:
    log = trajectory.log
    return {"dialect": log.dialect, "steps": len(log.steps), "alignment": trajectory.alignment}


def _of_answer(trajectory: Trajectory) -> dict[str, Any]:
    answer, usage = trajectory.answer, trajectory.total_usage
    tokens = {"prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens}
    more = {"reasoning_tokens": usage.reasoning_tokens, "num_calls": usage.num_calls}
    return {
        "answer": answer.final_answer,
        "screenshots": len(trajectory.screenshots),
        "usage": tokens | more if trajectory.usage else None,
        "flags": list(trajectory.flags),
    }
