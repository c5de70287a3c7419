"""The request that fits a pattern and some fields, or the one that comes nearest.

The rule is that of ClawBench's interceptor (PyPI `clawbench-eval` 0.11.0, `runtime/runtime-server/server.py`:
`start_cdp_handler`, `_parse_body`, `_const_fields_match`): the pattern is found anywhere in the URL, the method is
equal, and so is each field of the body and of the query. A body is JSON, or otherwise the fields of a form, whatever
its type says. Of a list, as GraphQL sends, one item with all fields is enough. A field that was sent several times is a
list of its values.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlparse

from msgspec import Struct

from pytest_webeval.diagnostics.difference import differ
from pytest_webeval.errors import EvaluationError, UnavailableBody
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.checks import PATH, explain_event, name_event
from pytest_webeval.evaluators.network.evaluator import NEAREST_AMONG, Miss, choose_nearest
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.recordings.network.form_fields import parse_recorded
from pytest_webeval.recordings.network.gaps import Gaps
from pytest_webeval.results import (
    DIFFERENT,
    MISSING,
    Assertion,
    Difference,
    EvaluatorResult,
    Explanation,
    Status,
    list_failed,
)
from pytest_webeval.safety import regex
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.safety.json import load_bounded
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.text import pluralize
from pytest_webeval.tasks.expectations import ExpectedRequest
from pytest_webeval.values.comparison import failed, passed, preview

SECONDS = 10.0  # for the pattern in the URLs of one run, each of which has the time of a regular expression at most
_ABSENT = object()


class _Field(NamedTuple):
    """An expected field with the actual value, which may be absent, and whether it holds."""

    path: str
    expected: Any
    actual: Any
    assertion: Assertion

    def describe(self) -> Difference:
        is_absent = self.actual is _ABSENT
        return differ(self.path, MISSING if is_absent else DIFFERENT, self.expected, None if is_absent else self.actual)


class RequestSearch(Struct, frozen=True, dict=True):
    """The requests of a run beside the one that a task expects."""

    expected: ExpectedRequest
    case: Case

    @cached_property
    def events(self) -> list[NetworkEvent]:
        """All requests, also those of static files: a task may be to download one."""
        return [event for event in self.case.trace.events if not event.is_pending]

    @cached_property
    def candidates(self) -> list[NetworkEvent]:
        """Requests with the method, and with a URL that fits. Those that cannot be read are candidates too."""
        pattern = f"the pattern {self.expected.url_pattern[:80]!r}"
        message = f"{pattern} took longer than {SECONDS:g} s in {pluralize(len(self.events), 'URL')}; use a simpler one"
        with time_limit(SECONDS, message):
            candidates, deadline = [], time.monotonic() + SECONDS
            for event in self.events:
                if time.monotonic() > deadline:  # in a thread that nothing interrupts
                    raise EvaluationError(message)
                if self._is_candidate(event):
                    candidates.append(event)
            return candidates

    def _is_candidate(self, event: NetworkEvent) -> bool:
        try:
            method, url = event.method, event.url
        except EvaluationError:
            return True
        has_method = not self.expected.method or method == self.expected.method
        return has_method and regex.search(self.expected.url_pattern, url)

    def evaluate(self, evaluator: Evaluator) -> EvaluatorResult:
        """The first request that matches, or the nearest miss with each differing field. Raises `WebEvalError`."""
        event, reasons = self._choose_event()
        fields = [] if event is None else self._compare(event)
        assertions = [*reasons, *(field.assertion for field in fields)]
        actual = None if event is None else _to_json(event, fields)
        result = evaluator.result(assertions, actual=actual, normalized=actual, expected=self._expected_to_json())
        return self.case.explain(result, lambda: self._explain(event, fields))

    def _choose_event(self) -> tuple[NetworkEvent | None, list[Assertion]]:
        """The first candidate that matches, or the nearest miss and why. Raises the error of one that may have matched.

        None if there are no requests.
        """
        misses: list[Miss] = []
        undecided: EvaluationError | None = None
        for event in self.candidates:
            try:
                assertions = [field.assertion for field in self._compare(event)]
            except EvaluationError as error:
                undecided = undecided or error
                continue
            if not list_failed(assertions):
                return event, []
            misses.append((event, assertions))
        if undecided is not None:
            raise undecided
        request = f"{self.expected.method or 'request'} {preview(self.expected.url_pattern)}"
        nearest = choose_nearest(misses or self._other_misses())
        if nearest is None:
            return None, [failed("missing_request", f"no {request}: the recording has no requests to check")]
        event, message = nearest[0], f"no matching {request} ({pluralize(len(misses), 'candidate')})"
        position = f"nearest is {event.name} of {len(self.events)}: {event.method} {preview(event.url)}"
        return event, [failed("missing_request", message, position)]

    def _other_misses(self) -> Iterator[Miss]:
        """Requests at other places; of the same method if there are any."""
        latest = [event for event in self.events if event.is_significant][-NEAREST_AMONG:]
        for event in [event for event in latest if _is_of_method(event, self.expected.method)] or latest:
            with suppress(EvaluationError):  # an event that nothing chose decides nothing by being unreadable
                yield event, [field.assertion for field in self._compare(event)]

    def _compare(self, event: NetworkEvent) -> list[_Field]:
        """Each field that the task names. Raises `EvaluationError` for a body that is unavailable."""
        expected, url, method = self.expected, event.url, event.method
        pattern = expected.url_pattern
        if regex.search(pattern, url):
            place = passed(f"{PATH}.url_match", preview(url))
        else:
            place = failed(f"{PATH}.url_mismatch", f"expected {preview(pattern)} in it", f"got {preview(url)}")
        return [
            _Field("url", pattern, url, place),
            _Field("http_method", expected.method, method, _check("http_method", expected.method or method, method)),
            *_compare_members("post_data", expected.body or {}, self._read_body(event)),
            *_compare_members("query_params", expected.params or {}, read_query(url)),
        ]

    def _read_body(self, event: NetworkEvent) -> Any:
        """What was posted, if the task asks for it. Raises `EvaluationError`."""
        if not self.expected.body:
            return None
        try:
            body = event.read_post()
            fields = read_fields(body, self.case.run.inputs.limits)
        except ValueError as error:
            raise event.damaged("body") from error
        problem = self._gaps.posted(event, body) if fields is None else None
        if problem is not None:
            raise UnavailableBody(problem)
        return fields

    @cached_property
    def _gaps(self) -> Gaps:
        return Gaps(self.case.trace)

    def _explain(self, event: NetworkEvent | None, fields: Sequence[_Field]) -> Explanation:
        expected, status = self._expected_to_json(), None
        if event is None:
            return explain_event(None, expected, (), ())
        with suppress(EvaluationError):  # a log of requests has none
            status = event.status
        nearest = name_event(event, event.url, len(self.case.run.trace.all_events), status)
        found = [field.describe() for field in fields if field.assertion.status is not Status.SUCCESS]
        return explain_event(nearest, expected, found, self.candidates)

    def _expected_to_json(self) -> dict[str, Any]:
        """The expected request in the same form."""
        expected = self.expected
        fields = {"post_data": expected.body or {}, "query_params": expected.params or {}}
        return {"url": expected.url_pattern, "http_method": expected.method, **fields}


def check_pattern(pattern: str, where: str) -> None:
    """Raise `EvaluationError` if the pattern of a task is invalid."""
    try:
        regex.search(pattern, "")
    except regex.InvalidPattern as error:
        raise EvaluationError(f"invalid task definition: {error} @ {where}") from error


def read_fields(body: Body | None, limits: Limits) -> Any:
    """What was posted: JSON, or the fields of a form, or text; None where nothing was.

    Raises `EvaluationError`, and `ValueError` for a parsed body that is damaged.
    """
    if body is not None and body.parsed is not None:
        return load_bounded(body.parsed, limits, "a body")
    text = "" if body is None else body.load_text() if body.load_text else body.text
    if not text:
        items = parse_recorded(body, "", limits) if body is not None and body.params else None
        return items[0].first | items[0].repeated if items else None
    try:
        return load_bounded(text, limits, "a body")
    except ValueError:
        return _unwrap(parse_qs(text, keep_blank_values=True)) or text


def read_query(url: str) -> dict[str, Any]:
    """The parameters of a URL that are not blank; none of a URL that is invalid."""
    try:
        return _unwrap(parse_qs(urlparse(url).query))
    except ValueError:
        return {}


def _unwrap(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _is_of_method(event: NetworkEvent, method: str | None) -> bool:
    with suppress(EvaluationError):
        return event.method == method
    return False


def _choose_item(expected: Mapping[str, Any], actual: Any) -> Mapping[str, Any] | None:
    """The object of what was sent that has most of the expected fields; None where none was sent."""
    objects = [item for item in _list_items(actual) if item and isinstance(item, dict)]
    equal = [sum(is_same_json(value, item.get(key)) for key, value in expected.items()) for item in objects]
    return objects[equal.index(max(equal))] if objects else None


def _list_items(actual: Any) -> list[Any]:
    """The items of a list, and of lists in it."""
    items, pending = [], [actual]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += reversed(item)
        else:
            items.append(item)
    return items


def is_same_json(expected: Any, actual: Any) -> bool:
    """Whether two JSON values are equal. True is not 1, which to Python it is; 1 is 1.0."""
    pending = [(expected, actual)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            if left.keys() != right.keys():
                return False
            pending.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif isinstance(left, bool) is not isinstance(right, bool) or left != right:
            return False
    return True


def _to_json(event: NetworkEvent, fields: Sequence[_Field]) -> dict[str, Any]:
    """The deciding request as reports show it: only the fields that the task names."""
    members: dict[str, dict[str, Any]] = {"post_data": {}, "query_params": {}}
    for field in fields:
        name, mark, key = field.path.partition(".")
        if mark and field.actual is not _ABSENT:
            members[name][key] = field.actual
    return {"url": event.url, "http_method": event.method, **members}


def _compare_members(name: str, expected: Mapping[str, Any], actual: Any) -> Iterator[_Field]:
    item = _choose_item(expected, actual)
    for key, value in expected.items():
        path, found = f"{name}.{key}", _ABSENT if item is None else item.get(key, _ABSENT)
        check = _check(path, value, found)
        if item is None:
            check = failed(f"{PATH}.{path}_mismatch", f"expected {preview(value)}", "nothing was sent")
        yield _Field(path, value, found, check)


def _check(path: str, expected: Any, actual: Any) -> Assertion:
    sent = None if actual is _ABSENT else actual  # what was not sent is null, as in the writer
    if is_same_json(expected, sent):
        return passed(f"{PATH}.{path}_match", preview(sent))
    found = "it was not sent" if actual is _ABSENT else f"got {preview(actual)}"
    return failed(f"{PATH}.{path}_mismatch", f"expected {preview(expected)}", found)
