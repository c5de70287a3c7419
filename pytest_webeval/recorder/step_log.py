"""What an agent reports of its steps: one line each, appended at once, with screenshots as files next to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.action_trace import LONGEST_LINE
from pytest_webeval.recordings.recording_state import STEPS, STEPS_FOLDER
from pytest_webeval.safety.text import truncate_words
from pytest_webeval.storage import append_in_place, to_json_bytes, write_bytes

# Kinds of pictures by how their files begin.
_KINDS = ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpg"))
_LONGEST_TEXT = 50_000  # characters of each text of a step that is too long; redaction needs whole words
_ADVICE = "choose another directory"


def append_step(
    directory: Path, number: int, step: Mapping[str, Any], screenshot: bytes | str | os.PathLike[str] | None = None
) -> None:
    """Append a step to a recording, with a picture of what the agent saw before it. Raises `SettingsError`."""
    line = {"index": number, **step}
    if screenshot is not None:
        line["screenshot"] = _write_picture(directory / STEPS_FOLDER, number, screenshot)
    try:
        text = _encode(line)
        if len(text) > LONGEST_LINE:  # a page in an observation; nobody would read the line
            texts = {name: value for name, value in line.items() if isinstance(value, str)}
            line |= {name: truncate_words(value, _LONGEST_TEXT) for name, value in texts.items()}
            text = _encode({**line, "arguments": {"left_out": f"a step of more than {LONGEST_LINE} bytes"}})
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise SettingsError(f"cannot log step {number}: {error}; use JSON values only") from error
    append_in_place(directory / STEPS, text, _ADVICE, is_new=False)


def _write_picture(folder: Path, number: int, screenshot: bytes | str | os.PathLike[str]) -> str:
    """The name of the file with the picture."""
    try:
        content = bytes(screenshot) if isinstance(screenshot, bytes | bytearray) else Path(screenshot).read_bytes()
    except (OSError, ValueError) as error:  # a path with a null character
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"cannot read screenshot {screenshot!s:.200}: {reason}; check the path") from error
    kind = next((kind for beginning, kind in _KINDS if content.startswith(beginning)), None)
    if kind is None:
        raise SettingsError("invalid screenshot: unknown kind of picture; use PNG or JPEG")
    write_bytes(folder / f"{number}.{kind}", content, _ADVICE)
    return f"{number}.{kind}"


def _encode(line: Mapping[str, Any]) -> bytes:
    """A line that every reader of JSON can read, whatever numbers and texts are in it."""
    return msgspec.json.format(to_json_bytes(line), indent=-1) + b"\n"
