"""URLs as they are compared: a base and a query, placeholders for known sites (spec §5.14, §4.5-4.8)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from functools import lru_cache
from urllib.parse import parse_qsl
from urllib.parse import unquote
from urllib.parse import urlsplit
from urllib.parse import urlunsplit

from pytest_webeval.errors import EvaluationError
from pytest_webeval.sites import Sites
from pytest_webeval.values.base import looks_like_pattern

_SSH_URL = re.compile(r"ssh://([^@/\s]+)@[^/:\s]+(?::\d+)?/(\S+)", re.IGNORECASE)
_SSH_SHORT = re.compile(r"([\w.-]+)@[^/:\s]+:(\S+)")
_BASE64_SEGMENT = re.compile(r"[A-Za-z0-9_-]{4,}={0,2}")

Query = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Url:
    """One URL: `base` is everything but the query; values of a query are lower-case and sorted."""

    base: str
    query: Query
    is_pattern: bool = False

    @property
    def text(self) -> str:
        """The URL as reports show it."""
        pairs = "&".join(f"{name}={value}" for name, values in sorted(self.query.items()) for value in values)
        return f"{self.base}?{pairs}" if pairs else self.base


@dataclass(frozen=True)
class UrlReader:
    """How the URLs of one expectation are read: which sites it means and which parameters it ignores."""

    sites: Sites
    task_sites: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    ignored_patterns: tuple[str, ...] = ()
    decode_base64: bool = False
    _seen: dict[str, Url] = field(default_factory=dict, compare=False)

    def expected(self, raw: str | list[str], query: Mapping[str, list[str]] | None = None) -> tuple[Url, ...]:
        """The alternatives that a task names; `query` replaces their own. Raises `EvaluationError`."""
        if isinstance(raw, list) and len(raw) < 2:
            raise EvaluationError(f"{raw!r} lists {len(raw)} URL; write a text, or two alternatives or more")
        return tuple(self._expected(one.strip(), query) for one in ([raw] if isinstance(raw, str) else raw))

    def actual(self, raw: str) -> Url:
        """A recorded URL. Raises `EvaluationError` where it is empty or impossible."""
        if raw not in self._seen:
            self._seen[raw] = self._literal(raw.strip().rstrip("/"))
        return self._seen[raw]

    def render_base(self, base: str) -> str:
        """A recorded base with the placeholder that it starts with replaced by the active address."""
        return self.sites.render(base, self.task_sites) or base

    def _expected(self, text: str, query: Mapping[str, list[str]] | None) -> Url:
        wanted = None if query is None else self._query([(name, value) for name in query for value in query[name]])
        if looks_like_pattern(text):
            return Url(text, wanted or {}, is_pattern=True)
        rendered = self.sites.render(text.rstrip("/"), self.task_sites)
        if rendered is None:
            raise EvaluationError(f"{text!r} begins with no site of the task ({', '.join(self.task_sites)})")
        url = self._literal(rendered)
        if url.base.startswith(("http:", "https:")):
            raise EvaluationError(f"{text!r} does not come back from its address {url.base!r}; write the plain address")
        return url if wanted is None else Url(url.base, wanted)

    def _literal(self, text: str) -> Url:
        if not text:
            raise EvaluationError("an empty URL cannot be compared; record the run again")
        parts = urlsplit(self.sites.derender(normalized(text), self.task_sites))
        path, found = self._without_base64(parts.path) if self.decode_base64 else (parts.path, [])
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        base = urlunsplit((parts.scheme, parts.netloc, path, "", parts.fragment))
        return Url(
            base, self._query([(unquote(name), unquote(value).replace("+", " ")) for name, value in pairs + found])
        )

    def _query(self, pairs: list[tuple[str, str]]) -> Query:
        gathered: dict[str, list[str]] = {}
        for name, value in pairs:
            if not self._is_ignored(name):
                gathered.setdefault(name, []).append(value.lower().strip())
        return {name: tuple(sorted(values)) for name, values in gathered.items()}

    def _is_ignored(self, name: str) -> bool:
        return name in self.ignored or any(pattern.search(name) for pattern in self._ignored_compiled)

    @cached_property
    def _ignored_compiled(self) -> tuple[re.Pattern[str], ...]:
        return tuple(filter(None, (_compiled(pattern, re.IGNORECASE) for pattern in self.ignored_patterns)))

    def _without_base64(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        kept, found = [], []
        for segment in path.split("/"):
            decoded = _decoded(segment)
            if decoded is None:
                kept.append(segment)
            else:
                found += parse_qsl(unquote(decoded).lstrip("?&"), keep_blank_values=True)
        return "/".join(kept), found


@lru_cache(maxsize=4096)
def normalized(text: str) -> str:
    """The URL after url-normalize, or its SSH short form. Raises `EvaluationError` where it is impossible."""
    if short := _SSH_URL.fullmatch(text) or _SSH_SHORT.fullmatch(text):
        return f"{short.group(1)}@__SSH_HOST__:{short.group(2)}".lower()
    from url_normalize import url_normalize  # a session without network checks does without it

    try:
        return url_normalize(text) or ""
    except (ValueError, AttributeError) as error:
        raise EvaluationError(f"{text[:200]!r} is no URL: {error}; record the run again") from error


def _decoded(segment: str) -> str | None:
    if not _BASE64_SEGMENT.fullmatch(segment):
        return None
    try:
        text = base64.urlsafe_b64decode(segment.rstrip("=") + "=" * (-len(segment.rstrip("=")) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return text if "=" in text else None


@lru_cache(maxsize=4096)
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern, flags)
    except re.error:
        return None


def bases_match(expected: Url, actual: Url, reader: UrlReader, *, escape: bool) -> bool:
    """Whether two URLs name the same place, whatever their queries (spec §4.8). Raises `EvaluationError`."""
    if not expected.is_pattern:
        return expected.base.lower().rstrip("/") == actual.base.lower().rstrip("/")
    pattern = _compiled(reader.sites.render_pattern(expected.base, reader.task_sites, escape=escape))
    if pattern is None:
        raise EvaluationError(f"{expected.base!r} is no regular expression; mend the url of the task")
    return pattern.match(reader.render_base(actual.base)) is not None


def queries_match(expected: Query, actual: Query) -> bool:
    """Whether the first value of each parameter agrees; missing and empty are the same (spec §4.5)."""
    return all(_first_matches(expected.get(name), actual.get(name)) for name in {*expected, *actual})


def _first_matches(expected: tuple[str, ...] | None, actual: tuple[str, ...] | None) -> bool:
    wanted = expected[0] if expected else ""
    found = actual[0] if actual else ""
    if looks_like_pattern(wanted):
        pattern = _compiled(wanted)
        return pattern is not None and pattern.match(found) is not None
    return wanted == found
