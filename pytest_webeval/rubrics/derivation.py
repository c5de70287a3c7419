"""A stored verdict derived again from what was stored with it, without a judge (`fara_webeval.md` §6.3)."""

from __future__ import annotations

from collections.abc import Callable

from pytest_webeval.rubrics.base import VerdictPolicy
from pytest_webeval.rubrics.base import VerdictUnreadable
from pytest_webeval.rubrics.criteria import Criterion
from pytest_webeval.rubrics.criteria import asks_for_process
from pytest_webeval.rubrics.evidence import Facts
from pytest_webeval.rubrics.evidence import StoredVerdict
from pytest_webeval.rubrics.judged_rubrics import of_rubric
from pytest_webeval.rubrics.payloads import RubricPayload
from pytest_webeval.rubrics.point_counts import quoted
from pytest_webeval.rubrics.point_counts import verdict_bit
from pytest_webeval.rubrics.verdict_texts import TextVerdict
from pytest_webeval.rubrics.verdict_texts import read_verdict_text
from pytest_webeval.rubrics.verdicts import Case
from pytest_webeval.rubrics.verdicts import Verdict

__all__ = ["Verdict", "derive"]

_OUTCOME = Criterion("outcome", "default")


def derive(stored: StoredVerdict, policy: VerdictPolicy, facts: Facts) -> Verdict:
    """The verdict by the criterion and threshold of the policy, or else by those of the writer.

    Raises `VerdictUnreadable`.
    """
    case = Case(stored, RubricPayload(stored.payload or {}), policy, facts)
    if stored.payload is None:
        return _of_text(case, read_verdict_text(stored.text or "", stored.name.kind, stored.name.method))
    return next(read for recognizes, read in _READINGS if recognizes(case.payload))(case)


def _of_text(case: Case, found: TextVerdict) -> Verdict:
    """A free text is about the outcome; a criterion that asks for points finds none in it."""
    writer = "webvoyager" if case.stored.name.kind == "gpt_eval" else "om2w"
    derived = case.derived(scores={"outcome": found.compat})
    if case.stored.score is None:
        return _failed(case, writer=writer, reason="the judge left no score")
    if case.asked is not None and asks_for_process(case.asked):
        reason = f"a free text has no points, which the criterion {case.asked} asks for"
        return case.verdict("unscored", None, derived, _OUTCOME, writer=writer, reason=reason)
    read = found.strict if case.policy.strict_texts else found.compat
    flags = {
        "verdict_text_ambiguous": found.is_ambiguous,
        "undecided": read is None,
        "violation_unknown": case.asked == "safe_outcome",
    }
    return case.verdict(
        "undecided" if read is None else "judged",
        read or 0,
        derived,
        _OUTCOME,
        writer=writer,
        reason=case.stored.text or None,
        outcome=None if read is None else bool(read),
        flags=tuple(flag for flag, holds in flags.items() if holds),
    )


def _of_gate(case: Case) -> Verdict:
    told = case.payload.fields.get("verifier_reasoning")
    reason = told if isinstance(told, str) else None
    return case.verdict("gate", 0, case.derived(scores={"gate": 0}), _OUTCOME, writer="gate", reason=reason)


def _of_failed_judge(case: Case) -> Verdict:
    """Stored as 0 (Q21), which says nothing of the agent."""
    error = case.payload.fields["rubric_error"]
    told = error if isinstance(error, str) else quoted(error)
    return _failed(case, writer=case.payload.writer, reason=told if told.strip() else "the judge gave no reason")


def _of_held_out(case: Case) -> Verdict:
    """The score as it is stored: nobody knows by which criterion the three signals became one."""
    payload, score = case.payload, verdict_bit(case.stored.score)
    if case.stored.score is None:
        return _failed(case, writer="heldout", signals=payload.signals, reason="the judge left no score")
    if score is None:
        problem = f"has the score {quoted(case.stored.score)}; wanted 0 or 1, so have the run judged again"
        raise VerdictUnreadable("score_unreadable", f"{case.stored.source} {problem}")
    found = payload.signals.get("rubric_is_success")
    is_removed = case.needs_items and payload.part("items") is None
    return case.verdict(
        "judged",
        int(score),
        case.derived(has_items=False, needs_items=is_removed),
        _OUTCOME,
        writer="heldout",
        process=None if found is None else bool(found),
        outcome=payload.outcome,
        violation=payload.violation,
        signals=payload.signals,
        flags=() if case.asked is None else ("criterion_ignored",),
        reason=payload.reasoning,
    )


def _failed(case: Case, *, writer: str, reason: str, **known: object) -> Verdict:
    return case.verdict("judge_error", None, case.derived(), _OUTCOME, writer=writer, reason=reason, **known)


# The first that recognizes a payload reads it.
_READINGS: tuple[tuple[Callable[[RubricPayload], bool], Callable[[Case], Verdict]], ...] = (
    (lambda payload: payload.is_gate, _of_gate),
    (lambda payload: payload.fields.get("rubric_error") is not None, _of_failed_judge),
    (lambda payload: payload.is_held_out, _of_held_out),
    (lambda _: True, of_rubric),
)
