"""Runs that nobody recorded: an answer and a trace that were made or changed in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.entries import Pairs
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.rules import Rules

NO_FILE = Path("audit")
# What browsers send for a page that a person goes to.
PAGE_HEADERS: Pairs = (
    ("accept", "text/html,application/xhtml+xml"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-user", "?1"),
)


def _drafted(name: str, default: Any = None) -> Any:
    """A property of a draft: its own field, or else that of the event that it is based on."""

    def read(draft: DraftEvent) -> Any:
        if name in draft.fields:
            return draft.fields[name]
        return default if draft.base is None else getattr(draft.base, name)

    return property(read)


class DraftEvent(NetworkEvent):
    """An event with some fields of its own; the others are those of a recorded event, or those of a plain page."""

    __slots__ = ("base", "fields")

    def __init__(self, index: int, fields: Mapping[str, Any], base: NetworkEvent | None = None) -> None:
        super().__init__(index)
        self.fields, self.base = fields, base

    url = _drafted("url")
    method = _drafted("method", "GET")
    status = _drafted("status", 200)
    headers = _drafted("headers", PAGE_HEADERS)
    has_null_header = _drafted("has_null_header", default=False)
    cookies = _drafted("cookies", ())
    response_headers = _drafted("response_headers", ())
    initiator = _drafted("initiator")
    is_failed = _drafted("is_failed", default=False)
    resource_type = _drafted("resource_type", "document")
    page = _drafted("page")
    frame = _drafted("frame")
    is_pending = _drafted("is_pending", default=False)
    lacks_content = _drafted("lacks_content", default=False)

    def read_post(self) -> Body | None:
        recorded = None if self.base is None or "post" in self.fields else self.base.read_post()
        body: Body | None = self.fields.get("post", recorded)
        return body

    def read_content(self) -> Body | None:
        recorded = None if self.base is None or "content" in self.fields else self.base.read_content()
        body: Body | None = self.fields.get("content", recorded)
        return body


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


class RecordedRun(Struct, frozen=True):
    """The answer and the trace of a recording."""

    name: str
    attempt: Attempt
    task_id: int | str = ""


def write_answer(task_type: str | None, status: str, data: Any = None, details: str | None = None) -> bytes:
    """An answer in the current dialect."""
    explanation = {} if details is None else {"error_details": details}
    return json.dumps({"task_type": task_type, "status": status, "retrieved_data": data, **explanation}).encode()


@dataclass(frozen=True)
class _DraftRun(Run):
    """A run with this answer, which lies in no file."""

    content: bytes = field(default=b"", kw_only=True, repr=False)

    @cached_property
    def response(self) -> bytes:
        return self.content


def build_run(task_id: int | str, attempt: Attempt, rules: Rules) -> Run:
    """The attempt as evaluators see it."""
    trace = attempt.trace or EMPTY
    return _DraftRun(
        path=NO_FILE,
        label=str(NO_FILE),
        task_id=task_id,
        format="webarena-verified",
        response_file="agent_response.json",
        inputs=RunInputs(NO_FILE),
        rules=rules,
        load_trace=lambda _: trace,
        content=attempt.answer,
    )


def replace_events(trace: NetworkTrace, changes: Mapping[int, Sequence[NetworkEvent]]) -> NetworkTrace:
    """The trace with other events in the place of some, given by their indices; none where they are dropped."""
    return build_trace(new for event in trace.events for new in changes.get(event.index, (event,)))


class Trial(Struct, frozen=True):
    """An attempt at a task. `kind` is the finding if its verdict is a wrong one; `detail` explains that."""

    name: str
    attempt: Attempt
    kind: str
    evaluator: str
    field: str
    detail: str = ""
