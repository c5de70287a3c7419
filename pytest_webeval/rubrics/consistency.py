"""Where a stored verdict contradicts itself, its rubric or the run: checks R1 to R19.

R1 to R17 are those of `fara_webeval.md` §6.3; R18 and R19 are about rubrics that were taken out (§5.3). R20 to R22,
about judgements without points, are in `derivation.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from math import isclose
from typing import Any

from pytest_webeval.rubrics.payload import RubricPayload, as_bool, parse_binary_score, point_count, quote_value
from pytest_webeval.rubrics.policy import Signals, UnreadableVerdict
from pytest_webeval.rubrics.rubric_items import Points, RubricItem, flatten_items, points_of
from pytest_webeval.rubrics.stored_verdict import Check, RunFacts
from pytest_webeval.safety.text import list_first, pluralize


def majority(votes: Sequence[bool | None], instances: int) -> bool | None:
    """What more than half of the votes cast say; None unless more than half of the instances cast one."""
    cast = [vote for vote in votes if vote is not None]
    if len(cast) < instances // 2 + 1:
        return None
    return 2 * sum(cast) > len(cast)


def median_index(scores: Sequence[float]) -> int | None:
    """Which instance has the median score, the earlier one of equals first; None of no instances."""
    ascending = sorted(range(len(scores)), key=lambda index: scores[index])
    return ascending[len(scores) // 2] if scores else None


TOTAL_TOLERANCE = Decimal("0.01")
_is_close = partial(isclose, rel_tol=0, abs_tol=1e-9)
MAX_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedVerdict:
    """What was stored and what follows from it, by the criterion and the threshold of the one who stored it.

    `scores` has each criterion that the writer may have used and the score that it gives. `thresholds` are all those
    at which the process is checked, the writer's first.
    """

    stored_score: object
    payload: RubricPayload
    facts: RunFacts
    items: tuple[RubricItem, ...] = ()
    points: Points | None = None
    signals: Signals = field(default_factory=Signals)
    scores: Mapping[str, int] = field(default_factory=dict)
    thresholds: tuple[Decimal, ...] = ()
    has_score: bool = True  # a rubric on its own has none to contradict
    has_items: bool = True
    needs_items: bool = False  # each writer of such a file stores them


def check(derived: DerivedVerdict) -> tuple[Check, ...]:
    """All that is wrong, in the order of the rules."""
    messages = ((rule, find_problem(derived)) for rule, find_problem in CHECKS.items())
    return tuple(Check(rule, message) for rule, message in messages if message is not None)


def _check_totals(derived: DerivedVerdict) -> str | None:
    if derived.points is None:
        return None
    sums, problems = {"total_max_points": derived.points.maximum, "total_earned_points": derived.points.earned}, []
    for name, exact in sums.items():
        raw = derived.payload.part(name)
        stored = point_count(raw)
        if raw is not None and (stored is None or abs(stored - exact) > TOTAL_TOLERANCE):
            problem = f"{derived.payload.key(name)} is {quote_value(raw)}, but the criteria add up to {exact}"
            problems.append(problem)
    return "; ".join(problems) or None


def _check_process(derived: DerivedVerdict) -> str | None:
    raw, process = derived.payload.fields.get("rubric_is_success"), derived.signals.process
    if raw is None or derived.points is None or parse_binary_score(raw) is process:
        return None
    problem = f"rubric_is_success is {quote_value(raw)}, but the points give {int(process is True)}"
    return f"{problem}: their share is {derived.points.float_share:.4f}"


def _check_outcome(derived: DerivedVerdict) -> str | None:
    outcomes = derived.payload.outcomes
    if len(set(outcomes.values())) < 2:
        return None
    outcome_list = ", ".join(f"{name} is {quote_value(outcome)}" for name, outcome in outcomes.items())
    return f"the stored outcomes differ: {outcome_list}"


def _check_majority(derived: DerivedVerdict) -> str | None:
    lists = derived.payload.list_votes("votes")
    name, votes = next(iter(lists.items()), ("", None))
    if not isinstance(votes, list):
        return None
    raw_count = derived.payload.votes.get("n_instances", len(votes))
    instances = point_count(raw_count)
    if instances is None or instances % 2 != 1 or instances < 1:
        return f"n_instances is {quote_value(raw_count)}; expected 1, 3, 5 or another number of votes with a majority"
    if instances != len(votes):
        return f"n_instances is {quote_value(raw_count)}, but the number of votes is {len(votes)}"
    for index, vote in enumerate(votes):
        if vote is not None and as_bool(vote) is None:
            return f"{name}[{index}] is {quote_value(vote)}; expected true, false or null"
    return next(_compare_copies(lists, operator.is_), None) or _compare_majority(derived, votes)


def _compare_majority(derived: DerivedVerdict, votes: Sequence[bool | None]) -> str | None:
    majority_vote = majority(votes, len(votes))
    stored = dict(list(derived.payload.outcomes.items())[:1])
    stored["majority_output_success"] = derived.payload.votes.get("majority_output_success", majority_vote)
    differing = [f"{name} is {quote_value(raw)}" for name, raw in stored.items() if as_bool(raw) is not majority_vote]
    problem = f"{' and '.join(differing)}, but the majority of the votes is {quote_value(majority_vote)}"
    return problem if differing else None


def _compare_copies(lists: Mapping[str, Any], is_equal: Callable[[Any, Any], bool]) -> Iterator[str]:
    """Where a list that is stored in several places differs from its first copy."""
    (first, original), *copies = lists.items()
    for name, copy in copies:
        if not isinstance(copy, list) or len(copy) != len(original):
            yield f"{name} is {quote_value(copy)}, but {first} is {quote_value(original)}"
            continue
        for index, (raw, wanted) in enumerate(zip(copy, original, strict=True)):
            if not is_equal(raw, wanted):
                yield f"{name}[{index}] is {quote_value(raw)}, but {first}[{index}] is {quote_value(wanted)}"


def _find_score_problems(derived: DerivedVerdict) -> Iterator[str]:
    """All contradictions between the copies of the scores, votes, rubrics and the points that count."""
    lists = derived.payload.list_votes("scores")
    if not lists:
        return
    first, raw = next(iter(lists.items()))
    yield from _find_median_problems(derived, first, raw)
    for name, copy in lists.items():
        if not isinstance(copy, list):
            yield f"{name} is {quote_value(copy)}; expected a list of scores"
            return
        for index, score in enumerate(copy):
            if (number := point_count(score)) is None or not 0 <= number <= 1:
                yield f"{name}[{index}] is {quote_value(score)}; expected a number from 0 to 1"
                return
    scores = [float(score) for score in raw]
    yield from _compare_copies(lists, lambda copy, score: _is_close(float(copy), float(score)))
    yield from _compare_count(derived, first, scores)
    yield from _compare_rubrics(derived, first, scores)
    yield from _compare_middle(derived, scores)


def _compare_count(derived: DerivedVerdict, name: str, scores: Sequence[float]) -> Iterator[str]:
    """An instance that failed has neither a score nor a vote; one that was undecided has a score alone."""
    votes = derived.payload.votes
    instances, cast = point_count(votes.get("n_instances")), votes.get("outcome_votes")
    count = sum(isinstance(vote, bool) for vote in cast) if isinstance(cast, list) else 0
    if instances is not None and len(scores) > instances:
        yield f"{name} is {quote_value(scores)}, but n_instances is {instances}"
    if len(scores) < count:
        yield f"{name} is {quote_value(scores)}, but {pluralize(count, 'vote')} were cast"


def _compare_rubrics(derived: DerivedVerdict, name: str, scores: Sequence[float]) -> Iterator[str]:
    """Each score is the share of the points in the rubric of its instance."""
    raw, key = derived.payload.part("all_rubric_dicts"), derived.payload.key("all_rubric_dicts")
    if raw is None:
        return
    if not isinstance(raw, list) or len(raw) != len(scores):
        yield f"{key} is {quote_value(raw)}, but {name} is {quote_value(scores)}"
        return
    for index, (rubric, score) in enumerate(zip(raw, scores, strict=True)):
        points = None
        with suppress(UnreadableVerdict):  # which was not stored as a rubric
            points = points_of(flatten_items(rubric.get("items"))) if isinstance(rubric, Mapping) else None
        if points is not None and not _is_close(points.float_share, score):
            share = points.float_share
            yield f"{name}[{index}] is {score}, but the share of the points in {key}[{index}] is {share}"


def _compare_middle(derived: DerivedVerdict, scores: Sequence[float]) -> Iterator[str]:
    """The median of a list without an index of the instance that counts."""
    key, middle = derived.payload.key("all_scores_list"), median_index(scores)
    is_indexed = derived.payload.votes.get("median_instance_idx") is not None
    if is_indexed or middle is None or derived.points is None or derived.payload.part("all_scores_list") is None:
        return
    if not _is_close(scores[middle], derived.points.float_share):
        share = derived.points.float_share
        yield f"the median of {key} is {scores[middle]}, but the share of the points is {share}"


def _find_median_problems(derived: DerivedVerdict, name: str, raw: object) -> Iterator[str]:
    votes = derived.payload.votes
    index, stored = votes.get("median_instance_idx"), votes.get("median_score")
    if not isinstance(raw, list) or not raw or index is None:
        return
    scores = [float(score) for raw_score in raw if (score := point_count(raw_score)) is not None]
    position, number = point_count(index), point_count(stored)
    if len(scores) < len(raw) or position is None or position not in range(len(scores)):
        yield f"median_instance_idx is {quote_value(index)}, which is not an index of {name}, {quote_value(raw)}"
        return
    at, middle = int(position), median_index(scores)
    if stored is not None and (number is None or not _is_close(float(number), scores[at])):
        yield f"median_score is {quote_value(stored)}, but {name}[{at}] is {scores[at]}"
    if middle is not None and not _is_close(scores[middle], scores[at]):
        yield f"median_instance_idx is {at}, but the median of {name} is {name}[{middle}], {scores[middle]}"
    if derived.points is not None and not _is_close(derived.points.float_share, scores[at]):
        yield f"{name}[{at}] is {scores[at]}, but the share of the points is {derived.points.float_share}"


def _check_is_success(derived: DerivedVerdict) -> str | None:
    raw, score = derived.payload.fields.get("is_success"), derived.stored_score
    if raw is None or score is None:
        return None
    if parse_binary_score(raw) is not None and parse_binary_score(raw) is parse_binary_score(score):
        return None
    return f"the score is {quote_value(score)}, but is_success is {quote_value(raw)}"


def _check_score(derived: DerivedVerdict) -> str | None:
    score = derived.stored_score
    if not derived.scores or not derived.has_score or point_count(score) in derived.scores.values():
        return None
    score_list = ", ".join(f"{derived_score} by {criterion}" for criterion, derived_score in derived.scores.items())
    return f"the score is {quote_value(score)}, but the judge's data give {score_list}"


def _is_out_of_range(item: RubricItem) -> bool:
    return any(points is not None and not 0 <= points <= item.max_points for points in (item.earned, item.post_image))


_WRONG_ITEMS: dict[str, tuple[Callable[[RubricItem], object], str]] = {
    "R8": (_is_out_of_range, "more points than the maximum, or negative points"),
    "R9": (
        lambda item: item.is_conditional and item.is_met is None,
        "a condition without is_condition_met; excluded",
    ),
    "R10": (lambda item: item.is_penalty and (item.earned or item.post_image), "points for a penalty"),
    "R11": (
        lambda item: item.is_penalty,
        "a penalty, which means failure by the judge's instructions, but the outcome is true",
    ),
}


def _check_each_item(rule: str, derived: DerivedVerdict) -> str | None:
    is_wrong, problem = _WRONG_ITEMS[rule]
    places = [item.place for item in derived.items if is_wrong(item)]
    return f"{list_first(places, MAX_PLACES)}: {problem}" if places else None


def _check_penalty_requirement(derived: DerivedVerdict) -> str | None:
    is_required = as_bool(derived.payload.steps.get("step7_requires_penalty"))
    is_present = any(item.is_penalty for item in derived.items)
    if is_required is None or is_required is is_present:
        return None
    number = "a" if is_present else "no"
    return f"step7_requires_penalty is {quote_value(is_required)}, but there is {number} penalty among the criteria"


def _check_alternatives(derived: DerivedVerdict) -> str | None:
    met = [item.is_met is True for item in derived.items if item.is_conditional and not item.is_penalty]
    if len(met) < 2 or len(set(met)) == 2:
        return None
    return f"{'all' if met[0] else 'none'} of {len(met)} conditions are met; usually they exclude each other"


def _check_edge(derived: DerivedVerdict) -> str | None:
    points, process = derived.points, derived.signals.process
    if points is None:
        return None
    edges = [(threshold, "as binary fractions") for threshold in derived.thresholds if points.is_edge(threshold)]
    written = derived.thresholds[:1]  # where the stored process may be what another order of adding up gives
    if not edges and written and process is not points.reaches(written[0]):
        edges = [(written[0], "as the judge's program added them up")]
    for edge, binary in edges[:1]:
        does, does_not = ("exactly", binary)[:: 1 if points.reaches(edge) else -1]
        return f"{points.earned} of {points.maximum} points reach the threshold {edge} {does} but not {does_not}"
    return None


def _check_answer(derived: DerivedVerdict) -> str | None:
    judged, actual = derived.payload.fields.get("final_answer"), derived.facts.final_answer
    if judged is None or actual is None or judged == actual:
        return None
    return f"final_answer is {quote_value(judged)}, but the agent's answer is {quote_value(actual)}"


def _check_screenshots(derived: DerivedVerdict) -> str | None:
    raw, actions = derived.payload.steps.get("step1_num_screenshots"), derived.facts.action_count
    if raw is None or actions is None or point_count(raw) == actions:
        return None
    return f"step1_num_screenshots is {quote_value(raw)}, but the number of actions is {actions}"


def _check_items(derived: DerivedVerdict, *, removed: bool) -> str | None:
    if derived.has_items or derived.needs_items is not removed:
        return None
    if removed:
        return "rubric_items is missing, although such a file always has it"
    return "there are no rubric items; the verdict cannot be recomputed"


CHECKS: dict[str, Callable[[DerivedVerdict], str | None]] = {
    "R1": _check_totals,
    "R2": _check_process,
    "R3": _check_outcome,
    "R4": _check_majority,
    "R5": lambda derived: next(_find_score_problems(derived), None),  # the first
    "R6": _check_is_success,
    "R7": _check_score,
    "R8": partial(_check_each_item, "R8"),
    "R9": partial(_check_each_item, "R9"),
    "R10": partial(_check_each_item, "R10"),
    "R11": lambda derived: _check_each_item("R11", derived) if derived.signals.outcome is True else None,
    "R12": _check_penalty_requirement,
    "R13": _check_alternatives,
    "R14": _check_edge,
    "R15": _check_answer,
    "R16": _check_screenshots,
    "R17": lambda derived: "the verdict is older than the answer" if derived.facts.is_stale else None,
    "R18": partial(_check_items, removed=True),
    "R19": partial(_check_items, removed=False),
}
