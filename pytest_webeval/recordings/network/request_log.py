"""ClawBench's `requests.jsonl`: a line for each request that the browser was about to send, without its response.

PyPI `clawbench-eval` 0.11.0 (GitHub `reacher-z/ClawBench`), `runtime/runtime-server/server.py`: `_log_request` writes
the lines before it looks whether to block the request. A body is stored as `_parse_body` reads it: as JSON if it is
JSON, otherwise as the fields of a form, and otherwise as text. Requests to the harness itself are left out, but the one
that was blocked is in `interception.json` next to it: tasks that ask for a text have the agent send it there.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import NoReturn
from urllib.parse import urlencode

import msgspec

from pytest_webeval.errors import EvaluationError, RecordingError, UnavailableBody
from pytest_webeval.recordings.inputs import UNDECODABLE, RunInputs, decode_lenient, try_decode
from pytest_webeval.recordings.network.bodies import Body
from pytest_webeval.recordings.network.entries import TEXT, Pairs, build_entry
from pytest_webeval.recordings.network.events import REQUEST_LOG, NetworkEvent, NetworkTrace
from pytest_webeval.recordings.network.har_entries import too_many_entries
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.limits import Limits

INTERCEPTION = "interception.json"
# `FILTERED_PREFIXES` of the writer that a task can be about: the address of the harness.
UNLOGGED = ("http://localhost:7878", "http://127.0.0.1:7878")
ADVICE = "re-record the run, and check that the container ended in order"
FORM, JSON, MULTIPART = "application/x-www-form-urlencoded", "application/json", "multipart/"
LATEST = 2**40  # seconds since 1970
_UPLOAD = re.compile(r'\s*(?:\{\s*"--|")')  # a multipart message, stored as if it were a form, or as a text
_NULL = msgspec.Raw(b"null")


class LoggedLine(msgspec.Struct, gc=False):
    """A line of the log, its members undecoded."""

    url: msgspec.Raw = _NULL
    method: msgspec.Raw = _NULL
    headers: msgspec.Raw = msgspec.Raw(b"{}")
    body: msgspec.Raw = _NULL
    resource_type: msgspec.Raw = _NULL
    timestamp: msgspec.Raw = _NULL


class LoggedRequest(NetworkEvent):
    """A request of which the response is unknown: to ask for that raises `EvaluationError`."""

    __slots__ = ("_line",)

    def __init__(self, index: int, line: LoggedLine) -> None:
        url, method, kind = (try_decode(TEXT, raw) for raw in (line.url, line.method, line.resource_type))
        super().__init__(index, build_entry(url, method, kind))
        self._line = line

    @property
    def status(self) -> int:
        self._refuse("status")

    def _read_headers(self) -> tuple[Pairs, bool]:
        headers = try_decode(_HEADERS, self._line.headers)
        return tuple(self._require("headers", headers).items()), False

    @property
    def cookies(self) -> Pairs:
        self._refuse("cookies")

    @property
    def response_headers(self) -> Pairs:
        self._refuse("response headers")

    @property
    def started(self) -> float | None:
        seconds = try_decode(_NUMBER, self._line.timestamp)
        return seconds if seconds is not None and abs(seconds) <= LATEST else None

    def read_post(self) -> Body | None:
        """What was posted: the value that is stored, and for evaluators of texts one that is read as its fields."""
        raw = bytes(self._line.body)
        if raw in (b"", b"null"):
            return None
        mime = (self.header("content-type") or JSON).lower()
        try:
            parsed = raw.decode()
        except UnicodeDecodeError:
            raise self.damaged("body") from None
        if mime.startswith(MULTIPART):
            return Body(mime, "", self._refuse_upload, None if _UPLOAD.match(parsed) else parsed)
        fields = try_decode(_FORM, raw) if mime.startswith(FORM) else None  # None if a form is not stored so
        return Body(mime, parsed if fields is None else urlencode(fields, doseq=True), parsed=parsed)

    def read_content(self) -> Body | None:
        self._refuse("content of a response")

    def _refuse(self, name: str) -> NoReturn:
        problem = f"{self.name} has no {name}: {REQUEST_LOG} of ClawBench records no responses"
        raise EvaluationError(f"{problem}; expect the request with a RequestPatternEvaluator")

    def _refuse_upload(self) -> str:
        raise UnavailableBody(
            f"{self.name} is an upload, whose text {REQUEST_LOG} does not keep; expect no fields of it"
        )


def load_log(inputs: RunInputs, name: str) -> NetworkTrace:
    """The requests of the log, and the blocked one if the log leaves it out. Raises `RecordingError`."""
    where = str(inputs.directory / name)
    lines, repairs = _read_lines(inputs.read(name), where, inputs.limits)
    blocked = _read_blocked(inputs, str(PurePosixPath(name).parent / INTERCEPTION))
    entries = lines if blocked is None else [*lines, blocked]
    events = tuple(LoggedRequest(index, line) for index, line in enumerate(entries))
    return NetworkTrace(events, repairs, advice=ADVICE, may_be_empty=True)


def _read_lines(content: bytes, where: str, limits: Limits) -> tuple[list[LoggedLine], str | None]:
    """The lines, and what is wrong with the last if it was cut off. Raises `RecordingError` for any other damage."""
    if content.count(b"\n") > limits.entries:
        raise too_many_entries(where, limits)
    lines = []
    texts = content.split(b"\n")
    for number, text in enumerate(texts, 1):
        if not text.strip():
            continue
        try:
            lines.append(decode_lenient(_LINE, text, limits))
        except UNDECODABLE as error:
            if number == len(texts):  # the harness writes a line feed after each line
                return lines, f"{where} ends within line {number}"
            raise RecordingError(
                f"cannot read {where} as a log of requests: {error} @ line {number}; {ADVICE}"
            ) from error
    return lines, None


def _read_blocked(inputs: RunInputs, name: str) -> LoggedLine | None:
    """The request that the harness blocked at its own address. Raises `RecordingError`."""
    if not exists_no_follow(inputs.directory / name):
        return None
    try:
        request = msgspec.json.decode(inputs.read(name), type=_Interception).request
        line = _LINE.decode(request) if bytes(request) not in (b"", b"null") else None
    except UNDECODABLE as error:
        raise RecordingError(f"cannot read {inputs.directory / name}: {error}; {ADVICE}") from error
    is_unlogged = (
        line is not None and LoggedRequest(0, line).has_url and LoggedRequest(0, line).url.startswith(UNLOGGED)
    )
    return line if is_unlogged else None


class _Interception(msgspec.Struct):
    request: msgspec.Raw = _NULL


_LINE = msgspec.json.Decoder(LoggedLine)
_NUMBER = msgspec.json.Decoder(float)
_HEADERS = msgspec.json.Decoder(dict[str, str])
_FORM = msgspec.json.Decoder(dict[str, str | list[str]])
