"""The screenshots: which are judged, how much each can say about a criterion, and what it shows (§6.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, NoReturn

from msgspec import Meta, to_builtins

from pytest_webeval.errors import JudgeFailed
from pytest_webeval.judges.calls import InvalidReply, Request
from pytest_webeval.judges.evidence import Evidence
from pytest_webeval.judges.methods.replies import Index, ReplyForm, Text, check_indices
from pytest_webeval.judges.methods.rubric_pipeline.case import Case, Item, Step, format_request, format_rubric
from pytest_webeval.judges.methods.rubric_pipeline.criteria import is_conditional
from pytest_webeval.judges.questions import Image
from pytest_webeval.safety.text import pluralize

MAX_IMAGES = 5  # for each criterion
_RELEVANT = 6
_IRRELEVANT = 5
_LARGEST_GAP = 2
_RATE = """\
Rate how much the screenshot helps to decide each criterion, from 0 (says nothing about it) to 10 (decides it). A
page that shows a failure or an obstacle is as relevant as one that shows success. Rate each criterion by a key such
as "criterion_0"."""
_ANALYZE = """\
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

Groups = Mapping[int, Sequence[int]]  # images by criterion, the most relevant first
ByCriterion = dict[int, list[dict[str, Any]]]
_Pair = tuple[int, list[int]]  # an image and its criteria
_Entry = tuple[int, dict[str, Any]]  # a criterion and an analysis
Rating = Annotated[int, Meta(ge=0, le=10)]


class RelevanceReply(ReplyForm, frozen=True, kw_only=True):
    scores: dict[str, Rating]


class Analysis(ReplyForm, frozen=True, kw_only=True):
    criterion_idx: Index
    screenshot_evidence: Text
    criterion_analysis: Text
    discrepancies: Text
    environment_issues_confirmed: bool
    condition_verification: bool | None


class EvidenceReply(ReplyForm, frozen=True, kw_only=True):
    analyses: list[Analysis]


_RELEVANCE = Step("relevance", _RATE, RelevanceReply)
_EVIDENCE = Step("evidence", _ANALYZE, EvidenceReply)
_SINGLE_EVIDENCE = Step("single_evidence", _ANALYZE, EvidenceReply)


def select_screenshots(evidence: Evidence) -> tuple[Image, ...]:
    """The screenshot before each action, in order. Raises `JudgeFailed` unless each action has its own."""
    if not evidence.steps:
        _refuse("the run has no actions")
    before = tuple(step.before for step in evidence.steps)
    images = tuple(image for image in before if image is not None)
    if len(images) < len(before):
        _refuse(f"action {before.index(None) + 1} of {len(before)} has no screenshot before it")
    names = [image.name for image in evidence.screenshots]
    positions = [names.index(image.name) for image in images if image.name in names]
    if len(positions) < len(images) or any(first >= second for first, second in pairwise(positions)):
        _refuse("two actions share a screenshot, or the screenshots are not in the order of the actions")
    if len(names) > len(images) + 1:
        _refuse(f"the run has {pluralize(len(images), 'action')} and {pluralize(len(names), 'screenshot')}")
    return images


def _refuse(problem: str) -> NoReturn:
    advice = "the rubric pipeline needs exactly one screenshot before each action; use another method"
    raise JudgeFailed(f"{problem}; {advice}", "unjudgeable")


def rate_screenshots(case: Case, items: Sequence[Item]) -> list[list[int]]:
    """A row for each screenshot with the relevance for each criterion; all 0 where no reply was valid.

    Equal screenshots are one question, with the number of the first.
    """
    different: dict[str, tuple[int, Image]] = {}
    for number, image in enumerate(case.screenshots, 1):
        different.setdefault(image.sha256, (number, image))
    read = partial(_read_ratings, len(items))
    requests = [
        case.build_request(_RELEVANCE, read, format_rubric(items), f"Screenshot {number}:", image)
        for number, image in different.values()
    ]
    rows = case.ask_each(requests, "the relevance of a screenshot is 0 for all criteria")
    by_image = dict(zip(different, rows, strict=True))
    return [by_image[image.sha256] or [0] * len(items) for image in case.screenshots]


def _read_ratings(count: int, reply: RelevanceReply) -> list[int]:
    scores = {key.removeprefix("criterion_"): score for key, score in reply.scores.items()}
    expected = [str(index) for index in range(count)]
    if len(scores) != len(reply.scores) or scores.keys() != set(expected):
        raise InvalidReply(f"rate each criterion once, by the keys criterion_0 to criterion_{count - 1} @ scores")
    return [scores[key] for key in expected]


def group_images(relevance: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The most relevant images of each criterion, the later ones first among equals.

    `relevance` has a row for each image with a score for each criterion.
    """
    latest_first = range(len(relevance))[::-1]
    return {
        criterion: sorted(latest_first, key=lambda image: relevance[image][criterion], reverse=True)[:MAX_IMAGES]
        for criterion in range(len(relevance[0]) if relevance else 0)
    }


def drop_irrelevant(groups: Groups, relevance: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """The groups without images that are much less relevant than the relevant ones; all where none is relevant."""
    return {
        criterion: _filter(images, {image: relevance[image][criterion] for image in images})
        for criterion, images in groups.items()
    }


def _filter(images: Sequence[int], scores: Mapping[int, int]) -> list[int]:
    lowest = min((score for score in scores.values() if score >= _RELEVANT), default=None)
    if lowest is None:
        return list(images)
    return [image for image in images if scores[image] >= _IRRELEVANT or lowest - scores[image] <= _LARGEST_GAP]


def list_images(groups: Groups) -> dict[int, list[int]]:
    """The criteria of each image that is in a group, both in ascending order."""
    images = sorted({image for group in groups.values() for image in group})
    return {image: sorted(index for index, group in groups.items() if image in group) for image in images}


def analyze_screenshots(case: Case, items: Sequence[Item], groups: Groups) -> ByCriterion:
    """The analyses of each criterion in the order of the screenshots.

    Where there is no reply about all criteria of a screenshot, each of them is asked about, and where there is none
    about a criterion, a text says so.
    """
    pairs = list(list_images(groups).items())
    requests = [_build_request(case, items, _EVIDENCE, pair) for pair in pairs]
    replies = case.ask_each(requests, "criteria were examined one at a time")
    analyses = [entry for reply in replies for entry in reply or ()]
    lost = [pair for pair, reply in zip(pairs, replies, strict=True) if reply is None]
    analyses += _analyze_singly(case, items, [(image, [index]) for image, indices in lost for index in indices])
    by_criterion: ByCriterion = {index: [] for index in range(len(items))}
    for index, analysis in sorted(analyses, key=lambda entry: int(entry[1]["screenshot_idx"])):
        by_criterion[index].append(analysis)
    return by_criterion


def _analyze_singly(case: Case, items: Sequence[Item], pairs: Sequence[_Pair]) -> list[_Entry]:
    if not pairs:
        return []
    requests = [_build_request(case, items, _SINGLE_EVIDENCE, pair) for pair in pairs]
    replies = case.ask_each(requests, "a criterion has no evidence of a screenshot")
    return [
        entry
        for (image, indices), reply in zip(pairs, replies, strict=True)
        for entry in reply or [(indices[0], _build_placeholder(image))]
    ]


def _build_placeholder(image: int) -> dict[str, Any]:
    return {
        "screenshot_evidence": "",
        "criterion_analysis": _NO_EVIDENCE,
        "discrepancies": "",
        "environment_issues_confirmed": False,
        "screenshot_idx": image,
    }


def _build_request(case: Case, items: Sequence[Item], step: Step[EvidenceReply], pair: _Pair) -> Request[list[_Entry]]:
    image, indices = pair
    parts = (format_rubric(items), case.run, format_request(indices), f"Screenshot {image + 1}:")
    return case.build_request(step, partial(_read_analyses, items, pair), *parts, case.screenshots[image])


def _read_analyses(items: Sequence[Item], pair: _Pair, reply: EvidenceReply) -> list[_Entry]:
    image, indices = pair
    check_indices([analysis.criterion_idx for analysis in reply.analyses], indices)
    entries = []
    for analysis in reply.analyses:
        stored: dict[str, Any] = to_builtins(analysis) | {"screenshot_idx": image}
        index, is_shown = stored.pop("criterion_idx"), stored.pop("condition_verification")
        if is_conditional(items[index]):
            if is_shown is None:
                raise InvalidReply(f"criterion {index} has a condition; condition_verification is true or false")
            stored["condition_verification"] = is_shown
        entries.append((index, stored))
    return entries
