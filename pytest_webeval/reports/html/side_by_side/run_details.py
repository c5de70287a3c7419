"""What is known of one run of a session, whatever file it comes from, and the requests that may have decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field, structs

from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.step import NO_ANSWER
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.reports.html.requests import CHANGING, FORBIDDEN, MATCH, NEAREST
from pytest_webeval.reports.html.screenshots import Picture
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.results.redacted_results import drop_untrusted_marks
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR

LONGEST_URL, LONGEST_PLACE, LONGEST_METHOD = 500, 120, 20  # characters
LONGEST_REASON = 4_000  # characters that are redacted: a secret that is cut is none that can be recognized
_LONGEST_ACTION = 80
MOST_READ = 2_000  # as many as a report has of a run
MOST_COMPARED = 200  # of a run
Place = tuple[str, str]  # method and path


class Request(Struct, frozen=True):
    """A request. `role` says what it is in the verdict: a match, or the nearest miss."""

    method: str
    url: str
    status: int | None = None
    role: str = ""

    @property
    def place(self) -> Place:
        """What says that two requests are the same one. Sessions may have the same sites at different hosts."""
        return self.method.upper(), split_url(self.url)[0]

    @property
    def may_decide(self) -> bool:
        """Whether it has a role in the verdict, or may have changed something at a site."""
        return bool(self.role) or self.method.upper() in CHANGING


def split_url(url: str) -> tuple[str, str]:
    """The path of a URL, and its query. The name of a site stands for a host: `__SHOPPING__/cart`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return truncate(url, LONGEST_PLACE), ""
    path = parts.path
    if path.startswith("__"):
        path = f"/{path.partition('/')[2]}"
    return truncate(path or "/", LONGEST_PLACE), f"?{parts.query}" if parts.query else ""


def read_requests(network: Any) -> list[Request] | None:
    """All requests in the table of a task's page, None where there is no table.

    A row that is not as the report writes it is passed over.
    """
    events = network.get("events") if isinstance(network, Mapping) else None
    if not isinstance(events, list):
        return None
    rows = (row for row in events[-MOST_READ:] if isinstance(row, list) and len(row) > 6)
    read = (_build(row[1], row[2], row[3], NEAREST if row[6] in (NEAREST, FORBIDDEN) else "") for row in rows)
    return [request for request in read if request is not None]


def _build(method: Any, url: Any, status: Any, role: str) -> Request | None:
    if not isinstance(method, str) or not isinstance(url, str):
        return None
    status = status if type(status) is int else None
    return Request(truncate(method, LONGEST_METHOD), truncate(url, LONGEST_URL), status, role)


def list_named(results: Sequence[EvaluatorResult]) -> list[Request]:
    """The requests that evaluations name: those that matched, and the nearest ones of failed checks."""
    return [request for each in results if (request := _find_named(each)) is not None]


def _find_named(evaluated: EvaluatorResult) -> Request | None:
    nearest = None if evaluated.explanation is None else evaluated.explanation.nearest
    actual = evaluated.actual
    if nearest is not None:
        role = MATCH if evaluated.status is Status.SUCCESS else NEAREST
        return _build(nearest.method, nearest.url, nearest.status, role)
    if evaluated.status is Status.SUCCESS and isinstance(actual, Mapping):
        return _build(actual.get("http_method"), actual.get("url"), actual.get("response_status"), MATCH)
    return None


def mark_matches(requests: Sequence[Request], named: Sequence[Request]) -> list[Request]:
    """The requests, with their role for the last one to each place where one matched: a table has no such mark."""
    marked = list(requests)
    by_place = {request.place: position for position, request in enumerate(requests)}
    for request in named:
        position = by_place.get(request.place)
        if request.role == MATCH and position is not None:
            marked[position] = structs.replace(marked[position], role=MATCH)
    return marked


def list_deciding_places(runs: Sequence[Sequence[Request]]) -> Collection[Place]:
    """The places of requests that may decide in one of some runs."""
    return {request.place for requests in runs for request in requests if request.may_decide}


def select(requests: Sequence[Request], places: Collection[Place]) -> list[Request]:
    """The requests to these places; of many the last ones."""
    return [request for request in requests if request.place in places][-MOST_COMPARED:]


def number_requests(requests: Sequence[Request]) -> Iterator[tuple[tuple[Place, int], Request]]:
    """The requests with their places, and how many of the same place came before."""
    counts: Counter[Place] = Counter()
    for request in requests:
        place = request.place
        yield (place, counts[place]), request
        counts[place] += 1


class RunDetails(Struct, frozen=True):
    """The result of a run and what its recording adds; of `run`, the recording, they may repeat secrets.

    Without a recording, the requests are those alone that the result names, and `has_all_requests` is not set.
    """

    result: TaskResult
    requests: Sequence[Request] = ()
    has_all_requests: bool = False  # of very many a report has the last ones
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


def describe_run(result: TaskResult, network: Any = None, **known: Any) -> RunDetails:
    """The details of a run with the requests of a table as the report has it, or those alone that the result names."""
    named, requests = list_named(result.evaluators_results), read_requests(network)
    if requests is None:
        return RunDetails(result, named, **known)
    return RunDetails(result, mark_matches(requests, named), not network.get("left_out"), **known)


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
    failing = [] if result.status is Status.SUCCESS else _list_failing(result, listed)
    return (failing[0], True) if failing else (listed[-1], False)


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
