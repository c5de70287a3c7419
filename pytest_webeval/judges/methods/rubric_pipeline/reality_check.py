"""Step 5: facts that the description of a criterion did not foresee."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.methods.rubric_pipeline.material import Analyses, format_evidence, format_rubric, format_task
from pytest_webeval.judges.replies import Index, Note, ReplyForm, check_indices

_GUIDANCE = """\
Compare each criterion with the evidence, and note facts that its description did not foresee: a name, number or
option that is different on the real site, or a thing that does not exist there. A note overrides the description on
facts only. Write no points and no verdict, and no web addresses, as the address bar is not visible. Leave the note
empty where the description fits. Give one entry for each criterion, in order."""


class RealityCheck(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    reality_notes: Note


class RealityReply(ReplyForm, frozen=True, kw_only=True):
    reality_checks: list[RealityCheck]


def check_reality(case: Case, items: Sequence[Item], analyses: Analyses) -> tuple[Item, ...]:
    """The criteria with notes about facts; empty notes where no reply was valid."""
    inquiry = Inquiry(
        step="reality",
        guidance=_GUIDANCE,
        parts=(format_task(case.evidence), format_rubric(items), format_evidence(analyses)),
        form=RealityReply,
        parse=parser_of(RealityReply, partial(_read_notes, len(items))),
    )
    notes = case.ask_or(inquiry, "there are no notes about facts") or [""] * len(items)
    return tuple({**item, "reality_notes": note} for item, note in zip(items, notes, strict=True))


def _read_notes(count: int, reply: RealityReply) -> list[str]:
    check_indices([check.criterion_idx for check in reply.reality_checks], range(count))
    return [check.reality_notes for check in reply.reality_checks]
