"""What a recorder omits: why nobody can say what was sent or received, and the setting to change.

Also what a result says of times: requests from before the run, and those that are not in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from msgspec import Struct

from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.events import (
    ABORTED,
    NO_RESPONSE,
    PLAYWRIGHT_TRACE,
    NetworkEvent,
    NetworkTrace,
    event_number,
)
from pytest_webeval.recordings.network.form_fields import MULTIPART, content_type, is_json_type
from pytest_webeval.recordings.network.pages import REDIRECTS
from pytest_webeval.safety.text import pluralize

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules


DEVTOOLS = "WebInspector"  # as Chrome's developer tools call themselves in a HAR
_EMPTY_STATUSES = frozenset((*NO_RESPONSE, *range(200), 204, 205, *range(300, 400)))  # of responses without content
_SUCCESSES = frozenset(range(200, 300))
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "CONNECT")  # methods that usually post nothing
_SANITIZED_HEADERS = ("cookie", "authorization")  # which exports without sensitive data lack
# Headers that browsers add as they send a request, by how their names begin.
_NETWORK_HEADERS = ("accept", "authorization", "connection", "content-length", "cookie", "host", "sec-fetch-")
_EMBED = "record with record_har_content='embed'"
BODY_SETTINGS = {
    "Playwright": _EMBED,
    DEVTOOLS: "export the HAR with content",
    "Firefox": "set devtools.netmonitor.har.includeResponseBodies",
}
ANY_BODY_SETTING = "record bodies, as Playwright does with record_har_content='embed'"
UPLOAD_SETTING = "browsers' recorders keep no Blobs and files; record with a proxy such as mitmproxy, or send text"
ATTACH_SETTING = "record with record_har_content='attach' in Playwright, or with a proxy such as mitmproxy"
SANITIZED_SETTING = "export the HAR with sensitive data, which Chrome's developer tools allow in Preferences > Network"
PROVISIONAL_SETTING = (
    "its headers are provisional, as of redirects in Playwright's traces; record a HAR with record_har_path"
)
HEADER_SETTING = "use a recorder that keeps request headers, such as record_har_path in Playwright"
PAGE_SETTING = (
    "the recorder omits all Accept and Sec-Fetch headers; use another one, such as record_har_path in Playwright"
)
STATUS_SETTING = "stop recording when the pages are idle, and use a recorder that keeps the responses of redirects"
DAMAGE_ERRORS = (WebEvalError, RecursionError, ValueError)  # what a damaged event may raise


class Gaps(Struct, frozen=True, dict=True):
    """What a trace lacks. Each method returns the problem with what to do, or None where nothing was omitted."""

    trace: NetworkTrace

    def posted(self, event: NetworkEvent, body: Body | None) -> str | None:
        """Why the body of a request that has no readable text is not there."""
        size = find_post_size(event)
        is_omitted = self.omits_bodies and body is not None
        if size == 0 or not (size or is_omitted or self._may_have_posted(event)):
            return None
        amount = f" of {pluralize(size, 'byte')}" if size else ""
        setting = UPLOAD_SETTING if body is None else ATTACH_SETTING
        setting = self._body_setting if self.omits_bodies else setting
        return f"{event.name} has no recorded body{amount}; {setting}"

    def empties(self, event: NetworkEvent, body: Body) -> bool:
        """Whether the recorder took a body out, though it may have left fields of it: none of it counts."""
        return body.is_emptied and self.omits_bodies and bool(find_post_size(event))

    def content(self, event: NetworkEvent) -> str | None:
        """Why the content of a response that has no readable text is not there."""
        if event.method.upper() == "HEAD" or event.status in _EMPTY_STATUSES:
            return None
        size = parse_length(_read_response_header(event, "content-length"))
        is_omitted = self.omits_contents and size is None and event.content_size is None and _is_text(event)
        if not (event.lacks_content or size or is_omitted):
            return None
        return f"{event.name} has no recorded response body; {self._body_setting}"

    def header(self, event: NetworkEvent, name: str) -> str | None:
        """Why a request lacks a header that a browser may have sent."""
        if not self._has_headers:
            return f"the recording has no request headers; {HEADER_SETTING}"
        if name.lower().startswith(_NETWORK_HEADERS) and self.is_provisional(event):
            return f"{event.name} has no recorded header {name}; {PROVISIONAL_SETTING}"
        is_secret = name.lower() in _SANITIZED_HEADERS and self.is_sanitized
        return f"the recording has no header {name} of any request; {SANITIZED_SETTING}" if is_secret else None

    def cookies(self, event: NetworkEvent) -> str | None:
        """Why a response lacks cookies. Traces of Playwright lose those of some redirects, also after full requests."""
        is_lossy = self.trace.recorder == PLAYWRIGHT_TRACE and event.status in REDIRECTS
        if (is_lossy or self.is_provisional(event)) and not event.cookies and not event.header_cookies:
            return f"{event.name} has no recorded cookies; {PROVISIONAL_SETTING}"
        return f"the recording has no cookies; {SANITIZED_SETTING}" if self.is_sanitized else None

    def is_provisional(self, event: NetworkEvent) -> bool:
        """Whether a recorder wrote an event before it knew what the browser sent: no Host, as others have.

        Playwright's traces do so with redirects. Such an event also lacks Accept, Cookie and Set-Cookie.
        """
        return self._has_hosts and not _has_host(event)

    def status(self, event: NetworkEvent) -> str | None:
        """Why a request has no status; None as well where the recording says that it failed or was aborted."""
        target = find_redirect(event)
        is_aborted = event.status == ABORTED and not target
        if event.status not in NO_RESPONSE or event.is_failed or is_aborted:
            return None
        problem = f"that of the redirect to {target[:200]} is unknown" if target else "there is no response"
        return f"{event.name} has status {event.status}: {problem}; {STATUS_SETTING}"

    def is_redirected(self, event: NetworkEvent) -> bool:
        """Whether an event without a status is a redirect, since a later request goes to where it points."""
        target = find_redirect(event)
        return bool(target) and self._last_requests.get(target, -1) > self._positions[event.index]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {event.index: position for position, event in enumerate(self.trace.events)}

    @cached_property
    def _last_requests(self) -> dict[str, int]:
        events = [event for event in self.trace.events if event.has_url]
        return {event.url.partition("#")[0]: self._positions[event.index] for event in events}

    @cached_property
    def unmarked_pages(self) -> list[NetworkEvent]:
        """Requests that may be pages, of a recorder that marks none: neither headers nor resource types say so."""
        if self.trace.marks_pages:
            return []
        return [event for event in self.trace.evaluation_events if event.method == "GET" and not event.header("accept")]

    @cached_property
    def omits_bodies(self) -> bool:
        """Whether the recorder was set to leave all bodies out, since it tells sizes of some and keeps none."""
        if not self.omits_contents or self._holds_for_any(lambda event: _is_stored(event.read_post())):
            return False
        return self._holds_for_any(lambda event: event.lacks_content or bool(find_post_size(event)) or _is_text(event))

    @cached_property
    def omits_contents(self) -> bool:
        return not self._holds_for_any(has_content)

    @cached_property
    def is_sanitized(self) -> bool:
        """Whether cookies and credentials were taken out of the recording, as Chrome does by default."""
        return self.trace.recorder == DEVTOOLS and not self._holds_for_any(_has_secrets)

    @cached_property
    def _has_headers(self) -> bool:
        return self._holds_for_any(lambda event: bool(event.headers) or event.has_null_header)

    @cached_property
    def _has_hosts(self) -> bool:
        return self._holds_for_any(_has_host)

    def _may_have_posted(self, event: NetworkEvent) -> bool:
        """Whether a type was sent with a request of unknown size: browsers send none without a body."""
        sent_type = content_type(event.header("content-type") or "")
        if event.method.upper() in _WITHOUT_BODY or not sent_type:
            return False
        return sent_type == MULTIPART or event.post_size is None or self.is_provisional(event)

    @property
    def _body_setting(self) -> str:
        return BODY_SETTINGS.get(self.trace.recorder, ANY_BODY_SETTING)

    def _holds_for_any(self, holds: Callable[[NetworkEvent], bool]) -> bool:
        return any(holds_safely(event, holds) for event in self.trace.events)


def holds_safely(event: NetworkEvent, holds: Callable[[NetworkEvent], bool]) -> bool:
    """Whether a condition holds; for a damaged event it does not."""
    try:
        return holds(event)
    except DAMAGE_ERRORS:
        return False


def find_post_size(event: NetworkEvent) -> int | None:
    """How many bytes a request posted by its headers, or else by what the recorder counted; None if nobody says."""
    length = parse_length(event.header("content-length"))
    # Playwright counts 0 for a Blob, of which it keeps nothing.
    return event.post_size or None if length is None else length


def _read_response_header(event: NetworkEvent, name: str) -> str:
    with suppress(*DAMAGE_ERRORS):
        return event.response_header(name) or ""
    return ""


def parse_length(text: str | None) -> int | None:
    """The number in a header Content-Length; None for any other text."""
    digits = (text or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) < 20 else None


def find_redirect(event: NetworkEvent) -> str:
    """The address that a response redirects to, without fragment; empty if it does not say so."""
    with suppress(*DAMAGE_ERRORS):
        target = event.redirect_url or _read_response_header(event, "location")
        return urldefrag(urljoin(event.url, target))[0] if target else ""
    return ""


def has_content(event: NetworkEvent) -> bool:
    """Whether the content of a response is stored. Raises `EvaluationError`."""
    return _is_stored(event.read_content())


def _is_stored(body: Body | None) -> bool:
    return body is not None and bool(body.text or body.load_text)


def _is_text(event: NetworkEvent) -> bool:
    """Whether a response is successful, of a type of pages or data, and not recorded as empty."""
    if event.status not in _SUCCESSES - _EMPTY_STATUSES:
        return False
    body = event.read_content()
    if body is not None and body.is_emptied:
        return False
    name = content_type(body.mime if body is not None else "", _read_response_header(event, "content-type"))
    return name == "text/html" or is_json_type(name)


def _has_host(event: NetworkEvent) -> bool:
    return any(event.header(name) is not None for name in ("host", ":authority"))


def _has_secrets(event: NetworkEvent) -> bool:
    has_header = any(event.header(name) is not None for name in _SANITIZED_HEADERS)
    return has_header or bool(event.cookies) or bool(event.header_cookies)


def list_warnings(trace: NetworkTrace, rules: Rules) -> Iterator[str]:
    """What these rules leave out of a recording, and where its order is not that of time."""
    total = len(trace.all_events)
    if trace.earlier and rules.own_requests:
        problem = f"{pluralize(len(trace.earlier), 'request')} from before the trace chunk began excluded"
        yield f"{problem}, the last is event {event_number(max(trace.earlier))} of {total}"
    # Rules that repair no recording take it as it is, and do not warn of it.
    if not rules.repaired_traces or (pair := find_late_event(trace)) is None:
        return
    late, earlier = pair
    problem = f"{late.name} of {total} began before {earlier.name}"
    if rules.time_order:
        yield f"requests sorted by time: {problem}"
    else:
        yield f"requests are not in the order of time: {problem}; --webeval-rules=strict sorts them"


def find_late_event(trace: NetworkTrace) -> tuple[NetworkEvent, NetworkEvent] | None:
    """The first request that began before its predecessor in the recording, and that; None where all are in order.

    Only events that evaluators check count, and none from before the run.
    """
    if not trace.by_time:
        return None
    places = {index: place for place, index in enumerate(trace.by_time)}
    events = [event for event in trace.all_events if event.index not in trace.earlier and event.is_significant]
    pairs = ((late, event) for event, late in pairwise(events) if places[late.index] < places[event.index])
    return next(pairs, None)
