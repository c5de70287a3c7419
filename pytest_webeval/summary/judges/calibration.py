"""The verdicts of a judge against labels of people: how far it can be trusted, and what its success rate is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, field, structs, to_builtins

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.certificates import Certificate, CertifiedCounts, CertifiedNumbers, Estimate, LabelSource
from pytest_webeval.judges.identity import JudgeIdentity, format_member
from pytest_webeval.judges.label_files import EXCLUDED, Label, LabelFile
from pytest_webeval.recordings.verdict_files import FAILURE, SUCCESS
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.text import name_first, pluralize, preview
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.judges.agreement import (
    AnnotatorAgreement,
    ConfusionTable,
    CorrectedRate,
    Kappa,
    Share,
    correct_rate,
    estimate_to_json,
    measure_agreement,
)
from pytest_webeval.summary.judges.judged_runs import JudgedRun, JudgedRuns
from pytest_webeval.summary.statistics import group, mean

MOST_ANNOTATORS = 50  # each pair of them has a table of its own
_NAMED, _LONGEST_NAME = 5, 60  # in a message


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
    by_task = group(runs, lambda run: run.task_id)
    matched: dict[str, RunLabels] = {}
    unmatched, ambiguous = dict[str, None](), dict[str, None]()
    for label in (label for file in files for label in file.labels):
        candidates = [label.key] if label.key in names else [run.run for run in by_task.get(label.key, ())]
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


class SelfConsistency(Struct, frozen=True):
    """How often the votes of a judge agree with its verdict: the mean share over runs with several votes."""

    value: float
    unanimous: int
    run_count: int


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

    def _list_tables(self, find_name: Callable[[JudgedRun], str]) -> list[dict[str, Any]]:
        """The tables of groups of runs with their names; empty where all labelled runs are of one group."""
        groups = group((run for run in self.judged.runs if run.run in self.labels), find_name)
        tables = [{"name": name} | self._count(groups[name]).to_json() for name in sorted(groups)]
        return tables if len(tables) > 1 else []

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

    def list_label_files(self) -> list[dict[str, str]]:
        """The name, checksum and coding of each file of labels."""
        return [{"name": file.name, "checksum": file.checksum, "coding": file.coding} for file in self.files]

    def _count(self, runs: Sequence[JudgedRun]) -> ConfusionTable:
        return ConfusionTable.count((run.verdict, self.labels[run.run]) for run in runs if run.run in self.labels)

    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON."""
        corrected, annotators, consistency = self.corrected_rate, self.annotators, self.self_consistency
        return {
            "schema_version": SCHEMA_VERSION,
            "judges": [None if judge is None else judge.to_json() for judge in self.judges],
            "sources": list(self.judged.sources),
            "labels": self.list_label_files(),
            "judged_count": len(self.judged.runs),
            "task_count": len({(run.benchmark, run.task_id) for run in self.judged.runs}),
            "labelled_count": self.table.total,
            "unjudged_count": self.judged.unjudged,
            "table": self.table.to_json(),
            "annotators": None if annotators is None else annotators.to_json(),
            "self_consistency": None if consistency is None else structs.asdict(consistency),
            "raw_success_rate": self.raw_rate.to_json(),
            "corrected_success_rate": None if corrected is None else corrected.to_json(),
            "sites": self._list_tables(lambda run: run.site),
            "benchmarks": self._list_tables(lambda run: run.benchmark),
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


_OF_TABLE = ("accuracy", "precision", "recall", "specificity", "kappa", "base_rate")
_CEILING = ("annotator_agreement", "annotator_kappa", "self_consistency")


def certify(calibration: Calibration) -> Certificate:
    """The certificate of the judge. Raises `SettingsError` where the verdicts are not those of one judge."""
    return Certificate(
        judge=_find_judge(calibration),
        counts=CertifiedCounts(judged=len(calibration.judged.runs), **structs.asdict(calibration.table)),
        numbers=_list_numbers(calibration),
        labels=tuple(LabelSource(**row) for row in calibration.list_label_files()),
        package_version=own_version(),
    )


def _find_judge(calibration: Calibration) -> JudgeIdentity:
    if calibration.has_adjudications_only:
        problem = "cannot certify the judge by adjudicated disagreements alone"
        raise SettingsError(f"{problem}; add the labels that they were made from with another --labels")
    unnamed = [run.run for run in calibration.judged.runs if run.judge is None]
    if unnamed:
        verdicts = pluralize(len(unnamed), "verdict")
        problem = f"cannot certify the judge: {verdicts} of {len(calibration.judged.runs):,} do not say who judged"
        raise SettingsError(
            f"{problem} (first: {format_member(unnamed[0])}); pass the directory of a session that judged them"
        )
    identities = [judge for judge in calibration.judges if judge is not None]
    if len(identities) > 1:
        problem = f"cannot certify {pluralize(len(identities), 'judge')} at once: {_describe_changes(identities)}"
        raise SettingsError(f"{problem}; name sessions of one judge")
    return identities[0]


def _describe_changes(identities: Sequence[JudgeIdentity]) -> str:
    """What differs between judges, such as `model is a or b`."""
    names = {name: None for other in identities[1:] for name in identities[0].list_changes(other)}
    values = {name: dict.fromkeys(format_member(getattr(judge, name)) for judge in identities) for name in names}
    return "; ".join(f"{name} is {' or '.join(list(values[name])[:5])}" for name in values)


def _list_numbers(calibration: Calibration) -> CertifiedNumbers:
    annotators, consistency = calibration.annotators, calibration.self_consistency
    measured = {name: getattr(calibration.table, name) for name in _OF_TABLE}
    measured |= {"raw_success_rate": calibration.raw_rate, "corrected_success_rate": calibration.corrected_rate}
    return CertifiedNumbers(
        annotator_agreement=Estimate(annotators.share.value if annotators else None),
        annotator_kappa=Estimate(annotators.mean_kappa if annotators else None),
        self_consistency=Estimate(consistency.value if consistency else None),
        **{name: _estimate(each) for name, each in measured.items()},
    )


def _estimate(measured: Share | Kappa | CorrectedRate | None) -> Estimate:
    return Estimate() if measured is None else Estimate(measured.value, measured.interval)


def describe_certificate(certificate: Certificate, judging: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a certificate, with the success rate of the judged runs beside the corrected one.

    `problem` says why it is not valid for a judge of the session; then nothing follows from it.
    """
    identities = [JudgeIdentity.read(judge) for judge in judging["judges"]]
    changes = list(filter(None, map(certificate.explain_staleness, identities)))
    if not judging["judged"]:
        changes = ["no run was judged, so that there is nothing to certify"]
    counts, raw = certificate.counts, Share(judging["successes"], judging["judged"])
    table = ConfusionTable(**{name: getattr(counts, name) for name in ConfusionTable.__struct_fields__})
    corrected = None if changes else correct_rate(raw, table)
    numbers = {name: to_builtins(getattr(certificate.numbers, name)) for name in (*_OF_TABLE, *_CEILING)}
    return numbers | {
        "problem": "; ".join(changes) or None,
        "judge_checksum": certificate.judge.checksum,
        "labelled": counts.labelled,
        "labels": to_builtins(certificate.labels),
        "raw_success_rate": estimate_to_json(raw.value, raw.interval),
        "corrected_success_rate": estimate_to_json(None, None) if corrected is None else corrected.to_json(),
    }
