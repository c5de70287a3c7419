"""In which fields the event that came nearest differs from the one that a task expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

from msgspec import Struct

from pytest_webeval.diagnostics.difference import MOST_CANDIDATES, build_explanation, differ, differences, truncate_json
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.network.body_matcher import PATH
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.evaluators.network.urls import Query, Url, queries_match
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.results import (
    DIFFERENT,
    EXTRA,
    MISSING,
    UNREADABLE,
    Assertion,
    Difference,
    Explanation,
    NamedEvent,
    list_failed,
)
from pytest_webeval.values.comparison import UNAVAILABLE

SameQuery = Callable[[Query, Query], bool]


def explain_absence(expected: dict[str, Any]) -> Explanation:
    """The explanation where nothing was recorded that could have come near."""
    return build_explanation([differ(PATH, MISSING, expected)])


def explain_event(found: Iterable[Difference], nearest: NamedEvent, candidates: Sequence[NetworkEvent]) -> Explanation:
    """The explanation where an event came near, or is there although it should not.

    It has the positions of the candidates, the nearest among them; of many the last ones.
    """
    positions = [event.index for event in candidates]
    if len(positions) > MOST_CANDIDATES:
        positions = sorted({*positions[1 - MOST_CANDIDATES :], nearest.index})
    return build_explanation(found, nearest, positions)


def name_event(event: NetworkEvent, url: str, total: int, status: int | None) -> NamedEvent:
    """An event of so many as explanations name it. Raises `EvaluationError` where it is damaged."""
    return NamedEvent(event.index, total, str(event.method), truncate_json(url), status)


def diff_event(matcher: EventMatcher, event: NetworkEvent, assertions: Iterable[Assertion]) -> Iterator[Difference]:
    """Each field in which an event differs; one that should not be there differs as a whole.

    Only fields whose assertions failed are compared in detail. Raises `EvaluationError`.
    """
    if matcher.expectation.should_not_exist:
        return iter([differ(PATH, EXTRA, None, matcher.urls.actual(event.url).text)])
    wrong = [each.assertion_name.removeprefix(f"{PATH}.") for each in list_failed(assertions)]
    return _EventDiff(matcher, event, wrong).list_all()


class _EventDiff(Struct, frozen=True):
    matcher: EventMatcher
    event: NetworkEvent
    wrong: Sequence[str]  # the names of assertions that failed, without what all begin with

    def list_all(self) -> Iterator[Difference]:
        matcher, event, bodies = self.matcher, self.event, self.matcher.bodies
        expected, comparison = matcher.event, matcher.case.comparison(extra_keys=True)
        yield from self._compare_url(event.url, matcher.expected_urls, "url")
        yield from self._compare_plain("http_method", expected.http_method, str(event.method))
        yield from self._compare_plain("response_status", expected.response_status, event.status)
        yield from self._compare_headers()
        for field, wanted, read in (
            ("post_data", bodies.expected_post, bodies.posted),
            ("response_content", expected.response_content, bodies.content),
        ):
            if f"{field}{UNAVAILABLE}" in self.wrong:
                yield differ(field, UNREADABLE, wanted)
            elif self._is_wrong(field):
                yield from differences(comparison, wanted, read(event), field)
        if self._is_wrong("response_cookies"):
            yield from differences(comparison, matcher.expected_cookies, matcher.cookies(event), "response_cookies")

    def _is_wrong(self, field: str) -> bool:
        """Whether anything in a field or below it did not hold."""
        return any(name.startswith((f"{field}_", f"{field}.", f"{field}[")) for name in self.wrong)

    def _compare_plain(self, field: str, expected: object, actual: object) -> Iterator[Difference]:
        if f"{field}_mismatch" in self.wrong:
            yield differ(field, MISSING if actual is None else DIFFERENT, expected, actual)

    def _compare_url(self, raw: str, expected: Sequence[Url], field: str) -> Iterator[Difference]:
        is_own = field == "url"
        query, same = ("query_params", self.matcher.same_query) if is_own else (f"{field}.query_params", queries_match)
        if f"{field}_mismatch" in self.wrong:
            bases = _unwrap_single([url.base for url in expected])
            try:
                yield differ(field, DIFFERENT, bases, self.matcher.urls.actual(raw).base_text)
            except EvaluationError:
                yield differ(field, UNREADABLE, bases, raw)
        if f"{query}_mismatch" in self.wrong:
            same_bases = [url.query for url in expected if self.matcher.same_place(raw, (url,))]
            yield from _compare_queries(same_bases, self.matcher.urls.actual(raw), query, same)

    def _compare_headers(self) -> Iterator[Difference]:
        matcher = self.matcher
        if matcher.event.headers == {}:
            yield differ("headers", DIFFERENT, {})
        for name, expected in sorted((matcher.event.headers or {}).items()):
            path, actual = f"headers.{name}", self.event.header(name)
            if actual is None:
                yield differ(path, MISSING, expected)
            elif matcher.never_matches(name):
                yield differ(path, DIFFERENT, expected, actual)
            elif matcher.is_url_header(name):
                yield from self._compare_url(actual, matcher.expected_header_urls(name), path)
            elif self._is_wrong(path):
                texts = matcher.expected_text(name), matcher.parse_header(name, actual)
                yield from differences(matcher.case.comparison(extra_keys=True), *texts, "headers")


def _compare_queries(expected: Sequence[Query], actual: Url, path: str, same: SameQuery) -> Iterator[Difference]:
    """Each parameter that differs from the alternative that comes nearest."""
    wrong = [(query, _wrong_parameters(query, actual.query, same)) for query in expected]
    query, names = min(wrong, key=lambda pair: len(pair[1]))
    for name in names:
        kind = MISSING if name not in actual.query else DIFFERENT if name in query else EXTRA
        sent = None  # decoded once and in its own case, to compare it by eye
        if name in actual.query:
            sent = _unwrap_single([*map(unquote_plus, actual.sent_query[name])])
        yield differ(f"{path}.{name}", kind, _unwrap_single(query[name]) if name in query else None, sent)


def _wrong_parameters(expected: Query, actual: Query, same: SameQuery) -> list[str]:
    return [
        name
        for name in sorted({*expected, *actual})
        if not same(_single_parameter(expected, name), _single_parameter(actual, name))
    ]


def _single_parameter(query: Query, name: str) -> Mapping[str, tuple[str, ...]]:
    return {name: query[name]} if name in query else {}


def _unwrap_single(values: Sequence[str]) -> Any:
    return values[0] if len(values) == 1 else list(values)
