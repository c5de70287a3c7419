"""Requests to other places than an expectation means, told before anything is normalized."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_webeval.normal_urls import is_normal
from pytest_webeval.sites import Sites
from pytest_webeval.urls import Url
from pytest_webeval.urls import UrlReader

_SLASHES_OF_A_ROOT = 3  # http://host/


@dataclass(frozen=True, slots=True)
class Places:
    """The bases that an expectation may mean, compared as `bases_match` does. Patterns may mean any place."""

    bases: frozenset[str]
    sites: Sites
    task_sites: tuple[str, ...]

    def rule_out(self, raw: str) -> bool:
        """Whether a recorded URL certainly leads elsewhere. Of one that has to be normalized first, this is false."""
        if not is_normal(raw):
            return False
        bare = raw if "?" in raw or raw.count("/") == _SLASHES_OF_A_ROOT else raw.rstrip("/")
        return _comparable(self.sites.derender(bare, self.task_sites).partition("?")[0]) not in self.bases


def places_of(urls: Iterable[Url], reader: UrlReader) -> Places | None:
    """The places that these URLs of a task mean, or None where only a closer look can tell."""
    expected = list(urls)
    if reader.decode_base64 or any(url.is_pattern for url in expected):
        return None
    return Places(frozenset(_comparable(url.base) for url in expected), reader.sites, reader.task_sites)


def _comparable(base: str) -> str:
    return base.lower().rstrip("/")
