"""Where a Fara run directory holds verdicts, and whether its benchmark has gates (`fara_webeval.md` §2.7, §4.3)."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.trajectory.files import TrajectoryFiles
from pytest_webeval.recordings.trajectory.layout import GATED, RUBRIC, SCORES, TASK_DATA
from pytest_webeval.recordings.trajectory.score_names import MMRUBRIC, parse_name
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.run_directory import list_names, stat_no_follow

if TYPE_CHECKING:
    from pytest_webeval.recordings.trajectory.recorded import Judgement


@dataclass(frozen=True)
class StoredScores(TrajectoryFiles):
    """What is known of verdicts before the content of any is read. All but `judgements` may raise `RecordingError`."""

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """None: score files are read with the policy of the session, not with the run."""
        return ()

    @cached_property
    def score_names(self) -> tuple[str, ...]:
        """Names of the JSON files in `scores/`, sorted. Raises `RecordingError` if that is not a directory.

        An unreadable directory is an error as well: there may be a verdict in it.
        """
        if SCORES not in self.names:
            return ()
        folder = self.path / SCORES
        try:
            if not stat.S_ISDIR(stat_no_follow(folder).st_mode):
                problem = f"{SCORES} in {self.path} is not a directory; replace it with a directory, not with a link"
                raise RecordingError(problem)
            return tuple(name for name in sorted(list_names(folder)) if name.endswith(".json"))
        except OSError as error:
            raise RecordingError(f"cannot list {folder}: {error.strerror}; make it readable") from error

    @property
    def rubric_names(self) -> tuple[str, ...]:
        """Files outside of `scores/`, which may be downloads: they count only if a session asks for them by name."""
        return (RUBRIC, TASK_DATA)

    @property
    def verdict_sources(self) -> tuple[str, ...]:
        """All score files, and a rubric next to `scores/`."""
        scores = tuple(f"{SCORES}/{name}" for name in self.score_names)
        return (*scores, RUBRIC) if exists_no_follow(self.path / RUBRIC) else scores

    @property
    def reason_unjudged(self) -> str:
        """Why no file counts as a verdict."""
        others = self.verdict_sources
        hint = f"{' or '.join(others)} counts only with --webeval-score-file" if others else "judge the run"
        return f"no verdict in {SCORES}/; {hint}"

    @property
    def is_verdict_stale(self) -> bool | None:
        """Whether the agent ran again after it was last judged; None if it never was."""
        return self.core.evaluation_is_stale

    def is_gated(self, benchmark: str) -> bool:
        """Whether the benchmark turns runs away by itself. Where it is unknown, its kind of score file decides."""
        benchmarks = {self.place.benchmark_kind, benchmark} - {None, ""}
        if benchmarks:
            return GATED in benchmarks
        return any(parse_name(name).kind == MMRUBRIC for name in self.score_names)
