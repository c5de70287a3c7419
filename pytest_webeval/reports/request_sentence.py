"""Which request is missing, wrong or forbidden, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytest_webeval.diagnostics.difference import EXTRA, MISSING, MOST_CANDIDATES, UNREADABLE
from pytest_webeval.diagnostics.failure_groups import MISSING_EVENTS, failed_assertions
from pytest_webeval.recordings.network.events import NO_RESPONSE
from pytest_webeval.reports.answer_sentence import LONGEST_VALUE, preview_value
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.safety.text import truncate
from pytest_webeval.tasks.expectations import REQUEST_EVALUATOR

FORBIDDEN_EVENT = "unexpected_navigation_event"
LONGEST_URL, MOST_DIFFERENCES = 120, 2
_PLACE = {"url": "url", "http_method": "method"}  # fields of the place of a request, in words
_SENT = ("query_params.", "post_data.", "headers.", "post_data")
_PLAIN = frozenset("-_.~/+%")  # of a value that needs no quotes, besides letters and digits
_LAST = re.compile(r"\(the last of \d+ requests\)$")  # in the message of the check
Differences = Sequence[Mapping[str, Any]]


def describe_request(evaluated: EvaluatorResult, check: str, explanation: Mapping[str, Any]) -> str | None:
    """The sentence for a failed check of a request; None where its explanation says too little."""
    nearest = explanation.get("nearest")
    if check == FORBIDDEN_EVENT and nearest:
        return _describe_forbidden(nearest, len(explanation.get("candidates") or ()))
    if check not in MISSING_EVENTS or not isinstance(evaluated.expected, Mapping):
        return None
    return _describe_missing(_ExpectedRequest.of(evaluated), nearest, explanation)


def _describe_forbidden(nearest: Mapping[str, Any], count: int) -> str:
    request = f"{nearest['method']} {_url(nearest['url'])}"
    if count >= MOST_CANDIDATES:
        return f"At least {count} forbidden requests were sent, such as {request}."
    if count > 1:
        return f"{count} forbidden requests were sent, such as {request}."
    return f"A forbidden request was sent: {request}."


class _ExpectedRequest(NamedTuple):
    """Whether the request is that of a page, and the beginning of a sentence that it is missing."""

    is_page: bool
    absence: str
    is_last: bool  # only the last request to that place counts

    @classmethod
    def of(cls, evaluated: EvaluatorResult) -> _ExpectedRequest:
        expected: Mapping[str, Any] = evaluated.expected
        method, url = expected.get("http_method") or "request", _url(expected.get("url"))
        is_pattern = evaluated.evaluator_name == REQUEST_EVALUATOR or url.startswith("^")
        is_page = expected.get("event_type") == "navigation" and method == "GET"
        messages = [message for failed in failed_assertions(evaluated)[:1] for message in failed.assertion_msgs or ()]
        is_last = any(_LAST.search(message) for message in messages[:1])
        return cls(is_page, f"No {method} {'matching' if is_pattern else 'to'} {url} was sent", is_last)


def _describe_missing(expected: _ExpectedRequest, nearest: Any, explanation: Mapping[str, Any]) -> str | None:
    if not nearest:
        return f"{expected.absence}: the recording has no requests to check."
    if expected.is_page and not explanation.get("candidates"):
        return f"{expected.absence} as a page: no request has an Accept header that starts with text/html."
    differences: Differences = explanation.get("differences") or ()
    places = {difference["path"]: difference for difference in differences if difference["path"] in _PLACE}
    if expected.is_page and "url" in places:
        return f"The last page is {_url(places['url']['actual'])} instead of {_url(places['url']['expected'])}."
    if places:
        return f"{expected.absence}; the nearest request differs in {' and '.join(_PLACE[path] for path in places)}."
    return _describe_fields(differences, nearest, "last " if expected.is_last else "")


def _describe_fields(differences: Differences, nearest: Mapping[str, Any], which: str) -> str | None:
    """What was sent to the right place in the wrong way, or how it was answered."""
    request = f"The {which}request {nearest['method']} {_url(str(nearest['url']).split('?')[0])}"
    sent = [difference for difference in differences if difference["path"].startswith(_SENT)]
    if sent:
        phrases = [*map(_describe_sent, sent[:MOST_DIFFERENCES])]
        others = len(differences) - len(phrases)
        more = [f"{others} other difference{'s' if others > 1 else ''}"] if others else []
        return f"{request} was sent {' and '.join([*phrases, *more])}."
    return next(_describe_responses(request, differences, nearest.get("status")), None)


def _describe_sent(difference: Mapping[str, Any]) -> str:
    field, _, name = difference["path"].partition(".")
    name, kind = truncate(name.removeprefix("$."), LONGEST_VALUE), difference["kind"]
    label = "posted data " if not name else f"the header {name} " if field == "headers" else f"{name}="
    if kind == UNREADABLE:
        return f"with {label.rstrip(' =')} that cannot be read"
    if kind == MISSING:
        return f"without {label}{_value(difference['expected'])}"
    if kind == EXTRA:
        return f"with the unexpected {label.removeprefix('the ')}{_value(difference['actual'])}"
    return f"with {label}{_value(difference['actual'])} instead of {_value(difference['expected'])}"


def _describe_responses(request: str, differences: Differences, status: object) -> Iterator[str]:
    if differences and (status is None or status in NO_RESPONSE):
        yield f"{request} got no response."
    for difference in differences:
        name, kind = difference["path"], difference["kind"]
        expected, actual = _value(difference["expected"]), _value(difference["actual"])
        if name == "response_status":
            yield f"{request} was answered with status {actual} instead of {expected}."
        elif name.startswith(("response_content", "response_cookies")):
            what = truncate(name.removeprefix("response_").replace(".", " ", 1), LONGEST_VALUE)
            if kind == UNREADABLE:
                yield f"The response to the {request[4:]} cannot be read, expected is its {what}."
            elif kind == EXTRA:
                yield f"{request} was answered with the unexpected {what} {actual}."
            elif kind == MISSING:
                yield f"{request} was answered without the {what} {expected}."
            else:
                yield f"{request} was answered with the {what} {actual} instead of {expected}."


def _url(url: Any) -> str:
    """A URL, or some from which a task lets an agent choose."""
    urls = url if isinstance(url, list) else [url]
    return truncate(" or ".join(map(str, urls)), LONGEST_URL)


def _value(value: Any) -> str:
    """A value as it is sent, if it is short and plain, or else as JSON."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_VALUE:
        return preview_value(value)
    return value if all(character.isalnum() or character in _PLAIN for character in value) else preview_value(value)
