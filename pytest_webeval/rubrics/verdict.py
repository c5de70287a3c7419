"""What a stored verdict comes to, and what each kind of them is derived from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pytest_webeval.rubrics.consistency import DerivedVerdict
from pytest_webeval.rubrics.payload import RubricPayload, point_count
from pytest_webeval.rubrics.policy import Criterion, VerdictPolicy
from pytest_webeval.rubrics.rubric_items import Points, RubricItem
from pytest_webeval.rubrics.stored_verdict import Check, RunFacts, StoredVerdict

DEFAULT_THRESHOLD = Decimal("0.8")
_OF_POINTS = ("mmrubric", "heldout")  # in the names of other files the number is a relevance of images


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a run, and how sure it is.

    `status` is `judged`, `gate` (turned away before a judge saw the run), `judge_error`, `undecided` (the judge could
    not tell, which counts as 0) or `unscored`. `score` is 1 or 0, None for what is excluded from rates.
    `criterion_source` is `option`, `payload`, `inferred`, `default`, or a text with all criteria that the stored score
    is consistent with; `threshold_source` is `option`, `file name` or `default`. `process`, `outcome` and `violation`
    are None where they are unknown. `reason` is the gate's or the judge's, or says why there is no verdict. `signals`
    are those of the held-out benchmarks.
    """

    status: str
    score: int | None
    criterion: str
    criterion_source: str
    threshold: Decimal
    threshold_source: str
    writer: str
    generation: str | None = None
    process: bool | None = None
    outcome: bool | None = None
    violation: bool | None = None
    points: Points | None = None
    items: tuple[RubricItem, ...] = ()
    signals: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    reason: str | None = None
    degraded_steps: tuple[str, ...] = ()
    notes: Mapping[str, bool] = field(default_factory=dict)  # further findings of the judge

    @property
    def is_inconsistent(self) -> bool:
        """Whether what is stored contradicts itself, so that nothing follows from it."""
        return any(finding.is_contradiction for finding in self.checks)


@dataclass(frozen=True, slots=True)
class VerdictInputs:
    """One stored verdict with all that its derivation depends on."""

    stored: StoredVerdict
    payload: RubricPayload
    policy: VerdictPolicy
    facts: RunFacts

    @property
    def written_threshold(self) -> Decimal:
        """The share of points from which on the writer took a process for a success."""
        return DEFAULT_THRESHOLD if self._named_threshold is None else self._named_threshold

    @property
    def threshold(self) -> Decimal:
        """The share from which on this session does."""
        return self.written_threshold if self.policy.threshold is None else self.policy.threshold

    @property
    def requested_criterion(self) -> str | None:
        return self.policy.criterion

    @property
    def needs_items(self) -> bool:
        """Whether every writer of such a file stores the items of the rubric, so that missing ones were removed.

        Only the oldest held-out files truly have none (§5.2).
        """
        kind = self.stored.name.kind
        return kind == "mmrubric" or (kind == "heldout" and self.payload.writer != "unknown")

    def build_derived(self, **parts: Any) -> DerivedVerdict:
        """What the checks compare with what was stored."""
        has_score = self.stored.score is not None or not (self.payload.is_rubric or self.stored.name.kind == "other")
        return DerivedVerdict(
            stored_score=self.stored.score, payload=self.payload, facts=self.facts, has_score=has_score, **parts
        )

    def verdict(
        self, status: str, score: int | None, checks: tuple[Check, ...], written: Criterion, **details: Any
    ) -> Verdict:
        """The verdict, with all that each kind of them has."""
        criterion = written if self.requested_criterion is None else Criterion(self.requested_criterion, "option")
        source = "default" if self._named_threshold is None else "file name"
        if self.policy.threshold is not None:
            source = "option"
        return Verdict(
            status=status,
            score=score,
            criterion=criterion.name,
            criterion_source=criterion.source,
            threshold=self.threshold,
            threshold_source=source,
            checks=checks,
            **details,
        )

    @property
    def _named_threshold(self) -> Decimal | None:
        return point_count(self.stored.name.threshold) if self.stored.name.kind in _OF_POINTS else None
