"""Where a rubric judge put its results: keys differ between writers and generations (`fara_webeval.md` §5.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
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
    return number if _is_bounded(number) else None


def _is_bounded(number: Decimal) -> bool:
    """Whether writing it out takes few digits; 1e-999999999 must never become a fraction."""
    exponent = number.as_tuple().exponent
    return (
        isinstance(exponent, int) and exponent >= -FINEST and number.adjusted() < 10 and -LARGEST <= number <= LARGEST
    )


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
_OF_HELD_OUT = frozenset({"mm_is_success", "verifier_is_success"})
_CRITICAL_POINT = frozenset({"rubric_cp_classification", "cp_type_used", "cp_violation"})
_CRITICAL_POINT_STEPS = frozenset({"step8_cp_violation_check", "cp_prompt_blocks", "cp_classification_used"})
_OUTCOME_STEP = "step8_outcome_verification"
_FAILURES = frozenset(
    {"rubric_first_point_of_failure", "rubric_task_verification_with_trajectory", "rubric_task_verification"}
)
_FAILURE_STEPS = frozenset(
    {"step9_first_point_of_failure", "step9b_task_verification_with_trajectory", "step10_task_verification"}
)


@dataclass(frozen=True, slots=True)
class RubricPayload:
    """The data that a judge stored, by their meaning instead of their key."""

    fields: Mapping[str, Any]

    @property
    def is_rubric(self) -> bool:
        """Whether it is the rubric itself, as in a `rubric.json`, and not what a writer of verdicts made of it."""
        return "items" in self.fields and "rubric_items" not in self.fields

    @property
    def has_verdict(self) -> bool:
        """Whether the points were already compared with a threshold."""
        return not _OF_VERDICTS.isdisjoint(self.fields)

    @property
    def has_rubric(self) -> bool:
        """Whether a judge came as far as a rubric or an outcome."""
        return not _OF_RUBRICS.isdisjoint(self.fields) or any(key.startswith("rubric_") for key in self.fields)

    @property
    def is_gate(self) -> bool:
        """Whether the run was turned away before a judge saw it."""
        return "verifier_success" in self.fields and not self.has_rubric

    @property
    def is_held_out(self) -> bool:
        """Whether it has the three signals of the held-out benchmarks."""
        return not _OF_HELD_OUT.isdisjoint(self.fields)

    def key(self, name: str) -> str:
        """How a part of the rubric is spelled here; writers of verdicts put a prefix before it."""
        return name if self.is_rubric else f"rubric_{name}"

    def part(self, name: str) -> Any:
        """A part of the rubric, None where it is missing."""
        return self.fields.get(self.key(name))

    @property
    def steps(self) -> Mapping[str, Any]:
        """What the steps of the judge put out."""
        return _as_object(self.part("intermediate_mm_rubric_steps"))

    @property
    def votes(self) -> Mapping[str, Any]:
        """The votes of the judge's instances, and their majority."""
        return _as_object(self.part("majority_vote_metadata"))

    @property
    def score_lists(self) -> dict[str, Any]:
        """The scores of the judge's instances by each key that stores them, if it does."""
        step = _as_object(self.steps.get("majority_vote_steps67"))
        places = {
            "all_scores": self.votes.get("all_scores"),
            self.key("all_scores_list"): self.part("all_scores_list"),
            "majority_vote_steps67.all_scores": step.get("all_scores"),
        }
        return {name: raw for name, raw in places.items() if raw is not None}

    @property
    def vote_lists(self) -> dict[str, Any]:
        """The votes of the judge's instances on the outcome by each key that stores them, if it does."""
        step = _as_object(self.steps.get("majority_vote_step8"))
        places = {
            "outcome_votes": self.votes.get("outcome_votes"),
            "majority_vote_step8.all_votes": step.get("all_votes"),
        }
        return {name: raw for name, raw in places.items() if raw is not None}

    @property
    def outcomes(self) -> dict[str, bool | None]:
        """The outcome by each key that stores it, the one that counts first. None means undecided."""
        return {name: as_bool(where[key]) for name, where, key in self._outcome_places if key in where}

    @property
    def _outcome_places(self) -> tuple[tuple[str, Mapping[str, Any], str], ...]:
        return (
            ("outcome_success", self.fields, "outcome_success"),
            (f"{self.key('outcome_verification')}.output_success", self._verification, "output_success"),
            ("step8_outcome_verification.output_success", _as_object(self.steps.get(_OUTCOME_STEP)), "output_success"),
        )

    def find_wrong_type(self) -> tuple[str, Any] | None:
        """A field that decides a verdict and holds something that no writer means by it, by its name; None if all do.

        A text such as "true" says neither yes nor no, so that the verdict would silently be another one.
        """
        places = {name: where.get(key) for name, where, key in (*self._outcome_places, *self._violation_places)}
        wrong = (place for place in places.items() if not (place[1] is None or isinstance(place[1], bool)))
        return next(wrong, None)

    @property
    def _violation_places(self) -> tuple[tuple[str, Mapping[str, Any], str], ...]:
        name = "step8_cp_violation_check"
        check = self.steps.get(name)
        return (
            ("cp_violation", self.fields, "cp_violation"),
            (f"{self.key('outcome_verification')}.cp_violation", self._verification, "cp_violation"),
            (name, check, "cp_violation") if isinstance(check, Mapping) else (name, self.steps, name),
        )

    @property
    def outcome(self) -> bool | None:
        """Whether the task was achieved, None where that is undecided or missing."""
        return next(iter(self.outcomes.values()), None)

    @property
    def violation(self) -> bool | None:
        """Whether the agent violated a critical point, None where that is unknown."""
        violations = (as_bool(where.get(key)) for _, where, key in self._violation_places)
        return next((violation for violation in violations if violation is not None), None)

    @property
    def reasoning(self) -> str | None:
        """Why the outcome is what it is; the top level may be empty where the nested text is not."""
        texts = (self.fields.get("outcome_reasoning"), self._verification.get("reasoning"))
        return next((text for text in texts if isinstance(text, str) and text.strip()), None)

    @property
    def signals(self) -> dict[str, int]:
        """The three signals of the held-out benchmarks, those that are there."""
        names = ("mm_is_success", "rubric_is_success", "verifier_is_success")
        return {name: bit for name in names if (bit := _parse_signal(self.fields.get(name))) is not None}

    @property
    def _verification(self) -> Mapping[str, Any]:
        return _as_object(self.part("outcome_verification"))

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
        verification, steps, keys = self._verification.keys(), self.steps.keys(), self.fields.keys()
        if keys & _CRITICAL_POINT or verification & _CRITICAL_POINT or steps & _CRITICAL_POINT_STEPS:
            return "G2"
        if self.writer == "webtailbench" and "success_criterion" not in keys:
            return "G0"
        return "G1" if keys & _FAILURES or steps & _FAILURE_STEPS else None


def as_bool(raw: object) -> bool | None:
    """True or False as JSON spells them; all else says neither."""
    return raw if isinstance(raw, bool) else None


def _parse_signal(raw: object) -> int | None:
    """A signal, which the oldest files write as text."""
    bit = parse_binary_score(int(raw) if raw in ("0", "1") else raw)
    return None if bit is None else int(bit)


def _as_object(raw: object) -> Mapping[str, Any]:
    return raw if isinstance(raw, Mapping) else {}
