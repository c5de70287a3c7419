"""JSON in files of verdicts that the user names, read strictly: what is damaged is never as good as no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import load_exact
from pytest_webeval.safety.text import preview


def parse_strictly(content: bytes, where: str) -> Any:
    """The JSON value in some bytes. Raises `SettingsError`, also for a key that an object has twice.

    NaN and infinities are texts, so that no reader takes them for numbers.
    """
    try:
        value, repeated = load_exact(content.decode("utf-8"))
    except ValueError as error:
        raise SettingsError(f"{where} is not valid JSON: {error}; repair the file") from error
    if repeated:
        raise SettingsError(f"{where} has the key {preview(repeated[0], 60)} twice in one object; keep one of them")
    return value


def parse_object(content: bytes, where: str) -> dict[str, Any]:
    """The JSON object in some bytes. Raises `SettingsError`."""
    value = parse_strictly(content, where)
    if not isinstance(value, dict):
        raise SettingsError(f"{where} holds {preview(value, 60)}, expected a JSON object")
    return value


def join_checksums(inputs: RunInputs) -> str:
    """The SHA-256 of the file that was read; of several files, of their names and checksums."""
    checksums = sorted(inputs.checksums.items())
    if len(checksums) == 1:
        return checksums[0][1]
    return sha256("\n".join(f"{checksum} {name}" for name, checksum in checksums).encode("utf-8", "backslashreplace"))


def read_member(fields: Mapping[str, Any], key: str, kinds: type | tuple[type, ...], expected: str, where: str) -> Any:
    """A member of some types; None where it is not there or null. Raises `SettingsError` for one of another type."""
    value = fields.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
        raise build_type_error(key, value, expected, where)
    return value


def build_type_error(key: str, value: object, expected: str, where: str) -> SettingsError:
    """The error for a member that is not what a writer of such files leaves."""
    return SettingsError(f"invalid {key} {preview(value, 60)} in {where}; expected {expected}")
