"""The history of browser-use, alone in its directory."""

from __future__ import annotations

import json
from contextlib import suppress

from msgspec import to_builtins

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.formats.browser_use import DEFAULT_NAME, read
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.trajectory.recorded import OutcomeClass
from pytest_webeval.rubrics.stored_verdict import from_judgement
from tests.fuzz.targets.rubric import use_verdict
from tests.fuzz.targets.target import NOWHERE, KeptFiles, expect, written


def read_browser_use(content: bytes) -> None:
    """The trajectory of a history. A completed run has a judgement, and only a stored verdict is a success."""
    files = RecordedFiles(KeptFiles(NOWHERE, files={DEFAULT_NAME: content}))
    trajectory = read(files)
    graded = trajectory.judged()
    written(graded.to_json())
    for step in trajectory.steps:
        written(to_builtins(step))
    for shot in trajectory.screenshots:
        with suppress(RecordingError):
            trajectory.image(shot)
    expect(graded.outcome.kind is not OutcomeClass.COMPLETED or graded.judgements, "a completed run without a verdict")
    for judgement in trajectory.judgements:
        expect(judgement.success in (True, False), "a judgement without a verdict")
        expect(not judgement.success or b'"verdict"' in content or b"\\u" in content, "a success that was not stored")
        written(to_builtins(judgement))
        use_verdict(from_judgement(judgement))
    written(json.loads(json.dumps(files.warnings.texts)))
