"""Where a rubric judge put its results: keys differ between writers and generations (`fara_webeval.md` §5.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

from pytest_webeval.safety.text import preview, truncate

LARGEST = 10**9
FINEST = 30  # digits after the decimal point
_LONGEST_QUOTE = 80


def point_count(raw: object) -> Decimal | None:
    """The exact number of points, or None for an invalid one. Negative numbers are valid."""
    if isinstance(raw, bool):  # JSON's true is a bool, which Python takes for a number
        return None
    if isinstance(raw, int):
        return Decimal(raw) if abs(raw) <= LARGEST else None
    number = Decimal(repr(raw)) if isinstance(raw, float) else raw
    if not isinstance(number, Decimal) or not number.is_finite():
        return None
    exponent = number.as_tuple().exponent  # 1e-999999999 must never become a fraction
    has_few_digits = isinstance(exponent, int) and exponent >= -FINEST and number.adjusted() < 10
    return number if has_few_digits and -LARGEST <= number <= LARGEST else None


def parse_binary_score(raw: object) -> bool | None:
    """True for 1 and true, False for 0 and false, None for all else."""
    if isinstance(raw, bool):
        return raw
    number = point_count(raw)
    return bool(number) if number in (0, 1) else None


def quote_value(raw: object) -> str:
    """Untrusted JSON in one short line of ASCII."""
    if isinstance(raw, str):
        return preview(raw, _LONGEST_QUOTE, "", is_ascii=True)
    if isinstance(raw, Mapping):
        return "an object"
    if isinstance(raw, list | tuple):
        return f"a list of {len(raw)}"
    if isinstance(raw, int) and not isinstance(raw, bool):
        return str(raw) if abs(raw) <= LARGEST**2 else "a huge number"
    return truncate(str(raw), _LONGEST_QUOTE, "") if isinstance(raw, Decimal) else json.dumps(raw, default=repr)


_OF_VERDICTS = frozenset({"is_success", "rubric_is_success"})
_OF_RUBRICS = frozenset({"items", "is_success", "outcome_success"})
_SIGNALS = ("mm_is_success", "rubric_is_success", "verifier_is_success")
_CRITICAL_POINT = frozenset({"rubric_cp_classification", "cp_type_used", "cp_violation"})
_CRITICAL_POINT_STEPS = frozenset({"step8_cp_violation_check", "cp_prompt_blocks", "cp_classification_used"})
_FAILURES = frozenset(
    {"rubric_first_point_of_failure", "rubric_task_verification_with_trajectory", "rubric_task_verification"}
)
_FAILURE_STEPS = frozenset(
    {"step9_first_point_of_failure", "step9b_task_verification_with_trajectory", "step10_task_verification"}
)
# Where a datum is stored, the place that counts first: its name, the object there and the key in that. `{}` is the
# prefix that writers of verdicts put before the parts of a rubric.
_PLACES = {
    "outcome": (
        ("outcome_success", "payload", "outcome_success"),
        ("{}outcome_verification.output_success", "verification", "output_success"),
        ("step8_outcome_verification.output_success", "outcome step", "output_success"),
    ),
    "violation": (
        ("cp_violation", "payload", "cp_violation"),
        ("{}outcome_verification.cp_violation", "verification", "cp_violation"),
        ("step8_cp_violation_check", "violation step", "cp_violation"),
    ),
    "scores": (
        ("all_scores", "votes", "all_scores"),
        ("{}all_scores_list", "payload", "{}all_scores_list"),
        ("majority_vote_steps67.all_scores", "score step", "all_scores"),
    ),
    "votes": (
        ("outcome_votes", "votes", "outcome_votes"),
        ("majority_vote_step8.all_votes", "vote step", "all_votes"),
    ),
}


class RubricPayload:
    """The data that a judge stored, by their meaning instead of their key.

    `is_rubric` is true of the rubric itself, as in a `rubric.json`, and not of what a writer of verdicts made of it.
    `steps` are what the steps of the judge put out, `votes` those of its instances with their majority.
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.is_rubric = "items" in fields and "rubric_items" not in fields
        self._prefix = "" if self.is_rubric else "rubric_"
        self.steps = steps = _as_object(self.part("intermediate_mm_rubric_steps"))
        self.votes = _as_object(self.part("majority_vote_metadata"))
        check = steps.get("step8_cp_violation_check")
        self._objects: dict[str, Mapping[str, Any]] = {
            "payload": fields,
            "verification": _as_object(self.part("outcome_verification")),
            "votes": self.votes,
            "outcome step": _as_object(steps.get("step8_outcome_verification")),
            "violation step": check if isinstance(check, Mapping) else {"cp_violation": check},
            "score step": _as_object(steps.get("majority_vote_steps67")),
            "vote step": _as_object(steps.get("majority_vote_step8")),
        }

    def key(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def part(self, name: str) -> Any:
        """A part of the rubric, None where it is missing."""
        return self.fields.get(self.key(name))

    def _list_places(self, datum: str) -> dict[str, Any]:
        """What is stored for a datum, by the name of each place that has it."""
        places = ((name, self._objects[where], key.format(self._prefix)) for name, where, key in _PLACES[datum])
        return {name.format(self._prefix): where[key] for name, where, key in places if key in where}

    @property
    def has_verdict(self) -> bool:
        """Whether the points were already compared with a threshold."""
        return not _OF_VERDICTS.isdisjoint(self.fields)

    @property
    def is_gate(self) -> bool:
        """Whether the run was turned away before a judge saw it, who came to neither a rubric nor an outcome."""
        has_rubric = any(key in _OF_RUBRICS or key.startswith("rubric_") for key in self.fields)
        return "verifier_success" in self.fields and not has_rubric

    @property
    def is_held_out(self) -> bool:
        """Whether it has the three signals of the held-out benchmarks."""
        return "mm_is_success" in self.fields or "verifier_is_success" in self.fields

    def list_votes(self, datum: str) -> dict[str, Any]:
        """The `scores` or `votes` of the judge's instances by each key that stores them, if it does."""
        return {name: raw for name, raw in self._list_places(datum).items() if raw is not None}

    @cached_property
    def outcomes(self) -> dict[str, bool | None]:
        """The outcome by each key that stores it, the one that counts first. None means undecided."""
        return {name: as_bool(raw) for name, raw in self._list_places("outcome").items()}

    def find_wrong_type(self) -> tuple[str, Any] | None:
        """A field that decides a verdict and holds something that no writer means by it, by its name; None if all do.

        A text such as "true" says neither yes nor no, so that the verdict would silently be another one.
        """
        places = self._list_places("outcome") | self._list_places("violation")
        return next((place for place in places.items() if not (place[1] is None or isinstance(place[1], bool))), None)

    @property
    def outcome(self) -> bool | None:
        """Whether the task was achieved, None where that is undecided or missing."""
        return next(iter(self.outcomes.values()), None)

    @property
    def violation(self) -> bool | None:
        """Whether the agent violated a critical point, None where that is unknown."""
        return next((raw for raw in self._list_places("violation").values() if isinstance(raw, bool)), None)

    @property
    def reasoning(self) -> str | None:
        """Why the outcome is what it is; the top level may be empty where the nested text is not."""
        texts = (self.fields.get("outcome_reasoning"), self._objects["verification"].get("reasoning"))
        return next((text for text in texts if isinstance(text, str) and text.strip()), None)

    @property
    def signals(self) -> dict[str, int]:
        """The three signals of the held-out benchmarks, those that are there. The oldest files write them as text."""
        raws = ((name, self.fields.get(name)) for name in _SIGNALS)
        bits = {name: parse_binary_score(int(raw) if raw in ("0", "1") else raw) for name, raw in raws}
        return {name: int(bit) for name, bit in bits.items() if bit is not None}

    @property
    def writer(self) -> str:
        """Which program wrote it, as far as its keys show."""
        if self.is_rubric:
            return "unknown"
        if "is_success" in self.fields or "rubric_error" in self.fields:
            return "webtailbench"
        return "verify_script" if {"success_criterion", "error_taxonomy"} & self.fields.keys() else "unknown"

    @property
    def generation(self) -> str | None:
        """G0 (March 2026), G1 (April) or G2 (June); None where nothing that differs between them is there."""
        verification, steps, keys = self._objects["verification"].keys(), self.steps.keys(), self.fields.keys()
        if keys & _CRITICAL_POINT or verification & _CRITICAL_POINT or steps & _CRITICAL_POINT_STEPS:
            return "G2"
        if self.writer == "webtailbench" and "success_criterion" not in keys:
            return "G0"
        return "G1" if keys & _FAILURES or steps & _FAILURE_STEPS else None


def as_bool(raw: object) -> bool | None:
    """True or False as JSON spells them; all else says neither."""
    return raw if isinstance(raw, bool) else None


def _as_object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
