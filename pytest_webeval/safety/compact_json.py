"""Plain JSON as bytes without blanks, and copies of it, by a library that is many times faster than Python's own."""

from __future__ import annotations

import re
from typing import Any

import msgspec

# How MessagePack begins a number of 64 bits that is NaN or infinite. Other bytes may look the same.
_NONFINITE = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")


def to_compact_json(tree: Any) -> bytes | None:
    """The bytes of plain JSON; None for what cannot be spelled so: a whole number that is long, half a surrogate pair.

    None for NaN and infinities as well, of which JSON knows none: msgspec would write null for them.
    """
    try:
        return None if _NONFINITE.search(msgspec.msgpack.encode(tree)) else msgspec.json.encode(tree)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def copy_small(tree: Any, longest: int, deepest: int) -> Any | None:
    """A copy of plain JSON with at most so many bytes and levels of brackets, lists instead of tuples; or else None."""
    encoded = to_compact_json(tree)
    if encoded is None or len(encoded) > longest or encoded.count(b"[") + encoded.count(b"{") > deepest:
        return None
    return msgspec.json.decode(encoded)
