"""Whether a forbidden request was sent (spec §4.7).

A required request must match in every reading, a forbidden one in any: as it was sent, or as a server may understand
it, at every known address of its site. Absence is claimed only where everything could be read.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from urllib.parse import parse_qsl

from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.evaluators.network.urls import Url, matches_in_reference
from pytest_webeval.evaluators.site_visits import format_unvisited, read_server
from pytest_webeval.evaluators.url_readings import SentUrl, Server, read_path, read_query, split_sent
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.results import WarningKind
from pytest_webeval.safety import regex
from pytest_webeval.safety.text import pluralize
from pytest_webeval.tasks.sites import placeholder
from pytest_webeval.values.url_normalization import fold_authority, has_path_tricks

RULE = "forbidden_readings"
SECONDS = 30.0  # for all requests of a run
MAX_NAMED = 3
OVERRIDABLE = ("PUT", "PATCH", "DELETE")  # methods that a form cannot have
_NEGATIONS = ("(?!", "(?<!")
_MARKS = ("\\?", "[?]")  # of a query, in a pattern
_OVERRIDE_HEADERS = ("x-http-method-override", "x-http-method", "x-method-override")
_OVERRIDE_FIELD = "_method"


class Address(Struct, frozen=True):
    """One address of a site, and the active one, for which expectations are rendered."""

    site: str
    server: Server
    prefix: str
    active: str

    def render(self, path: str) -> str | None:
        """A path on the server as a URL at the active address; None for one that is not on the site."""
        rest = path[len(self.prefix) :]
        is_below = path[: len(self.prefix)].lower() == self.prefix.lower() and rest[:1] in ("", "/")
        return self.active + rest if is_below else None


class ForbiddenSearch(Struct, frozen=True, dict=True):
    matcher: EventMatcher
    case: Case
    _places: dict[str, set[str]] = field(default_factory=dict)

    def list_sent(self) -> list[NetworkEvent]:
        """The forbidden requests. Raises `EvaluationError` if there is none, and nobody can know that.

        A request of the kind at a host that no configuration names is a warning.
        """
        sent, elsewhere, problems = self._sort_events()
        undeclared = [] if sent else [event for event in elsewhere if self._is_undeclared(event)]
        problems += [] if sent else self._list_gaps(undeclared)
        if sent or problems:
            self._notice(sent)
        if problems and not sent:
            listed, more = "; ".join(problems[:MAX_NAMED]), len(problems) - MAX_NAMED
            rest = f"; and {pluralize(more, 'more problem')}" if more > 0 else ""
            raise EvaluationError(f"cannot decide whether a forbidden request was sent: {listed}{rest}")
        if undeclared:
            advice = "if it is the site, add it to environments in --webeval-config"
            self.case.warn(f"{self._describe(undeclared)}; {advice}", WarningKind.UNDECLARED_HOST)
        return sent

    def _sort_events(self) -> tuple[list[NetworkEvent], list[NetworkEvent], list[str]]:
        """The forbidden requests, others with the method, and what cannot be read."""
        sent: list[NetworkEvent] = []
        elsewhere: list[NetworkEvent] = []
        problems: list[str] = []
        deadline = time.monotonic() + SECONDS
        for event in self.case.trace.events:
            if time.monotonic() > deadline:  # each pattern has a time of its own, and there may be very many URLs
                problems.append(f"the search took longer than {SECONDS:g} s; use a simpler pattern")
                break
            try:
                method = event.method.upper().strip()
                is_asset = event.is_asset and method == "GET"
                is_own = method == self._method or (method == "POST" and self._method in OVERRIDABLE)
                if not is_asset and (is_own or not self._method):
                    (sent if self._was_sent(event, method) else elsewhere).append(event)
            except EvaluationError as error:
                problems.append(str(error))
        return sent, elsewhere, problems

    def _notice(self, sent: list[NetworkEvent]) -> None:
        """Keep in mind which rules may have decided: without this one, others would have looked at the same."""
        self.case.notice(RULE, sent[0].name if sent else "the trace")
        if self.case.trace.pending:
            self.case.notice("repaired_traces", "entries without a request")
        for event in sent:
            if has_path_tricks(event.url):
                self.case.notice("unresolved_paths", event.name)
            if fold_authority(event.url) != event.url:
                self.case.notice("ignored_users", event.name)
            if any(url.is_pattern for url in self.matcher.expected_urls):
                self.case.notice("escaped_hosts", event.name)
            with suppress(EvaluationError):  # damaged headers hide no request
                if event.has_null_header:
                    self.case.notice("null_headers", event.name)

    @cached_property
    def _method(self) -> str:
        return self.matcher.event.http_method.upper().strip()

    def _was_sent(self, event: NetworkEvent, method: str) -> bool:
        """Whether a request is the forbidden one in any reading. Raises `EvaluationError` if that cannot be known."""
        urls = self.matcher.expected_urls
        if not any(self._matches(url, event.url) for url in urls):
            return False
        if self._method and method != self._method:
            methods = (str(value).strip().upper() for value in self._list_overrides(event))  # read as far as needed
            if self._method not in methods:
                return False
        if not self.matcher.has_expected_referer(event, lambda raw, urls: any(self._matches(url, raw) for url in urls)):
            return False
        self.matcher.check(event)
        return True

    def _list_overrides(self, event: NetworkEvent) -> Iterator[object]:
        """The methods as which a POST asks a server to read it. Raises `EvaluationError` if that cannot be known."""
        yield from (event.header(name) for name in _OVERRIDE_HEADERS)
        sent = split_sent(event.url)
        yield from (value for name, value in parse_qsl("" if sent is None else sent.query) if name == _OVERRIDE_FIELD)
        for fields in self.matcher.bodies.reader.read_post(event, (_OVERRIDE_FIELD,)):
            yield fields.first.get(_OVERRIDE_FIELD)
            yield from fields.repeated.get(_OVERRIDE_FIELD, ())

    def _matches(self, expected: Url, raw: str) -> bool:
        limits = self.case.run.inputs.limits
        sent = split_sent(raw)
        if len(raw) > limits.string_length:
            if sent is None:
                return False  # as a data: URL, which leads to no server
            raise EvaluationError(f"a URL has {len(raw):,} characters; {limits.describe('string_length')}")
        addresses = [] if sent is None else [each for each in self._addresses if each.server.is_same(sent.server)]
        if sent is not None and self._matches_at(expected, sent, addresses):
            return True
        return matches_in_reference(expected, self.matcher.urls.actual(raw), self.matcher.urls)

    def _matches_at(self, expected: Url, sent: SentUrl, addresses: list[Address], *, anywhere: bool = False) -> bool:
        """Whether the sent URL may be the expected one, at these addresses of sites or as it is."""
        paths = read_path(sent.path)
        if self.matcher.expectation.decode_base64_query:
            paths = tuple(dict.fromkeys((*paths, *map(self.matcher.urls.drop_base64, paths))))
        at_sites = [text for path in paths for address in addresses if (text := address.render(path)) is not None]
        as_sent = [] if anywhere else [f"{sent.server.text}{path}" for path in paths]
        if expected.is_pattern:
            return self._accepts(expected.base, at_sites, as_sent, sent.query)
        fragment = expected.base.partition("#")[2]
        if fragment and fragment.lower() != sent.fragment.lower():
            return False
        return not self._list_places(expected).isdisjoint(text.lower() for text in (*at_sites, *as_sent))

    def _list_places(self, expected: Url) -> set[str]:
        """The readings of an expected URL, at the active address: it is encoded once, as the task writes it."""
        if expected.base not in self._places:
            places = self._places[expected.base] = set()
            for base in (expected.base, expected.unresolved or expected.base):
                scheme, mark, rest = self.matcher.urls.render_base(base).partition("#")[0].partition("://")
                host, slash, path = rest.partition("/")
                readings = read_path(f"{slash}{path}", 1, parameters=False)
                places |= {f"{scheme}{mark}{host}{reading}".lower() for reading in readings}
        return self._places[expected.base]

    def _accepts(self, pattern: str, at_sites: list[str], as_sent: list[str], query: str) -> bool:
        """Whether a pattern accepts one of these texts.

        One that excepts requests would accept those of the exception in some readings: with a query, a last slash, or
        another address. So they are texts only for a pattern that can mean them.
        """
        names_site, is_negated = pattern.startswith("^__"), any(mark in pattern for mark in _NEGATIONS)
        texts = [*as_sent, *(at_sites if names_site or not is_negated else ())]
        if not pattern.endswith("/$"):
            texts = [text.rstrip("/") for text in texts]
        queries = ["", *(f"?{text}" for text in read_query(query))] if any(m in pattern for m in _MARKS) else [""]
        rendered = self.matcher.urls.render_expected(pattern)
        return any(
            regex.match(rendered, text + each, re.IGNORECASE) for text in dict.fromkeys(texts) for each in queries
        )

    @cached_property
    def _addresses(self) -> tuple[Address, ...]:
        return tuple(
            Address(site, sent.server, sent.path.rstrip("/"), environment.url.rstrip("/"))
            for site in self.case.task.sites
            if (environment := self.case.sites.environments.get(site))
            for url in environment.recorded_urls
            if (sent := split_sent(url)) is not None
        )

    @cached_property
    def _named_sites(self) -> tuple[str, ...]:
        """The sites at which the forbidden request would be."""
        bases = [url.base.removeprefix("^") for url in self.matcher.expected_urls]
        return tuple(site for site in self.case.task.sites if any(base.startswith(placeholder(site)) for base in bases))

    def _is_undeclared(self, event: NetworkEvent) -> bool:
        """Whether a request would be the forbidden one at the site, and is at a host of no site."""
        sent = split_sent(event.url)
        if sent is None or any(server.is_same(sent.server) for server in self._declared_servers):
            return False
        named = [address for address in self._addresses if address.site in self._named_sites]
        return any(self._matches_at(url, sent, named, anywhere=True) for url in self.matcher.expected_urls)

    @cached_property
    def _declared_servers(self) -> list[Server]:
        configured = (self.case.sites, self.case.configured_sites)
        urls = [url for sites in configured for each in sites.environments.values() for url in each.urls]
        return [sent.server for sent in map(split_sent, urls) if sent is not None]

    def _list_gaps(self, undeclared: list[NetworkEvent]) -> Iterator[str]:
        """What keeps anybody from knowing that nothing was sent."""
        if undeclared and not self.case.configured_sites.covers(self.case.task.sites):
            yield f"{self._describe(undeclared)}, and no URL is configured; pass one: --webeval-config=FILE"
        visited = {server for event in self.case.trace.events if (server := read_server(event))}
        sites = {each.site for each in self._addresses if any(each.server.is_same(server) for server in visited)}
        if visited and (undeclared or not sites):
            for site in self._named_sites:
                if site not in sites:
                    yield format_unvisited(self.case.sites, [site], self.case.trace.events) or f"{site} was not visited"

    def _describe(self, undeclared: list[NetworkEvent]) -> str:
        event = undeclared[0]
        more = f" and {len(undeclared) - 1} more" if len(undeclared) > 1 else ""
        return f"forbidden request at an undeclared host: {event.name}{more}: {event.method} {event.url[:200]}"
