"""Honest runs of each format of the table, as files in the repository: tests copy them and may spoil the copies.

Those of a format lie in `tests/recorded/<module of its reader>`, or in `tests/recorded/<name of the format>`, so that
a new format is in all tests of honest runs as soon as it has samples.
"""

from __future__ import annotations

from pathlib import Path

from pytest_webeval.recordings.formats import FORMATS
from pytest_webeval.recordings.signatures import RecordedFormat
from tests.support.stagehand import SAMPLES

RECORDED = Path(__file__).parents[1] / "recorded"
RECORDED_FORMATS = {entry.name: entry for entry in FORMATS if isinstance(entry, RecordedFormat) and entry.layouts}
_ELSEWHERE = {"stagehand": SAMPLES}


def find_samples(name: str) -> Path:
    """The directory with the samples of a format."""
    places = (_ELSEWHERE.get(name), RECORDED / RECORDED_FORMATS[name].module, RECORDED / name)
    return next(place for place in places if place is not None and place.is_dir())


def list_runs(name: str) -> list[Path]:
    """The run directories among the samples of a format, sorted. Nothing below a run is one, as in a session."""
    folders = sorted(path for path in find_samples(name).rglob("*") if path.is_dir())
    runs: list[Path] = []
    for folder in folders:
        if not set(folder.parents).intersection(runs) and RECORDED_FORMATS[name].recognizes(folder):
            runs.append(folder)
    return runs


def find_run(name: str, part: str) -> Path:
    """The first run in whose path a directory has such a name, without what follows `__`."""
    return next(run for run in list_runs(name) if part in [folder.partition("__")[0] for folder in run.parts])
