"""Files of a Stagehand directory: the trajectory, and results of its verifier."""

from __future__ import annotations

from msgspec import to_builtins

from pytest_webeval.recordings.trajectory.stagehand import classify
from pytest_webeval.recordings.trajectory.stagehand import read_trajectory
from pytest_webeval.rubrics.stagehand_result import read_result
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import expect
from tests.fuzz.targets.target import written


def read_stagehand_trajectory(content: bytes) -> None:
    """The steps of `trajectory.json`, whose images all lie below the directory."""
    trajectory = read_trajectory(content)
    written(to_builtins(trajectory))
    for is_graded in (True, False):
        written(to_builtins(classify(trajectory, is_graded=is_graded)))
    for shot in trajectory.screenshots:
        expect(not shot.name.startswith("/") and ".." not in shot.name.split("/"), f"an image elsewhere: {shot.name!r}")


def read_stagehand_result(content: bytes) -> None:
    """A file in `scores/`: a success is stored as one, and a run without a grade has no verdict."""
    result = read_result("scores/result.json", content)
    expect((result.outcome is None) is (result.ungraded is not None), "an outcome of a run without a grade")
    if result.ungraded is None:
        use_verdict(result.to_verdict)
    else:
        written(result.ungraded)
