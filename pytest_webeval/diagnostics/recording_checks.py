"""What is wrong with a recording itself, which no agent can help."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from pytest_webeval.recordings.network.events import NO_RESPONSE
from pytest_webeval.recordings.network.gaps import DAMAGE_ERRORS, has_content, holds_safely, parse_length
from pytest_webeval.safety.text import pluralize

if TYPE_CHECKING:
    from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
    from pytest_webeval.recordings.run import Run
    from pytest_webeval.tasks.task import Task


_NOT_MODIFIED = 304
_UPLOADING = ("POST", "PUT", "PATCH")


def check_recording(run: Run, task: Task | None = None) -> list[dict[str, str]]:
    """What is wrong with the recording of a run, as codes with a sentence each. Never raises over damaged events.

    Called only for runs that are not a success: it reads each event, which takes time. Only
    a trace that was read to score the run is checked.
    """
    if not run.is_trace_loaded:
        return []
    expected = [each.get("expected") for each in task.eval] if task is not None else []
    expects_content = any(isinstance(each, dict) and bool(each.get("response_content")) for each in expected)
    capture, problems = _Capture(run.trace, expects_content), []
    for kind, check in _CHECKS.items():
        with suppress(*DAMAGE_ERRORS):
            if text := check(capture):
                problems.append({"kind": kind, "text": text})
    return problems


@dataclass(frozen=True)
class _Capture:
    trace: NetworkTrace
    expects_content: bool

    @cached_property
    def requests(self) -> list[NetworkEvent]:
        """The events that matter: no static assets, and none of which not even the URL can be read."""
        return [event for event in self.trace.events if event.is_significant]

    def describe(self, event: NetworkEvent) -> str:
        return f"{event.name} of {len(self.trace.all_events)}"


def _bodies_missing(capture: _Capture) -> str | None:
    if not capture.expects_content and _list_events(capture.requests, has_content, most=1):
        return None
    without_body = len(_list_events(capture.requests, lambda event: event.lacks_content))
    if not without_body:
        return None
    with_body = len(_list_events(capture.requests, has_content))
    message = f"no stored body for {without_body} of {pluralize(without_body + with_body, 'response')} with content"
    return f"{message}; record response bodies, e.g. with record_har_content='embed' in Playwright"


def _empty_log(capture: _Capture) -> str | None:
    return None if capture.requests else f"the trace has no usable events: {capture.trace.emptiness}"


def _final_page_cached(capture: _Capture) -> str | None:
    page = capture.trace.last_page
    if page is None or not (page.status == _NOT_MODIFIED or page.is_from_cache):
        return None
    message = f"the agent's last page ({capture.describe(page)}, status {page.status}) came from a cache"
    return f"{message}; record with an empty cache, in a new browser context"


def _failed_requests(capture: _Capture) -> str | None:
    failed = _list_events(capture.requests, lambda event: event.status in NO_RESPONSE)
    if not failed:
        return None
    first = capture.describe(failed[0])
    message = f"no response to {len(failed)} of {pluralize(len(capture.requests), 'request')}, the first is"
    return f"{message} {first}; check that the sites were up, and stop recording when the pages are idle"


def _upload_without_body(capture: _Capture) -> str | None:
    uploads = _list_events(capture.requests, _is_upload_without_body)
    if not uploads:
        return None
    message = f"no recorded body for {pluralize(len(uploads), 'upload')}, the first is {capture.describe(uploads[0])}"
    return f"{message}; posted data cannot be checked: use a recorder that stores them"


def _is_upload_without_body(event: NetworkEvent) -> bool:
    if event.method.upper() not in _UPLOADING:
        return False
    is_form = (event.header("content-type") or "").lower().startswith("multipart/form-data")
    if not parse_length(event.header("content-length")) and not is_form:
        return False
    body = event.read_post()
    return body is None or not (body.text or body.load_text or body.params)


def _frame_after_page(capture: _Capture) -> str | None:
    page, last = capture.trace.last_page, capture.trace.last_navigation
    if page is None or last is None or last.index <= page.index or last.resource_type != "document":
        return None
    message = f"a document in an iframe ({capture.describe(last)}) came after the agent's last page"
    return f"{message} ({capture.describe(page)}); the reference rules check the iframe, the others the page"


_CHECKS: dict[str, Callable[[_Capture], str | None]] = {
    "bodies_missing": _bodies_missing,
    "empty_log": _empty_log,
    "final_page_cached": _final_page_cached,
    "failed_requests": _failed_requests,
    "upload_without_body": _upload_without_body,
    "frame_after_page": _frame_after_page,
}


def _list_events(
    events: Iterable[NetworkEvent], holds: Callable[[NetworkEvent], bool], most: int | None = None
) -> list[NetworkEvent]:
    """The first events for which the condition holds; for a damaged event it does not."""
    return list(islice((event for event in events if holds_safely(event, holds)), most))
