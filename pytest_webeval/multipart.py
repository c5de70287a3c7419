"""The parts of a multipart message: as browsers write them, and as the reference reads them (Q53)."""

from __future__ import annotations

import re
from collections.abc import Iterator

Field = tuple[str, str]

_ANY_NAME = re.compile(r'name="([^"]+)"')
_DISPOSITION = "content-disposition"
_END_OF_HEAD = re.compile(r"\r?\n\r?\n")
_FOLD = re.compile(r"\r?\n[ \t]+")
# A parameter with its value. A quoted value is taken whole, so that nothing in it is a parameter of its own.
_PARAMETER = re.compile(r';\s*([^=;\s"]+)\s*=\s*(?:"([^"]*)"|([^;\s]*))')
_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}  # all that browsers escape in a name


def fields_as_written(text: str, delimiter: str) -> Iterator[Field]:
    """Names and values of a form as browsers write it (RFC 7578): an empty value is a value."""
    for part in _parts(text, delimiter):
        head, *value = _END_OF_HEAD.split(part, maxsplit=1)
        name = _name_in(head)
        if value and name is not None:
            yield name, value[0]


def _parts(text: str, delimiter: str) -> Iterator[str]:
    """What stands between lines that are delimiters; the line end before each of them is no part of the value.

    The text may lack its last delimiter. Each part keeps the line end before its headers, so that without headers it
    begins with a blank line, as its end of a head does.
    """
    start: int | None = None
    for found in re.finditer(rf"{re.escape(delimiter)}(--)?[ \t]*(?=\r?\n|\Z)", text):
        at = found.start()
        if at and text[at - 1] != "\n":
            continue  # in the middle of a value
        if start is not None and start <= at:
            yield _without_line_end(text[start:at])
        if found[1]:
            return
        start = found.end()
    if start is not None:
        yield _without_line_end(text[start:])


def _without_line_end(part: str) -> str:
    return part.removesuffix("\n").removesuffix("\r") if part.endswith("\n") else part


def _name_in(head: str) -> str | None:
    """The name that the header Content-Disposition gives a part, None where it gives none."""
    for line in _FOLD.sub(" ", head).split("\n"):
        header, _, told = line.partition(":")
        if header.strip().lower() == _DISPOSITION:
            named = (quoted or bare for key, quoted, bare in _PARAMETER.findall(told) if key.lower() == "name")
            found = next(named, None)
            return None if found is None else _unescaped(found)
    return None


def _unescaped(name: str) -> str:
    for escaped, character in _ESCAPES.items():
        name = name.replace(escaped, character)
    return name


def fields_as_reference(text: str, delimiter: str) -> Iterator[Field]:
    """Names and values of a form as the reference reads it, with every accident of Q53."""
    for part in text.split(delimiter):
        trimmed = part.strip()
        head, end, value = trimmed.partition("\r\n\r\n" if "\r\n\r\n" in trimmed else "\n\n")
        lines = head.split("\r\n") if end else ()
        told = next((line for line in lines if line.lower().startswith(f"{_DISPOSITION}:")), "")
        if name := _ANY_NAME.search(told):
            yield name[1], value
