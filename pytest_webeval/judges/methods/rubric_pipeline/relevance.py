"""Step 2: how much each screenshot can say about each criterion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from msgspec import Meta

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item
from pytest_webeval.judges.methods.rubric_pipeline.material import format_rubric, format_task
from pytest_webeval.judges.questions import Image
from pytest_webeval.judges.replies import ReplyForm

_GUIDANCE = """\
Rate how much the screenshot helps to decide each criterion, from 0 (says nothing about it) to 10 (decides it). A
page that shows a failure or an obstacle is as relevant as one that shows success. Rate each criterion by a key such
as "criterion_0"."""
Rating = Annotated[int, Meta(ge=0, le=10)]


class RelevanceReply(ReplyForm, frozen=True, kw_only=True):
    scores: dict[str, Rating]


def rate_screenshots(case: Case, items: Sequence[Item]) -> list[list[int]]:
    """A row for each screenshot with the relevance for each criterion; all 0 where no reply was valid.

    Equal screenshots are one question, with the number of the first.
    """
    different: dict[str, tuple[int, Image]] = {}
    for number, image in enumerate(case.screenshots, 1):
        different.setdefault(image.sha256, (number, image))
    inquiries = [
        Inquiry(
            step="relevance",
            guidance=_GUIDANCE,
            parts=(format_task(case.evidence), format_rubric(items), f"Screenshot {number}:", image),
            form=RelevanceReply,
            parse=parser_of(RelevanceReply, partial(_read_scores, len(items))),
        )
        for number, image in different.values()
    ]
    rows = case.ask_each(inquiries, "the relevance of a screenshot is 0 for all criteria")
    by_image = dict(zip(different, rows, strict=True))
    return [by_image[image.sha256] or [0] * len(items) for image in case.screenshots]


def _read_scores(count: int, reply: RelevanceReply) -> list[int]:
    scores = {key.removeprefix("criterion_"): score for key, score in reply.scores.items()}
    expected = [str(index) for index in range(count)]
    if len(scores) != len(reply.scores) or scores.keys() != set(expected):
        raise InvalidReply(f"rate each criterion once, by the keys criterion_0 to criterion_{count - 1} @ scores")
    return [scores[key] for key in expected]
