"""One recorded event against the event that a task expects, field by field (spec §4.3, §4.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING
from typing import Any

from pytest_webeval.bodies import fields_of
from pytest_webeval.comparison import Comparison
from pytest_webeval.comparison import failed
from pytest_webeval.comparison import passed
from pytest_webeval.comparison import shown
from pytest_webeval.errors import EvaluationError
from pytest_webeval.projection import ABSENT
from pytest_webeval.projection import project
from pytest_webeval.schema import TreeReader
from pytest_webeval.tasks import ExpectedEvent
from pytest_webeval.tasks import NetworkExpectation
from pytest_webeval.urls import Query
from pytest_webeval.urls import Url
from pytest_webeval.urls import UrlReader
from pytest_webeval.urls import bases_match
from pytest_webeval.urls import queries_match
from pytest_webeval.values.base import Reading

if TYPE_CHECKING:
    from pytest_webeval.evaluators.base import Case
    from pytest_webeval.network import Body
    from pytest_webeval.network import NetworkEvent
    from pytest_webeval.results import Assertion

URL_HEADERS = ("referer", "redirect_url")
PATH = "network_event"


@dataclass(frozen=True)
class EventMatcher:
    """Compares events of one run with one expectation. What the task wrote is read once."""

    wanted: NetworkExpectation
    case: Case

    @property
    def event(self) -> ExpectedEvent:
        """The event as the task spells it."""
        return self.wanted.expected

    @cached_property
    def urls(self) -> UrlReader:
        """How URLs are read here."""
        return UrlReader(
            sites=self.case.sites,
            task_sites=tuple(self.case.task.sites),
            ignored=tuple(self.wanted.ignored_query_params or ()),
            ignored_patterns=tuple(self.wanted.ignored_query_params_patterns or ()),
            decode_base64=self.wanted.decode_base64_query,
        )

    @cached_property
    def expected_urls(self) -> tuple[Url, ...]:
        """The alternatives of the expected URL. Raises `EvaluationError`."""
        return self.urls.expected(self.event.url, self.event.query_params)

    @cached_property
    def expected_post(self) -> dict[str, Any] | None:
        """The expected post data as values. Raises `EvaluationError`."""
        if self.event.post_data is None:
            return None
        kept = {key: raw for key, raw in self.event.post_data.items() if not self._is_ignored(key)}
        if not kept:
            raise EvaluationError("post_data has at least one key; the ignored patterns leave none")
        return self._typed(kept, self.case.expected_reading, strict=True)

    def same_place(self, raw: str, expected: tuple[Url, ...]) -> bool:
        """Whether a recorded URL has the base of one of the expected ones."""
        actual = self.urls.actual(raw)
        return any(bases_match(url, actual, self.urls, escape=self.case.rules.escaped_hosts) for url in expected)

    def expected_header_urls(self, name: str) -> tuple[Url, ...]:
        """The alternatives of an expected header that is a URL."""
        raw: Any = (self.event.headers or {})[name]
        return self.urls.expected(raw)

    def normalize_expected(self) -> None:
        """Read all that the task wrote, so that its mistakes show whatever was recorded. Raises `EvaluationError`."""
        _ = self.expected_post
        for url in self.expected_urls:
            self._typed_query(url.query, url.query, self.case.expected_reading, strict=True)
        for name, raw in (self.event.headers or {}).items():
            _ = self.expected_header_urls(name) if name in URL_HEADERS else self._texts({name: raw}, strict=True)
        self._cookie_texts(self.event.response_cookies or {}, strict=True)

    def assertions(self, event: NetworkEvent) -> list[Assertion]:
        """One assertion or more for each field that the task names. All hold for a match."""
        return [
            *self._url(event.url, self.expected_urls, "url"),
            self._exact("http_method", self.event.http_method, event.method),
            self._exact("response_status", self.event.response_status, event.status),
            *self._headers(event),
            *self._post(event),
            *self._content(event),
            *self._cookies(event),
        ]

    def _exact(self, name: str, expected: object, actual: object) -> Assertion:
        if expected == actual:
            return passed(f"{PATH}.{name}_match", shown(actual))
        return failed(f"{PATH}.{name}_mismatch", f"expected {shown(expected)}", f"got {shown(actual)}")

    def _url(self, raw: str, expected: tuple[Url, ...], field: str) -> Iterator[Assertion]:
        actual = self.urls.actual(raw)
        here = [url for url in expected if self.same_place(raw, (url,))]
        if not here:
            wanted = " or ".join(url.base for url in expected)
            yield failed(f"{PATH}.{field}_mismatch", f"expected {wanted}", f"got {actual.base}")
            return
        yield passed(f"{PATH}.{field}_match", actual.base)
        query = "query_params" if field == "url" else f"{field}.query_params"
        same = self._same_query if field == "url" else queries_match
        if any(same(url.query, actual.query) for url in here):
            yield passed(f"{PATH}.{query}_match", shown(actual.query))
        else:
            wanted = " or ".join(shown(url.query) for url in here)
            yield failed(f"{PATH}.{query}_mismatch", f"expected {wanted}", f"got {shown(actual.query)}")

    def _same_query(self, expected: Query, actual: Query) -> bool:
        if not self._query_types:
            return queries_match(expected, actual)
        extra = {name: values for name, values in actual.items() if name not in expected}
        wanted = self._typed_query(expected, expected, self.case.expected_reading, strict=True)
        found = self._typed_query(expected, actual, self.case.actual_reading, strict=False)
        return queries_match({}, extra) and Comparison().equal(wanted, found)

    @property
    def _query_types(self) -> Mapping[str, Any]:
        return (self.wanted.query_params_schema or {}).get("properties") or {}

    def _typed_query(self, names: Iterable[str], query: Query, reading: Reading, *, strict: bool) -> dict[str, Any]:
        values = {name: list(query.get(name, ())) for name in names}
        return _typed_members(values, self._query_types, reading, strict=strict) if self._query_types else {}

    def _headers(self, event: NetworkEvent) -> Iterator[Assertion]:
        for name, expected in sorted((self.event.headers or {}).items()):
            path, actual = f"headers.{name}", event.header(name)
            if actual is None:
                yield failed(
                    f"{PATH}.{path}_none_mismatch", f"expected {shown(expected)}", "the request has no such header"
                )
            elif name in URL_HEADERS:
                yield from self._url(actual, self.expected_header_urls(name), path)
            else:
                wanted, found = self._texts({name: expected}, strict=True), self._texts({name: actual}, strict=False)
                yield from Comparison(extra_keys=True).compare(wanted, found, f"{PATH}.headers")

    def _texts(self, members: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
        reading = self.case.expected_reading if strict else self.case.actual_reading
        return _typed_members(members, {}, reading, strict=strict)

    def _cookie_texts(self, members: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
        reading = self.case.expected_reading if strict else self.case.actual_reading
        as_sent = replace(reading, derender=str)  # spec §5.1: cookies keep the addresses of sites
        return _typed_members(members, {}, as_sent, strict=strict)

    def _post(self, event: NetworkEvent) -> Iterator[Assertion]:
        if self.expected_post is None:
            return
        fields = fields_of(self._used(event.read_post()))
        found = None if fields is None else self._typed_actual(fields)
        yield from Comparison(extra_keys=True).compare(self.expected_post, found, f"{PATH}.post_data")

    def posted(self, event: NetworkEvent) -> dict[str, Any] | None:
        """What an event posted under the keys that the task asks for."""
        fields = fields_of(event.read_post())
        return None if fields is None or self.expected_post is None else self._typed_actual(fields)

    def _typed_actual(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in fields.items() if not self._is_ignored(name)}
        return self._typed(project(self.expected_post or (), kept), self.case.actual_reading, strict=False)

    def _typed(self, members: Mapping[str, Any], reading: Reading, *, strict: bool) -> dict[str, Any]:
        schema = (self.wanted.post_data_schema or {}).get("properties") or {}
        return _typed_members(members, schema, reading, strict=strict)

    def content(self, event: NetworkEvent) -> dict[str, Any] | None:
        """What a response holds under the keys that the task asks for."""
        if self.event.response_content is None:
            return None
        fields = fields_of(self._used(event.read_content()))
        return None if fields is None else project(self.event.response_content, fields, ABSENT)

    def _content(self, event: NetworkEvent) -> Iterator[Assertion]:
        if self.event.response_content is not None:
            comparison = Comparison(extra_keys=True)
            yield from comparison.compare(self.event.response_content, self.content(event), f"{PATH}.response_content")

    def _cookies(self, event: NetworkEvent) -> Iterator[Assertion]:
        if self.event.response_cookies is not None:
            wanted = self._cookie_texts(self.event.response_cookies, strict=True)
            found = self._cookie_texts(event.response_cookies, strict=False)
            yield from Comparison(extra_keys=True).compare(wanted, found, f"{PATH}.response_cookies")

    def _is_ignored(self, name: str) -> bool:
        return any(_searches(pattern, name) for pattern in self.wanted.ignored_post_data_params_patterns or ())

    def _used(self, body: Body | None) -> Body | None:
        if body is not None and body.side_file:
            note = f"a body was read from the side file {body.side_file}, which WebArena-Verified 1.2.3 cannot read"
            if note not in self.case.warnings:
                self.case.warnings.append(note)
        return body


def _typed_members(
    raw: Mapping[str, Any], schema: Mapping[str, Any], reading: Reading, *, strict: bool
) -> dict[str, Any]:
    reader = TreeReader(reading, strict, PATH)
    return {key: reader.member(value, schema.get(key), f"{PATH}.{key}") for key, value in raw.items()}


def _searches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error as error:
        raise EvaluationError(f"{pattern!r} in ignored_post_data_params_patterns is no pattern: {error}") from error
