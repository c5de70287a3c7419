"""The label that counts for each run, of the labels that several annotators gave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.label_files import EXCLUDED, Label, LabelFile
from pytest_webeval.recordings.verdict_files import SUCCESS
from pytest_webeval.safety.text import preview
from pytest_webeval.summary.judged_runs import JudgedRun

MOST_ANNOTATORS = 50  # each pair of them has a table of its own


class RunLabels(Struct):
    """All labels of a run."""

    labels: list[Label] = field(default_factory=list)

    @property
    def votes(self) -> Mapping[str, bool]:
        """Whether the run is a success, by annotator; without adjudications and labels that exclude it."""
        counted = (label for label in self.labels if not label.is_adjudication and label.meaning != EXCLUDED)
        return {label.annotator: label.meaning == SUCCESS for label in counted}

    @property
    def is_adjudicated(self) -> bool:
        """Whether a person decided between judge and labels."""
        return any(label.is_adjudication for label in self.labels)

    @property
    def meaning(self) -> str | None:
        """The label that counts: the adjudication, or what most annotators say. None of a tie."""
        adjudications = [label for label in self.labels if label.is_adjudication]
        counts = Counter(label.meaning for label in adjudications or self.labels).most_common(2)
        return None if len(counts) > 1 and counts[0][1] == counts[1][1] else counts[0][0]


class MatchedLabels(Struct, frozen=True):
    """The labels by the name of their run. `unmatched` are keys without a judged run, `ambiguous` those of several."""

    by_run: Mapping[str, RunLabels]
    unmatched: Sequence[str]
    ambiguous: Sequence[str]


def match_labels(runs: Sequence[JudgedRun], files: Iterable[LabelFile]) -> MatchedLabels:
    """The labels of each run, by its name or by its task id if no other run has that. Raises `SettingsError`."""
    names = {run.run for run in runs}
    by_task: dict[str, list[str]] = {}
    for run in runs:
        by_task.setdefault(run.task_id, []).append(run.run)
    matched: dict[str, RunLabels] = {}
    unmatched, ambiguous = dict[str, None](), dict[str, None]()
    for label in (label for file in files for label in file.labels):
        candidates = [label.key] if label.key in names else by_task.get(label.key, [])
        if len(candidates) == 1:
            _add(matched.setdefault(candidates[0], RunLabels()), label, candidates[0])
        else:
            (ambiguous if candidates else unmatched)[label.key] = None
    _check_annotators(matched)
    return MatchedLabels(matched, list(unmatched), list(ambiguous))


def _add(labels: RunLabels, label: Label, run: str) -> None:
    if any(label.annotator == other.annotator for other in labels.labels):
        problem = f"run {preview(run, 80)} has two labels of {preview(label.annotator, 60)}"
        raise SettingsError(f"{problem}; keep one, or name the column of annotators with --annotator-column")
    labels.labels.append(label)


def _check_annotators(matched: Mapping[str, RunLabels]) -> None:
    count = len({label.annotator for labels in matched.values() for label in labels.labels})
    if count > MOST_ANNOTATORS:
        problem = f"the labels are of {count:,} annotators, and at most {MOST_ANNOTATORS} are compared"
        raise SettingsError(f"{problem}; check --annotator-column")
