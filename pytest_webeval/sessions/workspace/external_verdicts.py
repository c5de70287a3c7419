"""Verdicts in files that the session names: which of them belongs to which run, and what is known of the files."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.labels import Labels
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.text import name_first, truncate

if TYPE_CHECKING:
    from pytest_webeval.recordings.trajectory.recorded import Judgement
    from pytest_webeval.recordings.verdict_files import HumanLabels, JudgeVerdicts
    from pytest_webeval.sessions.settings.settings import Settings

_RUNS_NAMED, _LONGEST_NAME = 3, 80


class RunPlace(Struct, frozen=True):
    """What a verdict in a file is found by. `folders` are the names of the directories above the run."""

    label: str
    task_id: str
    folders: tuple[str, ...]


def describe_place(run: Run, labels: Labels) -> RunPlace:
    """The place of a run. The directories above it are those below pytest's rootdir, the run root and those in it."""
    root = labels.root_of(run.path) or run.path
    outer = Path(labels.prefixes.get(root, "")).parts
    inner = run.path.relative_to(root).parts
    above = (*outer, root.name, *inner[:-1]) if inner else outer[:-1]
    return RunPlace(run.label, str(run.task_id), tuple(dict.fromkeys(above)))


class ExternalVerdicts(Struct, frozen=True):
    """The files that options name, with the name of the option; those that count first come first."""

    files: Mapping[str, HumanLabels | JudgeVerdicts]

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Read the files. Raises `SettingsError`."""
        files: dict[str, HumanLabels | JudgeVerdicts] = {}
        if settings.labels is not None and settings.label_coding is not None:
            from pytest_webeval.recordings.verdict_files import load_labels  # few sessions have such a file

            files["labels"] = load_labels(settings.labels, settings.label_coding, settings.impossible)
        if settings.verdicts is not None:
            from pytest_webeval.recordings.verdict_files import load_verdicts  # same

            files["verdicts"] = load_verdicts(settings.verdicts)
        return cls(files)

    def to_json(self) -> dict[str, Any]:
        """Name, checksum and coding of each file, by the name of the option."""
        return {option: file.describe() for option, file in self.files.items()}

    def __str__(self) -> str:
        """The same in a few words."""
        return ", ".join(f"{option} {_summarize(file.describe())}" for option, file in self.files.items())

    def match(self, runs: Iterable[Run], labels: Labels) -> dict[str, VerdictMatches]:
        """The runs of a session by the verdicts that belong to them, for each option."""
        places = [describe_place(run, labels) for run in runs]
        return {option: VerdictMatches.of(file, places) for option, file in self.files.items()}


def _summarize(facts: Mapping[str, str]) -> str:
    impossible = f"impossible {facts['impossible']}" if "impossible" in facts else ""
    parts = (truncate(facts["name"], _LONGEST_NAME), facts.get("coding", ""), impossible, facts["checksum"][:12])
    return " ".join(filter(None, parts))


class VerdictMatches(Struct, frozen=True):
    """The verdicts of one file that belong to a run, each with the labels of the runs that it could be about."""

    file: HumanLabels | JudgeVerdicts
    runs: Mapping[Hashable, list[str]]
    run_count: int  # all of the session
    same_task_count: int = 0  # of those, the runs whose task is in the file

    @classmethod
    def of(cls, file: HumanLabels | JudgeVerdicts, places: Sequence[RunPlace]) -> Self:
        """Look for the verdicts on some runs."""
        runs: dict[Hashable, list[str]] = {}
        for place in places:
            try:
                key = file.find_key(place.task_id, place.folders)
            except RecordingError:  # of that run alone, which says so
                continue
            if key is not None:
                runs.setdefault(key, []).append(place.label)
        return cls(file, runs, len(places), sum(file.has_task(place.task_id) for place in places))

    def count(self) -> tuple[int, int, int]:
        """How many verdicts are on a run, how many runs have none in the file, and how many are of a task in it."""
        return len(self.runs), self.run_count - sum(map(len, self.runs.values())), self.same_task_count

    def find(self, place: RunPlace) -> Judgement | None:
        """The verdict on a run. Raises `RecordingError` for one that could be about several runs."""
        key = self.file.find_key(place.task_id, place.folders)
        if key is None:
            return None
        labels = self.runs.get(key, [])
        if len(labels) > 1:
            verdict = f"{self.file.source} has one {self.file.noun} on task {place.task_id:.80}"
            names = name_first(labels, _RUNS_NAMED, _LONGEST_NAME, len(labels))
            problem = f"{verdict}, but {len(labels)} runs could be meant: {names}"
            raise RecordingError(f"{problem}; pass only the runs that the file is about with --webeval-runs")
        return self.file.judge(key)


def judge_run(run: Run, labels: Labels, matches: Iterable[VerdictMatches]) -> Run:
    """The run with the verdicts of files on it; one of which it is unknown whether it is meant cannot be scored."""
    place = describe_place(run, labels)
    try:
        judgements = [each.find(place) for each in matches]
    except RecordingError as error:
        return run.judged((), str(error))
    return run.judged(tuple(judgement for judgement in judgements if judgement is not None))
