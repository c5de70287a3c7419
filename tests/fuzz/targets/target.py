"""What a fuzz target is: a reader, fed with bytes and asked for all that it can tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_webeval.errors import EvaluationError, RecordingError, WebEvalError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.storage import to_json_bytes

NOWHERE = Path("/nowhere/7")  # the directory of recordings that are in memory only


class Misbehaved(BaseException):
    """What no input may bring about. No `Exception`, for some of those are caught on purpose."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of what strangers write. `shape` names the strategy that draws documents for it.

    `seconds` is the time that one input may take.
    """

    name: str
    read: Callable[[bytes], object]
    shape: str = "json"
    seconds: float = 5.0

    def feed(self, content: bytes) -> WebEvalError | None:
        """Read one input and use what was read. Returns how it was refused; whatever else is raised is a crash."""
        try:
            self.read(content)
        except WebEvalError as refusal:
            expect("\n" not in str(refusal), f"a refusal on several lines: {refusal}")
            return refusal
        return None


def expect(holds: object, told: str) -> None:
    """Raise `Misbehaved` unless something holds."""
    if not holds:
        raise Misbehaved(told)


def touch(thing: object, *names: str) -> None:
    """Ask for properties, each of which may be damaged."""
    for name in names:
        with suppress(EvaluationError, RecordingError):
            getattr(thing, name)


def written(content: Any) -> None:
    """Check that what was read can be written as JSON in UTF-8, which anybody can read who reads the standard."""
    json.loads(to_json_bytes(content).decode(), parse_constant=_no_number)


def _no_number(name: str) -> None:
    raise Misbehaved(f"{name} in what is written, which is no JSON")


@dataclass(frozen=True, slots=True)
class KeptFiles(RunInputs):
    """Files of a run that are in memory, so that a million of them cost no disk."""

    files: Mapping[str, bytes] = field(default_factory=dict)

    def read(self, name: str, limit: int | None = None, called: str = "") -> bytes:  # noqa: ARG002  (as of other inputs)
        if name not in self.files or len(self.files[name]) > (limit or self.limits.file_size):
            raise RecordingError(f"there is no {name!r:.80}")
        return self.files[name]

    def list_names(self, folder: str) -> list[str]:
        return [name.removeprefix(f"{folder}/") for name in self.files if name.startswith(f"{folder}/")]

    def peek(self, name: str, limit: int, limit_name: str) -> bytes:
        return self.read(name, limit, limit_name)
