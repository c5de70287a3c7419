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
    for part in text.split(delimiter)[1:]:
        if part.startswith("--"):
            return
        head, *value = _END_OF_HEAD.split(part.lstrip("\r\n"), maxsplit=1)
        name = _name_in(head)
        if value and name is not None:
            yield name, value[0].removesuffix("\n").removesuffix("\r")


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
