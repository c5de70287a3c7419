"""From a calibration to the certificate of its judge."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.certificates import Certificate, CertifiedCounts, CertifiedNumbers, Estimate, LabelSource
from pytest_webeval.judges.identity import JudgeIdentity, format_member
from pytest_webeval.safety.text import pluralize
from pytest_webeval.scoring.provenance import own_version
from pytest_webeval.summary.agreement import Kappa, Share
from pytest_webeval.summary.calibration import Calibration
from pytest_webeval.summary.corrected_rate import CorrectedRate


def certify(calibration: Calibration) -> Certificate:
    """The certificate of the judge. Raises `SettingsError` where the verdicts are not those of one judge."""
    table = calibration.table
    return Certificate(
        judge=_find_judge(calibration),
        counts=CertifiedCounts(
            judged=len(calibration.judged.runs),
            true_positive=table.true_positive,
            false_positive=table.false_positive,
            false_negative=table.false_negative,
            true_negative=table.true_negative,
        ),
        numbers=_list_numbers(calibration),
        labels=tuple(
            LabelSource(name=file.name, checksum=file.checksum, coding=file.coding) for file in calibration.files
        ),
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
    table, annotators, consistency = calibration.table, calibration.annotators, calibration.self_consistency
    return CertifiedNumbers(
        accuracy=_estimate(table.accuracy),
        precision=_estimate(table.precision),
        recall=_estimate(table.recall),
        specificity=_estimate(table.specificity),
        kappa=_estimate(table.kappa),
        base_rate=_estimate(table.base_rate),
        annotator_agreement=Estimate(annotators.share.value if annotators else None),
        annotator_kappa=Estimate(annotators.mean_kappa if annotators else None),
        self_consistency=Estimate(consistency.value if consistency else None),
        raw_success_rate=_estimate(calibration.raw_rate),
        corrected_success_rate=_estimate(calibration.corrected_rate),
    )


def _estimate(measured: Share | Kappa | CorrectedRate | None) -> Estimate:
    return Estimate() if measured is None else Estimate(measured.value, measured.interval)
