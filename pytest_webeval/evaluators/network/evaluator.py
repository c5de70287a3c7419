"""What the browser sent and received against the event that a task expects (spec §4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from pytest_webeval.errors import EvaluationError, UnavailableBody
from pytest_webeval.evaluators.base import Evaluator, check_keys, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings.network.events import NetworkEvent, event_number
from pytest_webeval.recordings.network.gaps import PAGE_SETTING
from pytest_webeval.recordings.network.pages import list_embedding_pages
from pytest_webeval.results import Assertion, EvaluatorResult, Explanation, Status, list_failed
from pytest_webeval.safety.text import pluralize
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, ExpectedEvent, NetworkExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import UNAVAILABLE, failed, passed
from pytest_webeval.values.schema import to_plain_json

if TYPE_CHECKING:
    from pytest_webeval.evaluators.network.event_matcher import EventMatcher
    from pytest_webeval.evaluators.network.urls import Query

# A failed check looks for the nearest miss among the last so many requests: bounded work, whatever was recorded.
NEAREST_AMONG = 500
_URL = "network_event.url"
Miss = tuple[NetworkEvent, list[Assertion]]


def choose_nearest(misses: Iterable[Miss]) -> Miss | None:
    """The miss with the fewest wrong fields; of equals the last, which the agent meant to be final."""
    ranked = []
    for miss in misses:
        wrong = list_failed(miss[1])
        ranked.append((any(each.assertion_name.startswith(_URL) for each in wrong), len(wrong), miss))
    return min(reversed(ranked), key=lambda entry: entry[:2], default=(0, 0, None))[2]


@dataclass(frozen=True, slots=True)
class NetworkEventEvaluator(Evaluator):
    """Evaluator for what the browser did."""

    name: ClassVar[str] = NETWORK_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """The event that matches, or the nearest miss with each differing field. Raises `WebEvalError`."""
        from pytest_webeval.evaluators.network.event_matcher import EventMatcher  # many tasks ask for the answer alone

        config = expectation.read_as(NetworkExpectation)
        check_keys(case, expectation, ExpectedEvent.__struct_encode_fields__, "an event")
        check = _NetworkCheck(EventMatcher(config, case), case)
        if config.should_not_exist and check.reads_freely:
            return check.forbid_all(self)
        check.check_candidates()
        event, assertions = check.forbid_last() if config.should_not_exist else check.choose_event(check.candidates)
        result = check.build_result(self, assertions, check.recorded_to_json(event))
        if not config.should_not_exist and result.status is not Status.SUCCESS:
            result = check.unless_unvisited(result)
        if config.should_not_exist and event is None and (problem := check.unvisited_sites):
            case.warn(f"eval[{expectation.index}] cannot match: {problem}")  # the address is wrong
        return check.explain(result, event, check.candidates)


class _NetworkCheck(Struct, frozen=True, dict=True):
    matcher: EventMatcher
    case: Case

    @cached_property
    def candidates(self) -> list[NetworkEvent]:
        """The events that may decide (spec §4.2)."""
        return self._requests[-1:] if self.matcher.expectation.last_event_only else self._requests

    @cached_property
    def _requests(self) -> list[NetworkEvent]:
        """The requests of the expected kind, of which by default the last decides; of pages only the last counts."""
        events = self.case.events
        if self._checks_pages:
            last = self._last_page()
            return [last] if last else []
        return [event for event in events if self._is_candidate(event)]

    def check_candidates(self) -> None:
        """Raise `EvaluationError` where the task, or anything of a candidate that it asks for, is damaged.

        One candidate is enough, whichever decides: the reference reads all of them first. Where they are compared, the
        first is read anyway.
        """
        for event in self.candidates:
            event.check()
        self.matcher.normalize_expected()
        for event in self.candidates if self.matcher.expectation.should_not_exist else self.candidates[1:]:
            self.matcher.check(event)

    @property
    def _checks_pages(self) -> bool:
        return self.case.task.task_type == "NAVIGATE" and self.matcher.event.http_method == "GET"

    def _last_page(self) -> NetworkEvent | None:
        """The last page by its headers, or by resource types where its headers were not recorded.

        Raises `EvaluationError` if there are no types either, and the expected page may be among the requests.
        """
        trace = self.case.trace
        for event in trace.evaluation_events:
            if event.method == "GET":
                self._check_headers(event)
        page = trace.last_page if self.case.rules.resource_types else trace.last_navigation
        if self.case.rules.resource_types and trace.last_page is not trace.last_navigation:
            self.case.notice("resource_types", "the last page")
        if page is not None or not self.case.rules.recording_gaps:
            return page
        page, requests = trace.last_page, self.matcher.gaps.unmarked_pages
        if page is not None and page.header("accept") is None:
            self.case.notice("recording_gaps", "the last page")
            return page
        if requests and (self.matcher.expectation.should_not_exist or any(map(self._may_match, requests))):
            self.case.notice("recording_gaps", "the last page")
            problem = f"the trace of {self.case.run.label} does not say which requests are pages"
            raise EvaluationError(f"{problem}, and the task is to navigate: {PAGE_SETTING}")
        return None

    def _may_match(self, event: NetworkEvent) -> bool:
        with suppress(EvaluationError):
            return all(map(_is_unavailable, list_failed(self.matcher.assertions(event))))
        return True

    def _is_candidate(self, event: NetworkEvent) -> bool:
        matcher, method = self.matcher, self.matcher.event.http_method
        if method and event.method.upper() != method.upper():
            return False
        if matcher.is_other_url(event.url):  # as most are, and this check is cheap
            return False
        if not matcher.same_place(event.url, matcher.expected_urls):
            return False
        self._check_headers(event)
        return matcher.has_expected_referer(event, lambda raw, urls: matcher.same_place(raw.lower(), urls))

    def _check_headers(self, event: NetworkEvent) -> None:
        """Raise `EvaluationError` for headers that are damaged, whether or not the event decides in the end."""
        if not event.has_null_header:
            return
        if not self.case.rules.null_headers:
            raise event.damaged("headers")
        self.case.notice("null_headers", f"event {event_number(event.index)}")

    def build_result(
        self, evaluator: Evaluator, assertions: list[Assertion], actual: dict[str, Any] | None
    ) -> EvaluatorResult:
        """The result with the deciding event. Its headers have placeholders for sites where they are compared."""
        normalized = actual
        if actual is not None and "headers" in actual:
            sites, names = self.case.sites, self.case.task.sites
            headers = actual["headers"].items()
            derendered = {name: value and sites.derender(value, names) for name, value in headers}
            normalized = actual | {"headers": derendered}
        return evaluator.result(assertions, actual=actual, normalized=normalized, expected=self._expected_to_json())

    def forbid_all(self, evaluator: Evaluator) -> EvaluatorResult:
        """A failure with the first request that is forbidden in any reading. Raises `EvaluationError`."""
        from pytest_webeval.evaluators.network.forbidden import ForbiddenSearch  # few tasks forbid a request

        self.matcher.normalize_expected()
        sent = ForbiddenSearch(self.matcher, self.case).list_sent()
        first = sent[0] if sent else None
        try:
            actual = self.recorded_to_json(first)
        except EvaluationError:  # a forbidden request may be damaged
            actual = {"url": sent[0].url, "http_method": str(sent[0].method)}
        result = self.build_result(evaluator, [self._assert_absence(sent, sent)], actual)
        return self.explain(result, first, sent)

    def forbid_last(self) -> tuple[NetworkEvent | None, list[Assertion]]:
        """The request that decides by the rules of required ones, which must not be there."""
        return next(iter(self.candidates), None), [self._assert_absence(self.candidates, self._requests)]

    def _assert_absence(self, deciding: Sequence[NetworkEvent], sent: Sequence[NetworkEvent]) -> Assertion:
        """Success only where nothing was sent (spec §4.7); of several requests the deciding one is named."""
        if not deciding:
            return passed("no_navigation_event_match", f"no {self._expected_request}, as expected")
        message = f"{len(sent)} matching {self._expected_request}, expected none"
        order = "first" if len(deciding) == len(sent) else "last"
        position = f"the {order} is {self._format_position(deciding[0])}"
        return failed("unexpected_navigation_event", message, position)

    @property
    def reads_freely(self) -> bool:
        """Whether any reading of a forbidden request counts. For the reference any page is a forbidden one (Q38)."""
        rules = self.case.rules
        if not rules.forbidden_readings or not (self._checks_pages and self.candidates):
            return rules.forbidden_readings
        self.case.notice("forbidden_pages", "the last page")
        return rules.forbidden_pages

    def choose_event(self, candidates: Sequence[NetworkEvent]) -> tuple[NetworkEvent | None, list[Assertion]]:
        """The first candidate that matches with its assertions, or the nearest miss with what is wrong with it."""
        misses, undecided = [], []
        for event in candidates:
            assertions = self.matcher.assertions(event)
            wrong = list_failed(assertions)
            if not wrong:
                return event, assertions
            if all(map(_is_unavailable, wrong)):
                undecided.append(wrong[0])
            misses.append((event, assertions))
        if undecided:
            raise EvaluationError(" ".join(undecided[0].assertion_msgs or ()))
        if self._checks_pages and self.case.rules.resource_types and candidates:
            self._check_frames(candidates[0])
        nearest = choose_nearest(misses or self._other_misses())
        if nearest is None:
            message = f"no {self._expected_request}: the recording has no requests to check"
            return None, [failed("missing_navigation_event", message)]
        event, assertions = nearest
        requests = len(self._requests)
        count = f"the last of {requests} requests" if len(candidates) < requests else pluralize(requests, "candidate")
        message = f"no matching {self._expected_request} ({count})"
        if not candidates and self._checks_pages:
            message += ": no request has an Accept header that starts with text/html, as pages have"
        position = f"nearest is {self._format_position(event)}"
        return event, [failed("missing_navigation_event", message, position), *assertions]

    def _check_frames(self, last: NetworkEvent) -> None:
        """Raise `EvaluationError` if the last page may be an iframe, and the page around it is the expected one."""
        for page in list_embedding_pages(last, self.case.trace.evaluation_events):
            if not list_failed(self.matcher.assertions(page)):
                self.case.notice("resource_types", "the last page")
                problem = f"{last.name} may be a page or an iframe in {page.name}: the recording names no frames"
                raise EvaluationError(f"{problem}; record a trace, or a HAR with Playwright 1.63 or newer")

    def _other_misses(self) -> Iterator[Miss]:
        method = self.matcher.event.http_method
        events = self.case.trace.evaluation_events[-NEAREST_AMONG:]
        of_method = [event for event in events if event.method == method]
        for event in of_method or events:
            with suppress(EvaluationError):  # an event that nothing chose decides nothing by being unreadable
                event.check()
                yield event, self.matcher.assertions(event)

    def unless_unvisited(self, result: EvaluatorResult) -> EvaluatorResult:
        """The failure, or an error where no agent can have met the expectation: its site was never visited (Q59).

        A request that matches only through a hole of the reference is a trick, and no wrong address (§4.8, §5.14).
        """
        is_trick = not self.case.log.notices.keys().isdisjoint(("escaped_hosts", "unresolved_paths"))
        problem = self.unvisited_sites if self.case.rules.visited_sites and not is_trick else None
        if problem is None:
            return result
        self.case.notice("visited_sites", "the trace")
        return result.with_changes(status=Status.ERROR, score=0.0, error_msg=problem)

    @property
    def unvisited_sites(self) -> str | None:
        """Why no event can match because of the address of the site; None without such a problem."""
        from pytest_webeval.evaluators.site_visits import names_a_site  # with what most results need not know

        if not names_a_site(self.matcher.event.url, self.case.task.sites):
            return None
        urls = self.matcher.expected_urls
        is_met = any(self.matcher.same_place(event.url, urls) for event in self.candidates)
        return self.case.unvisited_sites or (None if is_met else self.case.doubtful_sites)

    def explain(
        self, result: EvaluatorResult, event: NetworkEvent | None, candidates: Sequence[NetworkEvent]
    ) -> EvaluatorResult:
        """The result, a failure with how the deciding event differs from the expected one."""
        from pytest_webeval.evaluators.network.checks import explain_event, name_event

        def build() -> Explanation:
            if event is None:
                return explain_event(None, result.expected, (), ())
            nearest = name_event(event, self.matcher.urls.actual(event.url).text, self._total, event.status)
            return explain_event(nearest, result.expected, self.matcher.list_differences(event), candidates)

        return self.case.explain(result, build)

    @property
    def _total(self) -> int:
        return len(self.case.run.trace.all_events)

    @property
    def _expected_request(self) -> str:
        url = self.matcher.event.url
        place = url if isinstance(url, str) else " or ".join(url)
        return f"{self.matcher.event.http_method} {place}"

    def _format_position(self, event: NetworkEvent) -> str:
        status, url = "", event.url
        with suppress(EvaluationError):  # a forbidden request may be damaged
            url = self.matcher.urls.actual(url).text
            status = f" ({event.status})"
        return f"{event.name} of {self._total}: {event.method} {url}{status}"

    def recorded_to_json(self, event: NetworkEvent | None) -> dict[str, Any] | None:
        """The deciding event as reports show it: only the headers, fields and cookies that the task names."""
        if event is None:
            return None
        expected, url, bodies = self.matcher.event, self.matcher.urls.actual(event.url), self.matcher.bodies
        headers, status = {name: event.header(name) for name in sorted(expected.headers or {})}, event.status
        cookies = self.matcher.recorded_cookies(event) if expected.response_cookies else {}
        posted = content = None
        with suppress(UnavailableBody):
            posted = bodies.posted(event)
        with suppress(UnavailableBody):
            content = bodies.content(event)
        return self._to_json(
            url=url.base,
            headers=headers,
            response_status=status,
            query_string=_plain_query(url.query),
            post_data=to_plain_json(posted or {}),
            event_type="navigation" if event.is_navigation else "request",
            http_method=str(event.method),
            response_content=to_plain_json(content),
            response_cookies={name: cookies.get(name) for name in expected.response_cookies or {}},
        )

    def _expected_to_json(self) -> dict[str, Any]:
        """The expected event in the same form."""
        expected, urls = self.matcher.event, self.matcher.expected_urls
        bases = [url.base for url in urls]
        return self._to_json(
            url=bases[0] if len(bases) == 1 else bases,
            headers=dict(sorted((expected.headers or {}).items())),
            response_status=expected.response_status,
            query_string=_plain_query(urls[0].query),
            post_data=to_plain_json(self.matcher.bodies.expected_post or {}),
            event_type="navigation" if self.case.task.task_type == "NAVIGATE" else "request",
            http_method=expected.http_method,
            response_content=expected.response_content,
            response_cookies=expected.response_cookies,
        )

    def _to_json(self, **fields: Any) -> dict[str, Any]:
        """The fields, those of the response only where the task asks for them."""
        omitted = [
            name for name in ("response_content", "response_cookies") if getattr(self.matcher.event, name) is None
        ]
        return {name: value for name, value in fields.items() if name not in omitted}


def _is_unavailable(assertion: Assertion) -> bool:
    return assertion.assertion_name.endswith(UNAVAILABLE)


def _plain_query(query: Query) -> dict[str, Any]:
    return {name: values[0] if len(values) == 1 else list(values) for name, values in sorted(query.items())}
