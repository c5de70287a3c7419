"""Mutants of the request that decides: one field of it changed, in all events that could decide in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote_plus, unquote, urlencode, urlsplit, urlunsplit

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt, Trial, change_event, replace_events
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.values import (
    OTHER_TEXT,
    Path,
    carries_meaning,
    change_value,
    format_path,
    list_values,
    list_words,
    replace_value,
)
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.evaluators.site_visits import origin
from pytest_webeval.recordings.network.bodies import BODY_TYPES, Body
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.recordings.network.form_fields import list_fields
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, NetworkExpectation
from pytest_webeval.values.base import looks_like_pattern

URL_HEADERS = ("referer", "redirect_url")
MOST_QUOTED = 60  # characters of a value
MOST_FIELDS = 60  # of one body, query or path that are changed
MOST_CHARACTERS = 200_000  # of a body; a larger one is no form that a task is about
BROKEN = 500  # the status of a request that did nothing
FORM, JSON = BODY_TYPES[0], BODY_TYPES[1]
_NAME = re.compile(r"\.?([A-Za-z_][\w-]*)|\[(\d+)\]|\['([^']*)'\]")
Change = Callable[[NetworkEvent], NetworkEvent | None]


class BodyField(Struct, frozen=True):
    """A value in a body and where it stands there."""

    path: Path
    value: Any

    @property
    def name(self) -> str:
        """The place as JSONPath has it without `$.`: `issue.labels[0]`."""
        return format_path(self.path).removeprefix(".")

    def is_named(self, keys: Iterable[str]) -> bool:
        """Whether a key of a definition names it: as a name, or as a plain JSONPath that leads to it or above it."""
        for key in map(str.strip, keys):
            path = _NAME.findall(key[1:]) if key.startswith(("$.", "$[")) else ()
            steps = tuple(name or quoted or int(index) for name, index, quoted in path)
            if (key,) == self.path[:1] or key == self.name or (steps and steps == self.path[: len(steps)]):
                return True
        return False


class Fields(Struct, frozen=True):
    """What a body holds: pairs of a form, or a JSON document."""

    pairs: tuple[tuple[str, str], ...] | None
    document: Any = None

    def list_fields(self) -> list[BodyField]:
        """The values, those of a form under their names."""
        if self.pairs is not None:
            names = dict.fromkeys(name for name, _ in self.pairs)
            values = dict(reversed(self.pairs))
            return [BodyField((name,), values[name]) for name in names][:MOST_FIELDS]
        return [BodyField(path, value) for path, value in list_values(self.document)][:MOST_FIELDS]

    def replace(self, path: Path, value: Any) -> Body:
        """A body with another value in one place; a form has it for each value of the name."""
        if self.pairs is not None:
            pairs = [(name, str(value) if (name,) == path else old) for name, old in self.pairs]
            return Body(FORM, urlencode(pairs))
        return Body(JSON, json.dumps(replace_value(self.document, path, value)))

    def unchanged(self) -> Body:
        """The same body, written anew."""
        return Body(FORM, urlencode(self.pairs)) if self.pairs is not None else Body(JSON, json.dumps(self.document))


def read_fields(body: Body | None) -> Fields | None:
    """The fields of a body; None where it has none that can be read."""
    if body is None:
        return None
    try:
        text = body.read_uncounted()
        if len(text) > MOST_CHARACTERS:
            return None
        if JSON in body.mime:
            document = load_bounded(text, USUAL, "a body")
            return Fields(None, document) if isinstance(document, dict) else None
        pairs = list_fields(Body(body.mime, text))
    except (WebEvalError, ValueError, RecursionError):
        return None
    return Fields(tuple(pairs)) if pairs else None


class RequestMutants(Struct, frozen=True):
    """Trials with a request that decides: `matches` are the events of the trace that the expectation describes."""

    examiner: Examiner
    base: Attempt
    trace: NetworkTrace
    place: str
    config: NetworkExpectation
    matches: Sequence[NetworkEvent]
    matcher: EventMatcher

    def list_trials(self) -> Iterator[Trial]:
        """A trial for each field of the request that decides."""
        expected = self.config.expected
        method = "POST" if self.matches[-1].method == "GET" else "GET"
        yield from self._trial("another method", "http_method", partial(change_event, method=method))
        yield from self._trial("a response of status 500", "response_status", partial(change_event, status=BROKEN))
        yield from self._change_path()
        yield from self._change_query()
        for name in expected.headers or {}:
            other = f"{origin(self.matches[-1].url)}/{OTHER_TEXT}" if name.lower() in URL_HEADERS else OTHER_TEXT
            yield from self._change_named("headers", name, other, _set_header)
        yield from self._change_body("post", "post_data", expected.post_data or {})
        if expected.response_content:
            yield from self._change_body("content", "response_content", expected.response_content)
        for name in expected.response_cookies or {}:
            yield from self._change_named("response_cookies", name, OTHER_TEXT, _set_cookie)

    def _trial(
        self, name: str, field: str, change: Change, *, is_decisive: bool = True, detail: str = ""
    ) -> Iterator[Trial]:
        """The trial with a change in all matches; of a field that decides nothing by right, only a note."""
        changes = {event.index: (new,) for event in self.matches if (new := change(event)) is not None}
        if not changes:
            return
        attempt = Attempt(self.base.answer, replace_events(self.trace, changes))
        kind = "unchecked_field" if is_decisive else "incidental_field"
        yield Trial(name, attempt, kind, NETWORK_EVALUATOR, f"{self.place}.{field}", detail)

    def _change_named(
        self, place: str, name: str, other: Any, change: Callable[[str, Any, NetworkEvent], NetworkEvent], **more: Any
    ) -> Iterator[Trial]:
        """Another value of a parameter, header or cookie, and none."""
        for label, value in (("another value", other), ("removed", None)):
            yield from self._trial(f"{name} {label}", f"{place}.{name}", partial(change, name, value), **more)

    def _means_something(self, value: Any) -> bool:
        """Whether a value carries what the task asks for, and the path of the expected URL does not hold it already."""
        expected = self.config.expected.url
        urls = [expected] if isinstance(expected, str) else expected
        paths = [url if looks_like_pattern(url) else url.partition("?")[0] for url in urls]
        checked = set(list_words(" ".join(paths)))
        return carries_meaning(value, self.examiner.task) and not checked.issuperset(list_words(str(value)))

    def _quote(self, name: str, value: Any) -> str:
        """What a field holds if the task says it; of other values nothing, for they may be secrets."""
        return f"{name} has {str(value)[:MOST_QUOTED]!r}" if self._means_something(value) else ""

    def _change_path(self) -> Iterator[Trial]:
        """A path below, and another one for its last segment and for each that carries what the task asks for."""
        yield from self._trial("a path below", "url", _add_segment)
        segments = [unquote(segment) for segment in _split_path(self.matches[-1].url)]
        for position, segment in enumerate(segments):
            means_something = self._means_something(segment)
            if position == len(segments) - 1 or (means_something and position < MOST_FIELDS):
                is_decisive, detail = means_something or not segment.isdigit(), self._quote("the path", segment)
                change = partial(_set_segment, position, change_value(segment))
                yield from self._trial("another path", "url", change, is_decisive=is_decisive, detail=detail)

    def _change_query(self) -> Iterator[Trial]:
        named = self.config.expected.query_params or {}
        values = dict(reversed(_parse_query(self.matches[-1])))
        for name in sorted(values, key=lambda name: name not in named)[:MOST_FIELDS]:
            value = values[name]
            is_decisive = name in named or self._means_something(value)
            if is_decisive or not self.matcher.urls.is_ignored(name):  # the task says itself what does not matter
                more = {"is_decisive": is_decisive, "detail": self._quote(name, value)}
                yield from self._change_named("query_params", name, change_value(value), _set_parameter, **more)

    def _change_body(self, part: str, place: str, names: Iterable[str]) -> Iterator[Trial]:
        """Another value of each field of the deciding body; of a response only of those that the definition names.

        None where the same body, written anew, does not pass.
        """
        last, is_posted = self.matches[-1], part == "post"
        fields = _read_part(last, part)
        if fields is None:
            return
        control = replace_events(self.trace, {last.index: (change_event(last, **{part: fields.unchanged()}),)})
        if not self.examiner.judge(Attempt(self.base.answer, control)).passes:
            return
        for field in fields.list_fields():
            is_decisive = field.is_named(names) or (is_posted and self._means_something(field.value))
            if not is_decisive and (not is_posted or self.matcher.bodies.is_ignored(field.name)):
                continue
            change, detail = partial(_set_field, part, field), self._quote(field.name, field.value) if is_posted else ""
            name, path = f"{field.name} changed", f"{place}.{field.name}"
            yield from self._trial(name, path, change, is_decisive=is_decisive, detail=detail)


def _split_path(url: str) -> list[str]:
    path = urlsplit(url).path.strip("/")
    return path.split("/") if path else []


def _change_url(event: NetworkEvent, **parts: str) -> NetworkEvent:
    return change_event(event, url=urlunsplit(urlsplit(event.url)._replace(**parts)))


def _add_segment(event: NetworkEvent) -> NetworkEvent:
    return _change_url(event, path=f"{urlsplit(event.url).path.rstrip('/')}/{OTHER_TEXT}")


def _set_segment(position: int, value: str, event: NetworkEvent) -> NetworkEvent | None:
    segments = _split_path(event.url)
    if position >= len(segments):
        return None
    segments[position] = quote_plus(value)
    return _change_url(event, path=f"/{'/'.join(segments)}")


def _parse_query(event: NetworkEvent) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(event.url).query, keep_blank_values=True)


def _set_parameter(name: str, value: Any, event: NetworkEvent) -> NetworkEvent:
    pairs = [(key, str(value) if key == name else old) for key, old in _parse_query(event)]
    return _change_url(event, query=urlencode([pair for pair in pairs if value is not None or pair[0] != name]))


def _set_header(name: str, value: Any, event: NetworkEvent) -> NetworkEvent:
    headers = [pair for pair in event.headers if pair[0].lower() != name.lower()]
    return change_event(event, headers=(*headers, *([] if value is None else [(name, value)])))


def _set_cookie(name: str, value: Any, event: NetworkEvent) -> NetworkEvent:
    cookies = [pair for pair in event.cookies if pair[0] != name] + ([] if value is None else [(name, value)])
    headers = tuple(pair for pair in event.response_headers if pair[0].lower() != "set-cookie")  # which have it too
    return change_event(event, cookies=tuple(cookies), response_headers=headers)


def _read_part(event: NetworkEvent, part: str) -> Fields | None:
    return read_fields(event.read_post() if part == "post" else event.read_content())


def _set_field(part: str, field: BodyField, event: NetworkEvent) -> NetworkEvent | None:
    fields = _read_part(event, part)
    if fields is None:
        return None
    return change_event(event, **{part: fields.replace(field.path, change_value(field.value))})
