"""Directories of Stagehand in `stagehand_samples`, with texts and pictures of ours.

Those of 2026-06 and 2026-07 come from Stagehand's own writers: `TrajectoryRecorder` and `persistAdapterTrajectory` of
browserbase/stagehand (4960e3b50, 06289148e) with npm 3.7.0. Their results are those of npm's `RubricVerifier` with
scripted replies, but for `tea_legacy` and `tea_legacy_invalid`, whose results have the shape of `v3Evaluator.js`. Those
of 2026-05 and 2026-09 were made by hand from the code and pages of writers that are not published. Empty `scores`
directories and most pictures are not there.
"""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parent / "stagehand_samples"


def sample(layout: str, case: str) -> Path:
    """The directory of a case such as `success`, in the layout of a month such as `07`."""
    matching = SAMPLES.glob(f"2026-{layout}_*/**/trajectory.json")
    return next(path.parent for path in matching if f"tea_{case}" in path.parts)
