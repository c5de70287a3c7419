"""What one field of an event comes to, and how the event that came nearest differs from the expected one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from pytest_webeval.diagnostics.difference import MOST_CANDIDATES, build_explanation, differ, differences, truncate_json
from pytest_webeval.evaluators.network.urls import Query, Url
from pytest_webeval.recordings.network.events import NetworkEvent
from pytest_webeval.results import DIFFERENT, EXTRA, MISSING, Assertion, Difference, Explanation, NamedEvent
from pytest_webeval.values.comparison import Comparison, failed, passed, preview

PATH = "network_event"


class Check(NamedTuple):
    """The assertions about one field, and how it differs where they do not hold."""

    assertions: list[Assertion]
    list_differences: Callable[[], Iterable[Difference]] = tuple


def check_exact(field: str, expected: object, actual: object) -> Check:
    """Whether a field is exactly as expected."""
    if expected == actual:
        return Check([passed(f"{PATH}.{field}_match", preview(actual))])
    assertion = failed(f"{PATH}.{field}_mismatch", f"expected {preview(expected)}", f"got {preview(actual)}")
    return miss(assertion, field, MISSING if actual is None else DIFFERENT, expected, actual)


def miss(assertion: Assertion, field: str, kind: str, expected: object, actual: object = None) -> Check:
    """An assertion that does not hold, about a field that differs as a whole."""
    return Check([assertion], lambda: [differ(field, kind, expected, actual)])


def check_trees(field: str, comparison: Comparison, expected: Any, actual: Any) -> Check:
    """Whether two trees of values are equal. Raises `EvaluationError`."""
    assertions = list(comparison.compare(expected, actual, f"{PATH}.{field}"))
    return Check(assertions, lambda: differences(comparison, expected, actual, field))


def explain_event(
    nearest: NamedEvent | None, expected: Any, found: Iterable[Difference], candidates: Sequence[NetworkEvent]
) -> Explanation:
    """The explanation where an event came near, or is there although it should not, or where none could come near.

    It has the positions of the candidates, the nearest among them; of many the last ones.
    """
    if nearest is None:
        return build_explanation([differ(PATH, MISSING, expected)])
    positions = [event.index for event in candidates]
    if len(positions) > MOST_CANDIDATES:
        positions = sorted({*positions[1 - MOST_CANDIDATES :], nearest.index})
    return build_explanation(found, nearest, positions)


def name_event(event: NetworkEvent, url: str, total: int, status: int | None) -> NamedEvent:
    """An event of so many as explanations name it. Raises `EvaluationError` where it is damaged."""
    return NamedEvent(event.index, total, str(event.method), truncate_json(url), status)


def compare_queries(
    expected: Sequence[Query], actual: Url, path: str, is_same: Callable[[Query, Query], bool]
) -> Iterator[Difference]:
    """Each parameter that differs from the alternative that comes nearest."""
    wrong = [(query, _list_wrong_parameters(query, actual.query, is_same)) for query in expected]
    query, names = min(wrong, key=lambda pair: len(pair[1]))
    for name in names:
        kind = MISSING if name not in actual.query else DIFFERENT if name in query else EXTRA
        sent = None  # decoded once and in its own case, to compare it by eye
        if name in actual.query:
            sent = unwrap_single([*map(unquote_plus, actual.sent_query[name])])
        yield differ(f"{path}.{name}", kind, unwrap_single(query[name]) if name in query else None, sent)


def _list_wrong_parameters(expected: Query, actual: Query, is_same: Callable[[Query, Query], bool]) -> list[str]:
    pairs = {
        name: [{name: query[name]} if name in query else {} for query in (expected, actual)]
        for name in sorted({*expected, *actual})
    }
    return [name for name, pair in pairs.items() if not is_same(*pair)]


def unwrap_single(values: Sequence[str]) -> Any:
    """The only one of some values, or all of them."""
    return values[0] if len(values) == 1 else list(values)
