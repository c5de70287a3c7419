"""The verdicts of a judge against labels of people: how far it can be trusted, and what its success rate is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.judges.label_files import EXCLUDED, LabelFile
from pytest_webeval.recordings.verdict_files import FAILURE, SUCCESS
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.text import name_first
from pytest_webeval.summary.agreement import ConfusionTable, Share
from pytest_webeval.summary.annotator_agreement import AnnotatorAgreement, measure_agreement
from pytest_webeval.summary.corrected_rate import CorrectedRate, correct_rate
from pytest_webeval.summary.judged_runs import JudgedRun, JudgedRuns
from pytest_webeval.summary.run_labels import MatchedLabels, match_labels
from pytest_webeval.summary.statistics import mean

_NAMED, _LONGEST_NAME = 5, 60  # in a message


class SelfConsistency(Struct, frozen=True):
    """How often the votes of a judge agree with its verdict: the mean share over runs with several votes."""

    value: float
    unanimous: int
    run_count: int

    def to_json(self) -> dict[str, Any]:
        """The numbers in plain JSON."""
        return {"value": self.value, "unanimous": self.unanimous, "run_count": self.run_count}


class Calibration(Struct, frozen=True, dict=True):
    """Judged runs with their labels. A run without a label, or with a tie, counts in the raw success rate only."""

    judged: JudgedRuns
    files: Sequence[LabelFile]
    matched: MatchedLabels

    @cached_property
    def labels(self) -> Mapping[str, bool]:
        """Whether people call a run a success, by the name of the run."""
        meanings = {run: labels.meaning for run, labels in self.matched.by_run.items()}
        return {run: meaning == SUCCESS for run, meaning in meanings.items() if meaning in (SUCCESS, FAILURE)}

    @property
    def ties(self) -> list[str]:
        """Runs that as many annotators call one thing as another."""
        return [run for run, labels in self.matched.by_run.items() if labels.meaning is None]

    @property
    def excluded(self) -> list[str]:
        """Runs that people excluded."""
        return [run for run, labels in self.matched.by_run.items() if labels.meaning == EXCLUDED]

    @cached_property
    def table(self) -> ConfusionTable:
        """All labelled runs."""
        return self._count(self.judged.runs)

    @cached_property
    def annotators(self) -> AnnotatorAgreement | None:
        """The ceiling: how far annotators agree with each other. None where no run has two of them."""
        return measure_agreement([labels.votes for labels in self.matched.by_run.values()])

    @property
    def self_consistency(self) -> SelfConsistency | None:
        """The agreement of the judge's own votes; None where no run has several."""
        shares = [run.agreement for run in self.judged.runs if run.agreement is not None]
        average = mean(shares)
        return None if average is None else SelfConsistency(average, shares.count(1.0), len(shares))

    @property
    def raw_rate(self) -> Share:
        """The success rate as the judge has it, over all judged runs."""
        return Share(sum(run.verdict for run in self.judged.runs), len(self.judged.runs))

    @property
    def corrected_rate(self) -> CorrectedRate | None:
        """The success rate that people would measure over the same runs."""
        return correct_rate(self.raw_rate, self.table)

    @property
    def judges(self) -> list[JudgeIdentity | None]:
        """The judges of the runs; None stands for those that another program stored without its name."""
        return list(dict.fromkeys(run.judge for run in self.judged.runs))

    @property
    def has_adjudications_only(self) -> bool:
        """Whether all labels are adjudications: then they are of disagreements, and say nothing about other runs."""
        return all(labels.is_adjudicated for labels in self.matched.by_run.values())

    def group_tables(self, find_name: Callable[[JudgedRun], str]) -> dict[str, ConfusionTable]:
        """The tables of groups of runs by their names; empty where all labelled runs are of one group."""
        groups: dict[str, list[JudgedRun]] = {}
        for run in self.judged.runs:
            if run.run in self.labels:
                groups.setdefault(find_name(run), []).append(run)
        return {name: self._count(groups[name]) for name in sorted(groups)} if len(groups) > 1 else {}

    def list_disagreements(self) -> list[dict[str, Any]]:
        """Rows for people to adjudicate: runs with a verdict other than the label, and not adjudicated before."""
        return [
            {
                "run": run.run,
                "task_id": run.task_id,
                "verdict": _name(run.verdict),
                "label": _name(self.labels[run.run]),
                "reasoning": run.reasoning,
                "adjudicated": None,
            }
            for run in self.judged.runs
            if self.labels.get(run.run, run.verdict) is not run.verdict
            and not self.matched.by_run[run.run].is_adjudicated
        ]

    def _count(self, runs: Sequence[JudgedRun]) -> ConfusionTable:
        return ConfusionTable.count((run.verdict, self.labels[run.run]) for run in runs if run.run in self.labels)

    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON."""
        corrected, annotators, consistency = self.corrected_rate, self.annotators, self.self_consistency
        return {
            "schema_version": SCHEMA_VERSION,
            "judges": [None if judge is None else judge.to_json() for judge in self.judges],
            "sources": list(self.judged.sources),
            "labels": [{"name": file.name, "checksum": file.checksum, "coding": file.coding} for file in self.files],
            "judged_count": len(self.judged.runs),
            "task_count": len({(run.benchmark, run.task_id) for run in self.judged.runs}),
            "labelled_count": self.table.total,
            "unjudged_count": self.judged.unjudged,
            "table": self.table.to_json(),
            "annotators": None if annotators is None else annotators.to_json(),
            "self_consistency": None if consistency is None else consistency.to_json(),
            "raw_success_rate": self.raw_rate.to_json(),
            "corrected_success_rate": None if corrected is None else corrected.to_json(),
            "sites": _tables_to_json(self.group_tables(lambda run: run.site)),
            "benchmarks": _tables_to_json(self.group_tables(lambda run: run.benchmark)),
            "ties": self.ties,
            "excluded": self.excluded,
            "unmatched": list(self.matched.unmatched),
            "ambiguous": list(self.matched.ambiguous),
            "problems": list(self.judged.problems),
        }


def calibrate(judged: JudgedRuns, files: Sequence[LabelFile]) -> Calibration:
    """The verdicts with the labels of some files. Raises `SettingsError` if none of them belongs to a verdict."""
    calibration = Calibration(judged, files, match_labels(judged.runs, files))
    if not calibration.labels:
        runs = [run.run for run in judged.runs]
        keys = [*calibration.matched.unmatched, *calibration.matched.ambiguous] or calibration.excluded
        problem = f"no judged run has a label of success or failure (labels: {_list(keys)}; runs: {_list(runs)})"
        raise SettingsError(f"{problem}; label runs by name, or by a task id that no other run has")
    return calibration


def _list(names: Sequence[str]) -> str:
    return name_first(names, _NAMED, _LONGEST_NAME, len(names)) or "none"


def _name(is_success: bool) -> str:  # noqa: FBT001  (what it is about)
    return SUCCESS if is_success else FAILURE


def _tables_to_json(tables: Mapping[str, ConfusionTable]) -> list[dict[str, Any]]:
    return [{"name": name} | table.to_json() for name, table in tables.items()]
