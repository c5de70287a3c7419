"""What the browser sent and received: `NetworkTrace` and its `NetworkEvent`s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from typing import NoReturn
from typing import Self
from urllib.parse import unquote
from urllib.parse import urlparse

from pytest_webeval.errors import EvaluationError

# Spec §3.2: the suffixes, in this case only, that make a request an asset which no evaluator looks at.
_ASSETS = tuple(
    f".{kind}" for kind in ["css", "js", "png", "jpg", "jpeg", "gif", "svg", "woff", "woff2", "ttf", "ico", "webp"]
)


@dataclass(frozen=True, slots=True)
class Body:
    """A request's posted data or a response's content.

    `aside` reads what the trace does not hold as plain text, because it is in a side file or in base64 (Q19); it raises
    `EvaluationError` where that cannot be had.
    """

    mime: str
    text: str
    aside: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """One request with its response. `index` counts from 0 in the order of the recording; `status` -1 means aborted.

    Of a damaged event some fields may be missing; asking for one of those raises `EvaluationError`.
    """

    index: int
    url: str
    method: str
    status: int
    headers: tuple[tuple[str, str], ...]
    cookies: tuple[tuple[str, str], ...]
    read_post: Callable[[], Body | None]
    read_content: Callable[[], Body | None]
    resource_type: str | None = None
    page: str | None = None
    frame: str | None = None

    @classmethod
    def damaged(cls, **readable: Any) -> Self:
        """An event of which only some fields could be read."""
        event = object.__new__(cls)
        for name, value in readable.items():
            object.__setattr__(event, name, value)
        return event

    def __getattr__(self, name: str) -> NoReturn:  # called for a field that was never set, and for nothing we have
        if name not in self.__slots__:
            raise AttributeError(name)
        raise EvaluationError(f"event {self.index} of the trace is damaged: no readable {name}; record the run again")

    @property
    def is_document(self) -> bool:
        """Whether the recording says that it is a page, and the request, if it says anything, that it is no frame."""
        return self.resource_type == "document" and self.header("sec-fetch-dest") in (None, "document")

    @property
    def says_something(self) -> bool:
        """Whether its URL can be read and is more than that of a static asset."""
        try:
            return not urlparse(self.url).path.endswith(_ASSETS)
        except ValueError:
            return True  # an impossible URL: whoever looks at it says so
        except EvaluationError:
            return False

    def check(self) -> None:
        """Raise `EvaluationError` where what every comparison looks at is damaged."""
        _ = self.url, self.method, self.headers, self.status

    @property
    def is_asset(self) -> bool:
        """Whether the path ends like a style sheet, script, picture or font."""
        try:
            return urlparse(self.url).path.endswith(_ASSETS)
        except ValueError as error:
            raise EvaluationError(f"event {self.index} has the impossible URL {self.url[:200]!r}: {error}") from error

    @property
    def is_navigation(self) -> bool:
        """Whether a person would say that the browser went to a page (spec §3.2)."""
        if self.method != "GET":
            return False
        headers = {name.lower(): value.lower() for name, value in self.headers}
        accept = headers.get("accept", "")
        if "sec-fetch-user" not in headers:
            return accept.startswith("text/html")
        marks = (headers.get("sec-fetch-dest"), headers.get("sec-fetch-mode"), headers["sec-fetch-user"])
        return marks == ("document", "navigate", "?1") and "text/html" in accept

    def header(self, name: str) -> str | None:
        """The value of a request header, looked up in any case; of duplicates the last."""
        return {key.lower(): value for key, value in self.headers}.get(name.lower())

    @property
    def response_cookies(self) -> dict[str, str]:
        """Cookies that the response set, percent-decoded; of duplicates the last."""
        return {name: unquote(value) for name, value in self.cookies}


@dataclass(frozen=True)
class NetworkTrace:
    """The events of a recording in order. `mended` says what in it the reference would refuse (Q43)."""

    events: tuple[NetworkEvent, ...]
    mended: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but static assets and what could not be read at all."""
        return not any(event.says_something for event in self.events)

    @cached_property
    def evaluation_events(self) -> tuple[NetworkEvent, ...]:
        """Events that are no static assets: all that evaluators look at. Raises `EvaluationError`."""
        return tuple(event for event in self.events if not event.is_asset)

    @cached_property
    def last_page(self) -> NetworkEvent | None:
        """The page that the agent ended on by the recording's own resource types; by request headers if it has none.

        An iframe is a document too: only the frame in which a tab's first document came shows its pages.
        """
        if not any(event.resource_type for event in self.events):
            return self.last_navigation
        documents = [event for event in self.evaluation_events if event.is_document]
        frames = {event.page: event.frame for event in reversed(documents)}
        pages = (event for event in documents if event.method == "GET" and event.frame == frames[event.page])
        return max(pages, key=lambda event: event.index, default=None)

    @cached_property
    def last_navigation(self) -> NetworkEvent | None:
        """The page that the agent ended on."""
        found = [event for event in self.evaluation_events if event.is_navigation]  # all are asked: one may be damaged
        return found[-1] if found else None
