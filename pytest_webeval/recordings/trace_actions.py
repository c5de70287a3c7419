"""What a browser was told to do: the actions in the log of a Playwright trace, as steps with frames of its screencast.

`packages/trace/src/trace.ts` and `packages/isomorphic/trace/traceModernizer.ts` of github:microsoft/playwright; seen in
version 10 of the format, which Playwright 1.65 writes. The events `before`, `input`, `log` and `after` of one `callId`
are one action. A `screencast-frame` names an image by its path in the trace, in older versions by its name below
`resources`. Times are milliseconds of a clock; `context-options` has its time and that of the wall clock at the start.

Playwright logs what it types as `fill("...")` and the element as `locator resolved to <input type="password"/>`
(`packages/playwright-core/src/server/dom.ts` of github:microsoft/playwright, 1.65). The redaction knows secrets by
their names, and replaces short ones only where their name stands: in a log, the action alone says what they are.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_webeval.recordings.inputs import try_decode
from pytest_webeval.recordings.trajectory.step import Screenshot, Step, Target, build_step, build_target, format_time
from pytest_webeval.safety.json import get_member, read_number
from pytest_webeval.safety.text import truncate_words

MOST_ACTIONS = 1_000  # of which the last count
MOST_LINES = 200_000  # of a log; an action has about ten
_LONGEST_LINE = 2**20  # bytes; snapshots of pages may be longer, and actions are much shorter
_LONGEST_PARAMS = 2**16  # bytes
_LONGEST_NAME = 80  # characters
_LONGEST_MESSAGE = 500  # characters
_LATEST = 1e15  # milliseconds
_MESSAGES = 12  # of the log of an action, of which the last count
_FRAME = re.compile(r"(?:resources|screencast)/[\w@.-]{1,200}", re.ASCII)
_SKIPPED = (b'{"type":"frame-snapshot"', b'{"type":"resource-snapshot"', b'{"type":"console"', b'{"type":"event"')
_PLUMBING = frozenset({"timeout", "strict", "noWaitAfter", "isFunction", "arg"})  # parameters that tell nobody anything
TYPED = frozenset({"expression", "key", "password", "text", "value"})  # parameters that the agent itself wrote
# Actions that Playwright's own viewer hides: they ask, or prepare something (`protocolMetainfo.ts`, `group`).
_ASKING = "ariaSnapshot|contentFrame|cookies|frameElement|getAttribute|getProperty|getPropertyList|innerHTML|innerText"
_ASKING += "|inputValue|is[A-Z][a-z]+|jsonValue|ownerFrame|storageState|textContent|title"
_PREPARING = "addCookies|addInitScript|clearCookies|exposeBinding|grantPermissions|newBrowserCDPSession|newCDPSession"
_PREPARING += (
    "|send|setExtraHTTPHeaders|setGeolocation|set[A-Za-z]*InterceptionPatterns|setStorageState|tracing[A-Z]\\w*"
)
_HIDDEN = re.compile(f"{_ASKING}|{_PREPARING}", re.ASCII)


class _Event(msgspec.Struct, gc=False):
    """The members of any event that a step is made of. Each may have any type."""

    type: Any = None
    call_id: Any = msgspec.field(default=None, name="callId")
    api_name: Any = msgspec.field(default=None, name="apiName")
    owner: Any = msgspec.field(default=None, name="class")
    method: Any = None
    params: msgspec.Raw = msgspec.Raw(b"{}")
    started: Any = msgspec.field(default=None, name="startTime")
    wall_time: Any = msgspec.field(default=None, name="wallTime")
    monotonic: Any = msgspec.field(default=None, name="monotonicTime")
    page: Any = msgspec.field(default=None, name="pageId")
    point: Any = None
    box: Any = None
    message: Any = None
    error: Any = None
    file: Any = None
    sha1: Any = None
    width: Any = None
    height: Any = None


class _Frame(Struct, frozen=True):
    """An image of the screencast, with the size of the page in CSS pixels as the trace has it."""

    shot: Screenshot
    size: tuple[object, object]


class _Action(Struct):
    """An action as far as it was read."""

    name: str
    tool: str
    params: msgspec.Raw
    moment: float | None  # seconds since 1970
    page: object
    before: _Frame | None
    after: _Frame | None = None
    target: Target | None = None
    error: str | None = None
    is_password: bool = False  # as any message says of its element, also one that is not kept
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=_MESSAGES))


class LoggedActions(Struct):
    """The actions of the logs of a trace in the order in which they began, of which the last are kept."""

    count: int = 0
    _actions: deque[_Action] = field(default_factory=lambda: deque(maxlen=MOST_ACTIONS))

    def add_log(self, content: bytes) -> None:
        """Read a log, one JSON object in each line. A line that cannot be read is left out."""
        log = _Log()
        for event in _read_events(content):
            if (action := log.take(event)) is not None:
                self._actions.append(action)
                self.count += 1
        log.settle()

    @property
    def has_frames(self) -> bool:
        return any(action.before or action.after for action in self._actions)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The actions as steps, numbered from the first one of the trace."""
        in_order = sorted(self._actions, key=lambda action: action.moment or 0.0)
        return tuple(
            _build_step(index, action) for index, action in enumerate(in_order, self.count - len(in_order) + 1)
        )


class _Log(Struct):
    """One log as it is being read."""

    _open: dict[str, _Action] = field(default_factory=dict)
    _settling: list[_Action] = field(default_factory=list)  # ended, and the next action has not begun
    _latest: _Frame | None = None
    _by_page: dict[str, _Frame] = field(default_factory=dict)
    _start: float | None = None  # wall clock when the other clock showed 0, in milliseconds

    def take(self, event: _Event) -> _Action | None:
        """Use one event; an action if it is the first one of it."""
        if event.type == "context-options":
            wall, monotonic = _parse_number(event.wall_time), _parse_number(event.monotonic)
            self._start = None if wall is None else wall - (monotonic or 0.0)
        elif event.type == "screencast-frame":
            self._add_frame(event)
        elif event.type == "before":
            return self._begin(event)
        elif isinstance(event.call_id, str) and (action := self._open.get(event.call_id)) is not None:
            self._continue(action, event)
        return None

    def settle(self) -> None:
        """Give the latest frame to the actions that ended since the last one began."""
        for action in self._settling:
            action.after = self._find_frame(action.page) or action.after
        self._settling.clear()

    def _begin(self, event: _Event) -> _Action | None:
        self.settle()
        # What the caller called: `click` of `page.click`, or the method where the trace does not say so.
        called = event.api_name if isinstance(event.api_name, str) else ""
        method = event.method if isinstance(event.method, str) else ""
        name = called[-_LONGEST_NAME:].rpartition(".")[2] if called else method[:_LONGEST_NAME] or None
        if name is None or _HIDDEN.fullmatch(name) or not isinstance(event.call_id, str):
            return None
        tool = ".".join(part[:_LONGEST_NAME] for part in (event.owner, event.method) if isinstance(part, str))
        action = _Action(name, tool, event.params, self._find_moment(event), event.page, self._find_frame(event.page))
        if len(self._open) >= MOST_ACTIONS:
            del self._open[next(iter(self._open))]
        self._open[event.call_id] = action
        return action

    def _continue(self, action: _Action, event: _Event) -> None:
        if event.type == "log" and isinstance(event.message, str):
            action.is_password = action.is_password or names_password(event.message)
            action.messages.append(truncate_words(event.message.strip(), _LONGEST_MESSAGE))
            return
        if event.type == "input":
            action.before = self._find_frame(action.page) or action.before
        action.target = _find_target(event, action.before) or action.target
        if event.type == "after":
            message = get_member(event.error, "message")
            action.error = truncate_words(message.strip(), _LONGEST_MESSAGE) if isinstance(message, str) else None
            action.after = self._find_frame(action.page)
            self._settling.append(action)
            del self._open[event.call_id]

    def _find_moment(self, event: _Event) -> float | None:
        wall, started = _parse_number(event.wall_time), _parse_number(event.started)
        if wall is None and started is not None and self._start is not None:
            wall = self._start + started
        return None if wall is None else wall / 1_000

    def _add_frame(self, event: _Event) -> None:
        path = event.file if isinstance(event.file, str) else f"resources/{event.sha1}"
        if not _FRAME.fullmatch(path):
            return
        self._latest = _Frame(Screenshot(path, 0, is_embedded=True), (event.width, event.height))
        if isinstance(event.page, str) and (event.page in self._by_page or len(self._by_page) < MOST_ACTIONS):
            self._by_page[event.page] = self._latest

    def _find_frame(self, page: object) -> _Frame | None:
        """The latest frame of a page, or of any page where the action names none."""
        return self._by_page.get(page) if isinstance(page, str) else self._latest


def _read_events(content: bytes) -> Iterator[_Event]:
    for line in islice(io.BytesIO(content), MOST_LINES):
        if line.startswith(_SKIPPED) or len(line) > _LONGEST_LINE:
            continue
        if (event := try_decode(_EVENT, line)) is not None:
            yield event


def _find_target(event: _Event, before: _Frame | None) -> Target | None:
    """The point of an action, or the box of its element, in CSS pixels of the page."""
    size = before.size if before is not None else None
    point = build_target(get_member(event.point, "x"), get_member(event.point, "y"), 0, 0, size)
    if point is not None:
        return point
    left, top, width, height = (get_member(event.box, name) for name in ("x", "y", "width", "height"))
    return build_target(left, top, width, height, size)


def _build_step(index: int, action: _Action) -> Step:
    observed = [*filter(None, [action.error]), *action.messages]
    arguments = _read_params(action)
    if action.is_password or names_password(str(arguments.get("selector"))):
        observed = list(hide_typed(observed, arguments))
        arguments = rename_typed(arguments)
    return build_step(
        index,
        action.name,
        arguments,
        raw_action=action.tool,
        tool=action.tool or None,
        timestamp=format_time(action.moment),
        observation="\n".join(observed) or None,
        before=None if action.before is None else action.before.shot,
        after=None if action.after is None else action.after.shot,
        target=action.target,
    )


def _read_params(action: _Action) -> dict[str, Any]:
    raw = bytes(action.params)
    if len(raw) > _LONGEST_PARAMS:
        return {"parameters": f"{len(raw):,} bytes, not shown"}
    params = try_decode(_PARAMS, raw) or {}
    return {name: value for name, value in params.items() if name not in _PLUMBING}


def _parse_number(value: object) -> float | None:
    """A number of milliseconds, unless it is none that a clock shows."""
    number = read_number(value, -_LATEST, _LATEST)
    return None if number is None else float(number)


_EVENT = msgspec.json.Decoder(_Event)


PASSWORD = "password"  # noqa: S105  (a name that the redaction knows)
HIDDEN = "redacted"
_FIELDS = frozenset({"key", "text", "value"})  # parameters that go into a field
# Short names are words of their own: `#pin` and `userPin`, not `shipping`.
_SHORT = "cvc|cvv|mfa|otp|pass|pin|totp"
_NAME = re.compile(
    rf"(?i:passw|pwd|passcode|passphrase|secret|token)|(?i:(?<![a-z])(?:{_SHORT})(?![a-z]))"
    rf"|(?<=[a-z])(?:{_SHORT.title()}|{_SHORT.upper()})(?![a-z])"
)
_CALL = re.compile(r"([ \t-]{0,20}[\w.]{1,80}\(\").*", re.ASCII | re.DOTALL)


def names_password(text: str) -> bool:
    """Whether a selector, or a line about an element, has a name of secrets in it."""
    return _NAME.search(text) is not None


def rename_typed(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of an action on a field for a password: what was typed is called so, and redacted like one."""
    return {PASSWORD if _is_typed(name, value) else name: value for name, value in params.items()}


def hide_typed(lines: Iterable[str], params: Mapping[str, object]) -> Iterator[str]:
    """The lines of its log without what was typed, also where they are cut in it."""
    typed = {str(value) for name, value in params.items() if _is_typed(name, value) and value}
    pattern = "|".join(map(re.escape, sorted(typed, key=len, reverse=True)))
    values = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)") if typed else None
    for line in lines:
        yield _CALL.sub(rf'\1{HIDDEN}")', values.sub(HIDDEN, line), count=1) if values is not None else line


def _is_typed(name: str, value: object) -> bool:
    """A key with a name, such as `Delete` and `Control+A`, writes nothing."""
    return name in _FIELDS and not (name == "key" and isinstance(value, str) and len(value) > 1)


_PARAMS: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
