"""The files of one run as readers of formats use them: JSON with tolerant fields, lines, and images."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pytest_webeval.errors import RecordingError
from pytest_webeval.recordings.discovery import list_directory
from pytest_webeval.recordings.inputs import MAX_FILE_BYTES, RunInputs
from pytest_webeval.recordings.trajectory.screenshots import number_of
from pytest_webeval.recordings.trajectory.step import IMAGES, Screenshot, UnreadableTrajectory
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.json import InvalidJson, RepairedObject, get_member, load_lenient, may_hold_more
from pytest_webeval.safety.run_directory import is_directory, list_names
from pytest_webeval.safety.text import preview
from pytest_webeval.safety.warning_log import WarningLog

MOST_NUMBER = 10**15  # nothing that a run counts or measures comes near it
Content = TypeVar("Content")
_REPAIR_HINT = "re-record the run, or fix the file"


@dataclass(frozen=True)
class RecordedFiles:
    """The files in a run directory. What is wrong with them is added to `warnings`, unless a verdict depends on it."""

    inputs: RunInputs

    @property
    def path(self) -> Path:
        return self.inputs.directory

    @cached_property
    def warnings(self) -> WarningLog:
        """What is wrong with the files of this run, and was repaired or ignored."""
        return WarningLog(self.path.name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in the directory, sorted."""
        return self.list_names("")

    def list_names(self, folder: str) -> tuple[str, ...]:
        """Names in a directory below that of the run, sorted; none where there is none, or where it is a link."""
        path = self.path / folder
        try:
            if folder and not is_directory(path):
                return ()
            return tuple(sorted(list_names(path)))
        except OSError:
            return ()

    def list_verdicts(self, folder: str) -> tuple[str, ...]:
        """Names in a directory with verdicts, sorted; none where there is none.

        Raises `UnreadableTrajectory` for one that cannot be listed, and for a link or a file in its place: it hides
        verdicts, so it is not as good as no verdict.
        """
        path = self.path / folder
        if not exists_no_follow(path):
            return ()
        if not is_directory(path):
            problem = f"{folder}/ is not a directory; replace it with the directory of the recorder"
            raise UnreadableTrajectory("score_unreadable", problem)
        listing = list_directory(path)
        if listing.problem is not None:
            raise UnreadableTrajectory("score_unreadable", listing.problem)
        return tuple(sorted(listing.names))

    def list_images(self, folder: str, prefix: str = "") -> tuple[Screenshot, ...]:
        """Images in a directory whose names begin with `prefix`, in the order of the numbers that they end in."""
        below = f"{folder}/" if folder else ""
        names = [name for name in self.list_names(folder) if name.startswith(prefix) and name.isprintable()]
        shots = [Screenshot(f"{below}{name}", number_of(name)) for name in names if name.lower().endswith(IMAGES)]
        return tuple(sorted(shots, key=lambda shot: (shot.number, shot.name)))

    def warn_of_name(self, name: str, noun: str, value: str) -> None:
        """Warn of a file that is of another task than its directory."""
        quoted = preview(value, 80, is_ascii=True)
        self.warnings.add(f"{name} is of the {noun} {quoted}; the directory's name is used as the task id")

    def read_json(self, name: str) -> JsonFields:
        """The object in a file that the run cannot do without. Raises `UnreadableTrajectory`."""
        try:
            content = self.inputs.read(name, MAX_FILE_BYTES)
        except RecordingError as error:
            raise UnreadableTrajectory("file_missing", str(error)) from error
        return self.parse_object(name, content)

    def read_optional_json(self, name: str) -> JsonFields | None:
        """The object in a file that need not be there; None, with a warning, where it is damaged."""
        return self._ignore_damage(self.find_json, name)

    def _ignore_damage(self, find: Callable[[str], Content | None], name: str) -> Content | None:
        try:
            return find(name)
        except UnreadableTrajectory as error:
            self.warnings.add(f"{error}; ignored")
            return None

    def find_json(self, name: str) -> JsonFields | None:
        """The object in a file that a verdict needs; None where there is none.

        Raises `UnreadableTrajectory` for a damaged one, a link or a directory.
        """
        return self.read_json(name) if exists_no_follow(self.path / name) else None

    def find_text(self, name: str) -> str | None:
        """The text of a file that a verdict needs; None where there is none.

        Raises `UnreadableTrajectory` for one that cannot be read, a link or a directory.
        """
        if not exists_no_follow(self.path / name):
            return None
        try:
            return self.inputs.read(name, MAX_FILE_BYTES).decode("utf-8", "replace")
        except RecordingError as error:
            raise UnreadableTrajectory("file_unreadable", str(error)) from error

    def read_text(self, name: str) -> str | None:
        """The text of a file that need not be there, whatever its encoding; None where it cannot be read."""
        return self._ignore_damage(self.find_text, name)

    def read_lines(self, name: str) -> Iterator[JsonFields]:
        """The objects in a file of JSON lines that need not be there, with a warning for each damaged line."""
        for number, line in enumerate((self.read_text(name) or "").splitlines(), 1):
            if not line.strip():
                continue
            try:
                value = load_lenient(line.strip()).value
            except InvalidJson as error:
                self.warnings.add(f"{name} is not valid JSON: {error}; the line is ignored", number)
                continue
            if isinstance(value, dict):
                yield JsonFields(value, f"{name} line {number}", self.warnings)
            else:
                self.warnings.add(f"{name} is not a JSON object; the line is ignored", number)

    def parse_value(self, name: str, content: bytes) -> Any:
        """The JSON value in the bytes of a file. Raises `UnreadableTrajectory`."""
        text, limits = content.decode("utf-8", "replace").removeprefix("\ufeff").strip(), self.inputs.limits
        if may_hold_more(text, limits.values):
            problem = f"{name} holds more values than {limits.values:,}; {limits.describe('values')}"
            raise UnreadableTrajectory("json_invalid", problem)
        try:
            decoded = load_lenient(text, most_values=limits.values)
        except InvalidJson as error:
            raise UnreadableTrajectory("json_invalid", f"{name} is not valid JSON: {error}; {_REPAIR_HINT}") from error
        if decoded.end < len(text):
            raise UnreadableTrajectory("json_invalid", f"{name} has text after its JSON value; {_REPAIR_HINT}")
        for warning in decoded.warnings:
            self.warnings.add(f"{name}: {warning}")
        return decoded.value

    def read_verdict(self, name: str) -> JsonFields:
        """The object in a file that holds nothing but a verdict. Raises `UnreadableTrajectory`, also for NaN in it."""
        fields = self.read_json(name)
        if _holds_nonfinite(fields.raw):
            raise _build_nonfinite_error(name)
        return fields

    def parse_object(self, name: str, content: bytes) -> JsonFields:
        """The JSON object in the bytes of a file. Raises `UnreadableTrajectory`."""
        value = self.parse_value(name, content)
        if not isinstance(value, dict):
            problem = f"{name} holds {reprlib.repr(value):.80}, expected a JSON object"
            raise UnreadableTrajectory("json_invalid", f"{problem}; {_REPAIR_HINT}")
        return JsonFields(value, name, self.warnings)


def join_texts(content: object) -> str:
    """The text of a message, which is one, or a list of texts and images."""
    if isinstance(content, str):
        return content
    texts = [get_member(part, "text") for part in content] if isinstance(content, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))


def _holds_nonfinite(tree: object) -> bool:
    pending = [tree]
    while pending:
        value = pending.pop()
        if isinstance(value, RepairedObject):
            return True
        pending += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return False


def _build_nonfinite_error(where: str) -> UnreadableTrajectory:
    problem = f"{where} is or holds NaN or an out-of-range number, so that the verdict is damaged"
    return UnreadableTrajectory("score_unreadable", f"{problem}; judge the run again")


class JsonFields:
    """The members of an untrusted JSON object, by type. A member of another type is a warning, and as good as none.

    Of several keys the first member that is not null counts. What is not there is None, or an empty object or list.
    """

    __slots__ = ("raw", "warnings", "where")

    def __init__(self, raw: Mapping[str, Any], where: str, warnings: WarningLog) -> None:
        self.raw, self.where, self.warnings = raw, where, warnings

    def check_finite(self, *keys: str) -> None:
        """Raise `UnreadableTrajectory` if one of these members was NaN or an out-of-range number, which reads as null.

        A verdict depends on them, and a damaged one is not as good as none.
        """
        lost = self.raw.nonfinite.intersection(keys) if isinstance(self.raw, RepairedObject) else ()
        for key in keys:
            if key in lost:
                raise _build_nonfinite_error(f"{self.where}.{key}")

    def __contains__(self, key: str) -> bool:
        return key in self.raw

    def text(self, *keys: str) -> str | None:
        """The first member that is not null, if it is a text."""
        text: str | None = self._first(keys, str, "a string")
        return text

    def flag(self, *keys: str) -> bool | None:
        """The first member that is not null, if it is a boolean."""
        flag: bool | None = self._first(keys, bool, "a boolean")
        return flag

    def number(self, *keys: str) -> float | None:
        """A number that a run can have."""
        value = self._first(keys, (int, float), "a number")
        if value is None:
            return None
        if isinstance(value, bool) or not abs(value) <= MOST_NUMBER:
            self._warn(keys[0], value, "a number")
            return None
        number: float = value
        return number

    def count(self, *keys: str) -> int | None:
        """The first member that is not null, if it is a number of things."""
        value = self.number(*keys)
        if value is None or (value >= 0 and value == int(value)):
            return None if value is None else int(value)
        self._warn(keys[0], value, "a non-negative integer")
        return None

    def member(self, *keys: str) -> JsonFields:
        """The first member that is not null, if it is an object; an empty one otherwise."""
        value = self._first(keys, dict, "an object")
        return JsonFields(value or {}, f"{self.where}.{keys[0]}", self.warnings)

    def items(self, *keys: str) -> Sequence[Any]:
        """The first member that is not null, if it is a list; an empty one otherwise."""
        return self._first(keys, list, "a list") or ()

    def objects(self, *keys: str) -> list[JsonFields]:
        """The objects of a list; an element that is none is a warning, and an empty object."""
        members = []
        for index, value in enumerate(self.items(*keys)):
            if not isinstance(value, dict | None):
                self._warn(f"{keys[0]}[{index}]", value, "an object")
            raw = value if isinstance(value, dict) else {}
            members.append(JsonFields(raw, f"{self.where}.{keys[0]}[{index}]", self.warnings))
        return members

    def texts(self, *keys: str) -> list[str]:
        """The texts of a list; an element that is none is a warning, and an empty text."""
        values = [*self.items(*keys)]
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self._warn(f"{keys[0]}[{index}]", value, "a string")
                values[index] = ""
        return values

    def _first(self, keys: Sequence[str], kinds: type | tuple[type, ...], expected: str) -> Any:
        for key in keys:
            value = self.raw.get(key)
            if value is not None:
                if isinstance(value, kinds):
                    return value
                self._warn(key, value, expected)
                return None
        return None

    def _warn(self, key: str, value: object, expected: str) -> None:
        self.warnings.add(f"{reprlib.repr(value):.60} is not {expected}; ignored @ {self.where}.{key}")
