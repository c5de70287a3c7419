"""Files of a Stagehand directory: the trajectory, and results of its verifier."""

from __future__ import annotations

from msgspec import to_builtins

from pytest_webeval.recordings.formats.stagehand_result import read_judgement
from pytest_webeval.recordings.formats.stagehand_steps import classify, read_trajectory
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.rubrics.stored_verdict import from_judgement
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import NOWHERE, KeptFiles, expect, written


def read_stagehand_trajectory(content: bytes) -> None:
    """The steps of `trajectory.json`, whose images all lie below the directory."""
    trajectory = read_trajectory(content)
    written(to_builtins(trajectory))
    for is_graded in (True, False):
        written(to_builtins(classify(trajectory, is_graded=is_graded)))
    for shot in trajectory.screenshots:
        expect(not shot.name.startswith("/") and ".." not in shot.name.split("/"), f"an image elsewhere: {shot.name!r}")


def read_stagehand_result(content: bytes) -> None:
    """A file in `scores/`, also as its own `gates.json`: only a stored success is one."""
    files = RecordedFiles(KeptFiles(NOWHERE))
    fields = files.parse_object("scores/result.json", content).raw
    for gates in (None, fields):
        judgement = read_judgement("scores/result.json", fields, gates)
        expect((judgement.success is None) is (judgement.ungraded is not None), "a verdict of a run without a grade")
        expect(not judgement.success or fields.get("outcomeSuccess") is True, "a success that was not stored")
        written(to_builtins(judgement))
        if judgement.ungraded is None:
            use_verdict(from_judgement(judgement))
