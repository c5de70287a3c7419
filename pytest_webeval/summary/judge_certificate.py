"""What a certificate says of the judge of a session, and of the success rate that the judge gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from pytest_webeval.judges.certificates import Certificate
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.summary.agreement import ConfusionTable, Share, estimate_to_json
from pytest_webeval.summary.corrected_rate import correct_rate

_NUMBERS = ("accuracy", "precision", "recall", "specificity", "kappa", "base_rate")
_CEILING = ("annotator_agreement", "annotator_kappa", "self_consistency")


def describe_certificate(certificate: Certificate, judging: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of a certificate, with the success rate of the judged runs beside the corrected one.

    `problem` says why it is not valid for a judge of the session; then nothing follows from it.
    """
    identities = [JudgeIdentity.read(judge) for judge in judging["judges"]]
    changes = list(filter(None, map(certificate.explain_staleness, identities)))
    if not judging["judged"]:
        changes = ["no run was judged, so that there is nothing to certify"]
    counts, raw = certificate.counts, Share(judging["successes"], judging["judged"])
    table = ConfusionTable(counts.true_positive, counts.false_positive, counts.false_negative, counts.true_negative)
    corrected = None if changes else correct_rate(raw, table)
    numbers = {name: to_builtins(getattr(certificate.numbers, name)) for name in (*_NUMBERS, *_CEILING)}
    return numbers | {
        "problem": "; ".join(changes) or None,
        "judge_checksum": certificate.judge.checksum,
        "labelled": counts.labelled,
        "labels": to_builtins(certificate.labels),
        "raw_success_rate": estimate_to_json(raw.value, raw.interval),
        "corrected_success_rate": estimate_to_json(None, None) if corrected is None else corrected.to_json(),
    }
