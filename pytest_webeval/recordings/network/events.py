"""What the browser sent and received: `NetworkTrace` and its `NetworkEvent`s."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from msgspec import Raw, Struct, structs

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.inputs import UNDECODABLE, try_decode
from pytest_webeval.recordings.network import entries
from pytest_webeval.recordings.network.bodies import (
    Body,
    BodySource,
    lacks_body,
    parse_byte_count,
    parse_content_size,
)
from pytest_webeval.recordings.network.entries import Entry, Pairs
from pytest_webeval.recordings.network.pages import find_last_page, is_asset_url
from pytest_webeval.safety.text import pluralize

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules

REQUEST_LOG = "requests.jsonl"  # of ClawBench, which is known by its name
RECORD_AGAIN = "re-record the run and close the browser context first"
ABORTED = -1  # the status of a request that ended without a response
FETCHED = "fetch"  # the type of what a program sent through Playwright's `request`
PLAYWRIGHT_TRACE = "Playwright's trace"  # as a recorder
NO_RESPONSE = (0, ABORTED)  # statuses of requests that were cancelled or failed
_NEXT_COOKIE = re.compile(r"\n|,(?=\s*[^\s;,=]+=)")  # no comma of a date: Expires=Wed, 21 Oct 2026
T = TypeVar("T")


def event_number(index: int) -> int:
    """The number of an event in everything that people read: from 1, as they count lines and steps."""
    return index + 1


def _no_attachment(name: str) -> bytes:
    raise EvaluationError(f"the trace has no side file {name[:80]!r}; re-record the run")


NO_BODIES = BodySource(_no_attachment)


class NetworkEvent:
    """One request with its response. `index` counts from 0 in the order of the recording; `name` is for people.

    A recording is big and little of it is asked for, so an event decodes a field of its entry on demand. Where that is
    damaged it raises `EvaluationError`: such a member is None in the entry. `is_pending` says that the recording ended
    before the request was written.
    """

    __slots__ = ("_bodies", "_entry", "_headers", "_is_pending", "index")

    def __init__(
        self, index: int, entry: Entry = entries.NO_ENTRY, bodies: BodySource = NO_BODIES, *, is_pending: bool = False
    ) -> None:
        self.index, self._entry, self._bodies, self._is_pending = index, entry, bodies, is_pending
        self._headers: tuple[Pairs, bool] | None = None

    @property
    def name(self) -> str:
        """What people call it: `event 1` is the first."""
        return f"event {event_number(self.index)}"

    @property
    def url(self) -> str:
        """The address as it was sent."""
        return self._require("url", self._entry.request.url)

    @property
    def method(self) -> str:
        """The method as it was sent, usually in capitals."""
        return self._require("method", self._entry.request.method)

    @property
    def status(self) -> int:
        """The status of the response; -1 means aborted."""
        try:
            return entries.parse_status(self._entry.response.status)
        except (TypeError, ValueError):  # the first if it is None
            raise self.damaged("status") from None

    @property
    def headers(self) -> Pairs:
        """Names and values of the request's headers in their order."""
        return self._read_headers()[0]

    @property
    def has_null_header(self) -> bool:
        """Whether a header of the request has null for a value. The reference fails on it; here it is ignored."""
        return self._read_headers()[1]

    def _read_headers(self) -> tuple[Pairs, bool]:
        if self._headers is None:
            self._headers = self._parse("headers", entries.parse_headers, self._entry.request.headers)
        return self._headers

    @property
    def cookies(self) -> Pairs:
        """Names and values of the cookies that the response set, as they were sent."""
        return self._parse("cookies", entries.parse_cookies, self._entry.response.cookies)

    @property
    def response_headers(self) -> Pairs:
        """Names and values of the response's headers in their order, where the recording has them."""
        return self._parse("response headers", entries.parse_headers, self._entry.response.headers)[0]

    @property
    def resource_type(self) -> str | None:
        """What the browser took the response for, such as `document`, where the recording says so."""
        kind = self._entry.resource_type
        if kind:
            return kind.lower()  # the protocol of Chromium begins it with a capital
        of_program = (self._entry.api, self._entry.api_context)  # no page, whatever it accepts
        return FETCHED if any(map(entries.is_set, of_program)) else None

    @property
    def page(self) -> str | None:
        """The tab, where the recording says so."""
        return self._entry.page

    @property
    def frame(self) -> str | None:
        """The frame in the tab, where the recording says so."""
        return self._entry.frame

    @property
    def initiator(self) -> str | None:
        """Who asked for it, such as `parser` or `script`, where the recording says so: Chrome's own does."""
        initiator = try_decode(entries.INITIATOR, self._entry.initiator)
        return None if initiator is None else initiator.type

    @property
    def is_failed(self) -> bool:
        """Whether the recorder noted a failure, which a request with a response may have as well."""
        return entries.is_set(self._entry.response.failure) or entries.is_set(self._entry.response.error)

    @property
    def stamp(self) -> Raw:
        """The time stamp of the request, undecoded."""
        return self._entry.started

    @property
    def started(self) -> float | None:
        """When the request was made, in seconds since 1970, where the recording says so."""
        return entries.parse_seconds(self._entry.started)

    @property
    def duration(self) -> float | None:
        """How many seconds passed until the response was complete, where the recording says so."""
        return entries.parse_milliseconds(self._entry.time)

    @property
    def is_from_cache(self) -> bool:
        """Whether the recording says that the response came from a cache of the browser."""
        return entries.is_set(self._entry.from_cache)

    @property
    def is_pending(self) -> bool:
        """Whether the recording ended before the request was written: it is null."""
        return self._is_pending

    @property
    def lacks_content(self) -> bool:
        """Whether something came back of which the recording keeps nothing."""
        return lacks_body(self._entry.response.content)

    @property
    def post_size(self) -> int | None:
        """How many bytes were posted, where the recording says so beside the headers."""
        return parse_byte_count(self._entry.request.size)

    @property
    def content_size(self) -> int | None:
        """How many bytes came back, where the recording says so beside the headers."""
        return parse_content_size(self._entry.response.content)

    @property
    def redirect_url(self) -> str:
        """Where the response redirects to, as the recording has it; empty if it does not say so."""
        return try_decode(entries.TEXT, self._entry.response.redirect) or ""

    def read_post(self) -> Body | None:
        """What was posted, or None."""
        return self._bodies.read_post(self._entry.request.post)

    def read_content(self) -> Body | None:
        """What came back, or None."""
        return self._bodies.read_content(self._entry.response.content)

    def _require(self, name: str, value: T | None) -> T:
        if value is None:
            raise self.damaged(name)
        return value

    def _parse(self, name: str, parse: Callable[[Raw], T], raw: Raw) -> T:
        try:
            return parse(raw)
        except UNDECODABLE:
            raise self.damaged(name) from None

    def damaged(self, name: str) -> EvaluationError:
        """The error for a field that cannot be read."""
        return EvaluationError(f"{self.name} of the trace is damaged: no readable {name}; re-record the run")

    @property
    def is_document(self) -> bool:
        """Whether the recording says that it is a page, and the request, if it says anything, that it is no frame."""
        return self.resource_type == "document" and self.header("sec-fetch-dest") in (None, "document")

    @property
    def is_cancelled(self) -> bool:
        """Whether there was no response, as far as that can be read."""
        try:
            return self.status in NO_RESPONSE
        except EvaluationError:
            return False

    @property
    def is_significant(self) -> bool:
        """Whether its URL can be read and is more than that of a static asset."""
        try:
            return not is_asset_url(self.url)
        except ValueError:
            return True  # an impossible URL: evaluators report it
        except EvaluationError:
            return False

    @property
    def has_url(self) -> bool:
        try:
            _ = self.url
        except EvaluationError:
            return False
        return True

    def check(self) -> None:
        """Raise `EvaluationError` if a field that every comparison needs is damaged."""
        _ = self.url, self.method, self.headers, self.status

    @property
    def is_asset(self) -> bool:
        """Whether the path ends like a style sheet, script, picture or font."""
        try:
            return is_asset_url(self.url)
        except ValueError as error:
            raise EvaluationError(
                f"{self.name} has the invalid URL {self.url[:200]!r}: {error}; re-record the run"
            ) from error

    @property
    def is_navigation(self) -> bool:
        """Whether a person would say that the browser went to a page (spec §3.2)."""
        if self.method != "GET":
            return False
        headers = {name.lower(): value for name, value in self.headers}
        accept = headers.get("accept", "").lower()
        if "sec-fetch-user" not in headers:
            return accept.startswith("text/html")
        marks = tuple(headers.get(f"sec-fetch-{name}", "").lower() for name in ("dest", "mode", "user"))
        return marks == ("document", "navigate", "?1") and "text/html" in accept

    def header(self, name: str) -> str | None:
        """The value of a request header, looked up in any case; of duplicates the last."""
        return {key.lower(): value for key, value in self.headers}.get(name.lower())

    def response_header(self, name: str) -> str | None:
        """The value of a response header, looked up in any case; of duplicates the last."""
        return {key.lower(): value for key, value in self.response_headers}.get(name)

    @property
    def header_cookies(self) -> dict[str, str]:
        """Cookies of the headers Set-Cookie, percent-decoded. Recorders join several in one by line feeds or commas."""
        headers = [value for name, value in self.response_headers if name.lower() == "set-cookie"]
        pairs = [each.partition(";")[0].partition("=") for header in headers for each in _NEXT_COOKIE.split(header)]
        return {name.strip(): unquote(value.strip()) for name, mark, value in pairs if mark}

    @property
    def response_cookies(self) -> dict[str, str]:
        """Cookies that the response set, percent-decoded; of duplicates the last."""
        return {name: unquote(value) for name, value in self.cookies}


class NetworkTrace(Struct, frozen=True, dict=True):
    """The events of a recording in order.

    `repairs` says what in it the reference would refuse (Q43), `advice` what to do where there are no events. A log of
    requests `may_be_empty`: then the agent made none. `earlier` has the indices of events from before the run began,
    `by_time` all indices in the order of time, if that is not the order of the recording. `recorded` are all events in
    the order of the recording where a rule set has removed or sorted some; see `under`. `recorder` is the
    program that wrote it, where it says so.
    """

    events: tuple[NetworkEvent, ...]
    repairs: str | None = None
    advice: str = RECORD_AGAIN
    may_be_empty: bool = False
    earlier: frozenset[int] = frozenset()
    by_time: tuple[int, ...] = ()
    recorded: tuple[NetworkEvent, ...] = ()
    recorder: str = ""

    @property
    def all_events(self) -> tuple[NetworkEvent, ...]:
        """Each recorded event, at the position that is its index."""
        return self.recorded or self.events

    def under(self, rules: Rules) -> NetworkTrace:
        """The same recording with the events that count under these rules, in the order in which they do."""
        if not (self.earlier or self.by_time):
            return self
        order = self.by_time if rules.time_order and self.by_time else range(len(self.all_events))
        left_out = self.earlier if rules.own_requests else ()
        events = tuple(self.all_events[index] for index in order if index not in left_out)
        if events == self.events:
            return self
        counted = structs.replace(self, events=events, recorded=self.all_events)
        vars(counted).clear()  # what was computed from the other events
        return counted

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but static assets and what could not be read at all.

        A log with requests from before the run shows that it would have those of the run as well.
        """
        return not self.earlier and not any(event.is_significant for event in self.events)

    @property
    def emptiness(self) -> str:
        """Why a trace without a usable event is useless, and what to do."""
        count, unreadable = len(self.events), sum(not event.has_url for event in self.events)
        if not count:
            return f"no entries; {self.advice}"
        if unreadable == count:
            return f"{pluralize(count, 'unreadable entry', 'unreadable entries')}; {RECORD_AGAIN}"
        if unreadable:
            content = f"{count} entries, {count - unreadable} of them static files and {unreadable} unreadable"
        else:
            content = pluralize(count, "entry of a static file", "entries of static files only")
        return f"{content}; {RECORD_AGAIN}"

    @cached_property
    def pending(self) -> tuple[NetworkEvent, ...]:
        """Events whose request was still under way. The reference fails on them."""
        return tuple(event for event in self.events if event.is_pending)

    @cached_property
    def evaluation_events(self) -> tuple[NetworkEvent, ...]:
        """Events that are not static assets: those that evaluators check. Raises `EvaluationError`."""
        return tuple(event for event in self.events if not (event.is_pending or event.is_asset))

    @cached_property
    def marks_pages(self) -> bool:
        """Whether the recorder kept what tells a page from other requests: resource types, or headers of browsers."""
        events = self.evaluation_events
        return any(event.resource_type or event.is_navigation or event.header("sec-fetch-dest") for event in events)

    @cached_property
    def last_page(self) -> NetworkEvent | None:
        """The page that the agent ended on by the recording's own marks of pages. Raises `EvaluationError`."""
        in_time = tuple(self.all_events[index] for index in self.by_time) or self.all_events
        return find_last_page(self.evaluation_events, in_time)

    @cached_property
    def last_navigation(self) -> NetworkEvent | None:
        """The page that the agent ended on."""
        # Look at all events: a damaged one raises.
        navigations = [event for event in self.evaluation_events if event.is_navigation]
        return navigations[-1] if navigations else None
