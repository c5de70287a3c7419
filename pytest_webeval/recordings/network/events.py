"""What the browser sent and received: `NetworkTrace` and its `NetworkEvent`s."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from msgspec import Struct, structs

from pytest_webeval.errors import EvaluationError
from pytest_webeval.recordings.network.pages import find_last_page
from pytest_webeval.safety.text import pluralize

if TYPE_CHECKING:
    from pytest_webeval.rules import Rules

REQUEST_LOG = "requests.jsonl"  # of ClawBench, which is known by its name
RECORD_AGAIN = "re-record the run and close the browser context first"
# MIME types of the bodies whose fields can be read, in the order in which they are looked for.
BODY_TYPES = ("application/x-www-form-urlencoded", "application/json", "multipart/form-data")
ABORTED = -1  # the status of a request that ended without a response
PLAYWRIGHT_TRACE = "Playwright's trace"  # as a recorder
NO_RESPONSE = (0, ABORTED)  # statuses of requests that were cancelled or failed
# Spec §3.2: the suffixes, in this case only, that make a request an asset which no evaluator looks at.
ASSETS = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
# An ASCII URL without brackets, semicolons and control characters: its path is found without a parser.
_SPECIAL = r"\[\];\x00-\x1f\x7f"
_PLAIN_URL = re.compile(rf"https?://[^/?#{_SPECIAL}]*+([^?#{_SPECIAL}]*+)[^{_SPECIAL}]*+")
_NEXT_COOKIE = re.compile(r"\n|,(?=\s*[^\s;,=]+=)")  # no comma of a date: Expires=Wed, 21 Oct 2026
_SHORT = 500  # characters of a URL whose answer is kept
_KEPT = 8_192  # answers: recordings of one site load the same files again and again


class Param(Struct, frozen=True, rename="camel", gc=False):
    """A field of a form as HAR names it. A file may lack its value."""

    name: str
    value: str | None = None
    file_name: str | None = None


class Body(Struct, frozen=True):
    """A request's posted data or a response's content.

    `load_text` reads what the trace does not hold as plain text, because it is in a side file or in base64 (Q19). It
    raises `EvaluationError` where that cannot be had. `parsed` is JSON: the value that the recorder read in the
    body, where it keeps that and not the text. `load_uncounted` reads the same as `load_text`, but the text neither
    stays in memory nor counts for the limit of all side files: a report must not use up what evaluators may read.
    `params` are the fields of a form as the recorder read them. A body `is_emptied` if its text is recorded as empty,
    and `is_typeless` if its type is recorded as null.
    """

    mime: str
    text: str
    load_text: Callable[[], str] | None = None
    parsed: str | None = None
    load_uncounted: Callable[[], str] | None = None
    params: tuple[Param, ...] = ()
    is_emptied: bool = False
    is_typeless: bool = False

    def read_uncounted(self) -> str:
        """The text for a report, or the value where only that is kept. Raises `EvaluationError`."""
        load = self.load_uncounted or self.load_text
        if load is not None and self.parsed is not None:
            return self.parsed
        return self.text if load is None else load()


Pairs = tuple[tuple[str, str], ...]


def event_number(index: int) -> int:
    """The number of an event in everything that people read: from 1, as they count lines and steps."""
    return index + 1


class NetworkEvent(ABC):
    """One request with its response. `index` counts from 0 in the order of the recording; `name` is for people.

    A recording is big and little of it is asked for, so an event decodes a field on demand. Where that is damaged it
    raises `EvaluationError`.
    """

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    @property
    def name(self) -> str:
        """What people call it: `event 1` is the first."""
        return f"event {event_number(self.index)}"

    @property
    @abstractmethod
    def url(self) -> str:
        """The address as it was sent."""

    @property
    @abstractmethod
    def method(self) -> str:
        """The method as it was sent, usually in capitals."""

    @property
    @abstractmethod
    def status(self) -> int:
        """The status of the response; -1 means aborted."""

    @property
    @abstractmethod
    def headers(self) -> Pairs:
        """Names and values of the request's headers in their order."""

    @property
    def has_null_header(self) -> bool:
        """Whether a header of the request has null for a value. The reference fails on it; here it is ignored."""
        return False

    @property
    @abstractmethod
    def cookies(self) -> Pairs:
        """Names and values of the cookies that the response set, as they were sent."""

    @property
    def response_headers(self) -> Pairs:
        """Names and values of the response's headers in their order, where the recording has them."""
        return ()

    @property
    @abstractmethod
    def resource_type(self) -> str | None:
        """What the browser took the response for, such as `document`, where the recording says so."""

    @property
    @abstractmethod
    def page(self) -> str | None:
        """The tab, where the recording says so."""

    @property
    @abstractmethod
    def frame(self) -> str | None:
        """The frame in the tab, where the recording says so."""

    @property
    def initiator(self) -> str | None:
        """Who asked for it, such as `parser` or `script`, where the recording says so: Chrome's own does."""
        return None

    @property
    def is_failed(self) -> bool:
        """Whether the recorder noted a failure, which a request with a response may have as well."""
        return False

    @property
    def started(self) -> float | None:
        """When the request was made, in seconds since 1970, where the recording says so."""
        return None

    @property
    def duration(self) -> float | None:
        """How many seconds passed until the response was complete, where the recording says so."""
        return None

    @property
    def is_from_cache(self) -> bool:
        """Whether the recording says that the response came from a cache of the browser."""
        return False

    @property
    def is_pending(self) -> bool:
        """Whether the recording ended before the request was written: it is null."""
        return False

    @property
    def lacks_content(self) -> bool:
        """Whether something came back of which the recording keeps nothing."""
        return False

    @property
    def post_size(self) -> int | None:
        """How many bytes were posted, where the recording says so beside the headers."""
        return None

    @property
    def content_size(self) -> int | None:
        """How many bytes came back, where the recording says so beside the headers."""
        return None

    @property
    def redirect_url(self) -> str:
        """Where the response redirects to, as the recording has it; empty if it does not say so."""
        return ""

    @abstractmethod
    def read_post(self) -> Body | None:
        """What was posted, or None."""

    @abstractmethod
    def read_content(self) -> Body | None:
        """What came back, or None."""

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
            return not _is_asset_url(self.url)
        except ValueError:
            return True  # an impossible URL: evaluators report it
        except EvaluationError:
            return False

    @property
    def has_url(self) -> bool:
        """Whether its URL can be read."""
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
            return _is_asset_url(self.url)
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
            entries = f"{count} entries, {count - unreadable} of them static files and {unreadable} unreadable"
        else:
            entries = pluralize(count, "entry of a static file", "entries of static files only")
        return f"{entries}; {RECORD_AGAIN}"

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


def _is_asset_url(url: str) -> bool:
    """Whether the path of a URL ends like a static file. Raises `ValueError` for an invalid URL."""
    return _is_short_asset_url(url) if len(url) <= _SHORT else _has_asset_path(url)


def _has_asset_path(url: str) -> bool:
    plain = _PLAIN_URL.fullmatch(url) if url.isascii() else None
    return (urlparse(url).path if plain is None else plain[1]).endswith(ASSETS)


_is_short_asset_url = lru_cache(maxsize=_KEPT)(_has_asset_path)
