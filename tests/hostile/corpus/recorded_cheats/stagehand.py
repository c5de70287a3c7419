"""Failures that want to look like successes in the files of Stagehand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.hostile.corpus.cases import Case, all_of, holding
from tests.hostile.corpus.recorded_cheats.deceptions import CLAIM, FAILURE, list_wrong_values, place, precede
from tests.hostile.corpus.recorded_damage import NEVER_SUCCESS, Recording, cheat, edited
from tests.hostile.corpus.recorded_planted import list_planted


def list_cheats(recording: Recording) -> Iterator[Case]:
    """`scores/result.json` and `scores/gates.json` are the verdict."""
    result, success = "scores/result.json", {"outcomeSuccess": True, "processScore": 1}
    yield from list_planted(recording, "screenshots/agent/")
    yield from list_wrong_values(recording, "outcome", result, "outcomeSuccess")
    yield from list_wrong_values(recording, "outcome after the gates", "scores/gates.json", "outcomeSuccess")
    yield precede(recording, "scores/gates.json", "outcomeSuccess", True)
    for name in ("result_second.json", "result_a.json", "mmrubric_v1.json", "Result.json", "gate.json", "results.json"):
        yield cheat(recording, f"a success in scores/{name}", NEVER_SUCCESS, holding(f"scores/{name}", success))
    yield cheat(
        recording, "an outcome in the trajectory", FAILURE, place("trajectory.json", "outcomeSuccess", value=True)
    )
    yield cheat(recording, "a judge in the result", NEVER_SUCCESS, place(result, "judge", value=success))
    yield cheat(recording, "another copy", NEVER_SUCCESS, place("task_data.json", "result", value=success))
    yield cheat(recording, "no grade", NEVER_SUCCESS, place(result, "graded", value=False))
    yield cheat(
        recording, "gates that are no list", NEVER_SUCCESS, place("scores/gates.json", "outcomeGates", value="no")
    )
    yield cheat(recording, "no gates in the list", NEVER_SUCCESS, place("scores/gates.json", "outcomeGates", value=[]))
    yield cheat(
        recording, "an explanation that claims success", NEVER_SUCCESS, place(result, "explanation", value=CLAIM)
    )
    yield cheat(
        recording, "an answer that claims success", FAILURE, place("trajectory.json", "finalAnswer", value=CLAIM)
    )
    yield cheat(recording, "a plan that is empty", NEVER_SUCCESS, holding("metadata.json", "{}"))
    yield cheat(
        recording,
        "a judge that did not answer, in one sentence",
        NEVER_SUCCESS,
        all_of(
            place(result, "outcomeSuccess", value=False),
            place(
                result,
                "findings",
                value=[{"description": "The fused judgment call did not return a parseable response."}],
            ),
        ),
    )
    for points in (-1, 1e308, "2", True, float("nan"), None):
        spoil = place(result, "perCriterion", 0, "earnedPoints", value=points)
        yield cheat(recording, f"{points!r} points", NEVER_SUCCESS, spoil)
    yield cheat(recording, "screenshots elsewhere", NEVER_SUCCESS, edited("trajectory.json", _lead_images_out))


def _lead_images_out(document: Any) -> Any:
    if isinstance(document, dict):
        return {
            key: "../../../../etc/passwd" if key == "screenshotPath" else _lead_images_out(member)
            for key, member in document.items()
        }
    return [_lead_images_out(member) for member in document] if isinstance(document, list) else document
