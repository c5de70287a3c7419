"""A run in parts that a mutation can replace one by one, and the HAR entries made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from tests.parity.harness.recording import HONEST, Recording

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
MULTIPART = "multipart/form-data; boundary=----WebKitFormBoundaryx1"
NAVIGATION = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-site": "same-origin",
    "sec-fetch-user": "?1",
}
FETCH = {"accept": "*/*", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"}


@dataclass(frozen=True)
class Body:
    """A body as fields and a MIME type; as the very text, or stored so, where no fields give what a case needs."""

    fields: Mapping[str, Any]
    mime: str = FORM
    text: str | None = None
    raw: Mapping[str, Any] | None = None

    def stored(self) -> dict[str, Any]:
        """The body as a HAR has it."""
        if self.raw is not None:
            return dict(self.raw)
        return {"mimeType": self.mime, "text": self.written() if self.text is None else self.text}

    def written(self) -> str:
        """The fields in the notation that the MIME type names; JSON for any that is not a form."""
        mime = self.mime.lower()
        if mime.startswith(FORM):
            return urlencode([(name, form_value(value)) for name, value in self.fields.items() if value is not None])
        if mime.startswith("multipart/"):
            return multipart(self.fields, self.mime.partition("boundary=")[2].strip('"'))
        return json.dumps(self.fields, ensure_ascii=False)


def form_value(value: Any) -> str:
    """A JSON value as a form field carries it."""
    if isinstance(value, str):
        return value
    return "" if value in (0, None) else json.dumps(value, ensure_ascii=False)


def multipart(fields: Mapping[str, Any], boundary: str) -> str:
    """The fields as the parts of a multipart message."""
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="'
    members = ((name, value) for name, value in fields.items() if value is not None)
    return "".join(f'{head}{name}"\r\n\r\n{form_value(value)}\r\n' for name, value in members) + f"--{boundary}--\r\n"


@dataclass(frozen=True)
class Event:
    """One request and its answer."""

    url: str
    method: str = "GET"
    status: Any = 200
    headers: Mapping[str, str] = field(default_factory=lambda: NAVIGATION)
    post: Body | None = None
    content: Body | None = None
    cookies: Mapping[str, str] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """The event as an entry of a HAR."""
        request: dict[str, Any] = {"method": self.method, "url": self.url, "headers": _pairs(self.headers)}
        if self.post is not None:
            request["postData"] = self.post.stored()
        content = {"mimeType": "text/html", "size": 0} if self.content is None else self.content.stored()
        response = {"status": self.status, "headers": [], "cookies": _pairs(self.cookies), "content": content}
        return {"request": request, "response": response}

    def with_headers(self, **headers: str | None) -> Event:
        """The event with these headers set; None takes one away. `_` in a name stands for `-`."""
        changed = {name.replace("_", "-"): value for name, value in headers.items()}
        merged = {**self.headers, **changed}
        return replace(self, headers={name: value for name, value in merged.items() if value is not None})


def _pairs(members: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in members.items()]


@dataclass(frozen=True)
class Draft:
    """What an agent left behind, before it is written down."""

    task: Mapping[str, Any]
    answer: Any
    events: tuple[Event, ...]

    def recording(self, about: str, kind: str = HONEST, **fields: Any) -> Recording:
        """The draft as a recording; `response` and `entries` may be given to replace what the draft says."""
        response = json.dumps(self.answer, ensure_ascii=False).encode("utf-8", "surrogatepass")
        made = {"response": response, "entries": tuple(event.entry() for event in self.events), **fields}
        return Recording(task=self.task, about=about, kind=kind, **made)

    def with_event(self, index: int, *events: Event) -> Draft:
        """The draft with the event at that place replaced by none, one or several."""
        return replace(self, events=(*self.events[:index], *events, *self.events[index + 1 :]))
