"""Rewards as verdicts: one rule for every environment and verifier that stores a number.

A reward is the share of a task that was done: 1 is a success. Neither Harbor nor BrowserGym sets a range. But what
`validate` of all tasks in BrowserGym (9e779f0) and WorkArena (4134527) gives is from 0 to 1, and a reward above 0 ends
the task, so that the sum over the steps of an experiment is in that range as well. Another number is damaged, or of a
task with a scale of its own, on which nobody can say what a success is. It is an error: to skip the run would take
failures out of the rates.
"""

from __future__ import annotations

from pytest_webeval.recordings.trajectory.outcome import TrajectoryOutcome
from pytest_webeval.recordings.trajectory.recorded import Judgement
from pytest_webeval.recordings.trajectory.step import UnreadableTrajectory
from pytest_webeval.safety.text import preview

FULL_REWARD = 1
DIGITS = 9  # after the point; a sum of ten times 0.1 is a full reward, whatever the last bits of the sum are
RANGE = f"a number from 0 to {FULL_REWARD}"


def check_reward(value: object, where: str) -> float:
    """The reward if it is a number from 0 to 1. Raises `UnreadableTrajectory` for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise build_damage_error(where, value, RANGE)
    reward = round(value, DIGITS)
    if not 0 <= reward <= FULL_REWARD:
        raise build_damage_error(where, value, RANGE)
    return reward


def build_damage_error(where: str, value: object, expected: str) -> UnreadableTrajectory:
    """The error for a damaged value on which the verdict depends."""
    problem = f"{where} is {preview(value, 60, is_ascii=True)}, expected {expected}"
    return UnreadableTrajectory("score_unreadable", f"{problem}; run the task again, or fix the file")


def judge_reward(
    source: str, judge: str, reward: float, contradictions: tuple[str, ...], outcome: TrajectoryOutcome
) -> Judgement:
    """The verdict by a reward that was checked: only the full one is a success. Its reason has an unusual end."""
    has_usual_end = not outcome.reasons or not outcome.is_scored
    return Judgement(
        source=source,
        judge=judge,
        success=reward >= FULL_REWARD,
        score=reward,
        reasoning=f"reward {reward:g}" if has_usual_end else f"reward {reward:g} ({outcome.message})",
        contradictions=contradictions,
    )
