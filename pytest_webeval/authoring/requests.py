"""Pages and changing requests of a recording, each with the fields that mean something, by the keys of a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.authoring.addresses import Addresses, Place
from pytest_webeval.authoring.volatility import explain_volatile, holds_secret, is_id, is_secret
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.network.body_matcher import BOOLEANS, KEYWORDS
from pytest_webeval.recordings.network.events import NO_RESPONSE, NetworkEvent, NetworkTrace, event_number
from pytest_webeval.recordings.network.form_fields import parse_fields
from pytest_webeval.safety.limits import Limits
from pytest_webeval.values.base import looks_like_pattern

CHANGING = ("POST", "PUT", "PATCH", "DELETE")
REFUSED = 400  # from this status on, a request changed nothing
_REDIRECT = 3  # first digit of the status
# Segments of a path and parts of a host that can only mean telemetry, and resource types of Chromium.
_TELEMETRY_SEGMENTS = frozenset(
    (
        *("analytics", "beacon", "csp-report", "heartbeat", "pageview", "pageviews", "rum", "snowplow", "telemetry"),
        *("usage_data", "web-vitals"),
    )
)
_TELEMETRY_HOSTS = ("analytics", "doubleclick", "googletagmanager", "mixpanel", "segment", "sentry", "hotjar")
_TELEMETRY_TYPES = frozenset(("ping", "beacon", "cspviolationreport"))
_LOGINS = frozenset(("login", "loginpost", "logon", "signin", "signout", "logout", "authenticate", "oauth"))
_CREDENTIALS = frozenset(("username", "email", "user", "login", "remember", "rememberme", "redirect", "next"))
MOST_FIELDS = 100  # of a body
_LONGEST_TEXT = 2_000  # characters of a value
_MOST_ITEMS = 20  # objects in a list
_DEEPEST = 10
_PLAIN_STEP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = "a secret"  # noqa: S105  (why a field is not required)
_NO_KEY = "a name that a task cannot spell"


class Request(Struct, frozen=True):
    """A page or a changing request. `query` and `fields` are what may mean something.

    `ignored` and `dropped` say why other parameters and fields do not; `blank` names empty fields. `number` is that of
    the event in reports. `operation` is the name of a GraphQL operation. `referer` is the page that the request came
    from, without the query. `is_page` is for what a person sees, `is_read` for what changes nothing in spite of its
    method. `others` are places to which other runs made the request.
    """

    number: int
    method: str
    place: Place
    status: int
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    blank: tuple[str, ...] = ()
    operation: str | None = None
    referer: Place | None = None
    referer_query: str = ""
    is_page: bool = False
    is_telemetry: bool = False
    is_read: bool = False
    others: tuple[Place, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether it may have changed something: telemetry, reads and refused requests have not."""
        return self.method in CHANGING and not (self.is_telemetry or self.is_read or self.status >= REFUSED)

    @property
    def is_attempt(self) -> bool:
        """Whether it was to change something, answered in whatever way."""
        return self.method in CHANGING and not (self.is_telemetry or self.is_read or self.status in NO_RESPONSE)

    @property
    def is_login(self) -> bool:
        """Whether it signs somebody in or out: by its path, or because it has a password and little else."""
        names = {re.sub("[^a-z]", "", (segment or "").lower()) for segment in self.place.segments}
        if names & _LOGINS:
            return True
        stable = {re.sub("[^a-z]", "", re.split(r"[.\[]", name)[-1].lower()) for name in self.fields}
        return any(map(is_secret, self.dropped)) and stable <= _CREDENTIALS


def list_requests(trace: NetworkTrace, addresses: Addresses, limits: Limits) -> list[Request]:
    """Pages and changing requests in their order. A request that cannot be read is omitted.

    A segment of a path is any segment if it is an id that the site gave to an object during the run.
    """
    assigned = _AssignedIds()
    requests = []
    for event in trace.events:
        if event.is_pending or not event.is_significant:
            continue
        with suppress(EvaluationError, ValueError):
            is_page = event.is_document or event.is_navigation
            if is_page or event.method in CHANGING:
                request = _read_request(event, addresses, limits, is_page=is_page)
                requests.append(assigned.apply(request))
                assigned.add(requests[-1], event, addresses, limits)
    return requests


def _read_request(event: NetworkEvent, addresses: Addresses, limits: Limits, *, is_page: bool) -> Request:
    parameters: dict[str, list[str]] = {}
    for name, value in parse_qsl(urlsplit(event.url).query, keep_blank_values=True):
        parameters.setdefault(name, []).append(value)
    query, ignored = _split_stable({name: tuple(values) for name, values in parameters.items()}, event.started)
    fields, dropped = _read_fields(event, limits) if event.method in CHANGING else ({}, {})
    place, referer = addresses.locate(event.url), event.header("referer")
    operation, is_read = None, False
    if place.segments[-1:] == ("graphql",) and isinstance(fields.get("query"), str):
        is_read = fields.pop("query").lstrip().startswith(("query", "{"))
        operation = fields.get("operationName")
    stable, volatile = _split_stable(fields, event.started)
    return Request(
        event_number(event.index),
        event.method,
        place,
        event.status,
        query,
        {name: addresses.derender(value) for name, value in stable.items()},
        ignored,
        {**dropped, **volatile},
        tuple(name for name in fields if name not in stable and name not in volatile),
        operation if isinstance(operation, str) else None,
        addresses.locate(referer) if referer else None,
        urlsplit(referer).query if referer else "",
        is_page,
        _is_telemetry(event, place),
        is_read,
    )


def _split_stable(fields: Mapping[str, Any], moment: float | None) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields that may mean something, and of the others why they do not. An empty field is as good as none."""
    stable, volatile = {}, {}
    for name, value in fields.items():
        values = value if isinstance(value, list | tuple) else (value,)
        if is_secret(name):
            volatile[name] = _SECRET
        elif any(map(looks_like_pattern, values)):
            volatile[name] = "a text that would be a pattern in a task"
        elif reason := next(filter(None, (explain_volatile(name, each, moment) for each in values)), None):
            volatile[name] = reason
        elif any(holds_secret(name, each) for each in values):
            volatile[name] = _SECRET
        elif any(each not in ("", None) for each in values):
            stable[name] = value
    return stable, volatile


def _is_telemetry(event: NetworkEvent, place: Place) -> bool:
    """Whether it can only be telemetry: by the browser's type of it, its host or a segment of its path."""
    if event.resource_type in _TELEMETRY_TYPES or event.header("ping-from") is not None:
        return True
    host = re.split("[.-]", place.origin.lower())
    if place.site is None and any(part.rstrip("0123456789") in _TELEMETRY_HOSTS for part in host):
        return True
    return any(segment in _TELEMETRY_SEGMENTS for segment in place.segments)


class _AssignedIds(Struct):
    """Ids that a site gave to objects while it was recorded, which are others in the next run."""

    seen: set[str | None] = field(default_factory=set)
    ids: set[str | None] = field(default_factory=set)
    is_waiting: bool = False

    def apply(self, request: Request) -> Request:
        """The request with any segment in place of such ids. After a change, an id in the next page is a new one."""
        if self.is_waiting and request.is_page:
            self._add(request.place.segments)
            self.is_waiting = False
        segments = tuple(None if segment in self.ids else segment for segment in request.place.segments)
        return replace(request, place=replace(request.place, segments=segments))

    def add(self, request: Request, event: NetworkEvent, addresses: Addresses, limits: Limits) -> None:
        """Note the ids that a request had, and those that the site returned for it: in its location, or in JSON."""
        self.seen.update(request.place.segments)
        if not request.is_change or request.is_login:
            return
        self.is_waiting = not request.is_page or request.status // 100 == _REDIRECT
        returned: list[str | None] = []
        for name, value in event.response_headers:
            if name.lower() == "location":
                returned += addresses.locate(value).segments
        with suppress(EvaluationError):
            content = event.read_content()
            members = parse_fields(content, limits) if content is not None and "json" in content.mime else None
            pairs = members.first.items() if members is not None else ()
            ids = [each for name, each in pairs if name.lower() in ("id", "iid", "uuid", "uid")]
            returned += [str(each) for each in ids if isinstance(each, str | int)]
        self._add(returned)

    def _add(self, segments: Iterable[str | None]) -> None:
        self.ids.update({segment for segment in segments if segment and is_id(segment)} - self.seen)


def _read_fields(event: NetworkEvent, limits: Limits) -> tuple[dict[str, Any], dict[str, str]]:
    """What was posted, by the keys of `post_data`; and why other fields cannot be named there.

    Raises `EvaluationError` for a body that cannot be read.
    """
    body = event.read_post()
    if body is not None and body.load_text is not None:
        body = replace(body, text=body.load_text())
    parsed = parse_fields(body, limits)
    fields: dict[str, Any] = {}
    dropped: dict[str, str] = {}
    for key, value in _flatten(parsed.first | parsed.repeated) if parsed is not None else ():
        texts = value if isinstance(value, list) else (value,)
        if len(fields) + len(dropped) >= MOST_FIELDS:
            dropped["…"] = "one field too many"
            break
        if key is None:
            dropped[value] = _NO_KEY
        elif looks_like_pattern(key) or key.startswith("$.^") or key != key.strip():
            dropped[key] = _NO_KEY
        elif sum(len(text) if isinstance(text, str) else 1 for text in texts) > _LONGEST_TEXT:
            dropped[key] = "too long"
        else:
            fields[key] = value
    return fields, dropped


def _flatten(members: Mapping[str, Any]) -> Iterator[tuple[str | None, Any]]:
    """Each scalar and each list of scalars of an object, with its name or the path to it.

    Of what no key can name, None with the name that no key can hold.
    """
    for name, value in members.items():
        if isinstance(value, Mapping) or _has_objects(value):
            yield from _walk_member("$", name, value, _DEEPEST)
        else:
            yield (None, name) if name.startswith("$") else (name, value)


def _walk_member(path: str, name: str, value: Any, depth: int) -> Iterator[tuple[str | None, Any]]:
    is_plain = _PLAIN_STEP.fullmatch(name) and name not in KEYWORDS and not name.startswith(BOOLEANS)
    if depth == 0 or not (is_plain or (name.isprintable() and not {"'", "\\"} & set(name))):
        yield None, name
    else:
        yield from _walk(f"{path}.{name}" if is_plain else f"{path}['{name}']", value, depth - 1)


def _walk(path: str, value: Any, depth: int) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _walk_member(path, name, member, depth)
    elif _has_objects(value) and depth > 0:
        for index, item in enumerate(value[:_MOST_ITEMS]):
            yield from _walk(f"{path}[{index}]", item, depth - 1)
    else:
        yield path, value


def _has_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value)
