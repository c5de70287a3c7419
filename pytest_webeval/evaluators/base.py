"""What an evaluator is: a frozen dataclass with a name and one method that checks one expectation.

A session may choose some evaluators, by which alone it scores its runs.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from inspect import isfunction
from typing import Any, ClassVar, TypeVar

from pytest_webeval.errors import EvaluationError, RunExcluded
from pytest_webeval.evaluators.case import Case
from pytest_webeval.extensions import check_name
from pytest_webeval.results import Assertion, EvaluatorResult, Status, WarningKind, worst_status
from pytest_webeval.safety.text import describe_unknown_keys, shorten_repr
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Expectation

SHORT_NAMES = {
    "response": RESPONSE_EVALUATOR,
    "network": NETWORK_EVALUATOR,
    "rubric": RUBRIC_EVALUATOR,
    "request": REQUEST_EVALUATOR,
}


class Evaluator(ABC):
    """Checks one expectation of a task. `name` is what the task's `eval` calls it."""

    name: ClassVar[str]

    @abstractmethod
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """What was checked and found. Raises `WebEvalError` where there can be no verdict."""

    def adding(self, usual: EvaluatorResult, *more: Assertion) -> EvaluatorResult:
        """The same result with more assertions, for an evaluator that builds on another."""
        score = usual.score if usual.is_partial else None
        combined = self.result([*(usual.assertions or ()), *more], score=score)
        recomputed = ("assertions", "status", "score")
        return usual.with_changes(**{name: getattr(combined, name) for name in recomputed})

    def result(
        self,
        assertions: list[Assertion],
        *,
        actual: Any = None,
        normalized: Any = None,
        expected: Any = None,
        score: float | None = None,
    ) -> EvaluatorResult:
        """A result whose status is that of its worst assertion. `score` is a partial one, from 0 to 1."""
        status = worst_status([assertion.status for assertion in assertions])
        return EvaluatorResult(
            evaluator_name=self.name,
            status=status,
            score=float(status is Status.SUCCESS) if score is None else score,
            actual=actual,
            actual_normalized=normalized,
            expected=expected,
            assertions=assertions or None,
        )


EvaluatorFunction = Callable[[Expectation, Case], EvaluatorResult | Iterable[Assertion]]


def build_evaluator(name: str, found: Any) -> Evaluator:
    """The evaluator that another package calls `name`: it gives a subclass, an instance or a plain function.

    Raises `SettingsError` for anything else, and for one with another name.
    """
    built = _wrap_function(name, found) if isfunction(found) else found
    evaluator: Evaluator = check_name(name, built, Evaluator, "name")
    return evaluator


def _wrap_function(name: str, function: EvaluatorFunction) -> Evaluator:
    """An evaluator of a class of its own, whose source is that of the function."""

    def evaluate(self: Evaluator, expectation: Expectation, case: Case) -> EvaluatorResult:
        found = function(expectation, case)
        if isinstance(found, EvaluatorResult):
            return found
        assertions = [*found]
        wrong = [each for each in assertions if not _is_assertion(each)]
        if wrong or not assertions:
            problem = f"{name} returned {shorten_repr(wrong[0])}" if wrong else f"{name} returned nothing"
            raise EvaluationError(f"{problem}; return one Assertion or more, each with a Status")
        return self.result(assertions)

    members = {"name": name, "evaluate": evaluate, "__module__": function.__module__}
    evaluator: Evaluator = type(name, (Evaluator,), members)()
    return evaluator


def _is_assertion(found: object) -> bool:
    return isinstance(found, Assertion) and isinstance(found.status, Status)


Own = TypeVar("Own", bound=Evaluator)


def silently(
    evaluate: Callable[[Own, Expectation, Case], EvaluatorResult],
) -> Callable[[Own, Expectation, Case], EvaluatorResult]:
    """Ignore the warnings of parsers in a method `evaluate` of ours: under a session's -W error they would decide."""

    @wraps(evaluate)
    def without_warnings(self: Own, expectation: Expectation, case: Case) -> EvaluatorResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return evaluate(self, expectation, case)

    return without_warnings


def check_keys(case: Case, expectation: Expectation, known_keys: Sequence[str], thing: str) -> None:
    """Refuse keys of what is expected that nothing reads. Raises `EvaluationError`; some rules warn instead.

    A misspelt key checks nothing, so that a wrong run would pass (spec §2.4).
    """
    where = f"eval[{expectation.index}].expected"
    problem = describe_unknown_keys(expectation.config["expected"], known_keys, where)
    if problem is None:
        return
    if case.rules.known_keys and not (case.task.is_published and expectation in case.task.expectations):
        case.notice("known_keys", where)
        raise EvaluationError(f"invalid task definition: {problem}")
    for name in expectation.config["expected"]:
        if name not in known_keys:
            message = f"{where}.{name} is not a field of {thing} and is ignored"
            case.warn(f"{message}; known: {', '.join(known_keys)}", WarningKind.UNKNOWN_FIELD)


def parse_choice(texts: Iterable[str]) -> tuple[str, ...]:
    """The sorted names of evaluators in texts such as `response,rubric`. A name that is not short stays as it is."""
    texts = [texts] if isinstance(texts, str) else texts  # as in `only="response"`
    names = (name.strip() for text in texts for name in text.split(","))
    return tuple(sorted({SHORT_NAMES.get(name, name) for name in names if name}))


def find_unknown(choice: Iterable[str], known: Collection[str] = ()) -> str | None:
    """The message about the first name that neither an evaluator of ours nor a `known` one has; None without any."""
    names = [*SHORT_NAMES, *sorted(set(known) - set(SHORT_NAMES.values()))]
    unknown = next((name for name in choice if name not in SHORT_NAMES.values() and name not in known), None)
    return None if unknown is None else f"unknown evaluator {unknown!r:.80}; use {', '.join(names[:-1])} or {names[-1]}"


def apply_choice(case: Case, names: Collection[str]) -> None:
    """Warn of the expectations that the choice omits. `names` are those of all evaluators.

    Raises `RunExcluded` if nothing is left of what the definition expects: a stored verdict alone decides no such task.
    Raises `EvaluationError` for an evaluator that nobody has.
    """
    choice = case.run.evaluator_choice
    if problem := find_unknown(choice, names):
        raise EvaluationError(problem)
    chosen = ", ".join(choice)
    if not any(each in case.task.expectations for each in case.expectations):
        problem = f"task {case.task.task_id} has no expectation for the chosen evaluators: {chosen}"
        raise RunExcluded(problem, "not_evaluated")
    omitted = [each for each in case.run.list_expectations(case.task) if each.evaluator not in choice]
    if omitted:
        listed = ", ".join(f"eval[{each.index}] {each.evaluator}" for each in omitted)
        case.warn(f"scored by {chosen} alone; omitted: {listed}", WarningKind.OMITTED)
