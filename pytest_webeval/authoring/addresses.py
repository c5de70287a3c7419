"""Where the sites of a recording are: URLs as placeholder and path, by the configuration or by the recording itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from pytest_webeval.authoring.volatility import split_path
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.tasks.sites import Environment, Sites, placeholder

INFERRED = "homepage"  # the name of a site that no configuration names


class Place(Struct, frozen=True):
    """Where a URL leads, without its query: a site with the segments of the path below it.

    `site` is None for a URL at no known site; then `origin` is its host. A segment is None where any will do.
    """

    site: str | None
    origin: str
    segments: tuple[str | None, ...]

    @property
    def text(self) -> str:
        """The place as people read it; `*` stands for any segment."""
        start = self.origin if self.site is None else placeholder(self.site)
        return "/".join((start, *("*" if segment is None else segment for segment in self.segments)))


class Addresses(Struct, frozen=True):
    """The sites of a session. The longest address that a URL begins with names its site."""

    sites: Sites
    _prefixes: tuple[tuple[str, str], ...]
    is_inferred: bool = False

    @classmethod
    def of(cls, sites: Sites, *, is_inferred: bool = False) -> Addresses:
        """The addresses of sites, which a configuration names or a recording suggests."""
        folded = sites.folded
        pairs = [(url.rstrip("/"), name) for name, each in folded.environments.items() for url in each.urls if url]
        return cls(folded, tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair))), is_inferred)

    def locate(self, url: str) -> Place:
        """Where a URL leads. Raises `ValueError` for an invalid URL."""
        parts = urlsplit(url)
        plain = f"{parts.scheme}://{parts.netloc.lower()}{parts.path}"
        for prefix, site in self._prefixes:
            if plain == prefix or plain.startswith(f"{prefix}/"):
                return Place(site, parts.netloc, split_path(plain[len(prefix) :]))
        return Place(None, parts.hostname or "", split_path(parts.path))

    def derender(self, value: Any) -> Any:
        """A text with the addresses of sites replaced by placeholders; other values as they are."""
        return self.sites.derender(value, self.sites.environments) if isinstance(value, str) else value


def infer_addresses(events: Sequence[NetworkEvent]) -> Addresses:
    """The site of the first page of a recording, under a name to be replaced; without a page, of the first request."""
    pages = (event for event in events if event.is_document or event.is_navigation)
    first = next(pages, events[0] if events else None)
    if first is None:
        return Addresses.of(Sites(), is_inferred=True)
    parts = urlsplit(first.url)
    return Addresses.of(Sites({INFERRED: Environment((f"{parts.scheme}://{parts.netloc}",))}), is_inferred=True)
