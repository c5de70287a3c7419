"""The certificate of a judge: what a calibration says in it, and what it says of the judge of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs, to_builtins

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.certificates import Certificate, CertifiedCounts, CertifiedNumbers, Estimate, LabelSource
from pytest_webeval.judges.identity import JudgeIdentity, format_member
from pytest_webeval.safety.text import pluralize
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.agreement import ConfusionTable, CorrectedRate, Kappa, Share, correct_rate, estimate_to_json
from pytest_webeval.summary.calibration import Calibration

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
