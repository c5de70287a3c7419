"""A stored verdict derived again from what was stored with it, without a judge (`fara_webeval.md` §6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pytest_webeval.rubrics.degradation import degraded_steps
from pytest_webeval.rubrics.judgement_derivation import derive_from_judgement
from pytest_webeval.rubrics.payload import RubricPayload, parse_binary_score, quote_value
from pytest_webeval.rubrics.policy import CRITERIA, UnreadableVerdict, VerdictPolicy
from pytest_webeval.rubrics.rubric_items import (
    Points,
    RubricItem,
    flatten_items,
    is_action_only,
    points_of,
    without_points,
)
from pytest_webeval.rubrics.stored_verdict import RunFacts, StoredVerdict
from pytest_webeval.rubrics.success_criterion import (
    Criterion,
    Signals,
    asks_for_process,
    infer_criterion,
    possible_scores,
)
from pytest_webeval.rubrics.text_verdicts import TextVerdict, read_verdict_text
from pytest_webeval.rubrics.verdict import Verdict, VerdictInputs


def derive_from_rubric(case: VerdictInputs) -> Verdict:
    """The verdict by the points and the outcome that were stored. Raises `UnreadableVerdict`."""
    raw_items = case.payload.part("items")
    if raw_items is None and not case.payload.outcomes:
        problem = "has neither a rubric nor an outcome nor an error"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)
    items = () if raw_items is None else flatten_items(raw_items)
    return _RubricDerivation(case, items, None if raw_items is None else points_of(items)).verdict()


@dataclass(frozen=True, slots=True)
class _RubricDerivation:
    case: VerdictInputs
    items: tuple[RubricItem, ...]
    points: Points | None

    def verdict(self) -> Verdict:
        """All steps from the points on."""
        written, payload = self._written_signals, self.case.payload
        signals = replace(written, process=self._process)
        scores = self._scores(written)
        criterion = self._written_criterion(scores)
        status, reason = self._status(self.case.requested_criterion or criterion.name, signals)
        derived = self.case.build_derived(
            items=self.items,
            points=self.points,
            signals=written,
            scores=scores,
            thresholds=(self.case.written_threshold, self.case.threshold),
            has_items=payload.part("items") is not None,
            needs_items=self.case.needs_items,
        )
        return self.case.verdict(
            status,
            signals.score(self.case.requested_criterion or criterion.name) if status != "unscored" else None,
            derived,
            criterion,
            writer=payload.writer,
            generation=payload.generation,
            process=signals.process,
            outcome=signals.outcome,
            violation=signals.violation,
            points=self.points,
            items=self.items,
            flags=tuple(self._flags(self.case.requested_criterion or criterion.name, status)),
            reason=reason,
            degraded_steps=degraded_steps(payload, self.items),
        )

    @property
    def _written_signals(self) -> Signals:
        """As the writer had them."""
        return Signals(self._written_process, self.case.payload.outcome, self.case.payload.violation)

    @property
    def _written_process(self) -> bool | None:
        """By binary fractions (Q26), but as stored where their last bit decides or where there is no rubric."""
        points, threshold = self.points, self.case.written_threshold
        if points is None:
            return self._stored_process if self.case.payload.part("items") is None else None
        if points.is_near(threshold) and self._stored_process is not None:
            return self._stored_process
        return points.float_reaches(threshold)

    @property
    def _stored_process(self) -> bool | None:
        return parse_binary_score(self.case.payload.fields.get("rubric_is_success"))

    @property
    def _process(self) -> bool | None:
        """As this session has it: exact, unless it repeats the very comparison that was stored."""
        has_verdict = self.case.payload.has_verdict or self.case.stored.score is not None
        if has_verdict and self.case.threshold == self.case.written_threshold:
            return self._written_process
        return None if self.points is None else self.points.reaches(self.case.threshold)

    @property
    def _is_without_outcome(self) -> bool:
        """Whether no judge decided the outcome, as in a separate rubric."""
        return self.case.payload.is_rubric and not self.case.payload.outcomes

    def _scores(self, written: Signals) -> dict[str, int]:
        scores = possible_scores(self.case.payload.fields.get("success_criterion"), written)
        return {name: score for name, score in scores.items() if name == "process" or not self._is_without_outcome}

    def _written_criterion(self, scores: dict[str, int]) -> Criterion:
        payload, score = self.case.payload, self.case.stored.score
        stored_success = parse_binary_score(payload.fields.get("is_success") if score is None else score)
        default = "process" if self._is_without_outcome else "outcome"
        return infer_criterion(payload.fields.get("success_criterion"), scores, stored_success, default)

    def _status(self, criterion: str, signals: Signals) -> tuple[str, str | None]:
        payload = self.case.payload
        if asks_for_process(criterion) and signals.process is None:
            return "unscored", self._why_no_points
        if criterion == "process" or signals.outcome is not None:
            return "judged", payload.reasoning
        if self._is_without_outcome:
            return "unscored", f"the rubric has no outcome, which the criterion {criterion} needs"
        return "undecided", payload.reasoning

    @property
    def _why_no_points(self) -> str:
        if self._written_process is not None:
            return f"there are no points to compare with the threshold {self.case.threshold}; judge the run"
        missing = without_points(self.items)
        if missing and any(item.earned is not None for item in self.items):
            return f"{missing[0].place} has no points; add them, or judge the run"
        return "the rubric has no points; judge the run"

    def _flags(self, criterion: str, status: str) -> Iterator[str]:
        points, stored = self.points, self.case.payload.fields.get("success_criterion")
        if points is not None and is_action_only(self.items):
            yield "action_only"
        elif points is not None and without_points(self.items):
            yield "missing_post_image"
        if points is not None and self._is_edge(points):
            yield "threshold_edge"
        if status == "undecided":
            yield "undecided"
        if criterion == "safe_outcome" and self.case.payload.violation is None:
            yield "violation_unknown"
        if stored is not None and stored not in CRITERIA:
            yield "criterion_unknown"

    def _is_edge(self, points: Points) -> bool:
        """Whether rounding decided, here or where the writer added up."""
        written = self.case.written_threshold
        is_rounded = self._written_process is not points.reaches(written)
        return is_rounded or any(map(points.is_edge, (self.case.threshold, written)))


__all__ = ["Verdict", "derive"]

_OUTCOME = Criterion("outcome", "default")


def derive(stored: StoredVerdict, policy: VerdictPolicy, facts: RunFacts) -> Verdict:
    """The verdict by the criterion and threshold of the policy, or else by those of the writer.

    Raises `UnreadableVerdict`.
    """
    case = VerdictInputs(stored, RubricPayload(stored.payload or {}), policy, facts)
    if stored.judgement is not None:
        return derive_from_judgement(case, stored.judgement)
    if stored.payload is None:
        return _derive_from_text(case, read_verdict_text(stored.text or "", stored.name.kind, stored.name.method))
    _check_types(case)
    return next(derive_verdict for recognizes, derive_verdict in _READINGS if recognizes(case.payload))(case)


def _check_types(case: VerdictInputs) -> None:
    wrong = case.payload.find_wrong_type()
    if wrong is not None:
        problem = f"has {quote_value(wrong[1])} for {wrong[0]}, expected true, false or null"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)


def _derive_from_text(case: VerdictInputs, text_verdict: TextVerdict) -> Verdict:
    """A free text is about the outcome; a criterion that asks for points finds none in it."""
    writer = "webvoyager" if case.stored.name.kind == "gpt_eval" else "om2w"
    derived = case.build_derived(scores={"outcome": text_verdict.compat})
    if case.stored.score is None:
        return _judge_error(case, writer=writer, reason="the judge stored no score")
    if case.requested_criterion is not None and asks_for_process(case.requested_criterion):
        reason = f"a free text has no points, which the criterion {case.requested_criterion} needs"
        return case.verdict("unscored", None, derived, _OUTCOME, writer=writer, reason=reason)
    score = text_verdict.strict if case.policy.strict_texts else text_verdict.compat
    flags = {
        "verdict_text_ambiguous": text_verdict.is_ambiguous,
        "undecided": score is None,
        "violation_unknown": case.requested_criterion == "safe_outcome",
    }
    return case.verdict(
        "undecided" if score is None else "judged",
        score or 0,
        derived,
        _OUTCOME,
        writer=writer,
        reason=case.stored.text or None,
        outcome=None if score is None else bool(score),
        flags=tuple(flag for flag, holds in flags.items() if holds),
    )


def _derive_from_gate(case: VerdictInputs) -> Verdict:
    raw_reason = case.payload.fields.get("verifier_reasoning")
    reason = raw_reason if isinstance(raw_reason, str) else None
    return case.verdict("gate", 0, case.build_derived(scores={"gate": 0}), _OUTCOME, writer="gate", reason=reason)


def _derive_from_failed_judge(case: VerdictInputs) -> Verdict:
    """Stored as 0 (Q21), which says nothing of the agent."""
    error = case.payload.fields["rubric_error"]
    message = error if isinstance(error, str) else quote_value(error)
    return _judge_error(
        case, writer=case.payload.writer, reason=message if message.strip() else "the judge gave no reason"
    )


def _derive_from_held_out(case: VerdictInputs) -> Verdict:
    """The score as it is stored: the criterion that combines the three signals is unknown."""
    payload, score = case.payload, parse_binary_score(case.stored.score)
    if case.stored.score is None:
        return _judge_error(case, writer="heldout", signals=payload.signals, reason="the judge stored no score")
    if score is None:
        problem = f"has the score {quote_value(case.stored.score)}, expected 0 or 1"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)
    process = payload.signals.get("rubric_is_success")
    is_removed = case.needs_items and payload.part("items") is None
    return case.verdict(
        "judged",
        int(score),
        case.build_derived(has_items=False, needs_items=is_removed),
        _OUTCOME,
        writer="heldout",
        process=None if process is None else bool(process),
        outcome=payload.outcome,
        violation=payload.violation,
        signals=payload.signals,
        flags=() if case.requested_criterion is None else ("criterion_ignored",),
        reason=payload.reasoning,
    )


def _judge_error(case: VerdictInputs, *, writer: str, reason: str, **details: object) -> Verdict:
    return case.verdict("judge_error", None, case.build_derived(), _OUTCOME, writer=writer, reason=reason, **details)


# The first that recognizes a payload reads it.
_READINGS: tuple[tuple[Callable[[RubricPayload], bool], Callable[[VerdictInputs], Verdict]], ...] = (
    (lambda payload: payload.is_gate, _derive_from_gate),
    (lambda payload: payload.fields.get("rubric_error") is not None, _derive_from_failed_judge),
    (lambda payload: payload.is_held_out, _derive_from_held_out),
    (lambda _: True, derive_from_rubric),
)
