"""`propose`: a task definition that golden runs suggest, and whether they pass under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from msgspec import Struct

from pytest_webeval.authoring.addresses import Addresses
from pytest_webeval.authoring.proposal.answers import ProposedAnswer, propose_answer
from pytest_webeval.authoring.proposal.decision import Decision, GoldenRun, decide, read_golden_run
from pytest_webeval.authoring.proposal.expectations import expect_requests, expect_response, write_url
from pytest_webeval.errors import RecordingError, WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.recordings.network.events import NO_RESPONSE, NetworkTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.redaction.policy import DEFINITION, RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import Status, TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.definition import Definition, Trust, build_case
from pytest_webeval.scoring.score import score
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.tasks.sites import Sites, placeholder
from pytest_webeval.tasks.task import Task, parse_task_number, read_task
from pytest_webeval.values.base import present_day

NO_TEMPLATE = -1
NO_INTENT = "Describe the task."
_SOURCE = "the proposal"
_TYPED = ("intent", "intent_template")  # by the author, who knows what is in them
_DEFAULT = RedactionPolicy()


class Proposal(Struct, frozen=True):
    """A definition, what its author should check, and why a golden run fails under it, if one does."""

    definition: dict[str, Any]
    notes: tuple[str, ...]
    problems: tuple[str, ...]


def propose(
    runs: Sequence[Run],
    sites: Sites | None = None,
    *,
    intent: str | None = None,
    task_id: str | None = None,
    policy: RedactionPolicy = _DEFAULT,
) -> Proposal:
    """The definition that golden runs of one task suggest, without their secrets, scored on them.

    `sites` are those of the configuration; without them, the site of the first page gets a name. Raises `WebEvalError`
    if a run cannot be used.
    """
    addresses = Addresses.of(sites) if sites is not None else None
    golden = [read_golden_run(run, addresses) for run in runs]
    first, is_retrieve = golden[0], golden[0].task_type == "RETRIEVE"
    data = [run.data if is_retrieve else None for run in golden]  # other tasks retrieve nothing that counts
    answer = propose_answer(data, first.addresses, intent or "")
    decision = decide(golden)
    response = [expect_response(first.task_type, first.status, answer)] if first.has_answer else []
    entries = [*response, *expect_requests(decision)]
    if not entries:
        problem = f"{first.run.label} has no page and no changing request that a task could require"
        raise RecordingError(f"{problem}; record it again")
    definition = _build_definition(golden, intent or NO_INTENT, task_id) | {"eval": entries}
    task, redacting = read_task(definition, _SOURCE), Redacting(policy, is_leaving=True)
    notes = (*_list_notes(first, intent, answer, decision), *_check_start_page(task, first))
    results = [(each, _score_or_refuse(task, each)) for each in golden]
    safe, notes = _redact(definition, notes, results, redacting)
    if safe != definition:
        results = [(each, _score_or_refuse(read_task(safe, _SOURCE), each)) for each in golden]
    problems = (
        f"{each.run.label} does not pass: {_format_reason(redacting.redact_for_file(result, each.run))}"
        for each, result in results
        if result.status is not Status.SUCCESS
    )
    return Proposal(safe, notes, tuple(problems))


def _build_definition(golden: Sequence[GoldenRun], text: str, task_id: str | None) -> dict[str, Any]:
    """The definition without what it expects."""
    first, number = golden[0], None if task_id is None else parse_task_number(task_id)
    start = first.start_page
    return {
        "task_id": first.run.task_id if task_id is None else task_id if number is None else number,
        "revision": 1,
        "intent_template_id": NO_TEMPLATE,
        "sites": list(dict.fromkeys(site for each in golden for site in each.sites)),
        "start_urls": [write_url(start.place)] if start is not None and start.place.site is not None else [],
        "intent": text,
        "intent_template": text,
        "instantiation_dict": {},
    }


def _list_notes(run: GoldenRun, intent: str | None, answer: ProposedAnswer, decision: Decision) -> Iterator[str]:
    """What the author should check, with its place in the definition."""
    if intent is None:
        yield "intent: write what the agent is asked to do"
    for site in run.sites if run.addresses.is_inferred else ():
        url = run.addresses.sites.environments[site].url
        yield f"sites: {placeholder(site)} stands for {url}; to name the site, pass a configuration with --config"
    yield from (f"eval[0]: {note}" for note in answer.notes)
    start = int(run.has_answer)
    if not run.has_answer:
        yield "the recorder has no answer in JSON, so that no answer is required; a judge may read it"
    for index, request in enumerate(decision.expected, start):
        yield from (f"eval[{index}]: {name} is ignored: {why}" for name, why in sorted(request.ignored.items()))
        yield from (f"eval[{index}]: {name} is not required: {why}" for name, why in sorted(request.dropped.items()))
        if None in request.place.segments:
            yield f"eval[{index}]: any text passes where the URL has [^/]+"
        if request.dropped and not request.fields:
            yield f"eval[{index}]: no field is required, so any {request.method} to this URL passes"
        if request.status in NO_RESPONSE:
            yield f"eval[{index}]: the recording has no response to this request"
    for index, forbidden in enumerate(decision.forbidden, start + len(decision.expected)):
        if not forbidden.is_any_below:
            yield f"eval[{index}]: the same request about another object is forbidden"
    yield from decision.notes


def _check_start_page(task: Task, run: GoldenRun) -> Iterator[str]:
    """A note if the answer and the start page alone pass, although the task is to do something."""
    if run.task_type == "RETRIEVE":
        return
    pages = [request.number for request in run.requests if request.is_page or request.is_attempt]
    if len(pages) < 2:
        return
    events = tuple(takewhile(lambda event: event.index != pages[1] - 1, run.run.trace.events))
    opened = replace(run.run, load_trace=lambda _: NetworkTrace(events, may_be_empty=True))
    if _score(task, opened, run.addresses.sites).status is Status.SUCCESS:
        yield "a run that does no more than open its start page passes"


def _format_reason(result: TaskResult) -> str:
    """The first thing that went wrong."""
    for index, evaluator in enumerate(result.evaluators_results):
        if evaluator.error_msg:
            return f"{evaluator.error_msg} @ eval[{index}]"
        for assertion in evaluator.assertions or ():
            if assertion.status is not Status.SUCCESS:
                return f"{'; '.join(assertion.assertion_msgs or ())} @ eval[{index}]"
    return result.error_msg or str(result.status)


def _score_or_refuse(task: Task, run: GoldenRun) -> TaskResult:
    """The result of a run, an error where it cannot be scored."""
    try:
        return _score(task, run.run, run.addresses.sites)
    except WebEvalError as error:
        return build_error_result(run.run, None, sanitize(" ".join(str(error).split())))


def _score(task: Task, run: Run, sites: Sites) -> TaskResult:
    definition = Definition(task, "", _SOURCE, Trust.USER)
    case = build_case(run, definition, sites=sites, today=present_day(), policy=VerdictPolicy())
    return score(case, default_evaluators(), "", _SOURCE)


def _redact(
    definition: dict[str, Any],
    notes: Sequence[str],
    results: Sequence[tuple[GoldenRun, TaskResult]],
    redacting: Redacting,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A definition and its notes without secrets, and a note for each place where one was replaced.

    `results` are those of the runs under this definition: a secret in one of them is one in the definition.
    """
    shown: dict[str, Any] = {
        DEFINITION: {name: value for name, value in definition.items() if name not in _TYPED},
        "notes": list(notes),
    }
    for run, result in results:
        _, shown = redacting.redact_with_attachment(result, run.run, shown, [run.data])
        redacting.forget()
    safe = {name: shown[DEFINITION].get(name, value) for name, value in definition.items()}
    replaced = (
        f"{path}: a secret was replaced; to keep it, pass --redact=off" for path in _list_changes(definition, safe)
    )
    return safe, (*shown["notes"], *replaced)


def _list_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The places in which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for name, value in before.items():
            yield from _list_changes(value, after[name], f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (value, other) in enumerate(zip(before, after, strict=True)):
            yield from _list_changes(value, other, f"{path}[{index}]")
    elif before != after:
        yield path
