"""Mutants of what the browser did: requests dropped, repeated, in another order, or with something after them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt, DraftEvent, build_page, build_trace, replace_events
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.findings import Demand, Trial
from pytest_webeval.authoring.audit.request_mutants import list_request_mutants
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.site_visits import origin
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, NetworkExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.base import looks_like_pattern

OTHER_PAGE = "/audit-other-page"


class Required(Struct, frozen=True):
    """An expectation of a request, and the events of a recording that it describes."""

    expectation: Expectation
    config: NetworkExpectation
    matches: Sequence[NetworkEvent]

    @property
    def place(self) -> str:
        """Where it stands in the definition."""
        return f"eval[{self.expectation.index}]"


def list_trace_mutants(examiner: Examiner, base: Attempt, spare_traces: Sequence[NetworkTrace]) -> Iterator[Trial]:
    """Mutants of the trace of an attempt that passes. `spare_traces` may have requests that the task forbids."""
    if base.trace is None:
        return
    required = list(_list_required(examiner, base.trace))
    for each in required:
        yield from _drop(base, base.trace, each)
        yield from _repeat(base, base.trace, each)
        yield from list_request_mutants(examiner, base, each.expectation, each.config, each.matches)
    yield from _reorder(examiner, base, base.trace, required)
    yield from _add_other_page(examiner, base, base.trace)
    yield from _add_forbidden(examiner, base, base.trace, spare_traces)


def _list_required(examiner: Examiner, trace: NetworkTrace) -> Iterator[Required]:
    for expectation in examiner.checked:
        config = _read_network(expectation)
        if config is not None and not config.should_not_exist:
            matches = examiner.find_matches(expectation, trace)
            if matches:
                yield Required(expectation, config, matches)


def _read_network(expectation: Expectation) -> NetworkExpectation | None:
    if expectation.evaluator != NETWORK_EVALUATOR:
        return None
    try:
        return expectation.read_as(NetworkExpectation)
    except WebEvalError:
        return None


def _drop(base: Attempt, trace: NetworkTrace, required: Required) -> Iterator[Trial]:
    changed = replace_events(trace, {event.index: () for event in required.matches})
    yield Trial(
        "request dropped",
        Attempt(base.answer, changed),
        Demand.FAIL,
        "dropped_request_passes",
        NETWORK_EVALUATOR,
        required.place,
    )


def _repeat(base: Attempt, trace: NetworkTrace, required: Required) -> Iterator[Trial]:
    last = required.matches[-1]
    if last.method in ("GET", "HEAD", "OPTIONS"):
        return
    repeated = replace_events(trace, {last.index: (last, last)})
    attempt = Attempt(base.answer, repeated)
    yield Trial("request twice", attempt, Demand.EITHER, "repeated_request_passes", NETWORK_EVALUATOR, required.place)


def _reorder(examiner: Examiner, base: Attempt, trace: NetworkTrace, required: Sequence[Required]) -> Iterator[Trial]:
    """The page of a navigate task visited first and left again; other requests in the opposite order."""
    indices = {event.index for each in required for event in each.matches}
    matches = [event for event in trace.events if event.index in indices]
    others = [event for event in trace.events if event.index not in indices]
    if examiner.task.task_type == "NAVIGATE" and matches and any(event.is_navigation for event in others):
        attempt = Attempt(base.answer, build_trace([*matches, *others]))
        name = "expected page first, another one last"
        yield Trial(name, attempt, Demand.FAIL, "broken_run_passes", NETWORK_EVALUATOR, "")
    elif len(required) > 1:
        places = dict(zip((event.index for event in matches), reversed(matches), strict=True))
        attempt = Attempt(base.answer, replace_events(trace, {index: (new,) for index, new in places.items()}))
        yield Trial("requests in another order", attempt, Demand.EITHER, "any_order_of_requests", NETWORK_EVALUATOR, "")


def _add_other_page(examiner: Examiner, base: Attempt, trace: NetworkTrace) -> Iterator[Trial]:
    last = trace.last_navigation or (trace.events[-1] if trace.events else None)
    if last is None:
        return
    url = f"{origin(last.url)}{OTHER_PAGE}"
    page = Attempt(base.answer, build_trace([*trace.events, build_page(url, last)]))
    if examiner.task.task_type == "NAVIGATE" and examiner.has_required:
        yield Trial("a stray page at the end", page, Demand.FAIL, "broken_run_passes", NETWORK_EVALUATOR, "")
    else:
        yield Trial("a stray page at the end", page, Demand.EITHER, "stray_page_passes", NETWORK_EVALUATOR, "")
    change = build_page(url, last, method="POST", resource_type="xhr", headers=(("accept", "*/*"),))
    attempt = Attempt(base.answer, build_trace([change, *trace.events]))
    yield Trial("a change on another page", attempt, Demand.EITHER, "side_effect_passes", NETWORK_EVALUATOR, "")


def _add_forbidden(
    examiner: Examiner, base: Attempt, trace: NetworkTrace, spare_traces: Sequence[NetworkTrace]
) -> Iterator[Trial]:
    for expectation in examiner.checked:
        config = _read_network(expectation)
        if config is None or not config.should_not_exist:
            continue
        event, place = _find_forbidden(examiner, expectation, config, spare_traces), f"eval[{expectation.index}]"
        if event is None:
            yield Trial("", base, Demand.EITHER, "untested_prohibition", NETWORK_EVALUATOR, place)
            continue
        attempt = Attempt(base.answer, build_trace([event, *trace.events]))
        yield Trial("a forbidden request", attempt, Demand.FAIL, "forbidden_request_passes", NETWORK_EVALUATOR, place)


def _find_forbidden(
    examiner: Examiner, expectation: Expectation, config: NetworkExpectation, spare_traces: Sequence[NetworkTrace]
) -> NetworkEvent | None:
    """A request that an expectation forbids: made of its URL, or else one of another recording."""
    url = config.expected.url if isinstance(config.expected.url, str) else config.expected.url[0]
    if not looks_like_pattern(url) and not (config.expected.post_data or config.expected.response_content):
        address = examiner.sites.render(url, examiner.task.sites) or url
        return DraftEvent(
            0, {"url": address, "method": config.expected.http_method, "status": config.expected.response_status}
        )
    matches = (event for trace in spare_traces for event in examiner.find_matches(expectation, trace))
    return next(matches, None)
