"""One recorded event against the event that a task expects, field by field (spec §4.3, §4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.diagnostics.difference import differ
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.body_matcher import BodyMatcher
from pytest_webeval.evaluators.network.checks import (
    PATH,
    Check,
    check_exact,
    check_trees,
    compare_queries,
    miss,
    unwrap_single,
)
from pytest_webeval.evaluators.network.urls import Query, Url, UrlMatcher, bases_match, build_prefilter, queries_match
from pytest_webeval.evaluators.readers import build_comparison, build_reader
from pytest_webeval.recordings.network.events import NO_RESPONSE, NetworkEvent
from pytest_webeval.recordings.network.gaps import Gaps
from pytest_webeval.recordings.network.pages import REDIRECTS
from pytest_webeval.results import DIFFERENT, EXTRA, MISSING, UNREADABLE, Assertion, Difference, list_failed
from pytest_webeval.tasks.expectations import OK, ExpectedEvent, NetworkExpectation
from pytest_webeval.values.comparison import UNAVAILABLE, failed, passed, preview
from pytest_webeval.values.schema import ValueParser

FOUND, NOT_MODIFIED = 302, 304
ACCEPTED = range(200, 400)  # of a request that writes, whose expectation names no status
READING_METHODS = ("GET", "HEAD")
URL_HEADERS = ("referer", "redirect_url")
CHECKS_KEPT = 500  # events whose checks are remembered, for the one that an explanation is about


class EventMatcher(Struct, frozen=True, dict=True):
    """Compares events of one run with one expectation. What the task wrote is read once."""

    expectation: NetworkExpectation
    case: Case
    _header_urls: dict[str, tuple[Url, ...]] = field(default_factory=dict)
    _header_texts: dict[str, dict[str, Any]] = field(default_factory=dict)
    _checks: dict[int, list[Check]] = field(default_factory=dict)  # by event

    @property
    def event(self) -> ExpectedEvent:
        """The event as the task spells it."""
        return self.expectation.expected

    @cached_property
    def urls(self) -> UrlMatcher:
        return UrlMatcher(
            sites=self.case.sites,
            task_sites=tuple(self.case.task.sites),
            ignored=tuple(self.expectation.ignored_query_params or ()),
            ignored_patterns=tuple(self.expectation.ignored_query_params_patterns or ()),
            decode_base64=self.expectation.decode_base64_query,
            rules=self.case.rules,
            notice=self.case.notice,
            limits=self.case.run.inputs.limits,
        )

    @cached_property
    def expected_urls(self) -> tuple[Url, ...]:
        """The alternatives of the expected URL. Raises `EvaluationError`."""
        return self.urls.expected(self.event.url, self.event.query_params)

    def is_other_url(self, raw: str) -> bool:
        """Whether a recorded URL certainly has the base of none of the expected ones. Raises `EvaluationError`."""
        return self._prefilter is not None and self._prefilter(raw)

    @cached_property
    def _prefilter(self) -> Callable[[str], bool] | None:
        return build_prefilter(self.expected_urls, self.urls)

    @cached_property
    def bodies(self) -> BodyMatcher:
        return BodyMatcher(self.expectation, self.case)

    def same_place(self, raw: str, expected: tuple[Url, ...]) -> bool:
        """Whether a recorded URL has the base of one of the expected ones."""
        actual = self.urls.actual(raw)
        return any(bases_match(url, actual, self.urls) for url in expected)

    def has_expected_referer(self, event: NetworkEvent, is_same: Callable[[str, tuple[Url, ...]], bool]) -> bool:
        """Whether an event has the expected referer, or none. Raises `EvaluationError` for damaged headers."""
        referer = event.header("referer") if "referer" in (self.event.headers or {}) else None
        if not referer:
            return True
        with suppress(EvaluationError):  # an invalid URL matches no expected one
            return is_same(referer, self.expected_header_urls("referer"))
        return False

    def expected_header_urls(self, name: str) -> tuple[Url, ...]:
        """The alternatives of an expected header that is a URL."""
        if name not in self._header_urls:
            raw: Any = (self.event.headers or {})[name]
            if isinstance(raw, Mapping):
                raise EvaluationError(f"invalid {name} {preview(raw)}: expected a URL; fix the task")
            self._header_urls[name] = self.urls.expected(raw)
        return self._header_urls[name]

    def is_url_header(self, name: str) -> bool:
        """Whether a header is compared as a URL. To the reference an empty redirect_url is a text."""
        is_empty = name == URL_HEADERS[1] and not (self.event.headers or {})[name]
        return name in URL_HEADERS and (self.case.rules.header_values or not is_empty)

    def never_matches(self, name: str) -> bool:
        """Whether an expected header is of a kind that equals no text to the reference, whatever was sent."""
        raw: Any = (self.event.headers or {})[name]
        texts = raw if isinstance(raw, list) and len(raw) > 1 else [raw]
        if self.is_url_header(name) or all(isinstance(text, str) for text in texts):
            return False
        self.case.notice("header_values", f"{PATH}.headers.{name}")
        return not self.case.rules.header_values

    def expected_text(self, name: str) -> dict[str, Any]:
        """An expected header that is not a URL, under its name. Raises `EvaluationError`."""
        if name not in self._header_texts:
            self._header_texts[name] = self.parse_header(name, (self.event.headers or {})[name], strict=True)
        return self._header_texts[name]

    @cached_property
    def expected_cookies(self) -> dict[str, Any]:
        """The expected cookies as values. Raises `EvaluationError`."""
        return self._parse_cookies(self.event.response_cookies or {}, strict=True)

    def normalize_expected(self) -> None:
        """Read all that the task wrote, so that its mistakes show whatever was recorded. Raises `EvaluationError`."""
        _ = self.bodies.expected_post
        for url in self.expected_urls:
            self._parse_query(url.query, url.query, strict=True)
        for name in self.event.headers or ():
            if self.is_url_header(name):
                _ = self.expected_header_urls(name)
            elif not self.never_matches(name):
                _ = self.expected_text(name)
        _ = self.expected_cookies

    def check(self, event: NetworkEvent) -> None:
        """Raise `EvaluationError` where a body or a cookie that the task asks for is damaged in the trace itself."""
        self.bodies.check(event)
        if self.event.response_cookies:
            _ = event.cookies

    def assertions(self, event: NetworkEvent) -> list[Assertion]:
        """One assertion or more for each field that the task names. All hold for a match."""
        self._checks[event.index] = checks = list(self._list_checks(event))
        if len(self._checks) > CHECKS_KEPT:
            del self._checks[next(iter(self._checks))]
        return [assertion for check in checks for assertion in check.assertions]

    def _list_checks(self, event: NetworkEvent) -> Iterator[Check]:
        yield self._check_url(event.url, self.expected_urls, "url")
        yield check_exact("http_method", self.event.http_method, str(event.method))
        yield self._check_status(event)
        yield from self._check_headers(event)
        yield from self.bodies.list_checks(event)
        yield from self._check_cookies(event)

    def list_differences(self, event: NetworkEvent) -> Iterator[Difference]:
        """Each field in which an event differs; one that should not be there differs as a whole."""
        if self.expectation.should_not_exist:
            yield differ(PATH, EXTRA, None, self.urls.actual(event.url).text)
            return
        for check in self._checks.get(event.index) or self._list_checks(event):
            if list_failed(check.assertions):
                yield from check.list_differences()

    @property
    def gaps(self) -> Gaps:
        """What the recorder omitted."""
        return self.bodies.reader.gaps

    def _check_status(self, event: NetworkEvent) -> Check:
        path, expected, status = f"{PATH}.response_status", self.event.response_status, event.status
        if self.case.rules.resource_types and status == NOT_MODIFIED and expected == OK and _is_page(event):
            self.case.notice("resource_types", path)
            return Check([passed(f"{path}_match", f"{status}: the page came from the cache")])
        if status in NO_RESPONSE and status != expected and self.case.rules.recording_gaps:
            self.case.notice("recording_gaps", path)
            return self._check_missing_status(event)
        if expected == status or self.event.has_status:
            return check_exact("response_status", expected, status)
        accepted = self._accepted_statuses
        if status in accepted:
            self.case.notice("redirected_posts", path)
            return Check([passed(f"{path}_match", f"{status}: the task names no response_status")])
        name = str(OK) if len(accepted) == 1 else "a status from 200 to 399"
        default = f"expected {name} (the default: the task names no response_status)"
        assertion = failed(f"{path}_mismatch", default, f"got {preview(status)}")
        return miss(assertion, "response_status", MISSING if status is None else DIFFERENT, expected, status)

    def _check_missing_status(self, event: NetworkEvent) -> Check:
        """Of a redirect only that it was one is known: 302 is what sites answer to a form."""
        expected, is_redirect = self.event.response_status, self.gaps.is_redirected(event)
        is_unnamed = not self.event.has_status and FOUND in self._accepted_statuses
        path = f"{PATH}.response_status"
        if is_redirect and (expected == FOUND or is_unnamed):
            if is_unnamed:
                self.case.notice("redirected_posts", path)
            return Check([passed(f"{path}_match", f"{event.status}: the next page shows the redirect")])
        problem = None if is_redirect and expected not in REDIRECTS else self.gaps.status(event)
        if problem is not None:
            return Check([failed(f"{path}{UNAVAILABLE}", problem)])
        return check_exact("response_status", expected, event.status)

    @property
    def _accepted_statuses(self) -> range:
        """Servers answer what they accept in several ways, of which the reference knows one."""
        writes = self.event.http_method.upper() not in READING_METHODS
        return ACCEPTED if writes and self.case.rules.redirected_posts else range(OK, OK + 1)

    def _check_url(self, raw: str, expected: tuple[Url, ...], field: str) -> Check:
        actual = self.urls.actual(raw)
        same_bases = [url for url in expected if self.same_place(raw, (url,))]
        if not same_bases:
            bases, path = [url.base for url in expected], f"{PATH}.{field}_mismatch"
            assertion = failed(path, f"expected {' or '.join(bases)}", f"got {actual.base_text}")
            return miss(assertion, field, DIFFERENT, unwrap_single(bases), actual.base_text)
        place = passed(f"{PATH}.{field}_match", actual.base_text)
        is_same, query = (
            (self.same_query, "query_params") if field == "url" else (queries_match, f"{field}.query_params")
        )
        queries, sent = [url.query for url in same_bases], preview(actual.sent_query)
        if any(is_same(each, actual.query) for each in queries):
            return Check([place, passed(f"{PATH}.{query}_match", sent)])
        expected_queries = f"expected {' or '.join(map(preview, queries))}"
        assertions = [place, failed(f"{PATH}.{query}_mismatch", expected_queries, f"got {sent}")]
        return Check(assertions, lambda: compare_queries(queries, actual, query, is_same))

    def same_query(self, expected: Query, actual: Query) -> bool:
        """Whether the parameters of two URLs agree, each as its schema says. Raises `EvaluationError`."""
        repeated = [name for name, values in actual.items() if len(values) > 1 and name not in self._query_types]
        if repeated and self.expectation.query_params_schema is not None:
            raise EvaluationError(f"{repeated[0]} was sent more than once and is not in query_params_schema; add it")
        typed = [name for name in expected if name in self._query_types and expected[name] and actual.get(name)]
        plain = {*expected, *actual}.difference(typed)
        expected_values = self._parse_query(typed, expected, strict=True)
        actual_values = self._parse_query(typed, actual, strict=False)
        return all(self._is_same_parameter(name, expected_values, actual_values) for name in typed) and queries_match(
            {name: expected.get(name, ()) for name in plain}, {name: actual.get(name, ()) for name in plain}
        )

    def _is_same_parameter(self, name: str, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> bool:
        trees = expected[name], actual[name]
        if any(isinstance(tree, list) and len(tree) > 1 for tree in trees):
            self.case.notice("repeated_fields", f"{PATH}.query_params.{name}")
        is_whole = self.case.rules.repeated_fields
        first = (tree[0] if isinstance(tree, list) and tree else tree for tree in trees)
        return build_comparison(self.case).equal(*(trees if is_whole else first))

    @property
    def _query_types(self) -> Mapping[str, Any]:
        return (self.expectation.query_params_schema or {}).get("properties") or {}

    def _parse_query(self, names: Iterable[str], query: Query, *, strict: bool) -> dict[str, Any]:
        if self.expectation.query_params_schema is None:
            return {}
        reader = build_reader(self.case, PATH, strict=strict, sent=True)
        reader = replace(reader, context=replace(reader.context, known_sites=False))  # parameters may name any place
        values = {name: list(query.get(name, ())) for name in names}
        return {name: reader.member(raw, self._query_types.get(name), f"{PATH}.{name}") for name, raw in values.items()}

    def _check_headers(self, event: NetworkEvent) -> Iterator[Check]:
        if self.event.headers == {}:
            reason = "the task has an empty headers object, which never matches; remove headers"
            yield miss(failed(f"{PATH}.headers_mismatch", reason), "headers", DIFFERENT, {})
        for name, expected in sorted((self.event.headers or {}).items()):
            actual = event.header(name)
            yield (
                self._check_missing_header(event, name, expected)
                if actual is None
                else self._check_header(name, expected, actual)
            )

    def _check_header(self, name: str, expected: object, actual: str) -> Check:
        path = f"headers.{name}"
        if self.never_matches(name):
            reason = "a header that is expected as anything but a text, or several, never matches; write a string"
            assertion = failed(
                f"{PATH}.{path}_mismatch", f"expected {preview(expected)}", f"got {preview(actual)}", reason
            )
            return miss(assertion, path, DIFFERENT, expected, actual)
        if not self.is_url_header(name):
            texts = self.expected_text(name), self.parse_header(name, actual)
            return check_trees("headers", build_comparison(self.case, extra_keys=True), *texts)
        urls = self.expected_header_urls(name)
        try:
            return self._check_url(actual, urls, path)
        except EvaluationError as error:  # in headers, an invalid URL is just another text
            bases, got = [url.base for url in urls], f"got {preview(actual)}"
            assertion = failed(f"{PATH}.{path}_mismatch", f"expected {' or '.join(bases)}", got, str(error))
            try:
                kind, place = DIFFERENT, self.urls.actual(actual).base_text
            except EvaluationError:
                kind, place = UNREADABLE, actual
            return miss(assertion, path, kind, unwrap_single(bases), place)

    def _check_missing_header(self, event: NetworkEvent, name: str, expected: object) -> Check:
        path = f"{PATH}.headers.{name}"
        problem = self.gaps.header(event, name) if self.case.rules.recording_gaps else None
        assertion = failed(f"{path}_none_mismatch", f"expected {preview(expected)}", "the request has no such header")
        if problem is not None:
            self.case.notice("recording_gaps", path)
            assertion = failed(f"{path}{UNAVAILABLE}", problem)
        return miss(assertion, f"headers.{name}", MISSING, expected)

    def parse_header(self, name: str, raw: Any, *, strict: bool = False) -> dict[str, Any]:
        """A header that is not a URL, under its name, as it was recorded or as the task wrote it."""
        return _parse_texts({name: raw}, build_reader(self.case, PATH, strict=strict, sent=True), "headers")

    def _parse_cookies(self, members: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
        reader = build_reader(self.case, PATH, strict=strict, sent=True)
        as_sent = replace(reader.context, derender=str)  # spec §5.1: cookies keep the addresses of sites
        return _parse_texts(members, replace(reader, context=as_sent), "response_cookies")

    def _check_cookies(self, event: NetworkEvent) -> Iterator[Check]:
        if not self.event.response_cookies:
            return
        cookies = self.cookies(event)
        check = check_trees(
            "response_cookies", build_comparison(self.case, extra_keys=True), self.expected_cookies, cookies
        )
        problem = self.gaps.cookies(event) if self.case.rules.recording_gaps and not cookies else None
        if problem is not None:
            self.case.notice("recording_gaps", f"{PATH}.response_cookies")
            check = check._replace(assertions=[failed(f"{PATH}.response_cookies{UNAVAILABLE}", problem)])
        yield check

    def cookies(self, event: NetworkEvent) -> dict[str, Any]:
        """The cookies that a response set, as values. Raises `EvaluationError` where they are damaged."""
        return self._parse_cookies(self.recorded_cookies(event), strict=False)

    def recorded_cookies(self, event: NetworkEvent) -> dict[str, str]:
        """The cookies that a response set, also those of which only a header tells. Raises `EvaluationError`."""
        cookies = event.response_cookies
        if not self.case.rules.recorded_cookies or cookies.keys() >= (self.event.response_cookies or {}).keys():
            return cookies
        self.case.notice("recorded_cookies", f"{PATH}.response_cookies")
        with suppress(EvaluationError):  # damaged headers: then the list alone counts
            return event.header_cookies | cookies
        return cookies


def _is_page(event: NetworkEvent) -> bool:
    """Whether it is a page by its type, or by its headers where the recorder keeps no types."""
    return event.is_document or (event.resource_type is None and event.is_navigation)


def _parse_texts(members: Mapping[str, Any], reader: ValueParser, field: str) -> dict[str, Any]:
    return {name: reader.text(raw, f"{PATH}.{field}.{name}") for name, raw in members.items()}
