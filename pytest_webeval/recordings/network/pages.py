"""Which recorded request is the page that the agent ended on, by what the recording says of pages, and which an asset.

Seen in Chromium 156, recorded by Playwright 1.45 to 1.65: a download, and an answer without content (204), have the
status that the server sent, and a failure. A form that posts is a document like others. An iframe is a document too.
Playwright names its frame. Chrome's own HAR has no frames, but says who asked for a document: the parser of a page asks
for iframes only, and a script for an iframe, or for the next page, which begins a new `pageref`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar
from urllib.parse import urlparse

from pytest_webeval.errors import EvaluationError


class Document(Protocol):
    """What is read of a `NetworkEvent`, where each member is explained."""

    index: int

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def status(self) -> int: ...
    @property
    def response_headers(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def resource_type(self) -> str | None: ...
    @property
    def page(self) -> str | None: ...
    @property
    def frame(self) -> str | None: ...
    @property
    def initiator(self) -> str | None: ...
    @property
    def is_document(self) -> bool: ...
    @property
    def is_navigation(self) -> bool: ...
    @property
    def is_cancelled(self) -> bool: ...
    @property
    def is_failed(self) -> bool: ...
    def header(self, name: str) -> str | None: ...


Event = TypeVar("Event", bound=Document)
_WITHOUT_CONTENT = (204, 205)
_DEEPEST, _ORIGIN_SLASHES = 10, 3  # iframes in iframes; slashes of http://shop.test/
REDIRECTS = (301, 302, 303, 307, 308)
# Spec §3.2: the suffixes, in this case only, that make a request an asset which no evaluator looks at.
ASSETS = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
# An ASCII URL without brackets, semicolons and control characters: its path is found without a parser.
_SPECIAL = r"\[\];\x00-\x1f\x7f"
_PLAIN_URL = re.compile(rf"https?://[^/?#{_SPECIAL}]*+([^?#{_SPECIAL}]*+)[^{_SPECIAL}]*+")
_SHORT = 500  # characters of a URL whose answer is kept
_KEPT = 8_192  # answers: recordings of one site load the same files again and again


def find_last_page(events: Sequence[Event], in_time: Iterable[Event]) -> Event | None:
    """The last page that some tab showed; by headers where an event has no resource type. Raises `EvaluationError`.

    `in_time` are all recorded events in the order of time: those of earlier chunks show the main frame of a tab, too. A
    request that got no response, or one that is saved as a file, left the page as it was. It is an error if the last
    document may be in an iframe, or is a posted form whose redirect leads to a page that was not recorded.
    """
    checked = {event.index for event in events}
    documents = [each for each in in_time if _is_document(each, is_strict=each.index in checked)]
    main_frames = {event.page: event.frame for event in reversed(documents)}
    embedded = _list_embedded(documents)
    marks_pages, later_tabs = any(event.resource_type or event.is_navigation for event in events), set()
    for event in reversed(events):
        if event.resource_type:
            is_in_place = event.page is None or event.frame == main_frames.get(event.page)
            is_page = event.is_document and is_in_place and event.index not in embedded
        else:
            is_page = _is_page_by_headers(event)
        if not is_page:
            continue
        # A page that redirects counts as such only where the recording does not have the page that followed.
        is_redirect, tab = _has_status(event, REDIRECTS), event.page or event.frame
        is_followed = is_redirect and (tab in later_tabs or not marks_pages)
        if not (is_followed or event.is_cancelled or event.is_failed or _is_saved(event)):
            if is_redirect and event.method != "GET":
                problem = f"the page that followed {event.name}, a redirect, was not recorded"
                raise EvaluationError(f"{problem}; stop recording when the pages are idle")
            if event.resource_type:
                _check_frame(event, main_frames[event.page])
            return event
        later_tabs.add(tab)
    return None


def _check_frame(event: Document, first_frame: str | None) -> None:
    """Raise `EvaluationError` for a document that may be in an iframe or in a tab of its own.

    Where no event names its tab, the frame of the first document is that of a tab; of others only headers can say so.
    """
    if event.page is None and event.frame not in (None, first_frame) and event.header("sec-fetch-dest") is None:
        problem = f"{event.name} may be a page or an iframe: the recording names no tabs"
        raise EvaluationError(f"{problem}; record with record_har_mode='full' in Playwright")


def list_embedding_pages(page: Event, events: Sequence[Event]) -> list[Event]:
    """The earlier pages that a page may be an iframe in, the nearest first; none of one that is marked as a page.

    Without frames and `Sec-Fetch-Dest`, an iframe looks like a page that a link led to: both name the page before.
    """
    pages: list[Event] = []
    before = [event for event in events if event.index != page.index and (event.is_document or event.is_navigation)]
    while (referer := _find_unmarked_referer(page)) is not None and len(pages) < _DEEPEST:
        place = next((each for each in reversed(before) if _is_referer(referer, each.url)), None)
        if place is None:
            break
        pages.append(place)
        before, page = before[: before.index(place)], place
    return pages


def _find_unmarked_referer(event: Document) -> str | None:
    """The page that a document names as its origin, if nothing says whether it is an iframe in that."""
    is_marked = event.frame is not None or event.initiator is not None or event.header("sec-fetch-dest") is not None
    return None if is_marked or event.method != "GET" else event.header("referer")


def _is_referer(referer: str, url: str) -> bool:
    """Whether a header Referer is about a URL. Of another site's page it has the origin alone."""
    address = url.partition("#")[0]
    return referer == address or (referer.count("/") == _ORIGIN_SLASHES and address.startswith(referer))


def _is_document(event: Document, *, is_strict: bool) -> bool:
    """Whether it is a document. What is damaged in an earlier chunk must not cost this one."""
    try:
        return event.is_document
    except EvaluationError:
        if is_strict:
            raise
        return False


def _list_embedded(documents: Iterable[Document]) -> set[int]:
    """The indices of documents in iframes where a recording has no frames, but says who asked for a document."""
    loaded, embedded = set(), set()
    for event in documents:
        if event.frame is not None or event.initiator is None:
            continue
        if event.initiator == "parser" or (event.initiator == "script" and event.page in loaded):
            embedded.add(event.index)
        elif event.page is not None and not _has_status(event, REDIRECTS):
            loaded.add(event.page)
    return embedded


def _is_page_by_headers(event: Document) -> bool:
    """As `is_navigation`, but with forms that post, and without what a browser marks as an iframe or a script's."""
    if event.is_navigation:
        return event.header("sec-fetch-dest") in (None, "document")
    accept = (event.header("accept") or "").lower()
    is_html = event.method == "POST" and accept.startswith("text/html") and event.header("x-requested-with") is None
    return is_html and event.header("sec-fetch-dest") in (None, "document")


def _is_saved(event: Document) -> bool:
    """Whether a browser shows nothing of the response: it has no content, or is a file to download."""
    if _has_status(event, _WITHOUT_CONTENT):
        return True
    try:
        headers = event.response_headers
    except EvaluationError:  # they are damaged, or a log has none
        return False
    dispositions = [value for name, value in headers if name.lower() == "content-disposition"]
    return any(value.strip().lower().startswith("attachment") for value in dispositions)


def _has_status(event: Document, statuses: tuple[int, ...]) -> bool:
    try:
        return event.status in statuses
    except EvaluationError:
        return False


def is_asset_url(url: str) -> bool:
    """Whether the path of a URL ends like a static file. Raises `ValueError` for an invalid URL."""
    return _is_short_asset(url) if len(url) <= _SHORT else _has_asset_path(url)


def _has_asset_path(url: str) -> bool:
    plain = _PLAIN_URL.fullmatch(url) if url.isascii() else None
    return (urlparse(url).path if plain is None else plain[1]).endswith(ASSETS)


_is_short_asset = lru_cache(maxsize=_KEPT)(_has_asset_path)
