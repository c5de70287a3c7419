"""Which steps of a judge fell back to a default, as far as what they stored shows it (`fara_webeval.md` §6.4, Q23)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
        named = islice(listed.items(), _MOST_LISTED)
        return tuple(f"{to_line(str(n), _LONGEST_NAME)}: {to_line(str(why), _LONGEST_REASON)}" for n, why in named)
    return tuple(_list_degraded_steps(payload, payload.steps, items))


def _list_degraded_steps(
    payload: RubricPayload, steps: Mapping[str, Any], items: Sequence[RubricItem]
) -> Iterator[str]:
    scores, evidence = steps.get("step2_relevance_scores"), steps.get("step4_evidence_by_criterion")
    if images := _list_names(scores, _is_all_zero):
        yield f"step 2: every relevance is 0 for {images}"
    if criteria := _list_names(evidence, _lacks_evidence):
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


def _list_names(raw: object, is_degraded: Callable[[Any], bool]) -> str:
    """The first names of members without an answer, screenshot 10 after screenshot 2."""
    names = [name for name, member in raw.items() if is_degraded(member)] if isinstance(raw, Mapping) else []

    def by_number(name: str) -> tuple[int, str]:
        match = _NUMBER.search(name)
        return (int(match[0]) if match else -1, name)

    return list_first(sorted(names, key=by_number), MAX_NAMED, lambda name: quote_value(name[:40]).strip('"'))


def _is_all_zero(relevance: object) -> bool:
    members = relevance.items() if isinstance(relevance, Mapping) else ()
    scores = [point_count(score) for criterion, score in members if criterion != "screenshot_idx"]
    return bool(scores) and all(score == 0 for score in scores)


def _lacks_evidence(analyses: object) -> bool:
    """Whether one of the answers was refused, which lacks a text."""
    return isinstance(analyses, list) and not all(
        isinstance(analysis, Mapping) and all(_is_text(analysis.get(key)) for key in _EVIDENCE) for analysis in analyses
    )


def _lost_votes(payload: RubricPayload) -> str | None:
    votes = payload.votes.get("outcome_votes")
    if isinstance(votes, list) and None in votes:
        return f"{votes.count(None)} of {len(votes)} votes on the outcome failed"
    return "the outcome is undecided" if None in payload.outcomes.values() else None


def _is_text(raw: object) -> bool:
    return isinstance(raw, str) and bool(raw.strip())
