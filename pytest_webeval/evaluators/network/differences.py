"""In which fields the event that came nearest differs from the one that a task expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

from msgspec import Struct

from pytest_webeval.diagnostics.difference import (
    DIFFERENT,
    EXTRA,
    MISSING,
    MOST_CANDIDATES,
    UNREADABLE,
    Difference,
    Explanation,
    truncate_json,
)
from pytest_webeval.diagnostics.tree_diff import differences
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.network.body_matcher import PATH
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.evaluators.network.urls import Query, Url, queries_match
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.results import Assertion, Status
from pytest_webeval.values.comparison import UNAVAILABLE

SameQuery = Callable[[Query, Query], bool]


def explain_absence(expected: dict[str, Any]) -> Explanation:
    """The explanation where nothing was recorded that could have come near."""
    return Explanation([Difference(PATH, MISSING, expected)])


def event_to_json(event: NetworkEvent, url: str, total: int, status: int | None) -> dict[str, Any]:
    """An event of so many as explanations name it. Raises `EvaluationError` where it is damaged."""
    return {
        "index": event.index,
        "of": total,
        "method": str(event.method),
        "url": truncate_json(url),
        "status": status,
    }


def list_candidates(candidates: Sequence[NetworkEvent], nearest: NetworkEvent) -> list[int]:
    """Positions of the candidates, the nearest among them; of many the last ones."""
    positions = [event.index for event in candidates]
    if len(positions) <= MOST_CANDIDATES:
        return positions
    return sorted({*positions[1 - MOST_CANDIDATES :], nearest.index})


class EventDiff(Struct, frozen=True):
    """One event with its assertions: only fields whose assertions failed are compared in detail."""

    matcher: EventMatcher
    event: NetworkEvent
    assertions: Sequence[Assertion]

    def all(self) -> Iterator[Difference]:
        """Each field in which the event differs; one that should not be there differs as a whole."""
        if self.matcher.expectation.should_not_exist:
            yield Difference(PATH, EXTRA, None, self.matcher.urls.actual(self.event.url).text)
        else:
            yield from self._compare_fields()

    def _compare_fields(self) -> Iterator[Difference]:
        expected, event, bodies = self.matcher.event, self.event, self.matcher.bodies
        yield from self._compare_url(event.url, self.matcher.expected_urls, "url")
        yield from self._compare_plain("http_method", expected.http_method, str(event.method))
        yield from self._compare_plain("response_status", expected.response_status, event.status)
        yield from self._compare_headers()
        if self._did_not_hold(f"post_data{UNAVAILABLE}"):
            yield Difference("post_data", UNREADABLE, bodies.expected_post)
        elif self._is_wrong("post_data"):
            comparison = self.matcher.case.comparison(extra_keys=True)
            yield from differences(comparison, bodies.expected_post, bodies.posted(event), "post_data")
        if self._did_not_hold(f"response_content{UNAVAILABLE}"):
            yield Difference("response_content", UNREADABLE, expected.response_content)
        elif self._is_wrong("response_content"):
            comparison = self.matcher.case.comparison(extra_keys=True)
            yield from differences(comparison, expected.response_content, bodies.content(event), "response_content")
        if self._is_wrong("response_cookies"):
            cookies = self.matcher.expected_cookies, self.matcher.cookies(event)
            yield from differences(self.matcher.case.comparison(extra_keys=True), *cookies, "response_cookies")

    def _is_wrong(self, field: str) -> bool:
        """Whether anything in a field or below it did not hold."""
        begins = tuple(f"{PATH}.{field}{after}" for after in ("_", ".", "["))
        return any(
            assertion.status is not Status.SUCCESS and assertion.assertion_name.startswith(begins)
            for assertion in self.assertions
        )

    def _did_not_hold(self, name: str) -> bool:
        return any(
            assertion.status is not Status.SUCCESS and assertion.assertion_name == f"{PATH}.{name}"
            for assertion in self.assertions
        )

    def _compare_plain(self, field: str, expected: object, actual: object) -> Iterator[Difference]:
        if self._did_not_hold(f"{field}_mismatch"):
            yield Difference(field, MISSING if actual is None else DIFFERENT, expected, actual)

    def _compare_url(self, raw: str, expected: Sequence[Url], field: str) -> Iterator[Difference]:
        query, same = "query_params", self.matcher.same_query
        if field != "url":
            query, same = f"{field}.query_params", queries_match
        if self._did_not_hold(f"{field}_mismatch"):
            yield self._other_url(raw, expected, field)
        if self._did_not_hold(f"{query}_mismatch"):
            same_bases = [url.query for url in expected if self.matcher.same_place(raw, (url,))]
            yield from _compare_queries(same_bases, self.matcher.urls.actual(raw), query, same)

    def _other_url(self, raw: str, expected: Sequence[Url], field: str) -> Difference:
        expected_bases = _unwrap_single([url.base for url in expected])
        try:
            return Difference(field, DIFFERENT, expected_bases, self.matcher.urls.actual(raw).base_text)
        except EvaluationError:
            return Difference(field, UNREADABLE, expected_bases, raw)

    def _compare_headers(self) -> Iterator[Difference]:
        expected_headers = self.matcher.event.headers
        if expected_headers == {}:
            yield Difference("headers", DIFFERENT, {}, None)
        for name, expected in sorted((expected_headers or {}).items()):
            path, actual = f"headers.{name}", self.event.header(name)
            if actual is None:
                yield Difference(path, MISSING, expected)
            elif self.matcher.never_matches(name):
                yield Difference(path, DIFFERENT, expected, actual)
            elif self.matcher.is_url_header(name):
                yield from self._compare_url(actual, self.matcher.expected_header_urls(name), path)
            elif self._is_wrong(path):
                texts = self.matcher.expected_text(name), self.matcher.parse_header(name, actual)
                yield from differences(self.matcher.case.comparison(extra_keys=True), *texts, "headers")


def build_explanation(diff: EventDiff, candidates: Sequence[NetworkEvent]) -> Explanation:
    """The explanation where an event came near, or is there although it should not. Raises `EvaluationError`."""
    event, matcher = diff.event, diff.matcher
    url, total = matcher.urls.actual(event.url).text, len(matcher.case.run.trace.all_events)
    nearest = event_to_json(event, url, total, event.status)
    return Explanation(diff.all(), nearest, list_candidates(candidates, diff.event))


def _compare_queries(expected: Sequence[Query], actual: Url, path: str, same: SameQuery) -> Iterator[Difference]:
    """Each parameter that differs from the alternative that comes nearest."""
    wrong = [(query, _wrong_parameters(query, actual.query, same)) for query in expected]
    query, names = min(wrong, key=lambda pair: len(pair[1]))
    for name in names:
        kind = MISSING if name not in actual.query else DIFFERENT if name in query else EXTRA
        yield Difference(f"{path}.{name}", kind, _values(query, name), _read_sent(actual, name))


def _wrong_parameters(expected: Query, actual: Query, same: SameQuery) -> list[str]:
    return [
        name
        for name in sorted({*expected, *actual})
        if not same(_single_parameter(expected, name), _single_parameter(actual, name))
    ]


def _single_parameter(query: Query, name: str) -> Mapping[str, tuple[str, ...]]:
    return {name: query[name]} if name in query else {}


def _values(query: Query, name: str) -> Any:
    return _unwrap_single(query[name]) if name in query else None


def _read_sent(actual: Url, name: str) -> Any:
    """The values of a parameter that were sent, decoded once and in their own case, to compare them by eye."""
    return _values({name: tuple(map(unquote_plus, actual.sent_query[name]))}, name) if name in actual.query else None


def _unwrap_single(values: Sequence[str]) -> Any:
    return values[0] if len(values) == 1 else list(values)
