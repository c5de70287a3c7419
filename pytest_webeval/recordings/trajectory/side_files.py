"""Files that a Fara run may lack: `core.log`, `times.json`, `task_data.json` (`fara_webeval.md` §2.4-2.6)."""

from __future__ import annotations

import io
import json
import re
import reprlib
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from pytest_webeval.recordings.trajectory.layout import CORE_LOG, TASK_DATA, TIMES
from pytest_webeval.safety.json import read_number
from pytest_webeval.safety.warning_log import WarningLog

_LONG_SESSION = 1800  # seconds
_MOST_OF_LINE = 4096  # bytes; of longer lines only the beginning is read
_MOST_OF_TEXT = 200

_HEADER = re.compile(
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:[,.][0-9]{1,6})?) \[(?P<level>[A-Z]{1,20})\] "
)
# The logger's name ends in the task's id, which is in the brackets as well, and which may itself hold " - ".
_EVENTS = (
    re.compile(r"webeval\.core\.(.{1,255}?) - \[(?P<phase>Execution|Evaluation) \1\] (?P<message>.*)"),
    re.compile(r"\S{1,300} - \[(?P<phase>Execution|Evaluation) [^\]]{0,255}\] (?P<message>.*)"),
)
_CRASH = "Error running task"
_SURF_ERROR = "Web surfing error"
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(:|$)")  # as the last line of a traceback begins, at the margin


class CoreLog(Struct):
    """The last attempt at a task, and how many there were: earlier ones left nothing but lines in this log (Q15, Q17).

    `is_completed` says that the solver returned, not that it did well (Q11); `crash` is why it did not return.
    `evaluation_is_stale` says that the agent ran again after it was last judged; None if it never was.
    `session_seconds` is the time from start to completion.
    """

    attempts: int = 0
    is_completed: bool = False
    crash: str | None = None
    last_error: str | None = None
    evaluation_is_stale: bool | None = None
    session_seconds: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether the last attempt took longer than half an hour."""
        return self.session_seconds is not None and self.session_seconds > _LONG_SESSION


def read_core_log(content: bytes | None) -> CoreLog:
    """What the bytes of the log say, in one pass; nothing if there is no log. Never raises."""
    reading = _Reading()
    for raw in io.BytesIO(content or b""):
        line = raw[:_MOST_OF_LINE].decode("utf-8", "replace").lstrip("\ufeff").rstrip()
        header = _HEADER.match(line)
        if header is None:
            reading.continue_record(line)
        else:
            reading.start_record(_parse_time(header["time"]), header["level"], line[header.end() :])
    if reading.log.attempts > 1:
        warnings = WarningLog(CORE_LOG)
        warnings.add(f"the task was started {reading.log.attempts} times; only the last attempt is scored")
        reading.log.warnings = warnings.texts
    return reading.log


class _Reading(Struct):
    """The state between two lines."""

    log: CoreLog = field(default_factory=CoreLog)
    started: datetime | None = None
    is_traceback: bool = False

    def start_record(self, time: datetime | None, level: str, rest: str) -> None:
        """Take a line with a header, of which `rest` is left."""
        event = next(filter(None, (pattern.match(rest) for pattern in _EVENTS)), None)
        phase, message = (event["phase"], event["message"]) if event else ("", rest.partition(" - ")[2])
        word = message.partition(" ")[0].rstrip(":.")
        log, self.is_traceback = self.log, False
        if phase == "Execution" and word == "Start":
            log.attempts += 1
            self.started, log.session_seconds, log.is_completed = time, None, False
            log.crash = log.last_error = None
            log.evaluation_is_stale = None if log.evaluation_is_stale is None else True
        elif phase == "Execution" and word == "Completed":
            log.is_completed = True
            between = (time - self.started).total_seconds() if time and self.started else -1
            log.session_seconds = between if between >= 0 else None  # clocks are set back, twice a year at least
        elif phase == "Execution" and message.startswith(_CRASH):
            log.crash = log.last_error = _format_line(message.removeprefix(_CRASH).lstrip(": ")) or "no reason given"
        elif phase == "Evaluation" and word == "Completed":
            log.evaluation_is_stale = False
        elif level in ("ERROR", "CRITICAL"):
            log.last_error = _format_line(message.partition(":")[0])
            self.is_traceback = message.startswith(_SURF_ERROR)

    def continue_record(self, line: str) -> None:
        """Take a line without a header; the last one of a traceback names the error."""
        if self.is_traceback and _EXCEPTION.match(line):
            self.log.last_error = _format_line(f"{_SURF_ERROR}: {line}")


def _parse_time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _format_line(text: str) -> str:
    """One printable line without addresses: session URLs give access (Q48)."""
    words = ("<url>" if "://" in word else word for word in text.split())
    return "".join(filter(str.isprintable, " ".join(words))).strip()[:_MOST_OF_TEXT]


_MOST = 1e12  # seconds; a stamp beyond it is invalid, or counts milliseconds
_TOLERANCE = 0.001  # seconds by which a duration may differ from its stamps


class Times(Struct, frozen=True):
    """Unix time stamps of the wall clock and the duration between them, in seconds. None is unknown, which is not 0."""

    start: float | None = None
    end: float | None = None
    duration: float | None = None
    warnings: tuple[str, ...] = ()


def read_times(content: bytes | None) -> Times:
    """The times in the bytes of the file, or none where there is no file (Q33). Never raises."""
    warnings = WarningLog(TIMES)
    fields = None if content is None else _parse_times(content, warnings)
    if fields is None:
        return Times(warnings=warnings.texts)
    start, end, duration = (_read_seconds(fields, key, warnings) for key in ("start_time", "end_time", "duration"))
    if start is not None and end is not None and duration is not None:
        between = end - start
        if abs(duration - between) > _TOLERANCE:
            warnings.add(f"duration is {duration:.3f}, but the timestamps are {between:.3f} apart; duration counts")
    return Times(start, end, duration, warnings.texts)


def _parse_times(content: bytes, warnings: WarningLog) -> dict[str, object] | None:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        warnings.add(f"is not valid JSON: {error}; the duration is unknown")
        return None
    if isinstance(document, dict):
        return document
    warnings.add(f"is {reprlib.repr(document):.80}; expected an object with a duration; the duration is unknown")
    return None


def _read_seconds(fields: dict[str, object], key: str, warnings: WarningLog) -> float | None:
    raw = fields.get(key)
    if (seconds := read_number(raw, 0, _MOST)) is not None:
        return float(seconds)
    problem = f"{key} is {reprlib.repr(raw):.80}" if key in fields else f"missing {key}"
    warnings.add(f"{problem}; expected a number of seconds; the value is unknown")
    return None


_TEXTS = ("task_proposal", "task_summary", "initial_task_proposal")
_RUBRIC = "precomputed_rubric"


class TaskData(Struct, frozen=True):
    """What is known of a task, for diagnosis only.

    Numbers with a point or an exponent are `Decimal` in `rubric` and `raw`.
    """

    text: str | None = None
    init_url: str | None = None
    rubric: Mapping[str, Any] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_task_data(content: bytes) -> TaskData:
    """What the bytes of the file say; nothing but a warning if they are damaged (Q43). Never raises."""
    warnings = WarningLog(TASK_DATA)
    raw = _parse_task_data(content, warnings)
    rubric = raw.get(_RUBRIC)
    rubric = next(iter(rubric), None) if isinstance(rubric, list) else rubric
    if rubric is not None and not isinstance(rubric, dict):
        warnings.add(f"expected an object or a list of objects; the rubric is ignored @ {_RUBRIC}")
    return TaskData(
        text=next(filter(None, (_read_text(raw, key) for key in _TEXTS)), None),
        init_url=_read_text(raw, "init_url"),
        rubric=rubric if isinstance(rubric, dict) else None,
        raw=raw,
        warnings=warnings.texts,
    )


def _parse_task_data(content: bytes, warnings: WarningLog) -> dict[str, Any]:
    try:
        document = json.loads(content, parse_float=Decimal, parse_constant=lambda _: None)
    except (ValueError, RecursionError) as error:
        warnings.add(f"is not valid JSON: {error}; ignored")
        return {}
    except ArithmeticError:
        warnings.add("has a number with an out-of-range exponent; ignored")
        return {}
    if isinstance(document, dict):
        return document
    warnings.add("is not a JSON object; ignored")
    return {}


def _read_text(raw: Mapping[str, Any], key: str) -> str | None:
    text = raw.get(key)
    return text if isinstance(text, str) and text.strip() else None
