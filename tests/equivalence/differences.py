"""What differs between two results, and which differences are meant."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

# Members that differ between any two sessions, or between any two versions of the code.
IGNORED = {"timestamp", "wall_time", "slowest", "webarena_verified_evaluator_checksum", "evaluator_checksums"}
# Members with another name, by the old one, below the member that is named first.
RENAMED = {"baseline": {"lost": "regressed", "gained": "fixed"}}
REWORDED = Path(__file__).with_name("reworded.txt")
PLURALS_OF_ONE = [  # old messages have one form for all numbers
    (re.compile(r"\b1 ([a-z]+)ies\b"), r"1 \1y"),
    (re.compile(r"\b1 (?!has\b)([A-Za-z]+)s\b"), r"1 \1"),
]
PLACEHOLDER = re.compile(r"\{[\w ]*\}")
# What some placeholders stand for; all others for any text.
PLACEHOLDERS = {
    "{number}": r"([-+\w.,]*\d[-+\w.]*)",
    "{path}": r"(\S+)",
    "{quoted}": r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""",
}
EVALUATORS = re.compile(r"((?:^|; )\w+Evaluator: )")  # what stands before the message of each
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")  # without a comma in some old messages
CUT = re.compile(r"(.*)… \([\d,]+ characters\).*", re.DOTALL)  # what a long text ends with
LONGEST = 200  # characters of a value that are printed


def compare(old: Any, new: Any, where: str = "$") -> Iterator[tuple[str, str, str]]:
    """Each place where two JSON values differ, with both values. Words and names that are meant to differ do not."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = RENAMED.get(where.rpartition(".")[2], {})
        members = {names.get(key, key): value for key, value in old.items()}
        for key in [*members, *(key for key in new if key not in members)]:
            if key not in IGNORED:
                view = VIEWS.get(key, _itself)
                yield from compare(view(members.get(key)), view(new.get(key)), f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from compare(before, after, f"{where}[*]")
    elif old != new and not (isinstance(old, str) and isinstance(new, str) and _says_the_same(reword(old), new)):
        yield where, shorten(old), shorten(new)


def _says_the_same(old: str, new: str) -> bool:
    """Whether two texts are equal but for numbers and plurals; of those that were cut, as far as both go."""
    old, new = (_unify_counts(text) for text in (old, new))
    cut = CUT.fullmatch(old), CUT.fullmatch(new)
    if not all(cut):
        return old == new
    old, new = (match[1] for match in cut)
    return old.startswith(new) or new.startswith(old)


def _unify_counts(text: str) -> str:
    text = THOUSANDS.sub("", text)
    for pattern, replacement in PLURALS_OF_ONE:
        text = pattern.sub(replacement, text)
    return text


def _itself(value: Any) -> Any:
    return value


def _count_failures(groups: Any) -> Any:
    """How many runs failed by evaluator, kind and field. Errors have a text as field, which may be reworded."""
    if not isinstance(groups, list):
        return groups
    counts: Counter[str] = Counter()
    for group in groups:
        field = "" if group["kind"] == "error" else group["field"]
        counts[f"{group['evaluator']} {group['kind']} {field}"] += group["count"]
    return dict(counts)


# Members that are not compared as they are.
VIEWS = {"failures": _count_failures}


@cache
def reword(text: str) -> str:
    """An old text in the words of today. What several evaluators say is joined in one text; each is reworded alone."""
    return "".join(map(_reword_message, EVALUATORS.split(text)))


def _reword_message(text: str) -> str:
    for literal, pattern, replacement in _rewordings():
        if literal in text:  # most are not, and a pattern costs more
            text = pattern.sub(replacement, text)
    return text


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
    groups = [PLACEHOLDERS.get(name, "(.+?)") for name in names]
    if names and old.endswith(names[-1]):
        groups[-1] = PLACEHOLDERS.get(names[-1], "(.+)")
    literals = map(re.escape, PLACEHOLDER.split(old))
    pattern = "".join(part for pair in zip_longest(literals, groups, fillvalue="") for part in pair)
    replacement = new.replace("\\", r"\\")
    for number, name in enumerate(names, 1):
        replacement = replacement.replace(name, rf"\g<{number}>", 1)
    return max(PLACEHOLDER.split(old), key=len), re.compile(pattern, re.DOTALL), replacement


def shorten(value: Any) -> str:
    """A value in one line."""
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
