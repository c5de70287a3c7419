"""`score`: every expectation of a task goes to the evaluator that it names; the worst status wins."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from pytest_webeval.errors import EvaluationError, JudgeFailed, RunExcluded, RunUnjudged, WebEvalError
from pytest_webeval.evaluators import EVALUATORS
from pytest_webeval.evaluators.base import Evaluator, apply_choice
from pytest_webeval.evaluators.case import Case, EvaluationLog
from pytest_webeval.recordings.inputs import DECODE, EVALUATE
from pytest_webeval.results import (
    EvaluatorResult,
    ResultWarning,
    Status,
    TaskResult,
    WarningKind,
    worst_status,
)
from pytest_webeval.rules import find_quirk
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.scoring.task_result import build_result
from pytest_webeval.tasks.task import Expectation, Task

if TYPE_CHECKING:
    from pytest_webeval.judges.judging import Judging

_OURS = frozenset(EVALUATORS.values())

IMPORTED_LATE = (  # by evaluators, in a process that scores: processes that are sure to need them begin with them
    "pytest_webeval.diagnostics.difference",
    "pytest_webeval.evaluators.network.body_matcher",
    "pytest_webeval.evaluators.network.event_matcher",
)


def score(case: Case, evaluators: Iterable[Evaluator], data_checksum: str = "", source: str = "") -> TaskResult:
    """The result of a run: every expectation is evaluated, none cuts the others short.

    Raises `RecordingError` when the recording cannot be read at all, `RunExcluded` when it is excluded.
    """
    started = time.perf_counter()
    phases = case.run.inputs.durations
    evaluators_by_name = {evaluator.name: evaluator for evaluator in evaluators}
    with phases.phase(DECODE):
        case.check()
    if case.run.evaluator_choice:
        apply_choice(case, evaluators_by_name.keys())
    with phases.phase(EVALUATE):
        results = _evaluate_all(case, evaluators_by_name)
    if repairs := case.run.repairs:
        if case.task.is_published:
            status = worst_status([result.status for result in results])
            case.log.warnings.append(rule_warning("repaired_traces", status, "the trace"))
        else:
            case.warn(f"{repairs}; what can be read of it is read")
    for text in (*case.run.warnings, *case.run.trace_warnings):
        case.warn(text)
    extra = {"wall_time": round(time.perf_counter() - started, 6), "tasks_from": source}
    return build_result(case, results, evaluators_by_name.values(), data_checksum, extra)


def _evaluate_all(case: Case, evaluators: dict[str, Evaluator]) -> list[EvaluatorResult]:
    """The results of all expectations. Raises `RunExcluded` if every one was excluded: one alone hides no other.

    What the definition expects is never excluded: without its evidence it is an error.
    """
    results: list[EvaluatorResult] = []
    excluded: list[RunExcluded] = []
    for expectation in case.expectations:
        try:
            results.append(evaluate(expectation, case, evaluators))
        except RunExcluded as error:
            excluded.append(error)
    if excluded and not results:
        first = excluded[0]
        if isinstance(first, JudgeFailed) or not isinstance(first, RunUnjudged):
            raise first
        # If the task of a run without a verdict is not defined, an id may be misspelt.
        undefined = [warning.text for warning in case.log.warnings if warning.kind == WarningKind.UNDEFINED_TASK]
        raise RunUnjudged("; ".join([first.reason, *undefined]))
    for exclusion in excluded:
        if isinstance(exclusion, RunUnjudged):
            text = f"scored by its expectations; no judge's verdict counts: {exclusion.reason}"
            case.warn(text, WarningKind.UNJUDGED)
        else:
            case.warn(str(exclusion))
    return results


def evaluate(expectation: Expectation, case: Case, evaluators: dict[str, Evaluator]) -> EvaluatorResult:
    """The result of one expectation. Of a published task, with a warning where the rules made it another than the
    reference's: nobody compares other tasks with that.

    An evaluator that is not ours is called once for it: it may call a model, or count something.
    """
    evaluator = evaluators.get(expectation.evaluator)
    if evaluator is None or type(evaluator) in _OURS:
        return _evaluate_with_rules(expectation, case, evaluators)
    return case.calls.find_or_evaluate(
        evaluator, expectation, lambda: _evaluate_with_rules(expectation, case, evaluators)
    )


def _evaluate_with_rules(expectation: Expectation, case: Case, evaluators: dict[str, Evaluator]) -> EvaluatorResult:
    case.log.notices.clear()  # those of the expectation before
    if case.rules.folded_addresses and case.configured_sites.folded is not case.configured_sites:
        case.notice("folded_addresses", "the configured URLs")
    result = run_evaluator(expectation, case, evaluators)
    if case.log.notices and case.task.is_published:
        noticed = dict(case.log.notices)
        is_certain = type(evaluators.get(expectation.evaluator)) in _OURS
        if is_certain:
            noticed = _switches_that_matter(noticed, result.status, expectation, case, evaluators)
        location = f"{expectation.evaluator}, eval[{expectation.index}]"
        for switch, where in noticed.items():
            warning = rule_warning(switch, result.status, where, is_certain=is_certain)
            case.log.warnings.append(warning._replace(text=f"{warning.text}; {location}"))
    if case.judging is not None and case.judging.proposes_patterns:
        _propose(expectation, result, case, case.judging)
    return result


def _propose(expectation: Expectation, result: EvaluatorResult, case: Case, judging: Judging) -> None:
    """Keep what a judge proposes about a request that came near the expected one. The verdict stands."""
    expected, config = expectation.config.get("expected"), expectation.config
    is_near = result.explanation and result.explanation.candidates and not config.get("should_not_exist")
    if is_near and isinstance(expected, dict) and isinstance(result.actual, dict):
        proposal = judging.propose(case.task.intent, expected, result.actual)
        case.log.proposals.append({"index": expectation.index} | proposal)


def rule_warning(switch: str, status: Status, where: str, *, is_certain: bool = True) -> ResultWarning:
    """The warning about a rule that made a verdict another than the reference's, or at least applied to it."""
    quirk, verb = find_quirk(switch), "changed" if is_certain else "may have changed"
    text = f"{quirk.number} ({switch}) {verb} this verdict to {status}: {quirk.instead} @ {where}"
    return ResultWarning(quirk.number, text, is_certain)


def warn_of_refusal(error: BaseException | None, task: Task | None) -> list[ResultWarning]:
    """The warning about a recording of a published task that only our rules refuse, if an error says that."""
    switch = getattr(error, "rule", None) if task is not None and task.is_published else None
    return [rule_warning(switch, Status.ERROR, "the recording")] if isinstance(switch, str) else []


SECONDS = 60.0  # for each run, unless somebody says otherwise
TIMED_OUT = "timed_out"  # the code of the error of a run that takes too long


def format_timeout(seconds: float) -> str:
    """The reason of a run that takes longer than it may."""
    return f"scoring timed out after {seconds:g} s; inspect the run or raise --webeval-timeout"


def limit_time(seconds: float) -> AbstractContextManager[None]:
    """Let the scoring of a run take so many seconds; 0 for no limit. Raises `EvaluationError` when it takes longer."""
    return time_limit(seconds, format_timeout(seconds), TIMED_OUT) if seconds else nullcontext()


def _switches_that_matter(
    noticed: dict[str, str], status: Status, expectation: Expectation, case: Case, evaluators: dict[str, Evaluator]
) -> dict[str, str]:
    """Of the switches that were noticed those without which the status would be another.

    What an agent wrote as a pattern is not run to find that out, for it may never end: it counts unless all is well.
    """

    def differs(*switches: str) -> bool:
        other = replace(case, log=EvaluationLog(), other_rules=case.rules.without(*switches))
        return run_evaluator(expectation, other, evaluators).status is not status

    candidates = dict(noticed)
    pattern = candidates.pop("no_recorded_patterns", None)
    decisive = {} if pattern is None or status is Status.SUCCESS else {"no_recorded_patterns": pattern}
    if candidates and differs(*candidates):
        is_alone = len(candidates) == 1
        alone = {switch: where for switch, where in candidates.items() if is_alone or differs(switch)}
        decisive |= alone or candidates
    return decisive


def run_evaluator(expectation: Expectation, case: Case, evaluators: dict[str, Evaluator]) -> EvaluatorResult:
    """The result of one expectation. Whatever an evaluator raises becomes its error: this is the one broad except."""
    name, evaluator = expectation.evaluator, evaluators.get(expectation.evaluator)
    try:
        if evaluator is None:
            raise _unknown_evaluator(expectation, evaluators)
        if type(evaluator) in _OURS:
            raw: object = evaluator.evaluate(expectation, case)
        else:
            raw = case.calls.call(lambda: evaluator.evaluate(expectation, case), expectation, case.run)
        return _blame_definition(validate_result(raw, name), expectation, case)
    except RunExcluded as error:
        if expectation not in case.task.own_expectations:  # which leaves nothing out
            raise
        result = build_evaluator_error(name, str(error))
        facts = error.facts if isinstance(error, JudgeFailed) else None  # with what a judge that failed had cost
        return result.with_changes(actual={"judge": dict(facts)}) if facts else result
    except case.calls.passing:
        raise
    except WebEvalError as error:
        return build_evaluator_error(name, str(error))
    except Exception as error:  # noqa: BLE001  (untrusted data or a user's evaluator must not cost the other tasks)
        raised_in = "" if type(evaluator) in _OURS else case.calls.keep_error(error)
        where = ", ".join(filter(None, [f"eval[{expectation.index}]", raised_in]))
        return build_evaluator_error(name, f"{type(error).__name__}: {error} @ {where}")


def _unknown_evaluator(expectation: Expectation, evaluators: Iterable[str]) -> EvaluationError:
    """The error about a name that no evaluator has, with the name that was probably meant."""
    from difflib import get_close_matches  # most names are right

    nearest = get_close_matches(expectation.evaluator[:80], list(evaluators), 1)
    suggestion = f"did you mean {nearest[0]!r}? " if nearest else ""
    problem = f"unknown evaluator {expectation.evaluator!r:.80} @ eval[{expectation.index}].evaluator; {suggestion}"
    advice = "add yours in the fixture webeval_evaluators, for `score` with --evaluators-from"
    return EvaluationError(f"{problem}known: {', '.join(sorted(evaluators)) or 'none'}; {advice}")


def _blame_definition(result: EvaluatorResult, expectation: Expectation, case: Case) -> EvaluatorResult:
    """The result, or an error where the definition is to blame for it. Rules that keep the verdict warn instead."""
    if expectation.evaluator not in EVALUATORS or result.status is Status.ERROR:
        return result
    if case.task.is_published or expectation not in case.task.expectations:
        return result
    from pytest_webeval.lint.linter import find_decisive_error  # published tasks are as they are

    problem = find_decisive_error(case.task, expectation.index, result.status)
    if problem is None:
        return result
    if not case.rules.sound_definitions:
        case.warn(problem, WarningKind.DEFINITION)
        return result
    changes = {"status": Status.ERROR, "score": 0.0, "error_msg": f"{problem}; fix the definition"}
    return result.with_changes(**changes, explanation=None)


def validate_result(result: object, name: str) -> EvaluatorResult:
    """The result of a user's evaluator, checked. Raises an error if it cannot be written."""
    if not isinstance(result, EvaluatorResult):
        text = f"{name}.evaluate returned {type(result).__name__}; return self.result([...])"
        raise EvaluationError(text)
    raw = result.to_json()
    raw["score"] = _score_as_float(raw["score"])
    if result.status == Status.FAILURE and result.explanation is not None:
        raw["explanation"] = to_builtins(result.explanation)
    if isinstance(raw["score"], float) and not 0 <= raw["score"] <= 1:
        raise EvaluationError(f"{name} returned the score {raw['score']}; return a number from 0 to 1")
    try:
        checked = EvaluatorResult.read(raw)
    except ValueError as error:
        raise EvaluationError(f"{name} returned an invalid EvaluatorResult: {error}") from error
    json.dumps(raw)  # what cannot be written must fail here, where it costs only this evaluator
    return checked


def _score_as_float(score: Any) -> Any:
    """The score as a float, whatever kind of number it is: a bool, or one of numpy's."""
    try:
        return float(score)
    except OverflowError:  # of a very large integer
        return math.inf
    except (TypeError, ValueError):
        return score


def build_evaluator_error(name: str, message: str) -> EvaluatorResult:
    """The result of an evaluator that came to no verdict."""
    return EvaluatorResult(evaluator_name=name, status=Status.ERROR, score=0.0, error_msg=" ".join(message.split()))
