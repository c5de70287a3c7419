"""Requests as entries of a task's `eval`, in the order in which the manual lists the fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_webeval.authoring.addresses import Place
from pytest_webeval.authoring.proposal.answers import ProposedAnswer
from pytest_webeval.authoring.proposal.decision import Decision, Forbidden
from pytest_webeval.authoring.requests import Request
from pytest_webeval.tasks.expectations import NETWORK_EVALUATOR, RESPONSE_EVALUATOR
from pytest_webeval.tasks.sites import placeholder

_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}")
_STATUS_OF_CACHE, _OK = 304, 200
_ANY_SEGMENT = "[^/]+"
_STRING = {"type": "string"}


def expect_response(task_type: str, status: str, answer: ProposedAnswer) -> dict[str, Any]:
    """The entry about the agent's answer."""
    entry: dict[str, Any] = {
        "evaluator": RESPONSE_EVALUATOR,
        "expected": {"task_type": task_type.lower(), "status": status, "retrieved_data": answer.data},
        "results_schema": answer.schema,
    }
    return entry | {"ordered": True} if answer.is_ordered else entry


def expect_requests(decision: Decision) -> list[dict[str, Any]]:
    """The entries about traffic: decisive requests, then forbidden ones."""
    entries = [_expect_request(request, decision) for request in decision.expected]
    for each in decision.forbidden:
        expected = {"url": _write_forbidden_url(each), "http_method": each.method}
        entries.append({"evaluator": NETWORK_EVALUATOR, "expected": expected, "should_not_exist": True})
    return entries


def _expect_request(request: Request, decision: Decision) -> dict[str, Any]:
    urls = [write_url(place) for place in (request.place, *request.others)]
    expected: dict[str, Any] = {"url": urls if request.others else urls[0]}
    is_get = request.method == "GET"
    status = _OK if request.status == _STATUS_OF_CACHE and is_get else request.status
    if not is_get:
        expected["http_method"] = request.method
    if not is_get or status != _OK:
        expected["response_status"] = status
    if request.query:
        expected["query_params"] = {name: list(values) for name, values in request.query.items()}
    if request.fields:
        expected["post_data"] = dict(request.fields)
    if decision.needs_referer and request.referer is not None:
        query = f"?{request.referer_query}" if request.referer_query else ""
        expected["headers"] = {"referer": write_url(request.referer) + query}
    entry: dict[str, Any] = {"evaluator": NETWORK_EVALUATOR, "expected": expected}
    if request.number in decision.repeated:
        entry["last_event_only"] = False
    if request.ignored:
        entry["ignored_query_params"] = sorted(request.ignored)
    if types := _type_query(request.query):
        entry["query_params_schema"] = {"type": "object", "properties": types}
    kinds = {name: _type_field(value) for name, value in request.fields.items()}
    if types := {name: kind for name, kind in kinds.items() if kind != _STRING}:  # compared as something else than text
        entry["post_data_schema"] = {"type": "object", "properties": types}
    return entry


def _type_query(query: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Types of all parameters where one is a date, which can be written in several ways; else none."""
    are_dates = {name: all(map(_DATE.fullmatch, values)) for name, values in query.items()}
    if not any(are_dates.values()):
        return {}
    return {
        name: {"type": "array", "items": _STRING | {"format": "date"} if is_date else _STRING}
        for name, is_date in are_dates.items()
    }


def _type_field(value: Any) -> dict[str, Any]:
    if isinstance(value, list | tuple):
        kinds = [_type_field(item) for item in value]
        return {"type": "array", "items": kinds[0] if kinds.count(kinds[0]) == len(kinds) else _STRING}
    if isinstance(value, bool):
        return {"type": "boolean"}
    return {"type": "number"} if isinstance(value, int | float) else _STRING


def _write_forbidden_url(forbidden: Forbidden) -> str:
    """A pattern of all places but the exempt ones."""
    segments = forbidden.place.segments
    start = len(segments) if forbidden.is_any_below else segments.index(None)
    tails = ["/".join(_escape(segment) for segment in place.segments[start:]) for place in forbidden.exempt]
    tail = min(tails) if len(tails) == 1 else f"(?:{'|'.join(sorted(tails))})"
    exemption = f"(?!{tail}/?$)" if tails else ""
    rest = ".*" if forbidden.is_any_below else "/".join(map(_escape, segments[start:]))
    return "^" + "/".join((_write_start(forbidden.place), *map(_escape, segments[:start]), exemption + rest)) + "$"


def write_url(place: Place) -> str:
    """The URL as a task spells it: a pattern where any segment will do."""
    if None not in place.segments:
        return place.text
    return "^" + "/".join((_write_start(place), *map(_escape, place.segments))) + "$"


def _write_start(place: Place) -> str:
    return placeholder(place.site) if place.site is not None else re.escape(place.origin)


def _escape(segment: str | None) -> str:
    return _ANY_SEGMENT if segment is None else re.escape(segment).replace("\\-", "-")
