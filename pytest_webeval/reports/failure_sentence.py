"""Why a task failed, as one plain sentence for people, with our names of checks in words.

Result files and terminals have the exact names of what failed; see `failure_text`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_webeval.diagnostics.difference import MOST_CANDIDATES, MOST_DIFFERENCES
from pytest_webeval.diagnostics.failure_groups import FORBIDDEN_EVENT, MISSING_EVENTS, deciding_assertion
from pytest_webeval.recordings.network.events import NO_RESPONSE
from pytest_webeval.reports.failure_text import SENT
from pytest_webeval.results import (
    EXTRA,
    MISSING,
    UNREADABLE,
    Difference,
    EvaluatorResult,
    Explanation,
    Status,
    TaskResult,
    WarningKind,
    list_failed,
)
from pytest_webeval.safety.text import ELLIPSIS, list_first, pluralize, preview, to_line, truncate
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, REQUEST_EVALUATOR, RESPONSE_EVALUATOR, RUBRIC_EVALUATOR

LONGEST_SENTENCE = 500  # characters
LONGEST_VALUE, LONGEST_URL = 80, 120
MOST_VALUES, MOST_NAMED = 3, 2  # values of an answer, differences of a request
_DEEPEST, _LARGEST_EXACT = 20, 2**53
_DATA, _ITEM = "retrieved_data", re.compile(r"retrieved_data\[\d+\]")
_PLACE = {"url": "url", "http_method": "method"}  # fields of the place of a request, in words
_PLAIN = frozenset("-_.~/+%")  # of a value that needs no quotes, besides letters and digits
_LAST = re.compile(r"\(the last of \d+ requests\)$")  # in the message of a check for which the last request decides
# A name of a check about an event at the beginning of a reason, and the method of the request.
_EVENT_REASON = re.compile(
    r"(missing_navigation_event|missing_request|unexpected_navigation_event): "
    r"(?=(?:(?:no (?:matching )?|\d+ matching )([A-Za-z]+) )?)"
)


def failure_sentence(result: TaskResult, words: Mapping[str, str]) -> str | None:
    """The first failure as a sentence; None for a success, and where the reason alone can say what is wrong.

    `words` are the names of the answer's fields as the agent wrote them. Texts of the result stand in the sentence: it
    is as free of secrets as they are.
    """
    decisive = None if result.status is Status.SUCCESS else deciding_assertion(result)
    if decisive is None or decisive.assertion is None:
        return None
    sentence = _describe(decisive.result, words)
    has_guessed_sites = any(warning.kind == WarningKind.GUESSED_SITES for warning in result.warnings)
    if sentence and has_guessed_sites and decisive.result.evaluator_name == NETWORK_EVALUATOR:
        sentence = f"{sentence} But the URLs of the sites were guessed: pass them with --webeval-config."
    return to_line(sentence, LONGEST_SENTENCE) if sentence else None


def _describe(evaluated: EvaluatorResult, words: Mapping[str, str]) -> str | None:
    first, explanation = list_failed(evaluated.assertions)[0], evaluated.explanation
    if evaluated.evaluator_name == RUBRIC_EVALUATOR:
        text = (first.assertion_msgs or [""])[0].strip()
        return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?', '…')) else '.'}" if text else None
    if evaluated.evaluator_name == RESPONSE_EVALUATOR and explanation is not None:
        return _describe_answer(explanation.differences, words)
    if evaluated.evaluator_name not in (NETWORK_EVALUATOR, REQUEST_EVALUATOR):
        return None
    explanation = explanation or Explanation([])
    if first.assertion_name == FORBIDDEN_EVENT and (nearest := explanation.nearest) is not None:
        request, count = f"{nearest.method} {_format_url(nearest.url)}", len(explanation.candidates)
        at_least = "At least " if count >= MOST_CANDIDATES else ""
        several = f"{at_least}{count} forbidden requests were sent, such as {request}."
        return several if count > 1 else f"A forbidden request was sent: {request}."
    if first.assertion_name in MISSING_EVENTS and isinstance(evaluated.expected, Mapping):
        is_last = any(_LAST.search(message) for message in (first.assertion_msgs or ())[:1])
        which = "last " if is_last else ""
        return _describe_missing(evaluated.expected, evaluated.evaluator_name, explanation, which)
    return None


def event_check_name(name: str, method: object) -> str:
    """The name of a check about an event in words; other names stay. What a POST lacks is no navigation."""
    if name in MISSING_EVENTS:
        is_navigation = name != "missing_request" and method == "GET"
        return "missing navigation event" if is_navigation else "missing request"
    return "forbidden request" if name == FORBIDDEN_EVENT else name


def reason_in_words(reason: str) -> str:
    """A reason for the eyes of people: a name of a check about an event at its beginning is in words."""
    match = _EVENT_REASON.match(reason)
    return reason if match is None else f"{event_check_name(*match.groups())}: {reason[match.end() :]}"


def in_agents_words(path: str, words: Mapping[str, str]) -> str:
    """The path of a difference with the name of its field as the agent wrote it."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    return f"{words.get(name, name)}{path[len(name) :]}"


# What is wrong with an answer.


def _describe_answer(differences: Sequence[Difference], words: Mapping[str, str]) -> str | None:
    """The first difference in the type or the status, or else all about the data.

    None without differences, and where it is not certain what is wrong.
    """
    if not differences:
        return None
    first = differences[0]
    if first.path == "agent_response":
        malformed = f"The answer is not a JSON object with task_type and status: {_preview(first.actual)}."
        return "The agent gave no answer." if first.actual is None or first.actual == "" else malformed
    is_data = first.path.startswith(_DATA)
    if is_data and len(differences) >= MOST_DIFFERENCES:  # those that are not listed may be about the same items
        return f"The answer differs from the expected one in at least {MOST_DIFFERENCES} places."
    if not is_data or first.path == _DATA:
        return _describe_field(first, in_agents_words(first.path, words))
    data = [each for each in differences if each.path.startswith(_DATA)]
    items = [each for each in data if _ITEM.fullmatch(each.path)]
    if len(items) == len(data):
        return _describe_items(items)
    first = (items or data)[0]  # in lists with an order, only what stands where is known of such items
    return _describe_place(first, in_agents_words(first.path, words), len(data) - 1)


def _describe_field(difference: Difference, name: str) -> str | None:
    expected, actual = _preview(difference.expected), _preview(difference.actual)
    if difference.kind == MISSING:
        problem = f"has an empty {name}" if difference.actual == "" else f"lacks {name}"
        return f"The answer {problem}; expected is {expected}."
    if difference.kind == EXTRA:  # of a field that the task should have; the answer may have none either
        return None if difference.actual is None else f"The answer has {name} {actual}, which is not expected."
    return None if actual == expected else f"The answer has the {name} {actual} instead of {expected}."


def _describe_items(differences: Sequence[Difference]) -> str | None:
    """Which items there should be, and which not, wherever they stand; None where cut values may be the same."""
    lacking = Counter(_encode(each.expected) for each in differences if each.kind != EXTRA)
    added = Counter(_encode(each.actual) for each in differences if each.kind != MISSING)
    if any(ELLIPSIS in text or text[:1] == "<" for text in lacking.keys() & added.keys()):
        return None
    lacked, had = _list_values(lacking - added), _list_values(added - lacking)
    if lacked and had:
        return None if lacked == had else f"The answer lacks {lacked} and has {had} instead."
    if lacked:
        return f"The answer lacks {lacked}."
    if had:
        return f"The answer has {had}, which is not expected."
    return "The answer has the right items in the wrong order." if len(differences) > 1 else None


def _describe_place(difference: Difference, path: str, others: int) -> str | None:
    """An item or a member of one, by its place, and how many more differences there are."""
    expected, actual = _preview(difference.expected), _preview(difference.actual)
    more = f"; there {'are' if others > 1 else 'is'} {pluralize(others, 'other difference')}" if others else ""
    if difference.kind == MISSING:
        return f"The answer lacks {expected} in {path}{more}."
    if difference.kind == EXTRA:
        return f"The answer has {actual} in {path}, which is not expected{more}."
    return None if actual == expected else f"The answer has {actual} instead of {expected} in {path}{more}."


# Which request is missing, wrong or forbidden.


def _describe_missing(expected: Mapping[str, Any], evaluator: str, explanation: Explanation, which: str) -> str | None:
    """None where the explanation says too little."""
    method, url = expected.get("http_method") or "request", _format_url(expected.get("url"))
    is_pattern = evaluator == REQUEST_EVALUATOR or url.startswith("^")
    absence = f"No {method} {'matching' if is_pattern else 'to'} {url} was sent"
    is_page = expected.get("event_type") == "navigation" and method == "GET"
    if explanation.nearest is None:
        return f"{absence}: the recording has no requests to check."
    if is_page and not explanation.candidates:
        return f"{absence} as a page: no request has an Accept header that starts with text/html."
    places = {difference.path: difference for difference in explanation.differences if difference.path in _PLACE}
    if is_page and "url" in places:
        page = places["url"]
        return f"The last page is {_format_url(page.actual)} instead of {_format_url(page.expected)}."
    if places:
        return f"{absence}; the nearest request differs in {' and '.join(_PLACE[path] for path in places)}."
    nearest = explanation.nearest
    request = f"{which}request {nearest.method} {_format_url(nearest.url.split('?')[0])}"
    return _describe_fields(request, explanation.differences, nearest.status)


def _describe_fields(request: str, differences: Sequence[Difference], status: int | None) -> str | None:
    """What was sent to the right place in the wrong way, or how it was answered."""
    if sent := [difference for difference in differences if difference.path.startswith(SENT)]:
        phrases = [_describe_sent(each) for each in sent[:MOST_NAMED]]
        others = len(differences) - len(phrases)
        more = [pluralize(others, "other difference")] if others else []
        return f"The {request} was sent {' and '.join([*phrases, *more])}."
    if differences and (status is None or status in NO_RESPONSE):
        return f"The {request} got no response."
    for difference in differences:
        expected, actual = _format_value(difference.expected), _format_value(difference.actual)
        if difference.path == "response_status":
            return f"The {request} was answered with status {actual} instead of {expected}."
        if difference.path.startswith(("response_content", "response_cookies")):
            what = truncate(difference.path.removeprefix("response_").replace(".", " ", 1), LONGEST_VALUE)
            sentences = {
                MISSING: f"The {request} was answered without the {what} {expected}.",
                EXTRA: f"The {request} was answered with the unexpected {what} {actual}.",
                UNREADABLE: f"The response to the {request} cannot be read, expected is its {what}.",
            }
            different = f"The {request} was answered with the {what} {actual} instead of {expected}."
            return sentences.get(difference.kind, different)
    return None


def _describe_sent(difference: Difference) -> str:
    field, _, name = difference.path.partition(".")
    name = truncate(name.removeprefix("$."), LONGEST_VALUE)
    label = "posted data " if not name else f"the header {name} " if field == "headers" else f"{name}="
    expected, actual = _format_value(difference.expected), _format_value(difference.actual)
    if difference.kind == UNREADABLE:
        return f"with {label.rstrip(' =')} that cannot be read"
    if difference.kind == MISSING:
        return f"without {label}{expected}"
    if difference.kind == EXTRA:
        return f"with the unexpected {label.removeprefix('the ')}{actual}"
    return f"with {label}{actual} instead of {expected}"


# Values in a sentence.


def _format_url(url: Any) -> str:
    """A URL, or some from which a task lets an agent choose."""
    urls = url if isinstance(url, list) else [url]
    return truncate(" or ".join(map(str, urls)), LONGEST_URL)


def _format_value(value: Any) -> str:
    """A value as it is sent, if it is short and plain, or else as JSON."""
    is_short = isinstance(value, str) and 0 < len(value) <= LONGEST_VALUE
    is_plain = is_short and all(character.isalnum() or character in _PLAIN for character in value)
    return value if is_plain else _preview(value)


def _preview(value: Any) -> str:
    """A value as JSON of bounded length; whole numbers have no fraction, down to some depth."""
    return preview(_without_fractions(value, _DEEPEST), LONGEST_VALUE)


def _without_fractions(value: Any, depth: int) -> Any:
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_EXACT else value
    if depth and isinstance(value, list):
        return [_without_fractions(item, depth - 1) for item in value]
    if depth and isinstance(value, dict):
        return {name: _without_fractions(member, depth - 1) for name, member in value.items()}
    return value


def _encode(value: Any) -> str:
    """The same text for equal values."""
    try:
        return json.dumps(_without_fractions(value, _DEEPEST), ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return repr(type(value))


def _list_values(counts: Counter[str]) -> str:
    """The first values of some that are encoded; empty without any."""
    texts = [*counts.elements()]
    return list_first(texts, MOST_VALUES, lambda text: text if text[:1] == "<" else _preview(json.loads(text)))
