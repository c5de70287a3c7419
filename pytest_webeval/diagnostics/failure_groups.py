"""What kind of failure a result is: the check that decided, and a group of results that failed in the same way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult

LOOKED_AT = 500  # characters of a message
LONGEST_FIELD = 60  # characters: a group is to be recognized, not read
# How names of assertions end, longest first where one ends like another, and which kind of failure that is (spec §6).
KINDS = {
    "_array_values_mismatch": "elements",
    "_none_mismatch": "missing",
    "_keys_mismatch": "keys",
    "_mismatch": "different",
    "_invalid_format": "malformed",
    "_missing_or_null": "missing",
    "_unexpected": "unexpected",
    "_unavailable": "unreadable",
}
MISSING_EVENT = "missing_navigation_event"
_WHOLE = {
    MISSING_EVENT: ("expected event", "missing"),
    "unexpected_navigation_event": ("forbidden event", "present"),
}
_PHRASES = {
    "different": "{} differs",
    "elements": "{} has other elements",
    "error": "error: {}",
    "failed": "{} failed",
    "keys": "{} has other keys",
    "malformed": "{} is malformed",
    "missing": "{} is missing",
    "present": "{} was sent",
    "unmet": "{} not reached",
    "unreadable": "{} cannot be read",
    "unexpected": "{} is not expected",
}
_OWNERS = ("network_event", "agent_response", "rubric")  # what our paths begin with
_PARTICULAR = r"\S*[/\\]\S*[^\s;:,]|'[^']*'|\"[^\"]*\"|\d+"  # of a message: paths, what is quoted, numbers


@dataclass(frozen=True, slots=True, order=True)
class FailureGroup:
    """Results of which the same check failed: of which evaluator, about which field, and how it differed.

    A run that could not be scored at all has no evaluator, and what was wrong for a field.
    """

    evaluator: str
    field: str
    kind: str

    @property
    def text(self) -> str:
        """One phrase that says it."""
        return _PHRASES.get(self.kind, "{}").format(self.field)


class Decisive(NamedTuple):
    """The evaluator that failed first, and the assertion that says why; none where it came to no verdict."""

    result: EvaluatorResult
    assertion: Assertion | None


def failed_assertions(result: EvaluatorResult) -> list[Assertion]:
    """What did not hold, in the order in which it was checked."""
    return [one for one in result.assertions or () if one.status is not Status.SUCCESS]


def deciding_assertion(result: TaskResult) -> Decisive | None:
    """What a person is to be told first; None where no evaluator says anything."""
    return next(_decisive(result), None)


def _decisive(result: TaskResult) -> Iterator[Decisive]:
    for one in result.evaluators_results:
        if one.error_msg:
            yield Decisive(one, None)
        elif wrong := failed_assertions(one):
            yield Decisive(one, _telling(wrong))


def _telling(wrong: Sequence[Assertion]) -> Assertion:
    """The first; where an event of the right place differs in a field, rather that field."""
    first, *others = wrong
    elsewhere = any(one.assertion_name == "network_event.url_mismatch" for one in others)
    return others[0] if first.assertion_name == MISSING_EVENT and others and not elsewhere else first


def group_of(result: TaskResult) -> FailureGroup | None:
    """The group of a result; None for a success."""
    if result.status is Status.SUCCESS:
        return None
    found = deciding_assertion(result)
    if found is None:
        return error_group(result.error_msg or "nothing says why")
    evaluator, assertion = found.result.evaluator_name, found.assertion
    if assertion is None:
        return FailureGroup(evaluator, _general(found.result.error_msg or ""), "error")
    if assertion.assertion_name in _WHOLE:
        return FailureGroup(evaluator, *_WHOLE[assertion.assertion_name])
    return FailureGroup(evaluator, *_field_and_kind(assertion.assertion_name))


def error_group(message: str) -> FailureGroup:
    """The group of runs without a verdict for such a reason."""
    return FailureGroup("", _general(message), "error")


def _field_and_kind(name: str) -> tuple[str, str]:
    ending = next((one for one in KINDS if name.endswith(one)), "")
    path = name.removesuffix(ending)
    for owner in _OWNERS:
        path = path.removeprefix(f"{owner}.")
    field = re.split(r"[.\[]", path, maxsplit=1)[0] or path
    return _shortened(field), "unmet" if name.startswith("rubric.") else KINDS.get(ending, "failed")


def _general(message: str) -> str:
    """A message without what is particular to one run: its paths, quotations and numbers."""
    first = message[:LOOKED_AT].splitlines()[:1]
    told = re.sub(_PARTICULAR, "…", first[0] if first else "")
    told = re.split(r"[:;@] ", told, maxsplit=1)[0]
    return _shortened(" ".join(told.split()))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_FIELD else f"{text[: LONGEST_FIELD - 1]}…"
