"""The choice of some evaluators, by which alone a session scores its runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytest_webeval.errors import EvaluationError, RunExcluded
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import WarningKind
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

SHORT_NAMES = {
    "response": RESPONSE_EVALUATOR,
    "network": NETWORK_EVALUATOR,
    "rubric": RUBRIC_EVALUATOR,
    "request": REQUEST_EVALUATOR,
}


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
