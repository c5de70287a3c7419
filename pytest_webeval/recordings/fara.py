"""Trajectory directories of Fara's `webeval`: log, answer, screenshots, scores (`fara_webeval.md` §1, §2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_webeval.recordings.discovery import DirectoryListing, is_directory, list_directory
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.run import RunFormat
from pytest_webeval.recordings.trajectory.layout import CORE_LOG, HARNESS_FILE, LOG, SCORES, TIMES
from pytest_webeval.recordings.webarena_verified import RESPONSE, TRACE_NAMES, network_trace

if TYPE_CHECKING:
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.rules import Rules


TRAJECTORIES = "traj"
_RUN_PARENTS = ("runs", TRAJECTORIES)
ANSWER_SUFFIX = "_answer.json"
FINAL_ANSWER_SUFFIX = "_final_answer.json"
_TYPICAL_FILES = frozenset({LOG, CORE_LOG, TIMES, HARNESS_FILE})


class Fara(RunFormat):
    """The layout that Microsoft's `webeval` writes, of whatever year."""

    name = "fara"
    expected_files = f"{LOG} and one of *_final_answer.json, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"

    def recognizes(self, path: Path) -> bool:
        """Whether the directory is a trajectory, or stands where only trajectories do (§1.3, rules 2, 3 and 9)."""
        listing = list_directory(path)
        return self.recognizes_listing(listing) or self.accepts_listing(listing)

    def recognizes_listing(self, listing: DirectoryListing) -> bool:
        """Whether the names in a directory are those of a trajectory."""
        names = listing.names
        return _is_trajectory(names) or (HARNESS_FILE in names and any(name.endswith("_pre.png") for name in names))

    def accepts_listing(self, listing: DirectoryListing) -> bool:
        """Whether it stands where only trajectories do, and holds no recording of another kind."""
        names = listing.names
        if RESPONSE in names:
            return False
        is_in_trajectories = listing.path.absolute().parent.name == TRAJECTORIES and names.isdisjoint(TRACE_NAMES)
        return is_in_trajectories and not _holds_runs(listing)

    def has_typical_file(self, listing: DirectoryListing) -> bool:
        """Whether there is one of the files that few other programs write under such a name."""
        return not listing.names.isdisjoint(_TYPICAL_FILES) or any(
            name.endswith(FINAL_ANSWER_SUFFIX) for name in listing.names
        )

    def list_signs(self, listing: DirectoryListing) -> list[tuple[list[str], list[str]]]:
        """The log or an answer, without what stands with it in a trajectory."""
        present = sorted(name for name in listing.names if name in _TYPICAL_FILES or name.endswith(FINAL_ANSWER_SUFFIX))
        others = f"one of *{FINAL_ANSWER_SUFFIX}, {TIMES}, {CORE_LOG}, {SCORES}/ or a screenshot"
        return [(present, [others if LOG in listing.names else LOG])]

    def load(self, path: Path, label: str, rules: Rules) -> Run:
        """The run, with the directory's name as task id."""
        from pytest_webeval.recordings.fara_run import FaraRun  # which most sessions have none of

        return FaraRun(
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
    has_answer = any(name.endswith(ANSWER_SUFFIX) for name in names)
    has_other_file = not names.isdisjoint((TIMES, CORE_LOG, SCORES))
    is_recorded = has_other_file or any(name.startswith("screenshot") and name.endswith(".png") for name in names)
    return (LOG in names and (has_answer or is_recorded)) or (has_answer and is_recorded)


def _holds_runs(listing: DirectoryListing) -> bool:
    """Whether a directory below is one of runs, so that a path called `traj` by chance is searched like any other."""
    subdirectories = [entry for entry in listing.entries if is_directory(entry) and entry.name != SCORES]
    if any(entry.name in _RUN_PARENTS for entry in subdirectories):
        return True
    inner_names = (list_directory(listing.path / entry.name).names for entry in subdirectories)
    return any(_is_trajectory(names) or RESPONSE in names for names in inner_names)
