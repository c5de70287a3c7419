"""Archives that lie: bytes of zip files put together member by member, and damaged afterwards."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import Any

from tests.hostile.corpus import honest

NETWORK = "trace.network"
GOOD = honest.lines(honest.entry())
STAMP = (2026, 3, 1, 10, 0, 0)


def member(name: str, *, mode: int = 0o100644, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    """What is told of a member, always with the same time."""
    told = zipfile.ZipInfo(name, STAMP)
    told.external_attr, told.compress_type = mode << 16, method
    return told


def packed(*members: tuple[Any, bytes]) -> bytes:
    """An archive with these members, each a name or what is told of it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for told, content in members:
            archive.writestr(told if isinstance(told, zipfile.ZipInfo) else member(told), content)
    return held.getvalue()


def good(*more: tuple[Any, bytes]) -> bytes:
    """An honest archive with more in it."""
    return packed((NETWORK, GOOD), *more)


def crowded(count: int) -> bytes:
    """So many empty members behind the good one, which share one place; the directory alone is big."""
    first = packed((NETWORK, GOOD), ("empty", b""))
    at = first.rindex(b"PK\x05\x06")
    start = first.index(b"PK\x01\x02")
    entries = first[start:at]
    last = entries.rindex(b"PK\x01\x02")
    clones = b"".join(_renamed(entries[last:], f"{number:05x}") for number in range(count - 2))
    return first[:start] + _ended(entries + clones, start, count)


def _renamed(entry: bytes, name: str) -> bytes:
    return entry[:46] + name.encode()


def _ended(directory: bytes, start: int, count: int) -> bytes:
    """The directory with an end, in the 64-bit form where the count does not fit the other."""
    sizes = struct.pack("<QQQQ", count, count, len(directory), start)
    big = b"PK\x06\x06" + struct.pack("<QHHII", 44, 45, 45, 0, 0) + sizes
    where = b"PK\x06\x07" + struct.pack("<IQI", 0, start + len(directory), 1)
    short = min(count, 0xFFFF)
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, short, short, len(directory), start, 0)
    return directory + (big + where if count > 0xFFFE else b"") + end


def overlapping(copies: int) -> bytes:
    """Members that all unpack the same bytes, so that a small file holds a great deal."""
    kernel = packed((NETWORK, GOOD), ("00000", b"\x00" * 2**20))
    start, at = kernel.index(b"PK\x01\x02"), kernel.rindex(b"PK\x05\x06")
    entries = kernel[start:at]
    last = entries.rindex(b"PK\x01\x02")
    clones = b"".join(_renamed(entries[last:], f"{number:05x}") for number in range(1, copies))
    return kernel[:start] + _ended(entries + clones, start, copies + 1)


def bomb(size: int, name: str = NETWORK, filler: bytes = b" ") -> bytes:
    """A member that unpacks to so many bytes, written without ever holding them."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive, archive.open(member(name), "w", force_zip64=size > 2**31) as inside:
        inside.write(GOOD)
        for _ in range(size // 2**20):
            inside.write(filler * (2**20 // len(filler)))
    return held.getvalue()


def lying_bomb(mebibytes: int) -> bytes:
    """A bomb whose directory says that it is small."""
    honest_one, size = bomb(mebibytes * 2**20), mebibytes * 2**20 + len(GOOD)
    return honest_one.replace(struct.pack("<I", size), struct.pack("<I", 100))


def lying(size: int, *, real: int) -> bytes:
    """An archive whose directory says that the recording is so small, though it is bigger."""
    content = GOOD + b"\n" * real
    honest_one = packed((NETWORK, content))
    return honest_one.replace(struct.pack("<I", len(content)), struct.pack("<I", size))


def patched(content: bytes, *changes: tuple[int, bytes]) -> bytes:
    """Bytes in the one directory entry changed, by their place in it."""
    changed, start = bytearray(content), content.index(b"PK\x01\x02")
    for at, new in changes:
        changed[start + at : start + at + len(new)] = new
    return bytes(changed)


def local_patched(content: bytes, *changes: tuple[int, bytes]) -> bytes:
    """The same in what stands before the member itself."""
    changed = bytearray(content)
    for at, new in changes:
        changed[at : at + len(new)] = new
    return bytes(changed)


def wrong_sum() -> bytes:
    """Another check sum than the content has."""
    return good().replace(struct.pack("<I", zlib.crc32(GOOD)), b"\x00\x00\x00\x00")


def quine_like(depth: int) -> bytes:
    """Archives in archives."""
    content = good()
    for _ in range(depth):
        content = packed((NETWORK, GOOD), ("trace.zip", content))
    return content
