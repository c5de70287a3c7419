"""Inputs of several files: `=== name` on a line, then the content of that file, to the next such line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_MARK = b"\n=== "
MAX_PARTS = 40


def is_parted(content: bytes) -> bool:
    """Whether an input holds several files."""
    return content.startswith(_MARK[1:])


def parts(content: bytes) -> list[tuple[bytes, bytes]]:
    """Names and contents in their order."""
    found = [part.partition(b"\n") for part in (b"\n" + content).split(_MARK)[1:]]
    return [(name, inner) for name, _, inner in found[:MAX_PARTS]]


def files(content: bytes) -> dict[str, bytes]:
    """Contents by name; of two files of one name the last."""
    return {name.decode("utf-8", "replace"): inner for name, inner in parts(content)}


def joined(found: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The input that holds these files."""
    return b"".join(_MARK + name + b"\n" + inner for name, inner in found)[1:]


def of_files(found: Mapping[str, bytes]) -> bytes:
    """The same of contents by name."""
    return joined((name.encode(), inner) for name, inner in found.items())
