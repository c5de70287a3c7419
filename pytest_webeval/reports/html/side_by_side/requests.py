"""Requests that may have decided a verdict, as sessions are compared by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, structs

from pytest_webeval.reports.html.requests import FORBIDDEN, MATCH, NEAREST
from pytest_webeval.results import EvaluatorResult, Status
from pytest_webeval.safety.text import truncate

LONGEST_URL, LONGEST_PLACE, LONGEST_METHOD = 500, 120, 20  # characters
MOST_READ = 2_000  # as many as a report has of a run
MOST_COMPARED = 200  # of a run
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
Place = tuple[str, str]  # method and path


class Request(Struct, frozen=True):
    """A request. `role` says what it is in the verdict: a match, or the nearest miss."""

    method: str
    url: str
    status: int | None = None
    role: str = ""

    @property
    def place(self) -> Place:
        """What says that two requests are the same one. Sessions may have the same sites at different hosts."""
        return self.method.upper(), split_url(self.url)[0]

    @property
    def may_decide(self) -> bool:
        """Whether it has a role in the verdict, or may have changed something at a site."""
        return bool(self.role) or self.method.upper() in _CHANGING


def split_url(url: str) -> tuple[str, str]:
    """The path of a URL, and its query. The name of a site stands for a host: `__SHOPPING__/cart`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return truncate(url, LONGEST_PLACE), ""
    path = parts.path
    if path.startswith("__"):
        path = f"/{path.partition('/')[2]}"
    return truncate(path or "/", LONGEST_PLACE), f"?{parts.query}" if parts.query else ""


def read_requests(network: Any) -> list[Request] | None:
    """All requests in the table of a task's page, None where there is no table.

    A row that is not as the report writes it is passed over.
    """
    events = network.get("events") if isinstance(network, Mapping) else None
    if not isinstance(events, list):
        return None
    return [request for row in events[-MOST_READ:] if (request := _read_row(row)) is not None]


def _read_row(row: Any) -> Request | None:
    if not isinstance(row, list) or len(row) < 7:
        return None
    _, method, url, status, _, _, mark = row[:7]
    return _build(method, url, status, NEAREST if mark in (NEAREST, FORBIDDEN) else "")


def _build(method: Any, url: Any, status: Any, role: str) -> Request | None:
    if not isinstance(method, str) or not isinstance(url, str):
        return None
    status = status if type(status) is int else None
    return Request(truncate(method, LONGEST_METHOD), truncate(url, LONGEST_URL), status, role)


def list_named(results: Sequence[EvaluatorResult]) -> list[Request]:
    """The requests that evaluations name: those that matched, and the nearest ones of failed checks."""
    return [request for each in results if (request := _find_named(each)) is not None]


def _find_named(evaluated: EvaluatorResult) -> Request | None:
    nearest = None if evaluated.explanation is None else evaluated.explanation.nearest
    actual = evaluated.actual
    if nearest is not None:
        role = MATCH if evaluated.status is Status.SUCCESS else NEAREST
        return _build(nearest.method, nearest.url, nearest.status, role)
    if evaluated.status is Status.SUCCESS and isinstance(actual, Mapping):
        return _build(actual.get("http_method"), actual.get("url"), actual.get("response_status"), MATCH)
    return None


def mark_matches(requests: Sequence[Request], named: Sequence[Request]) -> list[Request]:
    """The requests, with their role for the last one to each place where one matched: a table has no such mark."""
    marked = list(requests)
    by_place = {request.place: position for position, request in enumerate(requests)}
    for request in named:
        position = by_place.get(request.place)
        if request.role == MATCH and position is not None:
            marked[position] = structs.replace(marked[position], role=MATCH)
    return marked


def list_deciding_places(runs: Sequence[Sequence[Request]]) -> Collection[Place]:
    """The places of requests that may decide in one of some runs."""
    return {request.place for requests in runs for request in requests if request.may_decide}


def select(requests: Sequence[Request], places: Collection[Place]) -> list[Request]:
    """The requests to these places; of many the last ones."""
    return [request for request in requests if request.place in places][-MOST_COMPARED:]


def number(requests: Sequence[Request]) -> Iterator[tuple[tuple[Place, int], Request]]:
    """The requests with their places, and how many of the same place came before."""
    counts: Counter[Place] = Counter()
    for request in requests:
        place = request.place
        yield (place, counts[place]), request
        counts[place] += 1
