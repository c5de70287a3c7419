"""The table of keys that issuers begin alike, and the marks by which a text that may hold a secret is recognized."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from pytest_webeval.safety.text import ELLIPSIS

# The marks of keys in small letters, how they begin, and what follows.
_KEYS = (
    ("sk-", "sk-", r"[\w-]{16,}"),
    ("k_live k_test", "[sprw]k_(?:live|test)_", r"\w{10,}"),
    ("ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", r"\w{20,}"),
    ("github_pat_", "github_pat_", r"\w{20,}"),
    ("glpat- glrt- glptt- gldt-", "gl(?:pat|rt|ptt|dt)-", r"[\w-]{16,}"),
    ("akia asia", "(?:akia|asia)", r"[A-Z0-9]{16}(?!\w)"),
    ("xox", "xox[abeprs]-", r"[\w-]{10,}"),
    ("aiza", "aiza", r"[\w-]{30,}"),
    ("ya29.", r"ya29\.", r"[\w-]{20,}"),
    ("hf_", "hf_", r"\w{20,}"),
    ("npm_", "npm_", r"\w{30,}"),
    ("pypi-", "pypi-", r"[\w-]{30,}"),
    ("whsec_", "whsec_", r"[\w+/]{16,}"),
    ("xapp-", "xapp-", r"[\w-]{10,}"),
    ("sg.", r"sg\.", r"[\w-]{16,}\.[\w-]{16,}"),
)
KEY_PATTERN = "|".join(beginning + rest for _, beginning, rest in _KEYS)
KEY_BEGINNING = re.compile("|".join(["eyj", *(beginning for _, beginning, _ in _KEYS)]))
# The end of an escape of a URL, of JSON, or of a sequence that colours a terminal: its last characters are of words.
_ESCAPES = (
    r"%[0-9A-Fa-f]{2}",
    r"%25[0-9A-Fa-f]{2}",
    r"%2525[0-9A-Fa-f]{2}",
    r"\\[nrtbf0]",
    r"\\u[0-9A-Fa-f]{4}",
    r"\\x[0-9A-Fa-f]{2}",
    r"\\[0-7]{3}",
)
_COLOURS = tuple(rf"[\[;]\d{{{digits}}}[A-Za-z]" for digits in range(4))
AFTER_ESCAPE = "|".join(f"(?<={ending})" for ending in (*_ESCAPES, *_COLOURS))
KEY_START = rf"(?:(?<![A-Za-z0-9])|{AFTER_ESCAPE})"

# Each secret name and each pattern has one of these in it, but for those of the next two tables.
MARKS = (
    *("auth", "cookie", "pass", "pwd", "token", "secret", "key", "sess", "sid", "sig", "csrf", "xsrf", "otp", "jwt"),
    *("credential", "bearer", "basic", "mfa", "cvv", "cvc", "cvn", "csc", "iban", "saml", "wresult"),
    *("form-data", "-----begin", "eyj", "--user", "--proxy-user"),
    *(mark for marks, _, _ in _KEYS for mark in marks.split()),
)
# The same for what other words have in them too.
_BETWEEN = r"(?:[\W_]|%5[bd]){0,3}"
_PARTS = {
    "card": rf"card{_BETWEEN}n(?:o|um)",
    "cc": rf"cc{_BETWEEN}(?:n(?:o|um)|cid)",
    "social": rf"social{_BETWEEN}sec",
    "pin": r"pin(?:again|code|confirm|confirmation|copy|last|new|no|num|number|old|repeat|retype|v|verify)*(?![a-z])",
    "ssn": r"ssn(?!ame)",
    "code": rf"(?:security|verification|one[\W_]?time|backup|recovery|device|user){_BETWEEN}code",
    "-u": r"(?<![\w-])-u(?![\w-])",
    "curl": "curl",
}
_PART = re.compile("|".join(_PARTS.values()))
# Parts of names and paths whose values are secrets where they look generated: code=…, /reset-password/…
_LINKS = ("invit", "activat", "verif", "confirm", "reset", "magic", "unsubscri", "recover", "forgot", "login", "signin")
_GENERATED = ("code", "ticket", *_LINKS)
LINK_WORDS = "|".join([*_LINKS, "token", "passw", "session", "secret", "otp", "auth(?!or(?!i))"])
LINK_WORD = re.compile(LINK_WORDS)
_VALUE = re.compile(r"[\w.~+/=%-]{8,}(?::[\w.~+/=%:-]*)?", re.ASCII)
_LETTER_AND_DIGIT = re.compile(r"[^a-z]*+[a-z]\D*\d|\D*+\d[^a-z]*[a-z]", re.IGNORECASE)
# As people number tickets, orders and errors, and times.
_NUMBERED = re.compile(r"[A-Za-z]+(?:[-_]?\d+)+(?::(?:[A-Za-z]+|\d+)?)*|\d{4}-\d\d-\d\dT\d\d:?[\d:.Z+-]*")

_FEW = 2  # marks of which it is faster to search each than to search for a pattern of all
_SHORT = 200  # characters of a text that may well come again: names, paths, messages of our own


def may_hold_secrets(text: str) -> bool:
    """Whether it is worth looking for secrets in a text."""
    return _short_may_hold(text) if len(text) <= _SHORT else _may_hold(text)


def _may_hold(text: str) -> bool:
    lowered = text.lower()
    for mark in MARKS:
        if mark in lowered:
            return True
    return _has_address(lowered) or _has_part(lowered)


_short_may_hold = lru_cache(maxsize=8192)(_may_hold)


def _has_address(lowered: str) -> bool:
    """Whether there may be credentials in an address."""
    if "@" in lowered or ELLIPSIS in lowered:
        return "://" in lowered or ":\\/\\/" in lowered
    return "%40" in lowered and "%2f%2f" in lowered


def _has_part(lowered: str) -> bool:
    for part in _PARTS:
        if part in lowered and _PART.search(lowered):
            return True
    for part in _GENERATED:
        if part in lowered:
            return any(map(_LETTER_AND_DIGIT.match, _VALUE.findall(lowered)))
    return False


def is_generated(value: str) -> bool:
    """Whether a value looks generated: eight characters or more, letters and digits, no blank, not just numbered."""
    first = value.partition(":")[0]
    return bool(_VALUE.fullmatch(value) and _LETTER_AND_DIGIT.match(first)) and not _NUMBERED.fullmatch(value)


ALL_MARKS = (*MARKS, *_PARTS, *_GENERATED)


def _group_marks() -> Iterator[tuple[str, ...] | re.Pattern[str]]:
    """What is searched in long texts: patterns that begin with one letter each, and few marks one by one."""
    for first, marks in groupby(sorted(set(ALL_MARKS)), key=lambda mark: mark[0]):
        group = tuple(marks)
        if len(group) <= _FEW and not _PARTS.keys() & group:
            yield group
        else:
            rests = (_PARTS[mark] if _PARTS.get(mark, "").startswith(mark) else re.escape(mark) for mark in group)
            yield re.compile(f"{re.escape(first)}(?:{'|'.join(rest.removeprefix(re.escape(first)) for rest in rests)})")


_GROUPS = tuple(_group_marks())


def find_marks(lowered: str) -> Iterator[int]:
    """The positions of marks in a text in small letters."""
    for group in _GROUPS:
        if isinstance(group, re.Pattern):
            yield from (match.start() for match in group.finditer(lowered))
            continue
        for mark in group:
            at = lowered.find(mark)
            while at >= 0:
                yield at
                at = lowered.find(mark, at + 1)
