"""The lines of a log: whatever in them is a JSON object is kept, whatever is not is named (`fara_webeval.md` §2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from pytest_webeval.safety.json import InvalidJson, LenientJson, load_lenient, shorten_json
from pytest_webeval.safety.warning_log import WarningLog

MAX_LINES = 250_000  # many times what the longest run writes
MAX_GLUED = 100  # objects of one line
_BLANKS = " \t\r"
_LEFTOVERS = "\0\ufeff"  # what a power failure leaves in a file, and what an editor puts before it


class Line(Struct, frozen=True):
    """An object of the log, with the number of its line (from 1)."""

    number: int
    event: dict[str, Any]


def read_lines(content: bytes, warnings: WarningLog) -> list[Line]:
    """All objects of a log, in order. Lines end at a line feed and nowhere else."""
    lines: list[Line] = []
    blank: list[int] = []
    for number, raw in _split_lines(content, warnings):
        text = _decode_text(raw, number, warnings)
        if text:
            lines.extend(Line(number, event) for event in _decode_events(text, number, warnings))
        else:
            blank.append(number)
    if blank:
        more = f", the first of {len(blank)}" if len(blank) > 1 else ""
        warnings.add(f"blank line skipped{more}", blank[0])
    return lines


def _split_lines(content: bytes, warnings: WarningLog) -> Iterator[tuple[int, bytes]]:
    start = 0
    for number in range(1, MAX_LINES + 1):
        if start >= len(content):
            return
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        yield number, content[start:end]
        start = end + 1
    if start < len(content):
        warnings.add(f"has more than {MAX_LINES:,} lines; the rest is ignored", MAX_LINES)


def _decode_text(raw: bytes, number: int, warnings: WarningLog) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode(errors="replace")
        warnings.add("is not UTF-8; invalid bytes are read as \\ufffd", number)
    text = text.strip(_BLANKS)
    if text.strip(_LEFTOVERS) != text:
        warnings.add("a byte order mark or NUL characters around the line are ignored", number)
    return text.strip(_BLANKS + _LEFTOVERS)


def _decode_events(text: str, number: int, warnings: WarningLog) -> Iterator[dict[str, Any]]:
    """The objects of one line: one, or several if their line feeds got lost."""
    start = 0
    for position in range(MAX_GLUED):
        decoded = _decode_object(text, start, number, warnings)
        if decoded is None:
            return
        yield decoded.value
        start = _skip_blanks(text, decoded.end)
        if start == len(text):
            return
        if position == 0:
            warnings.add("continues after its JSON object; a line feed may be missing", number)
    warnings.add(f"has more than {MAX_GLUED:,} JSON objects; the rest is ignored", number)


def _skip_blanks(text: str, start: int) -> int:
    while text[start : start + 1] in _BLANKS and start < len(text):
        start += 1
    return start


def _decode_object(text: str, start: int, number: int, warnings: WarningLog) -> LenientJson | None:
    try:
        decoded = load_lenient(text, start)
    except InvalidJson as error:
        warnings.add(f"is not valid JSON: {error}; skipped: {shorten_json(text[start : start + 60])}", number)
        return None
    if not isinstance(decoded.value, dict):
        warnings.add(f"is not a JSON object; skipped: {shorten_json(text[start : start + 60])}", number)
        return None
    for oddity in decoded.warnings:
        warnings.add(oddity, number)
    return decoded
