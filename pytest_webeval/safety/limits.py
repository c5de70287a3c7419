"""How much of an untrusted recording is read: every limit with its default, in one table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from pytest_webeval.errors import SettingsError

_UNITS = {"": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_AMOUNT = re.compile(r"([0-9][0-9_,]{0,20})\s*([A-Za-z]{0,3})")
INI = "webeval_limits"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is beyond one of these is refused with an error that names it. Honest recordings are far below them."""

    file_size: int = 512 * 2**20  # bytes of one file
    answer_size: int = 4 * 2**20  # bytes of the answer of an agent, in a file of its own or in another
    entries: int = 200_000  # entries of one network trace
    values: int = 2_000_000  # members and items of one JSON text that is read at once
    nesting: int = 750  # levels of an answer or a body
    string_length: int = 4 * 2**20  # characters of one text that is compared
    archive_members: int = 100_000  # files in one trace.zip
    expansion: int = 200  # times its packed size that a member of an archive of some size unpacks to
    body_size: int = 64 * 2**20  # bytes of one body, decoded or in its own file; of all bodies of a run, twice that
    stored_objects: int = 5_000_000  # objects in one listing of a store

    def describe(self, name: str) -> str:
        """The text of a message about a limit, and what to do about it."""
        return f"the limit is {getattr(self, name):,}; raise {name} in {INI} if you trust the source"

    @property
    def changes(self) -> dict[str, int]:
        """Those that are not the usual ones."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}


USUAL = Limits()


def read_limits(lines: Iterable[str]) -> Limits:
    """Limits as an ini file has them, such as ``file_size = 64 MiB``. Raises `SettingsError`."""
    limits: dict[str, Any] = dict(_parse_limit(line) for line in lines)
    return Limits(**limits)


def _parse_limit(line: str) -> tuple[str, int]:
    name, _, size = (part.strip() for part in line.partition("="))
    names = [field.name for field in fields(Limits)]
    if name not in names:
        raise SettingsError(f"{INI}: unknown limit {name!r}; use one of {', '.join(names)}")
    amount = parse_size(size)
    if amount is None:
        raise SettingsError(f"{INI}: invalid size {size!r} for {name}; use e.g. 200000 or 64 MiB")
    return name, amount


def parse_integer(text: str, allowed: range) -> int:
    """A number in decimal digits. Raises `ValueError` for another text, and for one that is not allowed."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) in allowed):
        raise ValueError(text)
    return int(text)


def parse_size(text: str) -> int | None:
    """A count or a number of bytes as people write it, such as ``64 MiB``; None for any other text."""
    match = _AMOUNT.fullmatch(text.strip())
    unit = _UNITS.get(match[2].upper()) if match else None
    return None if match is None or unit is None else int(re.sub("[_,]", "", match[1])) * unit
