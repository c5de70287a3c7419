"""A judgement without points derived again: from the last line of the judge's reply, or from the number it gave."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pytest_webeval.recordings.trajectory.recorded import Judgement, ReplyForm
from pytest_webeval.rubrics.policy import UnreadableVerdict
from pytest_webeval.rubrics.stored_verdict import Check
from pytest_webeval.rubrics.success_criterion import Criterion, asks_for_process
from pytest_webeval.rubrics.text_verdicts import TextVerdict, find_last_status, read_verdict_text
from pytest_webeval.rubrics.verdict import Verdict, VerdictInputs
from pytest_webeval.safety.text import preview

_OUTCOME = Criterion("outcome", "default")


def derive_from_judgement(case: VerdictInputs, judgement: Judgement) -> Verdict:
    """The verdict on the outcome. Raises `UnreadableVerdict` for a reply without a verdict line.

    The last line of a reply about the status is the verdict: a page that the judge quotes may say so earlier.
    """
    if case.requested_criterion is not None and asks_for_process(case.requested_criterion):
        reason = f"{judgement.judge} gave no points, which the criterion {case.requested_criterion} needs"
        return _build(case, judgement, "unscored", None, reason=reason)
    success = _derive_success(case, judgement)
    checks = tuple(_list_checks(case, judgement, success))
    status = "undecided" if success is None else "judged"
    return _build(
        case, judgement, status, success, checks=checks, reason=judgement.reasoning or judgement.reply or None
    )


def _derive_success(case: VerdictInputs, judgement: Judgement) -> bool | None:
    if judgement.reply is not None:
        return _READ_REPLY[judgement.reply_form](judgement.reply)
    if judgement.score is not None and case.policy.threshold is not None:
        return _share(judgement) >= case.policy.threshold
    return judgement.success


def _read_status(reply: str) -> bool:
    """The verdict of the last line that is a status. Raises `UnreadableVerdict`."""
    last = find_last_status(reply)
    if last is not None and last.verdict is not None:
        return bool(last.verdict)
    problem = "the judge's reply has no line 'Status: success' or 'Status: failure'"
    if last is not None:
        problem = f"the judge's last word on the status is {preview(last.text, 80)}, which is not a verdict line"
    raise UnreadableVerdict("score_unreadable", problem)


def _read_capitals(reply: str) -> bool:
    """The verdict by WebVoyager's rule. Raises `UnreadableVerdict` where a reader would take it for the other one."""
    return _read_plain(read_verdict_text(reply, "gpt_eval", None), "NOT SUCCESS")


def _read_failure(reply: str) -> bool:
    """The verdict by the rule of Online-Mind2Web for WebVoyager's prompt. Raises `UnreadableVerdict` likewise."""
    return _read_plain(read_verdict_text(reply, "webjudge", "WebVoyager_eval"), "FAILURE")


def _read_plain(text: TextVerdict, negative: str) -> bool:
    if text.is_ambiguous:
        problem = f"the judge's reply does not plainly end in SUCCESS or {negative}"
        raise UnreadableVerdict("score_unreadable", problem)
    return bool(text.compat)


_READ_REPLY = {
    ReplyForm.STATUS: _read_status,
    ReplyForm.CAPITALS: _read_capitals,
    ReplyForm.FAILURE: _read_failure,
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


def _build(case: VerdictInputs, judgement: Judgement, status: str, success: bool | None, **details: Any) -> Verdict:  # noqa: FBT001  (same)
    criterion = _OUTCOME if case.requested_criterion is None else Criterion(case.requested_criterion, "option")
    flags = ("undecided",) if status == "undecided" else ()
    return Verdict(
        status=status,
        score=None if status == "unscored" else int(bool(success)),
        criterion=criterion.name,
        criterion_source=criterion.source,
        threshold=case.threshold,
        threshold_source="option" if case.policy.threshold is not None else "default",
        writer=judgement.judge,
        outcome=success,
        flags=(*flags, "violation_unknown") if criterion.name == "safe_outcome" else flags,
        notes=dict(judgement.notes),
        **details,
    )
