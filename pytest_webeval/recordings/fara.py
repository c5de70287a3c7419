"""Trajectory directories of Fara's `webeval`: log, answer, screenshots, scores (`fara_webeval.md` §1, §2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.recordings.discovery import DirectoryListing
from pytest_webeval.recordings.discovery import is_directory
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.trajectory.layout import CORE_LOG
from pytest_webeval.recordings.trajectory.layout import HARNESS_FILE
from pytest_webeval.recordings.trajectory.layout import LOG
from pytest_webeval.recordings.trajectory.layout import SCORES
from pytest_webeval.recordings.trajectory.layout import TIMES
from pytest_webeval.recordings.webarena_verified import RESPONSE
from pytest_webeval.recordings.webarena_verified import TRACE_NAMES
from pytest_webeval.recordings.webarena_verified import network_trace
from pytest_webeval.safety.files import exists_no_follow

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.rules import Rules


TRAJECTORIES = "traj"
_HOLDERS = ("runs", TRAJECTORIES)
ANSWER_SUFFIX = "_answer.json"
FINAL_ANSWER_SUFFIX = "_final_answer.json"
_PARTS = frozenset({LOG, CORE_LOG, TIMES, HARNESS_FILE})


class Fara:
    """The layout that Microsoft's `webeval` writes, of whatever year."""

    name = "fara"
    wanted = f"{LOG} beside *_final_answer.json, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"

    def recognizes(self, path: Path) -> bool:
        """Whether the directory is a trajectory, or stands where only trajectories do (§1.3, rules 2, 3 and 9)."""
        return not exists_no_follow(path / RESPONSE) and self.fits(list_directory(path))

    def fits(self, seen: DirectoryListing) -> bool:
        """The same of a directory that was looked at."""
        names = seen.names
        if RESPONSE in names:
            return False
        if _is_trajectory(names) or (HARNESS_FILE in names and any(name.endswith("_pre.png") for name in names)):
            return True
        stands_there = seen.path.absolute().parent.name == TRAJECTORIES and names.isdisjoint(TRACE_NAMES)
        return stands_there and not _holds_runs(seen)

    def knows_part(self, seen: DirectoryListing) -> bool:
        """Whether there is one of the files that few other programs write under such a name."""
        return not seen.names.isdisjoint(_PARTS) or any(name.endswith(FINAL_ANSWER_SUFFIX) for name in seen.names)

    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run, with the directory's name as task id."""
        from pytest_webeval.recordings.fara_run import TrajectoryRun  # which most sessions have none of

        return TrajectoryRun(
            path=path,
            label=label,
            task_id=path.name,
            format=self.name,
            response_file="",
            inputs=RunInputs(path),
            rules=rules,
            load_trace=network_trace(path),
        )


def _is_trajectory(names: frozenset[str]) -> bool:
    answers = any(name.endswith(ANSWER_SUFFIX) for name in names)
    others = not names.isdisjoint((TIMES, CORE_LOG, SCORES))
    more = others or any(name.startswith("screenshot") and name.endswith(".png") for name in names)
    return (LOG in names and (answers or more)) or (answers and more)


def _holds_runs(seen: DirectoryListing) -> bool:
    """Whether a directory below is one of runs, so that a path called `traj` by chance is searched like any other."""
    below = [one for one in seen.entries if is_directory(one) and one.name != SCORES]
    inner = (list_directory(Path(one.path)).names for one in below)
    return any(one.name in _HOLDERS for one in below) or any(_is_trajectory(one) or RESPONSE in one for one in inner)
