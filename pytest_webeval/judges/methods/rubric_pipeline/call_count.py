"""How many calls the pipeline may make, for an estimate before it starts (`fara_webeval.md` §6.9)."""

from __future__ import annotations

from pytest_webeval.judges.methods.rubric_pipeline.grouping import MAX_IMAGES


def count_calls(screenshots: int, votes: int = 1, criteria: int | None = None, conditions: int | None = None) -> int:
    """The largest number of calls for a run. Repeated attempts and calls of fallbacks are not included.

    `criteria` is None where there is no rubric yet, and `conditions` the number of criteria that have one.
    """
    classification = action_scores = reality = violation = 1
    rubric = 2 if criteria is None else 0
    evidence = screenshots if criteria is None else min(screenshots, criteria * MAX_IMAGES)
    condition = int(conditions is None or conditions > 1)
    points, outcome, analysis = 2 * votes, votes, 3
    before_points = classification + rubric + action_scores + screenshots + evidence + condition + reality
    return before_points + points + outcome + violation + analysis
