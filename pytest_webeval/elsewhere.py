"""Requests to other places than an expectation means, told before anything is normalized."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_webeval.normal_urls import is_normal
from pytest_webeval.sites import Sites
from pytest_webeval.urls import Url
from pytest_webeval.urls import UrlReader

_SLASHES_OF_A_ROOT = 3  # http://host/
# With one of these in a query, what is before it may not be all that says which place is meant.
_TELLING_QUERY = re.compile("[^!-~]|[#:]|%3a", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Places:
    """The bases that an expectation may mean, compared as `bases_match` does."""

    bases: frozenset[str]
    sites: Sites
    task_sites: tuple[str, ...]

    def rule_out(self, raw: str) -> bool:
        """Whether a recorded URL certainly leads elsewhere. Of one that has to be normalized first, this is false."""
        head, mark, query = raw.partition("?")
        if not is_normal(head) or _TELLING_QUERY.search(query):
            return False
        bare = head if mark or head.count("/") == _SLASHES_OF_A_ROOT else head.rstrip("/")
        return _comparable(self.sites.derender(bare, self.task_sites)) not in self.bases


def places_of(urls: Iterable[Url], reader: UrlReader) -> Places | None:
    """The places that these URLs of a task mean, or None where only a closer look can tell: a pattern means many."""
    expected = list(urls)
    if reader.decode_base64 or any(url.is_pattern for url in expected) or not _are_plain(reader):
        return None
    return Places(frozenset(_comparable(url.base) for url in expected), reader.sites, reader.task_sites)


def _are_plain(reader: UrlReader) -> bool:
    """Whether the addresses of all sites look like addresses, so that none can stand across the mark of a query."""
    known = (reader.sites.environments.get(site) for site in reader.task_sites)
    return all(":" in url and "?" not in url for one in known if one for url in one.urls)


def _comparable(base: str) -> str:
    return base.lower().rstrip("/")
