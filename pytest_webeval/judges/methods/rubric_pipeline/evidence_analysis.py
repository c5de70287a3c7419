"""Step 4: what each relevant screenshot shows about its criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import to_builtins

from pytest_webeval.judges.calls import InvalidReply
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Inquiry, parser_of
from pytest_webeval.judges.methods.rubric_pipeline.criteria import Item, is_conditional
from pytest_webeval.judges.methods.rubric_pipeline.grouping import Groups, list_images
from pytest_webeval.judges.methods.rubric_pipeline.material import format_rubric, format_run, format_task
from pytest_webeval.judges.replies import Index, ReplyForm, Text, check_indices

_GUIDANCE = """\
Analyze what the screenshot shows about each of the requested criteria.
- screenshot_evidence: describe only what is visible. Do not complete what is cut off or covered.
- criterion_analysis: what this means for the criterion.
- discrepancies: where the picture contradicts what the agent claims or did, or "none". A contradiction, an invented
  thing and a concealed fact count. A conclusion from the absence of something, or a visible fact that the agent
  does not mention, does not.
- environment_issues_confirmed: whether the picture shows an obstacle that the agent could not control.
- condition_verification: for a criterion with a condition, whether the picture shows that the condition holds;
  otherwise null.
The screenshot was taken before the action with its number. Output of commands is a fact, unless the agent faked it."""
_NO_EVIDENCE = "No analysis of this screenshot is available."


class Analysis(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    screenshot_evidence: Text
    criterion_analysis: Text
    discrepancies: Text
    environment_issues_confirmed: bool
    condition_verification: bool | None


class EvidenceReply(ReplyForm, frozen=True, kw_only=True):
    analyses: list[Analysis]


ByCriterion = dict[int, list[dict[str, Any]]]
_Pair = tuple[int, list[int]]  # an image and its criteria


def analyze_screenshots(case: Case, items: Sequence[Item], groups: Groups) -> ByCriterion:
    """The analyses of each criterion in the order of the screenshots.

    Where there is no reply about all criteria of a screenshot, each of them is asked about, and where there is none
    about a criterion, a text says so.
    """
    pairs = list(list_images(groups).items())
    replies = case.ask_each(
        [_build_inquiry(case, items, "evidence", pair) for pair in pairs], "criteria were examined one at a time"
    )
    analyses = [entry for reply in replies for entry in reply or ()]
    missing = [
        (image, [index])
        for (image, indices), reply in zip(pairs, replies, strict=True)
        if reply is None
        for index in indices
    ]
    analyses += _analyze_pairs(case, items, missing)
    by_criterion: ByCriterion = {index: [] for index in range(len(items))}
    for index, analysis in sorted(analyses, key=lambda entry: int(entry[1]["screenshot_idx"])):
        by_criterion[index].append(analysis)
    return by_criterion


_Entry = tuple[int, dict[str, Any]]  # a criterion and an analysis


def _analyze_pairs(case: Case, items: Sequence[Item], pairs: Sequence[_Pair]) -> list[_Entry]:
    inquiries = [_build_inquiry(case, items, "single_evidence", pair) for pair in pairs]
    replies = case.ask_each(inquiries, "a criterion has no evidence of a screenshot") if inquiries else []
    return [
        entry
        for (image, indices), reply in zip(pairs, replies, strict=True)
        for entry in reply or [(index, _build_placeholder(image)) for index in indices]
    ]


def _build_placeholder(image: int) -> dict[str, Any]:
    return {
        "screenshot_evidence": "",
        "criterion_analysis": _NO_EVIDENCE,
        "discrepancies": "",
        "environment_issues_confirmed": False,
        "screenshot_idx": image,
    }


def _build_inquiry(case: Case, items: Sequence[Item], step: str, pair: _Pair) -> Inquiry[list[_Entry]]:
    image, indices = pair
    return Inquiry(
        step=step,
        guidance=_GUIDANCE,
        parts=(
            format_task(case.evidence),
            format_rubric(items),
            format_run(case.evidence),
            f"Requested criteria, in this order: {', '.join(map(str, indices))}",
            f"Screenshot {image + 1}:",
            case.screenshots[image],
        ),
        form=EvidenceReply,
        parse=parser_of(EvidenceReply, partial(_read_analyses, items, pair)),
    )


def _read_analyses(items: Sequence[Item], pair: _Pair, reply: EvidenceReply) -> list[_Entry]:
    image, indices = pair
    check_indices([analysis.criterion_idx for analysis in reply.analyses], indices)
    return [(analysis.criterion_idx, _read_analysis(items, image, analysis)) for analysis in reply.analyses]


def _read_analysis(items: Sequence[Item], image: int, analysis: Analysis) -> dict[str, Any]:
    fields: Mapping[str, Any] = to_builtins(analysis)
    ignored = {"criterion_idx", "condition_verification"}
    stored = {key: value for key, value in fields.items() if key not in ignored} | {"screenshot_idx": image}
    if not is_conditional(items[analysis.criterion_idx]):
        return stored
    if analysis.condition_verification is None:
        raise InvalidReply(
            f"criterion {analysis.criterion_idx} has a condition; condition_verification is true or false"
        )
    return stored | {"condition_verification": analysis.condition_verification}
