"""URLs as they are compared: a base and a query, placeholders for known sites (spec §5.14, §4.5-4.8)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qsl, unquote, unquote_plus, urlunsplit

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError
from pytest_webeval.rules import RULES, RuleListener, Rules, ignore_rule
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.regex import InvalidPattern, is_pattern, match, search
from pytest_webeval.safety.text import pluralize
from pytest_webeval.tasks.sites import Sites, placeholder
from pytest_webeval.values.base import looks_like_pattern
from pytest_webeval.values.url_normalization import (
    LONGEST_KEPT,
    fold_authority,
    has_dot_segments,
    has_path_tricks,
    is_normal,
    is_ssh,
    normalize_keeping_slashes,
    normalize_url,
    path_of,
    query_of,
    split_normal,
)

_BASE64_SEGMENT = re.compile(r"[A-Za-z0-9_-]{4,}={0,2}")
OTHER_ADDRESS = "other_address"  # code of the error of an expected URL that is at no address of the task's sites
_SPECIAL = re.compile(r"[\\^$*+?{}\[\]|()]")
_SLASHES_OF_A_ROOT = 3  # http://host/
# With one of these in a query, the part before it may not be the whole base.
_AMBIGUOUS_QUERY = re.compile("[^!-~]|[#:]|%3a", re.IGNORECASE)
_DROPPED = str.maketrans("", "", "\t\r\n")  # as urlsplit does, and as browsers do

Query = Mapping[str, tuple[str, ...]]


class Url(Struct, frozen=True):
    """One URL: `base` is everything but the query; values of a query are lower-case and sorted.

    `unresolved` is the base with its encoded slashes and dot segments, None where it has none. `sent` is a recorded URL
    as it was sent, but for the address of its site.
    """

    base: str
    query: Query
    is_pattern: bool = False
    unresolved: str | None = None
    sent: str = ""

    @property
    def text(self) -> str:
        """The URL as reports show it: as it was sent."""
        if self.sent:
            return self.sent
        pairs = "&".join(f"{name}={value}" for name, values in sorted(self.query.items()) for value in values)
        return f"{self.base}?{pairs}" if pairs else self.base

    @property
    def base_text(self) -> str:
        """The same without the query."""
        return self.sent.partition("?")[0] or self.base

    @property
    def sent_query(self) -> Query:
        """The parameters as they were sent; as they are compared where they were not sent as a query."""
        pairs = [pair.partition("=") for pair in query_of(self.sent).split("&") if pair]
        return {
            name: tuple(value for key, _, value in pairs if name in (key, unquote_plus(key), unquote(unquote(key))))
            or values
            for name, values in self.query.items()
        }


@dataclass(frozen=True)
class UrlMatcher:
    """How the URLs of one expectation are read: which sites it means and which parameters it ignores."""

    sites: Sites
    task_sites: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    ignored_patterns: tuple[str, ...] = ()
    decode_base64: bool = False
    rules: Rules = RULES["reference"]
    notice: RuleListener = ignore_rule
    limits: Limits = USUAL
    _seen: dict[str, Url] = field(default_factory=dict, compare=False)

    def expected(self, raw: str | list[str], query: Mapping[str, Sequence[str]] | None = None) -> tuple[Url, ...]:
        """The alternatives that a task names; `query` replaces their own. Raises `EvaluationError`."""
        if isinstance(raw, list) and len(raw) < 2:
            raise EvaluationError(
                f"{raw!r} is a list of {pluralize(len(raw), 'URL')}; write a string, or at least two alternatives"
            )
        return tuple(
            self._parse_expected(alternative.strip(), query) for alternative in ([raw] if isinstance(raw, str) else raw)
        )

    def actual(self, raw: str) -> Url:
        """A recorded URL. Raises `EvaluationError` where it is empty, impossible or too long."""
        if len(raw) > LONGEST_KEPT:
            return self._parse_actual(raw)
        if raw not in self._seen:
            self._seen[raw] = self._parse_actual(raw)
        return self._seen[raw]

    def _parse_actual(self, raw: str) -> Url:
        text = raw.strip().translate(_DROPPED)
        if len(text) > self.limits.string_length:
            raise EvaluationError(f"a URL has {len(text):,} characters; {self.limits.describe('string_length')}")
        if looks_like_pattern(text):
            self.notice("no_recorded_patterns", text[:80])
            if not self.rules.no_recorded_patterns:
                return Url(text, {}, is_pattern=True)
        sent = self.sites.derender(text, self.task_sites)
        if self.rules.ignored_users and (folded := fold_authority(text)) != text:
            self.notice("ignored_users", text[:80])
            text = folded
        return replace(self._parse_literal(self._render(text.rstrip("/")), self._render(text)), sent=sent)

    def _render(self, text: str) -> str:
        rendered = self.sites.render(text, self.task_sites) if text.startswith("__") else None
        return rendered or text

    def render_base(self, base: str) -> str:
        """A recorded base with the placeholder that it starts with replaced by the active address."""
        return self.sites.render(base, self.task_sites) or base

    def render_expected(self, pattern: str, *, escape: bool = True) -> str:
        """An expected pattern with the placeholder that it starts with replaced. Raises `EvaluationError`."""
        rendered = self.sites.render_pattern(pattern, self.task_sites, escape=escape)
        if rendered is None:
            raise EvaluationError(_format_unknown_site(pattern, self.task_sites))
        return rendered

    def drop_base64(self, path: str) -> str:
        """A path without the segments that are a query in base64."""
        return self._split_base64(path)[0]

    def _parse_expected(self, text: str, query: Mapping[str, Sequence[str]] | None) -> Url:
        parameters = None
        if query is not None:
            pairs = [(name, value) for name in query for value in query[name]]
            if self.rules.single_decoding:
                pairs = [(name, self.sites.derender(value, self.task_sites)) for name, value in pairs]
            parameters = self._group_query(pairs)
        if looks_like_pattern(text):
            return Url(text, parameters or {}, is_pattern=True)
        if not text:
            raise EvaluationError("an expected URL is empty; write the URL of the request")
        rendered = self.sites.render(text.rstrip("/"), self.task_sites)
        if rendered is None and text.startswith("__"):
            raise EvaluationError(_format_unknown_site(text, self.task_sites))
        rendered = text.rstrip("/") if rendered is None else rendered
        if not rendered:  # the address of the site is configured as the empty text, which is no page of any recording
            return Url("", parameters or {})
        plain = normalize_url(rendered)
        if not is_ssh(text) and not self.sites.mentions(plain, self.task_sites):
            raise self._build_address_error(text, rendered, plain)
        url = self._parse_literal(rendered, self._render(text))
        return url if parameters is None else replace(url, query=parameters)

    def _build_address_error(self, text: str, rendered: str, plain: str) -> EvaluationError:
        """The error of an expected URL without an address of the task's sites, as it is or once it is normalized."""
        if plain != rendered and self.sites.mentions(rendered, self.task_sites):
            for site in self.task_sites:
                if text.startswith(placeholder(site)):  # it is the configuration that is wrong
                    url = self.sites.environments[site].url
                    advice = "write the normalized URL there, or use rules that normalize it"
                    return EvaluationError(f"the configured URL {url!r} of {site} is not in its normal form; {advice}")
            return EvaluationError(f"{text!r} does not match its normalized URL {plain!r}; write the normalized URL")
        problem = _format_site_problem(f"{text!r} is not at an address of a site of the task", self.task_sites)
        return EvaluationError(problem, code=OTHER_ADDRESS)

    def _unresolved_base(self, text: str) -> str | None:
        """The base of a URL with what the reference resolves left in it, None where there is nothing to resolve."""
        if not has_path_tricks(text):
            return None
        unresolved = text if has_dot_segments(text) else normalize_keeping_slashes(text)
        path = self._split_base64(path_of(unresolved))[0] if self.decode_base64 else path_of(unresolved)
        fragment = split_normal(normalize_url(text)).fragment
        return self.sites.derender(f"{path}#{fragment}" if fragment else path, self.task_sites)

    def _parse_literal(self, text: str, sent: str) -> Url:
        if not text:
            raise EvaluationError("cannot compare an empty URL; re-record the run")
        parts = split_normal(self.sites.derender(normalize_url(text), self.task_sites))
        path, encoded_pairs = self._split_base64(parts.path) if self.decode_base64 else (parts.path, [])
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        base = urlunsplit((parts.scheme, parts.netloc, path, "", parts.fragment))
        query = self._group_query([(unquote(name), unquote_plus(value)) for name, value in pairs + encoded_pairs])
        if self.rules.single_decoding and not is_ssh(text):
            query = self._decode_once(sent, parts.path, query)
        return Url(base, query, unresolved=self._unresolved_base(text))

    def _decode_once(self, sent: str, path: str, decoded_twice: Query) -> Query:
        """The query of a URL as servers read it, of which the text as it was sent is decoded once (Q60)."""
        pairs = parse_qsl(query_of(sent), keep_blank_values=True)
        if self.decode_base64:
            texts = filter(None, map(_decode_base64, path.split("/")))
            pairs += [pair for text in texts for pair in parse_qsl(text.lstrip("?&"), keep_blank_values=True)]
        query = self._group_query([(name, self.sites.derender(value, self.task_sites)) for name, value in pairs])
        if query != decoded_twice:
            self.notice("single_decoding", sent[:80])
        return query

    def _group_query(self, pairs: list[tuple[str, str]]) -> Query:
        values_by_name: dict[str, list[str]] = {}
        for name, value in pairs:
            if not self.is_ignored(name):
                values_by_name.setdefault(name, []).append(value.lower().strip())
        return {name: tuple(sorted(values)) for name, values in values_by_name.items()}

    def is_ignored(self, name: str) -> bool:
        """Whether a parameter is not compared."""
        return name in self.ignored or any(search(pattern, name, re.IGNORECASE) for pattern in self._patterns)

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        """The patterns of ignored parameters; an invalid pattern matches nothing."""
        return tuple(filter(is_pattern, self.ignored_patterns))

    @cached_property
    def has_special_addresses(self) -> bool:
        """Whether an active address has a character with a meaning in patterns, besides dots."""
        environments = (self.sites.environments.get(site) for site in self.task_sites)
        return any(_SPECIAL.search(each.url) for each in environments if each is not None and each.urls)

    def _split_base64(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        segments, pairs = [], []
        for segment in path.split("/"):
            decoded = _decode_base64(segment)
            if decoded is None:
                segments.append(segment)
            else:
                pairs += parse_qsl(unquote(decoded).lstrip("?&"), keep_blank_values=True)
        return "/".join(segments), pairs


def _format_unknown_site(text: str, sites: Sequence[str]) -> str:
    """The message for an expected URL that begins with a placeholder of another task's site."""
    return _format_site_problem(f"{text!r} does not start with a site of the task", sites)


def _format_site_problem(problem: str, sites: Sequence[str]) -> str:
    if not sites:
        return f"{problem}, which has none; add the site of the URL to the sites of the task"
    return f"{problem}; start it with {', '.join(map(placeholder, sites))}, or add the site to the task"


def _decode_base64(segment: str) -> str | None:
    if not _BASE64_SEGMENT.fullmatch(segment):
        return None
    try:
        text = base64.urlsafe_b64decode(segment.rstrip("=") + "=" * (-len(segment.rstrip("=")) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    return text if "=" in text else None


def bases_match(expected: Url, actual: Url, reader: UrlMatcher) -> bool:
    """Whether two URLs name the same place, whatever their queries (spec §4.8). Raises `EvaluationError`.

    A closed hole may only take a match away: where the reference finds none, there is none. But for an address such as
    `http://[::1]`, which means another thing in a pattern, and matches as it is written.
    """
    if actual.is_pattern and _same_place(actual, actual.base, expected.base, reader, escape=False):
        return True  # Q1: a site asked to be matched
    rules, is_pattern = reader.rules, expected.is_pattern
    if not _same_place(expected, expected.base, actual.base, reader, escape=False):
        if not (is_pattern and rules.escaped_hosts and reader.has_special_addresses):
            return False
        is_same = _same_place(expected, expected.base, actual.unresolved or actual.base, reader, escape=True)
        if is_same:
            reader.notice("escaped_hosts", actual.base[:80])
        return is_same
    holds = {}  # whether the match still holds with each hole closed that the rules close
    if rules.unresolved_paths and actual.unresolved is not None:
        base = expected.unresolved or expected.base
        holds["unresolved_paths"] = _same_place(expected, base, actual.unresolved, reader, escape=False)
    if rules.escaped_hosts and is_pattern:
        holds["escaped_hosts"] = _same_place(expected, expected.base, actual.base, reader, escape=True)
    for switch in (violated := [switch for switch, is_held in holds.items() if not is_held]):
        reader.notice(switch, actual.base[:80])
    return not violated


def matches_in_reference(expected: Url, actual: Url, reader: UrlMatcher) -> bool:
    """Whether two URLs name the same place to the reference, unless they do only because a host is a wildcard."""
    if not _same_place(expected, expected.base, actual.base, reader, escape=False):
        return False
    if not expected.is_pattern or _same_place(expected, expected.base, actual.base, reader, escape=True):
        return True
    reader.notice("escaped_hosts", actual.base[:80])
    return not reader.rules.escaped_hosts


def _same_place(expected: Url, base: str, place: str, reader: UrlMatcher, *, escape: bool) -> bool:
    if not expected.is_pattern:
        return base.lower().rstrip("/") == place.lower().rstrip("/")
    try:
        return match(reader.render_expected(base, escape=escape), reader.render_base(place))
    except InvalidPattern:
        raise EvaluationError(f"invalid regular expression {base!r}; fix the url of the task") from None


def queries_match(expected: Query, actual: Query) -> bool:
    """Whether the first value of each parameter agrees; missing and empty are the same (spec §4.5).

    Raises `EvaluationError` for an invalid pattern.
    """
    matches = []  # each pattern is read
    for name in sorted({*expected, *actual}):
        wanted, sent = ((query.get(name) or ("",))[0] for query in (expected, actual))
        try:
            matches.append(match(wanted, sent) if looks_like_pattern(wanted) else wanted == sent)
        except InvalidPattern:
            raise EvaluationError(f"invalid regular expression {wanted!r} in query_params; fix the task") from None
    return all(matches)


def build_prefilter(urls: Iterable[Url], reader: UrlMatcher) -> Callable[[str], bool] | None:
    """A check whether a recorded URL certainly has none of the bases of a task's URLs, compared as `bases_match` does.

    None where the bases cannot be listed, as for a pattern. Of a URL that has to be normalized first, it says false.
    """
    expected = list(urls)
    environments = [each for site in reader.task_sites if (each := reader.sites.environments.get(site))]
    # An address that does not look like one may stand across the mark of a query.
    are_plain = all(":" in url and "?" not in url for environment in environments for url in environment.urls)
    if reader.decode_base64 or any(url.is_pattern for url in expected) or not are_plain:
        return None
    bases = frozenset(_comparable(url.base) for url in expected)

    def excludes(raw: str) -> bool:
        head, mark, query = raw.partition("?")
        if not is_normal(head) or _AMBIGUOUS_QUERY.search(query):
            return False
        base = head if mark or head.count("/") == _SLASHES_OF_A_ROOT else head.rstrip("/")
        return _comparable(reader.sites.derender(base, reader.task_sites)) not in bases

    return excludes


def _comparable(base: str) -> str:
    return base.lower().rstrip("/")
