"""Keys of objects, which anybody may have written: which of them can be the names of files below a directory."""

from __future__ import annotations

import re

MOST_LEVELS = 64  # as many as are searched for runs
_MOST_NAME_BYTES = 255
_MOST_KEY_BYTES = 1_024  # as many as S3 has
_BROKEN_PARTS = re.compile(r"(?:^|/)(\.{0,2})(?:/|$)")


def find_key_problem(key: str) -> str | None:
    """Why a key cannot be the path of a file below a directory; None if it can."""
    if "\0" in key:
        return "its key has a NUL"
    if match := _BROKEN_PARTS.search(key):
        return f"its key has the part '{match[1]}'" if match[1] else "its key has an empty part"
    try:
        encoded = key.encode()
    except UnicodeEncodeError:
        return "its key is not Unicode"
    if len(encoded) > _MOST_KEY_BYTES:
        return f"its key has more than {_MOST_KEY_BYTES:,} bytes"
    parts = encoded.split(b"/")
    if len(parts) > MOST_LEVELS:
        return f"its key has more than {MOST_LEVELS} levels"
    is_long = len(encoded) > _MOST_NAME_BYTES and max(map(len, parts)) > _MOST_NAME_BYTES
    return f"its key has a name of more than {_MOST_NAME_BYTES} bytes" if is_long else None
