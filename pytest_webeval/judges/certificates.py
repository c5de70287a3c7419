"""Certificates: how far a judge agrees with people, in a file that is valid for this judge alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert, to_builtins

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.judges.identity import JudgeIdentity, format_member
from pytest_webeval.recordings.verdict_files import parse_object
from pytest_webeval.results import SCHEMA_VERSION
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import preview
from pytest_webeval.storage import write_json

MAX_CERTIFICATE_BYTES = 2**20
_CALIBRATE = "calibrate the judge again"
_WIDEST = {"kappa", "annotator_kappa"}  # from -1 to 1; all else are shares

Text = Annotated[str, Meta(max_length=1_000)]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Meta(ge=0)]


class Estimate(Struct, frozen=True):
    """A number with its interval at 95 %; None for what is not defined or not known."""

    value: float | None = None
    interval_95: tuple[float, float] | None = None


class CertifiedNumbers(Struct, frozen=True, kw_only=True):
    """What a calibration measured. `annotator_agreement` and `annotator_kappa` are the ceiling for the judge."""

    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    specificity: Estimate
    kappa: Estimate
    base_rate: Estimate
    annotator_agreement: Estimate = Estimate()
    annotator_kappa: Estimate = Estimate()
    self_consistency: Estimate = Estimate()
    raw_success_rate: Estimate = Estimate()
    corrected_success_rate: Estimate = Estimate()


class CertifiedCounts(Struct, frozen=True, kw_only=True):
    """The confusion table of verdicts and labels; a success is positive. `judged` counts runs without a label, too."""

    judged: Count
    true_positive: Count
    false_positive: Count
    false_negative: Count
    true_negative: Count

    @property
    def labelled(self) -> int:
        """How many verdicts were compared with a label."""
        return self.true_positive + self.false_positive + self.false_negative + self.true_negative


class LabelSource(Struct, frozen=True, kw_only=True):
    """A file of labels: its name, SHA-256 and coding."""

    name: Text
    checksum: Digest
    coding: Text


class Certificate(Struct, frozen=True, kw_only=True):
    """How far a judge agrees with labels. It holds for `judge` as it was, and for no other model, method or prompt."""

    judge: JudgeIdentity
    counts: CertifiedCounts
    numbers: CertifiedNumbers
    labels: tuple[LabelSource, ...]
    package_version: Text

    def is_stale(self, identity: JudgeIdentity) -> bool:
        """Whether it says nothing about this judge."""
        return self.judge != identity

    def explain_staleness(self, identity: JudgeIdentity) -> str | None:
        """What changed since, such as `version was 1 and is 2`; None where it is valid."""
        changes = self.judge.list_changes(identity)
        parts = (f"{name} was {format_member(old)} and is {format_member(new)}" for name, (old, new) in changes.items())
        return "; ".join(parts) or None

    def to_json(self) -> dict[str, Any]:
        """The content of the file. The same calibration gives the same bytes: there is no time in it."""
        content: dict[str, Any] = to_builtins(self)
        return {"schema_version": SCHEMA_VERSION, "judge_checksum": self.judge.checksum} | content


def write_certificate(path: Path, certificate: Certificate) -> None:
    """Write a certificate. Raises `SettingsError`."""
    write_json(path, certificate.to_json())


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file, which may hold anything. Raises `SettingsError`."""
    try:
        resolved = path.resolve()
        content = read_file_inside(resolved.parent, resolved.name, MAX_CERTIFICATE_BYTES)
    except (OSError, RuntimeError, RecordingError) as error:
        raise SettingsError(f"cannot read certificate: {error}") from error
    try:
        return _convert(parse_object(content, str(path)))
    except ValueError as error:
        raise SettingsError(f"invalid certificate {path}: {error}; {_CALIBRATE}") from error


def _convert(raw: Mapping[str, Any]) -> Certificate:
    """Raises `ValueError`, also for what no calibration writes: it was changed by hand, or never was a certificate."""
    version = raw.get("schema_version")
    if type(version) is not int or version != SCHEMA_VERSION:
        raise ValueError(f"schema_version {preview(version, 20)}, expected {SCHEMA_VERSION}")
    try:
        certificate = convert(raw, Certificate)
    except ValidationError as error:
        raise ValueError(format_validation_error(error)) from error
    if raw.get("judge_checksum") != certificate.judge.checksum:
        raise ValueError("judge_checksum is not that of its judge")
    if certificate.counts.labelled > certificate.counts.judged:
        raise ValueError("counts has more labels than verdicts")
    for name in CertifiedNumbers.__struct_fields__:
        estimate: Estimate = getattr(certificate.numbers, name)
        least = -1 if name in _WIDEST else 0
        low, high = estimate.interval_95 or (least, 1)
        values = [low, high] if estimate.value is None else [low, high, estimate.value]
        if low > high or not all(isfinite(value) and least <= value <= 1 for value in values):
            raise ValueError(f"impossible value @ numbers.{name}")
    return certificate
