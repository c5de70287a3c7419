"""What kind of failure a result is: the check that decided, and a group of results that failed in the same way."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from pytest_webeval.results import MATCH, NOTED, Assertion, EvaluatorResult, Status, TaskResult, list_failed
from pytest_webeval.safety.text import ELLIPSIS, truncate

MESSAGE_LIMIT = 500  # characters of a message
LONGEST_FIELD = 60  # characters: a group is to be recognized, not read
MISSING_EVENTS, FORBIDDEN_EVENT = ("missing_navigation_event", "missing_request"), "unexpected_navigation_event"
_EVENT_GROUPS = {
    **dict.fromkeys(MISSING_EVENTS, ("expected event", "missing")),
    FORBIDDEN_EVENT: ("forbidden event", "present"),
}
_PHRASES = {
    "different": "{} differs",
    "elements": "{}: elements differ",
    "error": "error: {}",
    "failed": "{} failed",
    "keys": "{}: keys differ",
    "malformed": "{} is malformed",
    "missing": "{} is missing",
    "present": "{} was sent",
    "unmet": "{}: not achieved",
    "unreadable": "{} cannot be read",
    "unexpected": "{} is not expected",
}
_NO_FAILURES = (None, MATCH, NOTED)  # kinds that say nothing about a failure
_OWNERS = ("network_event", "agent_response", "rubric")  # what our paths begin with
_RUN_SPECIFIC = r"\S*[/\\]\S*[^\s;:,]|'[^']*'|\"[^\"]*\"|\d+"  # of a message: paths, what is quoted, numbers


class FailureGroup(Struct, frozen=True, order=True):
    """Results of which the same check failed: of which evaluator, about which field, and how it differed.

    A run that could not be scored at all has no evaluator, and what was wrong for a field.
    """

    evaluator: str
    field: str
    kind: str

    @property
    def text(self) -> str:
        """The group as one phrase."""
        return _PHRASES.get(self.kind, "{}").format(self.field)


class Decisive(NamedTuple):
    """The evaluator that failed first, and its deciding assertion; None where it came to no verdict."""

    result: EvaluatorResult
    assertion: Assertion | None


def deciding_assertion(result: TaskResult) -> Decisive | None:
    """The failure to report first; None where no evaluator failed.

    It is the first assertion; where an event of the right place differs in a field, rather that field.
    """
    for evaluated in result.evaluators_results:
        if evaluated.error_msg:
            return Decisive(evaluated, None)
        if failed := list_failed(evaluated.assertions):
            first, *others = failed
            is_other_url = any(assertion.assertion_name == "network_event.url_mismatch" for assertion in others)
            is_field = first.assertion_name in MISSING_EVENTS and others and not is_other_url
            return Decisive(evaluated, others[0] if is_field else first)
    return None


def group_of(result: TaskResult) -> FailureGroup | None:
    """The group of a result; None for a success."""
    if result.status is Status.SUCCESS:
        return None
    decisive = deciding_assertion(result)
    if decisive is None:
        return error_group(result.error_msg or "unknown reason")
    evaluator, assertion = decisive.result.evaluator_name, decisive.assertion
    if assertion is None:
        return FailureGroup(evaluator, _generalize(decisive.result.error_msg or ""), "error")
    if assertion.assertion_name in _EVENT_GROUPS:
        return FailureGroup(evaluator, *_EVENT_GROUPS[assertion.assertion_name])
    return FailureGroup(evaluator, *_field_and_kind(assertion))


def error_group(message: str) -> FailureGroup:
    """The group of runs without a verdict for such a reason."""
    return FailureGroup("", _generalize(message), "error")


def failed_path(assertion: Assertion) -> str:
    """The path of what did not hold; all of a name that is not that of a failure."""
    return assertion.assertion_name if assertion.kind in _NO_FAILURES else assertion.path


def _field_and_kind(assertion: Assertion) -> tuple[str, str]:
    path = failed_path(assertion)
    kind = "failed" if assertion.kind in _NO_FAILURES else str(assertion.kind)
    for owner in _OWNERS:
        path = path.removeprefix(f"{owner}.")
    field = re.split(r"[.\[]", path, maxsplit=1)[0] or path
    return truncate(field, LONGEST_FIELD), "unmet" if assertion.assertion_name.startswith("rubric.") else kind


def _generalize(message: str) -> str:
    """A message without what is particular to one run: its paths, quotations and numbers."""
    first = message[:MESSAGE_LIMIT].splitlines()[:1]
    text = re.sub(_RUN_SPECIFIC, ELLIPSIS, first[0] if first else "")
    text = re.split(r"[:;@] ", text, maxsplit=1)[0]
    return truncate(" ".join(text.split()), LONGEST_FIELD)
