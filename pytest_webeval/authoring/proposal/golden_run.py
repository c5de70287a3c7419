"""What a golden run shows of its task: the answer, the pages, and the requests that changed something."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pytest_webeval.authoring.addresses import Addresses, infer_addresses
from pytest_webeval.authoring.requests import Request, list_requests
from pytest_webeval.errors import RecordingError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.recordings.network.events import event_number
from pytest_webeval.recordings.run import Run
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.tasks.expectations import STATUSES, TASK_TYPES

SUCCESS = "SUCCESS"


class GoldenRun(Struct, frozen=True):
    """A run that did its task. `last_page` is the page of a site that it ended on, if it did.

    Of a recorder whose agents answer in texts there `has_answer` is false, and the traffic shows the type of the task.
    """

    run: Run
    addresses: Addresses
    task_type: str
    status: str
    data: Any
    requests: tuple[Request, ...]
    last_page: Request | None
    has_answer: bool = True

    @property
    def start_page(self) -> Request | None:
        """The first page."""
        return next((request for request in self.requests if request.is_page), None)

    @property
    def sites(self) -> list[str]:
        """The sites of its pages and changing requests, in the order in which it went there."""
        return list(dict.fromkeys(request.place.site for request in self.requests if request.place.site is not None))

    @property
    def site_requests(self) -> list[Request]:
        """The requests at these sites."""
        return [request for request in self.requests if request.place.site is not None]

    def is_start(self, request: Request | None) -> bool:
        """Whether a page is the one that the run began on."""
        start = self.start_page
        return request is None or start is None or (request.place, request.query) == (start.place, start.query)


def read_golden_run(run: Run, addresses: Addresses | None) -> GoldenRun:
    """The run, at configured sites or else at that of its first page. Raises `WebEvalError` if it cannot be used."""
    run.check()
    trace = run.trace
    known = addresses or infer_addresses(trace.evaluation_events)
    requests = list_requests(trace, known, run.inputs.limits)
    for event in () if requests else trace.evaluation_events[:1]:
        event.check()  # says why no request of the recorder can be used
    last = trace.last_page
    number = 0 if last is None else event_number(last.index)
    last_page = next((each for each in requests if each.number == number and each.place.site is not None), None)
    if addresses is not None and requests and not any(each.place.site for each in requests):
        raise RecordingError(f"no page of {run.label} is at a configured site; fix the URLs of the configuration")
    fields = None  # where there is no answer, or one of another form
    try:
        fields = parse_response(run.response, run.rules, run.inputs.limits).fields
    except RecordingError:
        if not run.is_trajectory:
            raise
    if fields is None and run.is_trajectory:
        task_type = "MUTATE" if any(each.is_change and not each.is_login for each in requests) else "NAVIGATE"
        return GoldenRun(run, known, task_type, SUCCESS, None, tuple(requests), last_page, has_answer=False)
    if fields is None:
        advice = "write a JSON object with task_type, status and retrieved_data"
        raise RecordingError(f"the answer of {run.label} is not a JSON object; {advice}")
    task_type = _choose("task_type", fields.get("task_type"), TASK_TYPES, run)
    status = _choose("status", fields.get("status"), STATUSES, run)
    return GoldenRun(run, known, task_type, status, fields.get("retrieved_data"), tuple(requests), last_page)


def _choose(name: str, value: object, choices: tuple[str, ...], run: Run) -> str:
    """The value in capitals. Raises `RecordingError` if it is not one of the choices."""
    text = value.strip().upper() if isinstance(value, str) else ""
    if text not in choices:
        problem = f"invalid {name} {shorten_repr(value)} in the answer of {run.label}"
        raise RecordingError(f"{problem}; use one of {', '.join(choices)}")
    return text
