"""The published tasks of WebArena-Verified, by the digests of their definitions: the data set itself is not needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

# What scoring reads of a definition. The same task in other words, or with another start URL, gets the same verdicts.
# The id is one of them, for numbers are compared task by task.
KEYS = ("eval", "sites", "task_id")
DIGITS = 32  # of the 64 of a SHA-256, which are enough to tell tasks apart
# Written by `python -m tests.support.write_published_digests`.
TABLE = Path(__file__).with_name("published_digests.txt")


@cache
def load_published_digests() -> frozenset[str]:
    """The beginnings of the digests of all rows of all data sets of WebArena-Verified's releases."""
    return frozenset(TABLE.read_text("ascii").split())
