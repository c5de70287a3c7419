"""Runs that nobody recorded: an answer and a trace, made or changed in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.events import Body, NetworkEvent, NetworkTrace, Pairs
from pytest_webeval.recordings.run import Run
from pytest_webeval.rules import Rules
from pytest_webeval.safety.limits import USUAL, Limits

NO_FILE = Path("audit")
# What browsers send for a page that a person goes to.
PAGE_HEADERS: Pairs = (
    ("accept", "text/html,application/xhtml+xml"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-user", "?1"),
)


class DraftEvent(NetworkEvent):
    """An event with some fields of its own; the others are those of a recorded event, or those of a plain page."""

    __slots__ = ("_base", "_fields")

    def __init__(self, index: int, fields: Mapping[str, Any], base: NetworkEvent | None = None) -> None:
        self.index, self._fields, self._base = index, fields, base

    def _get(self, name: str, default: Any = None) -> Any:
        if name in self._fields:
            return self._fields[name]
        return default if self._base is None else getattr(self._base, name)

    @property
    def url(self) -> str:
        return str(self._get("url"))

    @property
    def method(self) -> str:
        return str(self._get("method", "GET"))

    @property
    def status(self) -> int:
        return int(self._get("status", 200))

    @property
    def headers(self) -> Pairs:
        headers: Pairs = self._get("headers", PAGE_HEADERS)
        return headers

    @property
    def has_null_header(self) -> bool:
        return bool(self._get("has_null_header", default=False))

    @property
    def cookies(self) -> Pairs:
        cookies: Pairs = self._get("cookies", ())
        return cookies

    @property
    def response_headers(self) -> Pairs:
        headers: Pairs = self._get("response_headers", ())
        return headers

    @property
    def initiator(self) -> str | None:
        initiator: str | None = self._get("initiator")
        return initiator

    @property
    def is_failed(self) -> bool:
        return bool(self._get("is_failed", default=False))

    @property
    def resource_type(self) -> str | None:
        kind: str | None = self._get("resource_type", "document")
        return kind

    @property
    def page(self) -> str | None:
        page: str | None = self._get("page")
        return page

    @property
    def frame(self) -> str | None:
        frame: str | None = self._get("frame")
        return frame

    @property
    def is_pending(self) -> bool:
        return bool(self._get("is_pending", default=False))

    @property
    def lacks_content(self) -> bool:
        return bool(self._get("lacks_content", default=False))

    def read_post(self) -> Body | None:
        return self._read_body("post", "read_post")

    def read_content(self) -> Body | None:
        return self._read_body("content", "read_content")

    def _read_body(self, name: str, method: str) -> Body | None:
        if name in self._fields or self._base is None:
            body: Body | None = self._fields.get(name)
            return body
        recorded: Body | None = getattr(self._base, method)()
        return recorded


def change_event(event: NetworkEvent, **fields: Any) -> DraftEvent:
    """The event with other fields; bodies are `post` and `content`."""
    return DraftEvent(event.index, fields, event)


def build_page(url: str, like: NetworkEvent | None = None, **fields: Any) -> DraftEvent:
    """A page that a browser went to, in the tab and the frame of another one if there is one."""
    place = {} if like is None else {"page": like.page, "frame": like.frame}
    return DraftEvent(0, {"url": url, **place, **fields})


def build_trace(events: Iterable[NetworkEvent]) -> NetworkTrace:
    """A trace of these events in this order, numbered anew, for an index may identify only one of them."""
    return NetworkTrace(
        tuple(event if event.index == index else DraftEvent(index, {}, event) for index, event in enumerate(events))
    )


EMPTY = NetworkTrace(())


class Attempt(Struct, frozen=True):
    """What an agent answered and what its browser did; without a trace, only the answer can be checked."""

    answer: bytes
    trace: NetworkTrace | None


def write_answer(task_type: str | None, status: str, data: Any = None, details: str | None = None) -> bytes:
    """An answer in the current dialect."""
    explanation = {} if details is None else {"error_details": details}
    return json.dumps({"task_type": task_type, "status": status, "retrieved_data": data, **explanation}).encode()


@dataclass(frozen=True)
class DraftRun(Run):
    """A run with this answer, which lies in no file."""

    content: bytes = field(default=b"", kw_only=True, repr=False)

    @cached_property
    def response(self) -> bytes:
        """The answer."""
        return self.content


def build_run(task_id: int | str, attempt: Attempt, rules: Rules, limits: Limits = USUAL) -> Run:
    """The attempt as evaluators see it."""
    trace = attempt.trace or EMPTY
    return DraftRun(
        path=NO_FILE,
        label=str(NO_FILE),
        task_id=task_id,
        format="webarena-verified",
        response_file="agent_response.json",
        inputs=RunInputs(NO_FILE, limits=limits),
        rules=rules,
        load_trace=lambda _: trace,
        content=attempt.answer,
    )


def replace_events(trace: NetworkTrace, changes: Mapping[int, Sequence[NetworkEvent]]) -> NetworkTrace:
    """The trace with other events in the place of some, given by their indices; none where they are dropped."""
    return build_trace(new for event in trace.events for new in changes.get(event.index, (event,)))
