"""What a run is read from: its directory and limits, with the time that reading and scoring take by phase."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec import field as struct_field

from pytest_webeval.errors import RecordingError
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.json import to_strict_json
from pytest_webeval.safety.limits import USUAL, Limits
from pytest_webeval.safety.run_directory import list_names

READ, DECODE, LOAD_TASK, EVALUATE, WRITE = PHASES = ("read", "decode", "load task", "evaluate", "write")


class PhaseTimer(Struct):
    """Wall-clock seconds by phase. A phase that begins within another one stops the clock of that other."""

    seconds: dict[str, float] = struct_field(default_factory=dict)
    _running: str | None = None
    _since: float = 0.0

    def phase(self, name: str) -> Phase:
        return Phase(self, name)

    def switch(self, name: str | None) -> str | None:
        """Count the time since the last switch to the phase that ran, and let another one run."""
        now, ended = time.perf_counter(), self._running
        if ended is not None:
            self.seconds[ended] = self.seconds.get(ended, 0.0) + now - self._since
        self._running, self._since = name, now
        return ended


class Phase:
    """A context manager whose time counts for one phase; made of a generator it would cost as much as some phases."""

    __slots__ = ("_durations", "_name", "_outer")

    def __init__(self, durations: PhaseTimer, name: str) -> None:
        self._durations, self._name = durations, name

    def __enter__(self) -> None:
        self._outer = self._durations.switch(self._name)

    def __exit__(self, *_: object) -> None:
        self._durations.switch(self._outer)


# What msgspec raises over bytes that hold no value of a type.
UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
T = TypeVar("T")


def try_decode(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw | bytes) -> T | None:
    """The value in some bytes; None where they hold none of its type."""
    try:
        return decoder.decode(raw)
    except UNDECODABLE:
        return None


def decode_lenient(decoder: msgspec.json.Decoder[T], content: bytes, limits: Limits) -> T:
    """The value in some bytes, which may hold what Python writes and reads though the standard does not know it.

    Raises `MsgspecError`, `UnicodeDecodeError` or `RecursionError`.
    """
    try:
        return decoder.decode(content)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        strict = to_strict_json(content, limits)
        if strict is None:
            raise error from None
        return decoder.decode(strict)


MAX_FILE_BYTES = 64 * 2**20  # of a file as objects, which take many times its size; runs leave hundreds of times less
_SALTING = b"pytest-webeval redaction salt"
_MIN_SALT_SOURCE = 256  # bytes; of less somebody might try all that could stand there


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Files of one run directory, hashed as they are read; `durations` counts the time of each phase."""

    directory: Path
    checksums: dict[str, str] = field(default_factory=dict)
    durations: PhaseTimer = field(default_factory=PhaseTimer, repr=False, compare=False)
    limits: Limits = USUAL
    root: Path | None = field(default=None, compare=False)  # from which on no link leads to the directory
    salts: dict[str, tuple[int, bytes]] = field(default_factory=dict, repr=False, compare=False)  # with bytes read

    def read(self, name: str, limit: int | None = None, limit_name: str = "file_size") -> bytes:
        """The bytes of a file in the directory, unless it is larger than all limits. Raises `RecordingError`."""
        most, limit_name = min((self.limits.file_size, "file_size"), (limit or self.limits.file_size, limit_name))
        with self.durations.phase(READ):
            content = read_file_inside(self.directory, name, most, limit_name)
            digest = hashlib.sha256(content)
            self.checksums[name] = digest.hexdigest()
            digest.update(_SALTING)  # which the checksum, published as it is, does not give away
            self.salts[name] = len(content), digest.digest()
        return content

    def list_names(self, folder: str) -> list[str]:
        """The names of what lies in a folder of the directory. Raises `RecordingError`."""
        place = self.directory / folder
        try:
            return list_names(place)
        except OSError as error:
            raise RecordingError(f"cannot list {place}: {error.strerror}; make it readable") from error

    def read_answer(self, name: str) -> bytes:
        """The same for the file of an answer, which has a limit of its own. Raises `RecordingError`."""
        return self.read(name, self.limits.answer_size, "answer_size")

    def peek(self, name: str, limit: int, limit_name: str) -> bytes:
        """The same for a report, after the verdict: the file is no input of the result and has no checksum in it."""
        return read_file_inside(self.directory, name, min(limit, self.limits.file_size), limit_name)

    @property
    def salt(self) -> bytes | None:
        """What only somebody with the recording can know, the same in each session; None where nothing was read.

        It is of the largest file, whose content cannot be guessed and which scoring reads anyway.
        """
        size, _, salt = max(((size, name, salt) for name, (size, salt) in self.salts.items()), default=(0, "", b""))
        return salt if size >= _MIN_SALT_SOURCE else None
