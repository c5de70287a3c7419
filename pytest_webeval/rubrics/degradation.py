"""Which steps of a judge fell back to a default, as far as what they stored shows it (`fara_webeval.md` §6.4, Q23)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_webeval.rubrics.payload import RubricPayload, point_count, quote_value
from pytest_webeval.rubrics.rubric_items import RubricItem
from pytest_webeval.safety.text import list_first, to_line

MAX_NAMED = 5
_MOST_LISTED = 50
_LONGEST_NAME, _LONGEST_REASON = 40, 600
_NUMBER = re.compile(r"[0-9]{1,9}$")
_EVIDENCE = ("screenshot_evidence", "criterion_analysis", "discrepancies")  # an answer without them was refused


def degraded_steps(payload: RubricPayload, items: Sequence[RubricItem]) -> tuple[str, ...]:
    """The steps that went on without an answer of their model, with what shows it; none where no steps were stored.

    A writer that lists these steps itself, as the pipeline of this package does, is taken at its word.
    """
    listed = payload.steps.get("degraded_steps")
    if isinstance(listed, Mapping):
        return tuple(_format_listed(listed))
    return tuple(_list_degraded_steps(payload, payload.steps, items))


def _format_listed(steps: Mapping[str, Any]) -> Iterator[str]:
    for name, reason in islice(steps.items(), _MOST_LISTED):
        yield f"{to_line(str(name), _LONGEST_NAME)}: {to_line(str(reason), _LONGEST_REASON)}"


def _list_degraded_steps(
    payload: RubricPayload, steps: Mapping[str, Any], items: Sequence[RubricItem]
) -> Iterator[str]:
    if images := _images_without_relevance(steps.get("step2_relevance_scores")):
        yield f"step 2: every relevance is 0 for {images}"
    if criteria := _criteria_without_evidence(steps.get("step4_evidence_by_criterion")):
        yield f"step 4: no evidence for criterion {criteria}"
    is_rescored = any(item.counts and not item.is_penalty for item in items)
    if is_rescored and steps.get("step6_rescoring_summary") == []:
        yield "step 6: no criterion was rescored after the screenshots"
    if "step7_reasoning" in steps and not _is_text(steps["step7_reasoning"]):
        yield "step 7: side effects were not checked"
    if lost := _lost_votes(payload):
        yield f"step 8: {lost}"
    check = steps.get("step8_cp_violation_check", False)
    if check is None or (isinstance(check, Mapping) and check.get("cp_violation", False) is None):
        yield "step 8: no result on critical point violations"


def _images_without_relevance(scores: object) -> str:
    images = scores.items() if isinstance(scores, Mapping) else ()
    return _format_names(
        name for name, relevance in images if isinstance(relevance, Mapping) and _is_all_zero(relevance)
    )


def _is_all_zero(relevance: Mapping[str, Any]) -> bool:
    scores = [point_count(score) for criterion, score in relevance.items() if criterion != "screenshot_idx"]
    return bool(scores) and all(score == 0 for score in scores)


def _criteria_without_evidence(evidence: object) -> str:
    criteria = evidence.items() if isinstance(evidence, Mapping) else ()
    return _format_names(
        name for name, analyses in criteria if isinstance(analyses, list) and not all(map(_has_evidence, analyses))
    )


def _has_evidence(analysis: object) -> bool:
    return isinstance(analysis, Mapping) and all(_is_text(analysis.get(key)) for key in _EVIDENCE)


def _lost_votes(payload: RubricPayload) -> str | None:
    votes = payload.votes.get("outcome_votes")
    if isinstance(votes, list) and None in votes:
        return f"{votes.count(None)} of {len(votes)} votes on the outcome failed"
    return "the outcome is undecided" if None in payload.outcomes.values() else None


def _is_text(raw: object) -> bool:
    return isinstance(raw, str) and bool(raw.strip())


def _format_names(names: Iterable[str]) -> str:
    """The first names, screenshot 10 after screenshot 2."""
    return list_first(sorted(names, key=_by_number), MAX_NAMED, lambda name: quote_value(name[:40]).strip('"'))


def _by_number(name: str) -> tuple[int, str]:
    match = _NUMBER.search(name)
    return (int(match[0]) if match else -1, name)
