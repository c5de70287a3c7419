"""The positions in a long text at which secrets may begin, derived from its words instead of every character."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_webeval.redaction.marks import KEY_BEGINNING, LINK_WORDS, SCHEMES, cache_short, find_marks
from pytest_webeval.redaction.names import compact, drop_number, is_generated_name, is_secret
from pytest_webeval.redaction.patterns import KEY_START, match_end
from pytest_webeval.safety.text import ELLIPSIS

# A word consists of the characters of names in forms, of keys and of web tokens.
_WORD = re.compile(r"[\w.\[\]-]{0,256}")
_ESCAPES = (1, 2, 4, 6)  # characters behind the first of an escape, such as \n, %20, %2520
_SHORT, _CACHED = 64, 32_768  # characters of words whose answers are cached, and the number of these words
_HEADS = frozenset({*SCHEMES, "form-data", "-u", "--user", "--proxy-user"})
_PRIVATE = "-----begin"
# Keys, and what stands before credentials, also where other characters of a word come before.
_KEY = re.compile(rf"(?={KEY_BEGINNING}|(?:{'|'.join(SCHEMES)})(?:\s|%20|\+)){KEY_START}")
_SUSPECT = re.compile(rf"\A(?:{KEY_BEGINNING})|{_PRIVATE}|{LINK_WORDS}")
_LAST = ("key", "session", "mfa")  # ends of names whose other words may stand behind a colon or a slash

# These are matched against what stands before a word, reversed.
_WORDS_BEFORE = re.compile(r"[\w.\[\]%-]*")
_QUOTE_BEFORE = re.compile(r"[^\"'\\\s%]{0,100}(?:[\"']\\{0,8}|[27]2(?:52){0,2}%)")
_ENTITY_BEFORE = re.compile(r"[^\"'\\\s%]{0,100}?;(?:touq|[49]3#)&")
_TAG_BEFORE = re.compile(r"[\w:.-]{0,61}<")
_BACKSLASHES, _VALUE = re.compile(r"\\*"), re.compile("value")
# Characters that are searched: of a word, and before it.
_MOST_WORD, _MOST_WORDS, _MOST_ENTRY, _MOST_TAG, _MOST_VALUE = 256, 2_000, 100, 400, 4_400
_QUOTE = 10  # characters of the longest quote

# Credentials of addresses begin where these end.
_USER = re.compile(rf":(?://|\\/\\/)(?=[^\s/?#\"'<>\\{ELLIPSIS}]*[@{ELLIPSIS}])")
_ENCODED_USER = re.compile(r"%3a%2f%2f(?=(?:(?!%2f|%3f|%23|%40)[^\s/?#\"'<>\\&])*+%40)")
_OPTION = re.compile(r"(?<![\w.\[\]-])-[a-z]{0,6}u")  # -sSu of curl


def candidates(text: str) -> Iterable[int] | None:
    """In order, all places where a secret with its name may begin; None where they are too many to be of use."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters become two
        return None
    places: set[int] = set()
    most, searched, latest = len(text) // 4, 0, 0
    for start, end in sorted(_find_words(text, lowered)):
        places.update(_list_starts_around(text, lowered, start, end))
        words = _start_before(_WORDS_BEFORE, text, start, _MOST_WORDS)
        places.update(range(max(words, latest), start + 1))  # those before the latest word are there already
        latest = start
        if name := _find_entry_name(text, lowered, start):
            values = _VALUE.finditer(lowered, max(searched, name - _MOST_VALUE), name)  # may stand before the name
            places.update(*(_list_quote_starts(lowered, at) for at in (name, *(match.start() for match in values))))
            searched = name
        if len(places) > most:
            return None
    return sorted(places)


def _find_words(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Words that may belong to a secret, and the beginnings of credentials in addresses."""
    marks = {*find_marks(lowered)}
    spans = {span for at in marks for span in _list_spans(text, at)}
    yield from spans
    # `k_live` and `key` are marks of sk_live_ and of apikey
    before = {at: 1 if lowered.startswith("k_", at) else 3 * lowered.startswith("key", at) for at in marks}
    starts = {max(at - before[at], 0) for at in marks} - {start for start, _ in spans}
    yield from ((start, start) for start in starts if _KEY.match(lowered, start))
    if "curl" in lowered:
        yield from ((match.start(), match.start()) for match in _OPTION.finditer(lowered))
    if "@" in text or ELLIPSIS in text:
        yield from ((match.end(), match.end()) for match in _USER.finditer(text))
    if "%40" in text:
        yield from ((match.end(), match.end()) for match in _ENCODED_USER.finditer(lowered))


def _list_spans(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The span of the word around a mark, if it may belong to a secret; also without the rest of an escape."""
    start, end = _start_before(_WORD, text, at, _MOST_WORD), match_end(_WORD, text, at)
    escaped = _ESCAPES if text[start - 1 : start] in ("%", "\\") else ()
    starts = [start + skipped for skipped in (0, *escaped) if start + skipped <= at]
    if any(is_suspect(text[span_start:end]) for span_start in starts):
        yield from ((span_start, end) for span_start in starts)


@cache_short(_SHORT, _CACHED)
def is_suspect(word: str) -> bool:
    """Whether a word may be a secret, or belong to the name of one."""
    lowered = word.lower()
    if lowered in _HEADS or _SUSPECT.search(lowered) or is_secret(word) or is_generated_name(word):
        return True
    return compact(word).endswith(_LAST) or drop_number(word).endswith(_LAST)


def _list_starts_around(text: str, lowered: str, start: int, end: int) -> Iterator[int]:
    """Positions at which a match with this word may begin, in it or before it."""
    inside = (lowered.find(sign, start, end) for sign in ("--", _PRIVATE))
    yield from (at for at in inside if at >= 0)
    yield _start_before(_TAG_BEFORE, text, start, _MOST_ENTRY)
    tag = lowered.rfind("<", max(start - _MOST_TAG, 0), start)
    if tag >= 0 and lowered.startswith(("<input", "<meta"), tag):
        yield tag
    for quote in _list_quotes_before(text, start):
        # the quote that closes it may have fewer backslashes than stand before this one
        yield from range(max(quote - 1, 0), match_end(_BACKSLASHES, text, quote) + 1)


def _list_quotes_before(text: str, start: int) -> list[int]:
    """Where the quotes of a name begin that ends with this word, as they are and as HTML has them."""
    is_escaped = text.rfind("&", max(start - _MOST_ENTRY - _QUOTE, 0), start) >= 0
    patterns = (_QUOTE_BEFORE, _ENTITY_BEFORE) if is_escaped else (_QUOTE_BEFORE,)
    starts = [_start_before(pattern, text, start, _MOST_ENTRY + _QUOTE) for pattern in patterns]
    return [quote for quote in starts if quote < start]


def _find_entry_name(text: str, lowered: str, start: int) -> int:
    """The position of `"name": "` before the name of an entry; 0 without it."""
    quotes = _list_quotes_before(text, start)
    positions = (lowered.rfind(key, max(at - _MOST_ENTRY, 0), at) for at in quotes for key in ("name", "key", "field"))
    return max([0, *positions])


def _list_quote_starts(lowered: str, end: int) -> Iterator[int]:
    """Places at which a quote that ends there may begin."""
    return (at for at in range(max(end - _QUOTE, 0), end) if lowered[at] in "\"'\\%&")


def _start_before(pattern: re.Pattern[str], text: str, end: int, most: int) -> int:
    """Where a match begins of what stands before a place; the patterns are those of reversed characters."""
    return end - match_end(pattern, text[max(end - most, 0) : end][::-1], 0)
