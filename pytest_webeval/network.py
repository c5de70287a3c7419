"""What the browser sent and received: `NetworkTrace` and its `NetworkEvent`s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote
from urllib.parse import urlparse

from pytest_webeval.errors import EvaluationError

# Spec §3.2: the suffixes, in this case only, that make a request an asset which no evaluator looks at.
_ASSETS = tuple(
    f".{kind}" for kind in ["css", "js", "png", "jpg", "jpeg", "gif", "svg", "woff", "woff2", "ttf", "ico", "webp"]
)


@dataclass(frozen=True, slots=True)
class Body:
    """A request's posted data or a response's content. `side_file` names where it was kept if not in the trace."""

    mime: str
    text: str
    side_file: str | None = None


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """One request with its response. `index` counts from 0 in the order of the recording; `status` -1 means aborted."""

    index: int
    url: str
    method: str
    status: int
    headers: tuple[tuple[str, str], ...]
    cookies: tuple[tuple[str, str], ...]
    read_post: Callable[[], Body | None]
    read_content: Callable[[], Body | None]

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
    """The events of a recording in order, and one line for each entry that could not be read."""

    events: tuple[NetworkEvent, ...]
    damaged: tuple[str, ...] = ()

    @cached_property
    def evaluation_events(self) -> tuple[NetworkEvent, ...]:
        """Events that are no static assets: all that evaluators look at. Raises `EvaluationError`."""
        if self.damaged:
            raise EvaluationError(f"{self.damaged[0]} ({len(self.damaged)} damaged in all); record the run again")
        return tuple(event for event in self.events if not event.is_asset)

    @cached_property
    def last_navigation(self) -> NetworkEvent | None:
        """The page that the agent ended on."""
        return next((event for event in reversed(self.evaluation_events) if event.is_navigation), None)
