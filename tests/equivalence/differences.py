"""What differs between two results, and which differences are meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

# Members that differ between any two sessions, or between any two versions of the code.
IGNORED = {"timestamp", "wall_time", "slowest", "webarena_verified_evaluator_checksum", "evaluator_checksums"}
# Members with another name, by the old one, below the member that is named first.
RENAMED = {"baseline": {"lost": "regressed", "gained": "fixed"}}
REWORDED = Path(__file__).with_name("reworded.txt")
PLURAL_OF_ONE = re.compile(r"\b1 ([a-z]+)s\b")  # one form for all numbers in old messages
PLACEHOLDER = re.compile(r"\{[\w ]*\}")
LONGEST = 200  # characters of a value that are printed


def compare(old: Any, new: Any, where: str = "$") -> Iterator[tuple[str, str, str]]:
    """Each place where two JSON values differ, with both values. Words and names that are meant to differ do not."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = RENAMED.get(where.rpartition(".")[2], {})
        members = {names.get(key, key): value for key, value in old.items()}
        for key in [*members, *(key for key in new if key not in members)]:
            if key not in IGNORED:
                yield from compare(members.get(key), new.get(key), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from compare(before, after, f"{where}[*]")
    elif old != new and not (isinstance(old, str) and isinstance(new, str) and reword(old) == new):
        yield where, shorten(old), shorten(new)


@cache
def reword(text: str) -> str:
    """An old text in the words of today, with a singular after 1."""
    for literal, pattern, replacement in _rewordings():
        if literal in text:  # most are not, and a pattern costs more
            text = pattern.sub(replacement, text)
    return PLURAL_OF_ONE.sub(r"1 \1", text)


@cache
def _rewordings() -> list[tuple[str, re.Pattern[str], str]]:
    lines = REWORDED.read_text("utf-8").splitlines()
    pairs = [(old[2:], new[2:]) for old, new in pairwise(lines) if old.startswith("- ")]
    return [
        _parse_rewording(old, new) for old, new in sorted(pairs, key=lambda pair: -len(PLACEHOLDER.sub("", pair[0])))
    ]


def _parse_rewording(old: str, new: str) -> tuple[str, re.Pattern[str], str]:
    """The longest literal part, a pattern with a group for each `{placeholder}`, and what replaces it."""
    names = PLACEHOLDER.findall(old)
    pattern = "(.+?)".join(map(re.escape, PLACEHOLDER.split(old)))
    if names and old.endswith(names[-1]):
        pattern = f"{pattern[:-5]}(.+)"
    replacement = new.replace("\\", r"\\")
    for number, name in enumerate(names, 1):
        replacement = replacement.replace(name, rf"\g<{number}>", 1)
    return max(PLACEHOLDER.split(old), key=len), re.compile(pattern, re.DOTALL), replacement


def shorten(value: Any) -> str:
    """A value in one line."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
