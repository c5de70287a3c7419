"""What is known of one run of a session, whatever file it comes from, and without secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, structs

from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.screenshots import Picture
from pytest_webeval.reports.html.side_by_side.requests import Request
from pytest_webeval.results import Status, TaskResult
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.redacted_results import drop_untrusted_marks
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR

LONGEST_REASON = 4_000  # characters that are redacted: a secret that is cut is none that can be recognized
_LONGEST_ACTION = 80


class RunDetails(Struct, frozen=True):
    """The result of a run and what its recording adds; of `run`, the recording, they may repeat secrets.

    Without a recording, the requests are those alone that the result names, and `has_all_requests` is not set.
    """

    result: TaskResult
    requests: Sequence[Request] = ()
    has_all_requests: bool = False
    picture: Picture = field(default_factory=Picture)
    caption: str = ""  # of the picture
    address: str | None = None  # of the task in the report of its session
    problems: Sequence[str] = ()
    reason: str = ""  # as the summary of the session has it
    run: Run | None = None

    @property
    def answer(self) -> Any:
        """What the agent answered, as it wrote it; None if that is not recorded."""
        trajectory = self.result.webeval.get("trajectory")
        if isinstance(trajectory, Mapping) and trajectory.get("answer") is not None:
            return None if trajectory["answer"] == NO_ANSWER else trajectory["answer"]
        results = self.result.evaluators_results
        return next((each.actual for each in results if each.evaluator_name == RESPONSE_EVALUATOR), None)


def redact(details: RunDetails, redacting: Redacting) -> RunDetails:
    """The same without secrets."""
    requests = [[each.method, {"url": each.url}, each.status, each.role] for each in details.requests]
    reason = truncate(details.reason, LONGEST_REASON)
    attachment = {"requests": requests, "caption": details.caption, "reason": reason}
    result, safe = redacting.redact_with_attachment(
        drop_untrusted_marks(details.result), details.run, attachment, [details.caption, reason]
    )
    rows = [Request(str(method), str(place["url"]), status, role) for method, place, status, role in safe["requests"]]
    texts = {name: str(safe[name]) for name in ("caption", "reason")}
    return structs.replace(details, result=result, requests=rows, run=None, **texts)


def choose_step(result: TaskResult, steps: Any) -> tuple[Mapping[str, Any] | None, bool]:
    """The step whose picture says most, and whether it failed: as the step viewer of a report chooses it.

    It is the one that a judge or the nearest request of a failed check names, or else the last one.
    """
    listed = [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list | tuple) else []
    if not listed:
        return None, False
    if result.status is not Status.SUCCESS:
        for step in _list_failing(result, listed):
            return step, True
    return listed[-1], False


def _list_failing(result: TaskResult, steps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    judged = [get_member(get_member(each.actual, "failure"), "first_step") for each in result.evaluators_results]
    by_judge = [step for number in judged if number is not None for step in steps if step.get("index") == number]
    failed = [each.explanation for each in result.evaluators_results if each.status is not Status.SUCCESS]
    indices = [each.nearest.index if each and each.nearest else None for each in failed]
    return by_judge + [step for index in indices for step in steps if _has_event(step, index)]


def _has_event(step: Mapping[str, Any], index: Any) -> bool:
    match step.get("events"):
        case [int() as first, int() as last]:
            return type(index) is int and first <= index <= last
    return False


def describe_step(step: Mapping[str, Any], *, is_failing: bool) -> str:
    """The number and the action of a step, for the caption of its picture."""
    index, action = step.get("index"), step.get("action")
    number = f"step {index}" if type(index) is int else "last step"
    name = f": {truncate(action, _LONGEST_ACTION)}" if isinstance(action, str) and action else ""
    return f"{number}{name}{', which failed' if is_failing else ''}"
