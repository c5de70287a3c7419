"""A stored verdict derived again from what was stored with it, without a judge (`fara_webeval.md` §6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from pytest_webeval.recordings.trajectory.recorded import Judgement, ReplyForm
from pytest_webeval.rubrics.consistency import check
from pytest_webeval.rubrics.degradation import degraded_steps
from pytest_webeval.rubrics.payload import RubricPayload, parse_binary_score, quote_value
from pytest_webeval.rubrics.policy import (
    CRITERIA,
    Criterion,
    Signals,
    UnreadableVerdict,
    VerdictPolicy,
    asks_for_process,
    infer_criterion,
    possible_scores,
)
from pytest_webeval.rubrics.rubric_items import (
    Points,
    RubricItem,
    flatten_items,
    is_action_only,
    points_of,
    without_points,
)
from pytest_webeval.rubrics.stored_verdict import Check, RunFacts, StoredVerdict
from pytest_webeval.rubrics.text_verdicts import find_last_status, read_verdict_text
from pytest_webeval.rubrics.verdict import Verdict, VerdictInputs
from pytest_webeval.safety.text import preview


def _derive_from_rubric(case: VerdictInputs) -> Verdict:
    """The verdict by the points and the outcome that were stored. Raises `UnreadableVerdict`."""
    raw_items = case.payload.part("items")
    if raw_items is None and not case.payload.outcomes:
        problem = "has neither a rubric nor an outcome nor an error"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)
    if raw_items is None:
        return _RubricDerivation(case, (), None).derive()
    items = flatten_items(raw_items)
    return _RubricDerivation(case, items, points_of(items)).derive()


@dataclass(frozen=True)
class _RubricDerivation:
    case: VerdictInputs
    items: tuple[RubricItem, ...]
    points: Points | None

    def derive(self) -> Verdict:
        case, payload = self.case, self.case.payload
        written = Signals(self._written_process, payload.outcome, payload.violation)  # as the writer had them
        signals, stored_criterion = replace(written, process=self._process), payload.fields.get("success_criterion")
        scores = possible_scores(stored_criterion, written)
        if self._is_without_outcome:
            scores = {name: score for name, score in scores.items() if name == "process"}
        stored_score = payload.fields.get("is_success") if case.stored.score is None else case.stored.score
        default = "process" if self._is_without_outcome else "outcome"
        criterion = infer_criterion(stored_criterion, scores, parse_binary_score(stored_score), default)
        name = case.requested_criterion or criterion.name
        status, reason = self._status(name, signals)
        derived = case.build_derived(
            items=self.items,
            points=self.points,
            signals=written,
            scores=scores,
            thresholds=(case.written_threshold, case.threshold),
            has_items=payload.part("items") is not None,
            needs_items=case.needs_items,
        )
        return case.verdict(
            status,
            signals.score(name) if status != "unscored" else None,
            check(derived),
            criterion,
            writer=payload.writer,
            generation=payload.generation,
            process=signals.process,
            outcome=signals.outcome,
            violation=signals.violation,
            points=self.points,
            items=self.items,
            flags=tuple(self._flags(name, status)),
            reason=reason,
            degraded_steps=degraded_steps(payload, self.items),
        )

    @cached_property
    def _written_process(self) -> bool | None:
        """By binary fractions (Q26), but as stored where their last bit decides or where there is no rubric."""
        points, threshold = self.points, self.case.written_threshold
        stored = parse_binary_score(self.case.payload.fields.get("rubric_is_success"))
        if points is None:
            return stored if self.case.payload.part("items") is None else None
        if points.is_near(threshold) and stored is not None:
            return stored
        return points.float_reaches(threshold)

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
        if points is not None:  # did rounding decide, here or where the writer added up?
            written = self.case.written_threshold
            is_rounded = self._written_process is not points.reaches(written)
            if is_rounded or any(map(points.is_edge, (self.case.threshold, written))):
                yield "threshold_edge"
        if status == "undecided":
            yield "undecided"
        if criterion == "safe_outcome" and self.case.payload.violation is None:
            yield "violation_unknown"
        if stored is not None and stored not in CRITERIA:
            yield "criterion_unknown"


__all__ = ["Verdict", "derive"]

_OUTCOME = Criterion("outcome", "default")


def derive(stored: StoredVerdict, policy: VerdictPolicy, facts: RunFacts) -> Verdict:
    """The verdict by the criterion and threshold of the policy, or else by those of the writer.

    Raises `UnreadableVerdict`.
    """
    case = VerdictInputs(stored, RubricPayload(stored.payload or {}), policy, facts)
    if stored.judgement is not None:
        return _derive_from_judgement(case, stored.judgement)
    if stored.payload is None:
        return _derive_from_text(case)
    wrong = case.payload.find_wrong_type()
    if wrong is not None:
        problem = f"has {quote_value(wrong[1])} for {wrong[0]}, expected true, false or null"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)
    return next(derive_verdict for recognizes, derive_verdict in _READINGS if recognizes(case.payload))(case)


def _derive_from_judgement(case: VerdictInputs, judgement: Judgement) -> Verdict:
    """The verdict on the outcome. Raises `UnreadableVerdict` for a reply without a verdict line.

    The last line of a reply about the status is the verdict: a page that the judge quotes may say so earlier.
    """
    checks: tuple[Check, ...] = ()
    success, reason = judgement.success, judgement.reasoning or judgement.reply or None
    if case.requested_criterion is not None and asks_for_process(case.requested_criterion):
        status, success = "unscored", None
        reason = f"{judgement.judge} gave no points, which the criterion {case.requested_criterion} needs"
    else:
        if judgement.reply is not None:
            success = _READ_REPLY[judgement.reply_form](judgement.reply)
        elif judgement.score is not None and case.policy.threshold is not None:
            success = _share(judgement) >= case.policy.threshold
        status, checks = "undecided" if success is None else "judged", tuple(_list_checks(case, judgement, success))
    flags = {"undecided": status == "undecided", "violation_unknown": case.requested_criterion == "safe_outcome"}
    return case.verdict(
        status,
        None if status == "unscored" else int(bool(success)),
        checks,
        _OUTCOME,
        writer=judgement.judge,
        outcome=success,
        flags=tuple(flag for flag, holds in flags.items() if holds),
        notes=dict(judgement.notes),
        reason=reason,
    )


def _read_status(reply: str) -> bool:
    """The verdict of the last line that is a status. Raises `UnreadableVerdict`."""
    last = find_last_status(reply)
    if last is not None and last.verdict is not None:
        return bool(last.verdict)
    problem = "the judge's reply has no line 'Status: success' or 'Status: failure'"
    if last is not None:
        problem = f"the judge's last word on the status is {preview(last.text, 80)}, which is not a verdict line"
    raise UnreadableVerdict("score_unreadable", problem)


def _read_plain(reply: str, kind: str, method: str | None, negative: str) -> bool:
    """The verdict by WebVoyager's rule. Raises `UnreadableVerdict` where a reader would take it for the other one."""
    text = read_verdict_text(reply, kind, method)
    if text.is_ambiguous:
        problem = f"the judge's reply does not plainly end in SUCCESS or {negative}"
        raise UnreadableVerdict("score_unreadable", problem)
    return bool(text.compat)


_READ_REPLY: dict[ReplyForm, Callable[[str], bool]] = {
    ReplyForm.STATUS: _read_status,
    ReplyForm.CAPITALS: lambda reply: _read_plain(reply, "gpt_eval", None, "NOT SUCCESS"),
    # the rule of Online-Mind2Web for WebVoyager's prompt
    ReplyForm.FAILURE: lambda reply: _read_plain(reply, "webjudge", "WebVoyager_eval", "FAILURE"),
}


def _share(judgement: Judgement) -> Decimal:
    return Decimal(str(judgement.score or 0)) / Decimal(str(judgement.full_score))


def _list_checks(case: VerdictInputs, judgement: Judgement, success: bool | None) -> Iterator[Check]:  # noqa: FBT001  (what was derived)
    """R20: the stored verdict is not that of the reply, or of the number. R21, R22: what the reader saw."""
    words = {True: "success", False: "failure", None: "undecided"}
    if judgement.reply is not None and judgement.success not in (None, success):
        yield Check("R20", f"the stored verdict is {words[judgement.success]}, but the reply says {words[success]}")
    if judgement.score is not None and judgement.success is not None and case.policy.threshold is None:
        by_score = _share(judgement) >= 1
        if judgement.reply is None and by_score is not judgement.success:
            stored = f"the stored verdict is {words[judgement.success]}"
            yield Check("R20", f"{stored}, but the score is {judgement.score:g} of {judgement.full_score:g}")
    for text in judgement.contradictions:
        yield Check("R21", text)
    for text in judgement.warnings:
        yield Check("R22", text)


def _derive_from_text(case: VerdictInputs) -> Verdict:
    """A free text is about the outcome; a criterion that asks for points finds none in it."""
    text_verdict = read_verdict_text(case.stored.text or "", case.stored.name.kind, case.stored.name.method)
    writer = "webvoyager" if case.stored.name.kind == "gpt_eval" else "om2w"
    derived = case.build_derived(scores={"outcome": text_verdict.compat})
    if case.stored.score is None:
        return _judge_error(case, writer, "the judge stored no score")
    if case.requested_criterion is not None and asks_for_process(case.requested_criterion):
        reason = f"a free text has no points, which the criterion {case.requested_criterion} needs"
        return case.verdict("unscored", None, check(derived), _OUTCOME, writer=writer, reason=reason)
    score = text_verdict.strict if case.policy.strict_texts else text_verdict.compat
    flags = {
        "verdict_text_ambiguous": text_verdict.is_ambiguous,
        "undecided": score is None,
        "violation_unknown": case.requested_criterion == "safe_outcome",
    }
    return case.verdict(
        "undecided" if score is None else "judged",
        score or 0,
        check(derived),
        _OUTCOME,
        writer=writer,
        reason=case.stored.text or None,
        outcome=None if score is None else bool(score),
        flags=tuple(flag for flag, holds in flags.items() if holds),
    )


def _derive_from_gate(case: VerdictInputs) -> Verdict:
    reason = case.payload.fields.get("verifier_reasoning")
    checks = check(case.build_derived(scores={"gate": 0}))
    return case.verdict("gate", 0, checks, _OUTCOME, writer="gate", reason=reason if isinstance(reason, str) else None)


def _derive_from_failed_judge(case: VerdictInputs) -> Verdict:
    """Stored as 0 (Q21), which says nothing of the agent."""
    error = case.payload.fields["rubric_error"]
    message = error if isinstance(error, str) else quote_value(error)
    return _judge_error(case, case.payload.writer, message if message.strip() else "the judge gave no reason")


def _derive_from_held_out(case: VerdictInputs) -> Verdict:
    """The score as it is stored: the criterion that combines the three signals is unknown."""
    payload, score = case.payload, parse_binary_score(case.stored.score)
    if case.stored.score is None:
        return _judge_error(case, "heldout", "the judge stored no score", signals=payload.signals)
    if score is None:
        problem = f"has the score {quote_value(case.stored.score)}, expected 0 or 1"
        raise UnreadableVerdict("score_unreadable", f"{case.stored.source} {problem}", source=case.stored.source)
    process = payload.signals.get("rubric_is_success")
    is_removed = case.needs_items and payload.part("items") is None
    return case.verdict(
        "judged",
        int(score),
        check(case.build_derived(has_items=False, needs_items=is_removed)),
        _OUTCOME,
        writer="heldout",
        process=None if process is None else bool(process),
        outcome=payload.outcome,
        violation=payload.violation,
        signals=payload.signals,
        flags=() if case.requested_criterion is None else ("criterion_ignored",),
        reason=payload.reasoning,
    )


def _judge_error(case: VerdictInputs, writer: str, reason: str, **details: object) -> Verdict:
    checks = check(case.build_derived())
    return case.verdict("judge_error", None, checks, _OUTCOME, writer=writer, reason=reason, **details)


# The first that recognizes a payload reads it.
_READINGS: tuple[tuple[Callable[[RubricPayload], bool], Callable[[VerdictInputs], Verdict]], ...] = (
    (lambda payload: payload.is_gate, _derive_from_gate),
    (lambda payload: payload.fields.get("rubric_error") is not None, _derive_from_failed_judge),
    (lambda payload: payload.is_held_out, _derive_from_held_out),
    (lambda _: True, _derive_from_rubric),
)
