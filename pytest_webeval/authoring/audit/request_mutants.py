"""Mutants of the request that decides: one field of it changed, in all events that could decide in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote_plus, unquote, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt, change_event, replace_events
from pytest_webeval.authoring.audit.bodies import MOST_FIELDS, BodyField, Fields, is_named, read_fields, read_query
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.findings import Demand, Trial
from pytest_webeval.authoring.audit.meaning import carries_meaning, change_value, list_words
from pytest_webeval.authoring.audit.spellings import OTHER_TEXT
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.evaluators.site_visits import origin
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, NetworkExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.base import looks_like_pattern

URL_HEADERS = ("referer", "redirect_url")
MOST_QUOTED = 60  # characters of a value
BROKEN = 500  # the status of a request that did nothing
Change = Callable[[NetworkEvent], NetworkEvent | None]


def list_request_mutants(
    examiner: Examiner,
    base: Attempt,
    expectation: Expectation,
    config: NetworkExpectation,
    matches: Sequence[NetworkEvent],
) -> Iterator[Trial]:
    """A trial for each field of the request that decides."""
    if base.trace is not None:
        matcher = EventMatcher(config, examiner.build_case(base))
        mutants = _RequestMutants(examiner, base, base.trace, f"eval[{expectation.index}]", config, matches, matcher)
        for field in FIELDS:
            yield from field(mutants)


class _RequestMutants(Struct, frozen=True):
    examiner: Examiner
    base: Attempt
    trace: NetworkTrace
    place: str
    config: NetworkExpectation
    matches: Sequence[NetworkEvent]
    matcher: EventMatcher

    def trial(self, name: str, field: str, change: Change, *, is_decisive: bool, detail: str = "") -> Iterator[Trial]:
        """The trial with a change in all matches; of a field that decides nothing by right, only a note."""
        changes = {event.index: (new,) for event in self.matches if (new := change(event)) is not None}
        if not changes:
            return
        attempt = Attempt(self.base.answer, replace_events(self.trace, changes))
        demand, kind = (Demand.FAIL, "unchecked_field") if is_decisive else (Demand.EITHER, "incidental_field")
        yield Trial(name, attempt, demand, kind, NETWORK_EVALUATOR, f"{self.place}.{field}", detail)

    def means_something(self, value: Any) -> bool:
        """Whether a value carries what the task asks for, and the path of the expected URL does not hold it already."""
        expected = self.config.expected.url
        urls = [expected] if isinstance(expected, str) else expected
        paths = [url if looks_like_pattern(url) else url.partition("?")[0] for url in urls]
        checked = set(list_words(" ".join(paths)))
        return carries_meaning(value, self.examiner.task) and not checked.issuperset(list_words(str(value)))

    def quote(self, name: str, value: Any) -> str:
        """What a field holds if the task says it; of other values nothing, for they may be secrets."""
        return f"{name} has {str(value)[:MOST_QUOTED]!r}" if self.means_something(value) else ""


def _change_method(mutants: _RequestMutants) -> Iterator[Trial]:
    def change(event: NetworkEvent) -> NetworkEvent:
        return change_event(event, method="POST" if event.method == "GET" else "GET")

    yield from mutants.trial("another method", "http_method", change, is_decisive=True)


def _change_status(mutants: _RequestMutants) -> Iterator[Trial]:
    def change(event: NetworkEvent) -> NetworkEvent:
        return change_event(event, status=BROKEN)

    yield from mutants.trial("a response of status 500", "response_status", change, is_decisive=True)


def _change_path(mutants: _RequestMutants) -> Iterator[Trial]:
    """A path below, and another one for its last segment and for each that carries what the task asks for."""
    yield from mutants.trial("a path below", "url", _add_segment, is_decisive=True)
    segments = [unquote(segment) for segment in _split_path(mutants.matches[-1].url)]
    for position, segment in enumerate(segments):
        means_something = mutants.means_something(segment)
        is_last = position == len(segments) - 1
        if is_last or (means_something and position < MOST_FIELDS):
            other, is_decisive = change_value(segment), means_something or not segment.isdigit()
            change, detail = _with_segment(position, other), mutants.quote("the path", segment)
            yield from mutants.trial("another path", "url", change, is_decisive=is_decisive, detail=detail)


def _split_path(url: str) -> list[str]:
    return urlsplit(url).path.strip("/").split("/") if urlsplit(url).path.strip("/") else []


def _with_segment(position: int, value: str) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent | None:
        segments = _split_path(event.url)
        if position >= len(segments):
            return None
        segments[position] = quote_plus(value)
        return change_event(event, url=urlunsplit(urlsplit(event.url)._replace(path=f"/{'/'.join(segments)}")))

    return change


def _add_segment(event: NetworkEvent) -> NetworkEvent:
    parts = urlsplit(event.url)
    return change_event(event, url=urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{OTHER_TEXT}")))


def _change_query(mutants: _RequestMutants) -> Iterator[Trial]:
    named = mutants.config.expected.query_params or {}
    values = dict(reversed(read_query(urlsplit(mutants.matches[-1].url).query)))
    for name in sorted(values, key=lambda name: name not in named)[:MOST_FIELDS]:
        value = values[name]
        is_decisive = name in named or mutants.means_something(value)
        if mutants.matcher.urls.is_ignored(name) and not is_decisive:
            continue  # the task says itself that it does not matter
        for label, other in (("another value", change_value(value)), ("removed", None)):
            change = _with_parameter(name, other)
            field, detail = f"query_params.{name}", mutants.quote(name, value)
            yield from mutants.trial(f"{name} {label}", field, change, is_decisive=is_decisive, detail=detail)


def _with_parameter(name: str, value: Any) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent | None:
        parts = urlsplit(event.url)
        pairs = [(key, str(value) if key == name else old) for key, old in read_query(parts.query)]
        kept = [pair for pair in pairs if value is not None or pair[0] != name]
        return change_event(event, url=urlunsplit(parts._replace(query=urlencode(kept))))

    return change


def _change_headers(mutants: _RequestMutants) -> Iterator[Trial]:
    for name in mutants.config.expected.headers or {}:
        other = f"{origin(mutants.matches[-1].url)}/{OTHER_TEXT}" if name.lower() in URL_HEADERS else OTHER_TEXT
        for label, value in (("another value", other), ("removed", None)):
            change = _with_header(name, value)
            yield from mutants.trial(f"{name} {label}", f"headers.{name}", change, is_decisive=True)


def _with_header(name: str, value: str | None) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent:
        headers = [pair for pair in event.headers if pair[0].lower() != name.lower()]
        return change_event(event, headers=(*headers, *([] if value is None else [(name, value)])))

    return change


def _change_post(mutants: _RequestMutants) -> Iterator[Trial]:
    names = mutants.config.expected.post_data or {}
    for field in _list_body_fields(mutants, lambda event: read_fields(event.read_post()), "post"):
        is_decisive = is_named(field, names) or mutants.means_something(field.value)
        if mutants.matcher.bodies.is_ignored(field.name) and not is_decisive:
            continue  # same
        change = _with_post(field)
        detail = mutants.quote(field.name, field.value)
        place = f"post_data.{field.name}"
        yield from mutants.trial(f"{field.name} changed", place, change, is_decisive=is_decisive, detail=detail)


def _list_body_fields(
    mutants: _RequestMutants, read: Callable[[NetworkEvent], Fields | None], name: str
) -> Iterable[BodyField]:
    """The fields of the deciding body; none where the same body, written anew, does not pass."""
    fields = read(mutants.matches[-1])
    if fields is None:
        return []
    last = mutants.matches[-1]
    control = replace_events(mutants.trace, {last.index: (change_event(last, **{name: fields.unchanged()}),)})
    return fields.list_fields() if mutants.examiner.judge(Attempt(mutants.base.answer, control)).passes else []


def _with_post(field: BodyField) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent | None:
        fields = read_fields(event.read_post())
        new = change_value(field.value)
        return None if fields is None else change_event(event, post=fields.replace(field.path, new))

    return change


def _change_content(mutants: _RequestMutants) -> Iterator[Trial]:
    names = mutants.config.expected.response_content
    if not names:
        return
    for field in _list_body_fields(mutants, lambda event: read_fields(event.read_content()), "content"):
        if is_named(field, names):
            place = f"response_content.{field.name}"
            yield from mutants.trial(f"{field.name} changed", place, _with_content(field), is_decisive=True)


def _with_content(field: BodyField) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent | None:
        fields = read_fields(event.read_content())
        new = change_value(field.value)
        return None if fields is None else change_event(event, content=fields.replace(field.path, new))

    return change


def _change_cookies(mutants: _RequestMutants) -> Iterator[Trial]:
    for name in mutants.config.expected.response_cookies or {}:
        for label, value in (("another value", OTHER_TEXT), ("removed", None)):
            change = _with_cookie(name, value)
            yield from mutants.trial(f"{name} {label}", f"response_cookies.{name}", change, is_decisive=True)


def _with_cookie(name: str, value: str | None) -> Change:
    def change(event: NetworkEvent) -> NetworkEvent:
        cookies = [pair for pair in event.cookies if pair[0] != name]
        headers = tuple(pair for pair in event.response_headers if pair[0].lower() != "set-cookie")  # which have it too
        cookies += [] if value is None else [(name, value)]
        return change_event(event, cookies=tuple(cookies), response_headers=headers)

    return change


FIELDS: tuple[Callable[[_RequestMutants], Iterable[Trial]], ...] = (
    _change_method,
    _change_status,
    _change_path,
    _change_query,
    _change_headers,
    _change_post,
    _change_content,
    _change_cookies,
)
