"""Where a stored verdict contradicts itself, its rubric or the run: checks R1 to R19.

R1 to R17 are those of `fara_webeval.md` §6.3; R18 and R19 are about rubrics that were taken out (§5.3).
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from decimal import Decimal

from pytest_webeval.rubrics.payload import RubricPayload
from pytest_webeval.rubrics.payload import as_bool
from pytest_webeval.rubrics.payload import parse_binary_score
from pytest_webeval.rubrics.payload import point_count
from pytest_webeval.rubrics.payload import quoted
from pytest_webeval.rubrics.rubric_items import Points
from pytest_webeval.rubrics.rubric_items import RubricItem
from pytest_webeval.rubrics.stored_verdict import Check
from pytest_webeval.rubrics.stored_verdict import RunFacts
from pytest_webeval.rubrics.success_criterion import Signals


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
SCORE_TOLERANCE = 1e-9
MAX_PLACES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedVerdict:
    """What was stored beside what follows from it, by the criterion and the threshold of the one who stored it.

    `scores` has each criterion that the writer may have used and the score that it gives. `thresholds` are all those
    at which somebody wants to know the process, the writer's first.
    """

    stored_score: object
    payload: RubricPayload
    facts: RunFacts
    leaves: tuple[RubricItem, ...] = ()
    points: Points | None = None
    signals: Signals = field(default_factory=Signals)
    scores: Mapping[str, int] = field(default_factory=dict)
    thresholds: tuple[Decimal, ...] = ()
    has_score: bool = True  # a rubric on its own has none to contradict
    has_items: bool = True
    needs_items: bool = False  # each writer of such a file stores them


def check(derived: DerivedVerdict) -> tuple[Check, ...]:
    """All that is wrong, in the order of the rules."""
    found = ((rule, tells(derived)) for rule, tells in CHECKS.items())
    return tuple(Check(rule, message) for rule, message in found if message is not None)


def _totals(derived: DerivedVerdict) -> str | None:
    if derived.points is None:
        return None
    sums = {"total_max_points": derived.points.maximum, "total_earned_points": derived.points.earned}
    differing = (_total(derived.payload, name, exact) for name, exact in sums.items())
    return "; ".join(filter(None, differing)) or None


def _total(payload: RubricPayload, name: str, exact: Decimal) -> str | None:
    raw = payload.part(name)
    stored = point_count(raw)
    if raw is None or (stored is not None and abs(stored - exact) <= TOTAL_TOLERANCE):
        return None
    return f"{payload.key(name)} is {quoted(raw)}, but the criteria add up to {exact}"


def _process(derived: DerivedVerdict) -> str | None:
    raw, process = derived.payload.fields.get("rubric_is_success"), derived.signals.process
    if raw is None or derived.points is None or parse_binary_score(raw) is process:
        return None
    share = f"{derived.points.float_share:.4f}"
    return f"rubric_is_success is {quoted(raw)}, but the points give {int(process is True)}: their share is {share}"


def _outcome(derived: DerivedVerdict) -> str | None:
    told = derived.payload.outcomes
    if len(set(told.values())) < 2:
        return None
    return f"the outcome is told differently: {', '.join(f'{name} is {quoted(found)}' for name, found in told.items())}"


def _majority(derived: DerivedVerdict) -> str | None:
    votes = derived.payload.votes.get("outcome_votes")
    if not isinstance(votes, list):
        return None
    told = derived.payload.votes.get("n_instances", len(votes))
    instances = point_count(told)
    if instances is None or instances % 2 != 1 or instances < 1:
        return f"n_instances is {quoted(told)}; only an odd number of votes has a majority"
    if instances != len(votes):
        return f"n_instances is {quoted(told)}, but there are {len(votes)} votes"
    found = majority([as_bool(vote) for vote in votes], int(instances))
    stored = dict(list(derived.payload.outcomes.items())[:1])
    stored["majority_output_success"] = derived.payload.votes.get("majority_output_success", found)
    differing = [f"{name} is {quoted(raw)}" for name, raw in stored.items() if as_bool(raw) is not found]
    return f"{' and '.join(differing)}, but the majority of the votes is {quoted(found)}" if differing else None


def _median(derived: DerivedVerdict) -> str | None:
    raw, index = derived.payload.votes.get("all_scores"), derived.payload.votes.get("median_instance_idx")
    if not isinstance(raw, list) or not raw or index is None:
        return None
    scores = [float(score) for one in raw if (score := point_count(one)) is not None]
    at = point_count(index)
    if len(scores) < len(raw) or at is None or at not in range(len(scores)):
        return f"median_instance_idx is {quoted(index)}, which is no score in all_scores, {quoted(raw)}"
    return _median_score(derived, scores, int(at))


def _median_score(derived: DerivedVerdict, scores: Sequence[float], at: int) -> str | None:
    stored, middle = derived.payload.votes.get("median_score"), median_index(scores)
    number = point_count(stored)
    if stored is not None and (number is None or not _is_close(float(number), scores[at])):
        return f"median_score is {quoted(stored)}, but all_scores[{at}] is {scores[at]}"
    if middle is not None and not _is_close(scores[middle], scores[at]):
        return f"median_instance_idx is {at}, but the median of all_scores is all_scores[{middle}], {scores[middle]}"
    if derived.points is not None and not _is_close(derived.points.float_share, scores[at]):
        return f"all_scores[{at}] is {scores[at]}, but the share of the points is {derived.points.float_share}"
    return None


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= SCORE_TOLERANCE


def _is_success(derived: DerivedVerdict) -> str | None:
    raw, score = derived.payload.fields.get("is_success"), derived.stored_score
    if (
        raw is None
        or score is None
        or (parse_binary_score(raw) is not None and parse_binary_score(raw) is parse_binary_score(score))
    ):
        return None
    return f"the score is {quoted(score)}, but is_success is {quoted(raw)}"


def _score(derived: DerivedVerdict) -> str | None:
    score = derived.stored_score
    if not derived.scores or not derived.has_score or point_count(score) in derived.scores.values():
        return None
    told = ", ".join(f"{found} by {criterion}" for criterion, found in derived.scores.items())
    return f"the score is {quoted(score)}, but what the judge found gives {told}"


def _range(derived: DerivedVerdict) -> str | None:
    outside = [
        leaf for leaf in derived.leaves if not (_is_inside(leaf.earned, leaf) and _is_inside(leaf.post_image, leaf))
    ]
    return _places(outside, "more points than their maximum, or fewer than none")


def _is_inside(points: Decimal | None, leaf: RubricItem) -> bool:
    return points is None or 0 <= points <= leaf.max_points


def _conditions(derived: DerivedVerdict) -> str | None:
    unknown = [leaf for leaf in derived.leaves if leaf.is_conditional and leaf.is_met is None]
    return _places(unknown, "a condition, but nobody said whether it is met; left out")


def _penalty_points(derived: DerivedVerdict) -> str | None:
    return _places([leaf for leaf in _penalties(derived) if leaf.earned or leaf.post_image], "points for a penalty")


def _penalty_outcome(derived: DerivedVerdict) -> str | None:
    if derived.signals.outcome is not True:
        return None
    return _places(_penalties(derived), "a penalty, which the judge was told means failure, but the outcome is true")


def _penalty_wanted(derived: DerivedVerdict) -> str | None:
    wanted, there = as_bool(derived.payload.steps.get("step7_requires_penalty")), bool(_penalties(derived))
    if wanted is None or wanted is there:
        return None
    return (
        f"step7_requires_penalty is {quoted(wanted)}, but there is {'a' if there else 'no'} penalty among the criteria"
    )


def _alternatives(derived: DerivedVerdict) -> str | None:
    met = [leaf.is_met is True for leaf in derived.leaves if leaf.is_conditional and not leaf.is_penalty]
    if len(met) < 2 or len(set(met)) == 2:
        return None
    return f"{'all' if met[0] else 'none'} of {len(met)} conditions are met; usually they exclude each other"


def _edge(derived: DerivedVerdict) -> str | None:
    points, process = derived.points, derived.signals.process
    if points is None:
        return None
    found = [(one, "as binary fractions") for one in derived.thresholds if points.is_edge(one)]
    written = derived.thresholds[:1]  # where the stored process may be what another order of adding up gives
    found += [(one, "as their writer added up") for one in written if process is not points.reaches(one)]
    for edge, binary in found[:1]:
        does, does_not = ("exactly", binary)[:: 1 if points.reaches(edge) else -1]
        return f"{points.earned} of {points.maximum} points reach the threshold {edge} {does} but not {does_not}"
    return None


def _answer(derived: DerivedVerdict) -> str | None:
    judged, given = derived.payload.fields.get("final_answer"), derived.facts.final_answer
    if judged is None or given is None or judged == given:
        return None
    return f"final_answer is {quoted(judged)}, but the agent's answer is {quoted(given)}"


def _screenshots(derived: DerivedVerdict) -> str | None:
    raw, actions = derived.payload.steps.get("step1_num_screenshots"), derived.facts.action_count
    if raw is None or actions is None or point_count(raw) == actions:
        return None
    return f"step1_num_screenshots is {quoted(raw)}, but there are {actions} actions"


def _age(derived: DerivedVerdict) -> str | None:
    return "the verdict is older than the answer" if derived.facts.is_stale else None


def _items_removed(derived: DerivedVerdict) -> str | None:
    is_removed = derived.needs_items and not derived.has_items
    return "rubric_items is missing, which all writers of such a file store" if is_removed else None


def _items_missing(derived: DerivedVerdict) -> str | None:
    is_missing = not (derived.needs_items or derived.has_items)
    return "there are no rubric items, so that nothing can be derived again" if is_missing else None


def _penalties(derived: DerivedVerdict) -> list[RubricItem]:
    return [leaf for leaf in derived.leaves if leaf.is_penalty]


def _places(found: Iterable[RubricItem], problem: str) -> str | None:
    places = [leaf.place for leaf in found]
    more = f" and {len(places) - MAX_PLACES} more" if len(places) > MAX_PLACES else ""
    return f"{', '.join(places[:MAX_PLACES])}{more}: {problem}" if places else None


CHECKS: dict[str, Callable[[DerivedVerdict], str | None]] = {
    "R1": _totals,
    "R2": _process,
    "R3": _outcome,
    "R4": _majority,
    "R5": _median,
    "R6": _is_success,
    "R7": _score,
    "R8": _range,
    "R9": _conditions,
    "R10": _penalty_points,
    "R11": _penalty_outcome,
    "R12": _penalty_wanted,
    "R13": _alternatives,
    "R14": _edge,
    "R15": _answer,
    "R16": _screenshots,
    "R17": _age,
    "R18": _items_removed,
    "R19": _items_missing,
}
