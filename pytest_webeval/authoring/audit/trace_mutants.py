"""Mutants of what the browser did: requests dropped, repeated, in another order, or with something after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt, DraftEvent, Trial, build_page, build_trace, replace_events
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.request_mutants import RequestMutants
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.site_visits import origin
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, NetworkExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.base import looks_like_pattern

OTHER_PAGE = "/audit-other-page"


def list_trace_mutants(examiner: Examiner, base: Attempt, spare_traces: Sequence[NetworkTrace]) -> Iterator[Trial]:
    """Mutants of the trace of an attempt that passes. `spare_traces` may have requests that the task forbids."""
    if base.trace is not None:
        yield from _TraceMutants(examiner, base, base.trace, spare_traces).list_trials()


class _TraceMutants(Struct, frozen=True):
    examiner: Examiner
    base: Attempt
    trace: NetworkTrace
    spare_traces: Sequence[NetworkTrace]

    def list_trials(self) -> Iterator[Trial]:
        configs: list[tuple[Expectation, NetworkExpectation]] = []
        for each in self.examiner.checked:
            with suppress(WebEvalError):
                if each.evaluator == NETWORK_EVALUATOR:
                    configs.append((each, each.read_as(NetworkExpectation)))
        required = [
            (each, config, matches)
            for each, config in configs
            if not config.should_not_exist and (matches := self.examiner.find_matches(each, self.trace))
        ]
        for each, config, matches in required:
            place, matcher = f"eval[{each.index}]", self.examiner.build_matcher(each, self.trace)
            yield from self._drop_and_repeat(place, matches)
            mutants = RequestMutants(self.examiner, self.base, self.trace, place, config, matches, matcher)
            yield from mutants.list_trials()
        yield from self._reorder([matches for _, _, matches in required])
        yield from self._add_other_page()
        for each, config in configs:
            if config.should_not_exist:
                yield self._add_forbidden(each, config)

    def _trial(self, name: str, trace: NetworkTrace, kind: str, place: str = "") -> Trial:
        return Trial(name, Attempt(self.base.answer, trace), kind, NETWORK_EVALUATOR, place)

    def _drop_and_repeat(self, place: str, matches: Sequence[NetworkEvent]) -> Iterator[Trial]:
        dropped = replace_events(self.trace, {event.index: () for event in matches})
        yield self._trial("request dropped", dropped, "dropped_request_passes", place)
        last = matches[-1]
        if last.method not in ("GET", "HEAD", "OPTIONS"):
            repeated = replace_events(self.trace, {last.index: (last, last)})
            yield self._trial("request twice", repeated, "repeated_request_passes", place)

    def _reorder(self, required: Sequence[Sequence[NetworkEvent]]) -> Iterator[Trial]:
        """The page of a navigate task visited first and left again; other requests in the opposite order."""
        indices = {event.index for matches in required for event in matches}
        matches = [event for event in self.trace.events if event.index in indices]
        others = [event for event in self.trace.events if event.index not in indices]
        is_navigate = self.examiner.task.task_type == "NAVIGATE"
        if is_navigate and matches and any(event.is_navigation for event in others):
            name = "expected page first, another one last"
            yield self._trial(name, build_trace([*matches, *others]), "broken_run_passes")
        elif len(required) > 1:
            places = {event.index: (new,) for event, new in zip(matches, reversed(matches), strict=True)}
            trace = replace_events(self.trace, places)
            yield self._trial("requests in another order", trace, "any_order_of_requests")

    def _add_other_page(self) -> Iterator[Trial]:
        last = self.trace.last_navigation or (self.trace.events[-1] if self.trace.events else None)
        if last is None:
            return
        url = f"{origin(last.url)}{OTHER_PAGE}"
        is_broken = self.examiner.task.task_type == "NAVIGATE" and self.examiner.has_required
        page = build_trace([*self.trace.events, build_page(url, last)])
        yield self._trial("a stray page at the end", page, "broken_run_passes" if is_broken else "stray_page_passes")
        change = build_page(url, last, method="POST", resource_type="xhr", headers=(("accept", "*/*"),))
        trace = build_trace([change, *self.trace.events])
        yield self._trial("a change on another page", trace, "side_effect_passes")

    def _add_forbidden(self, expectation: Expectation, config: NetworkExpectation) -> Trial:
        """A request that an expectation forbids: made of its URL, or else one of another recording."""
        place, expected = f"eval[{expectation.index}]", config.expected
        url = expected.url if isinstance(expected.url, str) else expected.url[0]
        event: NetworkEvent | None
        if looks_like_pattern(url) or expected.post_data or expected.response_content:
            traces = (self.examiner.find_matches(expectation, trace) for trace in self.spare_traces)
            event = next((match for matches in traces for match in matches), None)
        else:
            address = self.examiner.sites.render(url, self.examiner.task.sites) or url
            fields = {"url": address, "method": expected.http_method, "status": expected.response_status}
            event = DraftEvent(0, fields)
        if event is None:
            return Trial("", self.base, "untested_prohibition", NETWORK_EVALUATOR, place)
        trace = build_trace([event, *self.trace.events])
        return self._trial("a forbidden request", trace, "forbidden_request_passes", place)
