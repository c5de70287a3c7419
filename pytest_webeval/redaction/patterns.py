"""How secrets look in free text, and where they may begin: in time in proportion to the text, whoever wrote that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from pytest_webeval.redaction.names import (
    KEY_BEGINNING,
    KEY_PATTERN,
    LINK_WORDS,
    SCHEMES,
    cache_short,
    compact,
    drop_number,
    find_marks,
    is_generated_name,
    is_secret,
)
from pytest_webeval.safety.text import ELLIPSIS

# The end of an escape of a URL, of JSON, or of a sequence that colours a terminal: its last characters are of words.
_HEX = "[0-9A-Fa-f]"
_ESCAPES = (
    *(rf"%{'25' * times}{_HEX}{{2}}" for times in range(3)),
    rf"\\u{_HEX}{{4}}",
    rf"\\x{_HEX}{{2}}",
    r"\\[nrtbf0]",
    r"\\[0-7]{3}",
)
_COLOURS = tuple(rf"[\[;]\d{{{digits}}}[A-Za-z]" for digits in range(4))
_AFTER_ESCAPE = "|".join(f"(?<={ending})" for ending in (*_ESCAPES, *_COLOURS))
_KEY_START = rf"(?:(?<![A-Za-z0-9])|{_AFTER_ESCAPE})"
# Where a word begins: also behind an escape of a URL or of JSON, whose last character is a letter.
_START = rf"(?:(?<![\w.\[\]\\%-])|(?<=%{_HEX}{{2}})(?!(?<=%25){_HEX}{{2}})|(?<=%25{_HEX}{{2}})|(?<=\\[nrt]))"
_BREAK = r"(?:\r?\n|\\{1,4}r\\{1,4}n|\\{1,4}n)"  # of lines, also as JSON escapes it
_PERCENT = "%(?:25){0,2}"  # of an escape of a URL, which may be escaped again
_QUOTE = rf"(?:\\{{0,8}}[\"']|{_PERCENT}2[27]|&(?:quot|#3[49]);)"
_BLANK = r"(?:\s|%20|\+){0,8}"
_COLON = rf"{_BLANK}(?::|{_PERCENT}3A){_BLANK}"
_COMMA = rf"{_BLANK}(?:,|{_PERCENT}2C){_BLANK}"
_SLASH = rf"(?:\\{{0,4}}/|{_PERCENT}2F)"
_IN_LIST = "|".join(rf"(?<=[\[,]\s{{{blanks}}})\[" for blanks in range(14))  # the pairs of a list, also in lines
_AFTER_SCHEME = r"(?:(?<=://)|(?<=:\\/\\/))"
_NAME = r"(?P<{1}_name>(?:(?!(?P={0}))[^\"'\\\s%]){{1,100}})"
_UP_TO = r"(?:(?!(?P={0}))(?:\\[\s\S]|[^\\])){{0,4000}}+"

# As people write such names in sentences: pin code: 4711
_LABEL = (
    r"(?:pin|otp|ssn|cvc|cvv|csc|totp|verification|recovery)[ ](?:code|number)"
    r"(?=[ ]?[:=][ ]?[\"']?[A-Za-z-]{0,20}\d)"
)
# A text that begins so is not a value: our own messages begin like that.
_NOT_OUR = r"(?!//|(?:expected|got|missing|both|the|no)\b)"
# Heads end where a value begins, and the value is then matched behind them: a harmless name hides nothing.
_KEYS = {
    # behind a letter or a hyphen the end of a header is not looked for far: `eyJ-eyJ-` begins at each
    "jwt": r"eyJ(?:(?<![\w-]eyJ)[\w-]{8,}+|[\w-]{8,2000}+)\.[\w-]{4,}(?:\.[\w-]*)?",
    "key": KEY_PATTERN,
    "scheme": rf"(?:{SCHEMES[0]}|(?<![_-])(?:{'|'.join(SCHEMES[1:])}))(?:\s|%20|\+){{1,4}}"
    r"(?P<scheme_body>(?=[A-Za-z._~+/=-]{0,19}\d|[\w.~+/=-]{20})[\w.~+/=-]{6,})",
}
_WORDS = {
    # /reset-password/…, %2Ftoken%2F…: what looks generated behind it is a secret
    "path": rf"(?<=[/F])[\w-]{{0,40}}?(?:{LINK_WORDS})[\w-]{{0,40}}{_SLASH}",
    # one part of a multipart message: up to the empty line behind its headers
    "part": r"form-data;[ \t]{0,4}name=(?P<pq>\\{0,8}\")(?P<part_name>[^\"\\\r\n]{1,100})(?P=pq)[^\r\n\\<>]{0,200}"
    rf"(?:{_BREAK}[^\r\n\\]{{1,200}}){{0,3}}{_BREAK}{_BREAK}",
    # password= of forms, of queries and of logs
    "pair": rf"(?P<pair_name>{_LABEL}|(?:[\w.\[\]-]++|%5B|%5D){{1,8}}+)"
    rf"(?:(?P<equals>=(?![ \t>])|{_PERCENT}3D)|(?P<colon>[ \t]{{0,3}}(?:=>|[:=])[ \t]{{0,3}}{_NOT_OUR}(?=[^\s=])))",
}
_ADDRESSES = {
    "userinfo": rf"{_AFTER_SCHEME}(?P<userinfo_body>[^\s/?#\"'<>\\]*)@",
    # The same where a message was cut before the @, unless the digits of a port are all that is behind the colon.
    "cut": rf"{_AFTER_SCHEME}(?P<cut_body>[^\s/?#\"'<>\\:@\[{ELLIPSIS}]*+:(?!\d*+{ELLIPSIS})"
    rf"[^\s/?#\"'<>\\@{ELLIPSIS}]++)(?={ELLIPSIS})",
    # curl -u joe:password, -ujoe:password, "-u","joe:password"
    "login": r"(?<![\w.\[\]-])(?:-[a-z]{0,6}u|--(?:proxy-)?user)"
    r"(?:[\"'\\]{1,8},\s{0,16}(?=[\"'\\])|(?:[\"'\\]{0,8},)?(?:[ \t]{1,8}|=|%20|\+))"
    r"|(?<=curl\s)-u(?=[^\s\"'\\:=/]{1,64}:)",
    "encoded": r"(?<=%3A%2F%2F)(?P<encoded_body>(?:(?!%2F|%3F|%23|%40)[^\s/?#\"'<>\\&])*+)%40",
}
_OTHERS = {
    "private": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<private_body>[\s\S]*?)(?=-----END |\Z)",
    # <input name="password" value= and <meta name="csrf-token" content=
    "attribute": r"<(?:input|meta)\b[^<>]{0,100}?\bname=(?P<aq>\\{0,8}[\"'])(?P<attribute_name>[^\"'\\\s]{1,100})"
    r"(?P=aq)[^<>]{0,100}?\b(?:value|content)=",
    # <input value="..." name="password">: the value stands before its name
    "swapped": r"<(?:input|meta)\b[^<>]{0,100}?\b(?:value|content)=(?P<sq>\\{0,8}[\"'])"
    r"(?P<swapped_value>[^\"'\\<>]{1,2000})(?P=sq)[^<>]{0,100}?\bname=(?P=sq)(?P<swapped_name>[^\"'\\\s]{1,100})(?P=sq)",
    # {"name": "password", "value": as recordings list headers, cookies and fields, and ('password', as Python does
    "entry": rf"(?P<eq>{_QUOTE})(?:name|key|field)(?P=eq){_COLON}"
    rf"(?P<en>{_QUOTE}){_NAME.format('en', 'entry')}(?P=en){_COMMA}(?P=eq)value(?P=eq){_COLON}",
    "tuple": rf"(?:\(|{_IN_LIST})(?P<tq>{_QUOTE}){_NAME.format('tq', 'tuple')}(?P=tq){_COMMA}(?={_QUOTE}|-?\d|\[)",
    # the same the other way round: the value stands before its name
    "reversed": rf"(?P<rq>{_QUOTE})value(?P=rq){_COLON}(?:(?P<rv>{_QUOTE})(?P<reversed_value>{_UP_TO.format('rv')})"
    rf"(?P=rv)|(?P<reversed_plain>[\w.+-]{{1,100}})){_COMMA}(?P=rq)name(?P=rq){_COLON}"
    rf"(?P<rn>{_QUOTE}){_NAME.format('rn', 'reversed')}(?P=rn)",
    # --password of a command, and <password> of XML
    "flag": r"(?<![\w-])--(?P<flag_name>[A-Za-z][\w-]{1,60})[ \t]{1,3}(?=[^\s-])(?!(?:to|and|or|is|was|for|in)\b)",
    "element": r"<(?P<element_name>[A-Za-z][\w:.-]{1,60})>(?=[^<\s])",
    # "password": of JSON, or of what Python shows of a dict
    "member": rf"(?P<mq>{_QUOTE}){_NAME.format('mq', 'member')}(?P=mq){_BLANK}(?::|=|{_PERCENT}3A){_BLANK}",
}
_STRICT = {
    "mail": r"(?!redacted-)[\w.+-]{1,64}+(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "opaque": r"(?=[A-Za-z_+-]*+\d)(?=[\d_+-]*+[A-Za-z])[\w+-]{20,}+={0,2}",
}


def _alternate(kinds: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in kinds.items())


# At the start of a run of the characters of both, not at each plus or hyphen in it.
_COLOUR = r"(?:(?<=\x1b\[)|(?<=001b\[)|(?<=x1b\[)|(?<=\d;))\d{1,3}[A-Za-z]"  # what is behind it begins a word
_STRICT_START = rf"(?:(?<![\w+\\%-])(?!{_COLOUR})|{_AFTER_ESCAPE})"
_STRICT_ALTERNATIVE = rf"{_STRICT_START}(?:{_alternate(_STRICT)})"
_NAMED_KEYS = f"{_KEY_START}(?:{_alternate({name: _KEYS[name] for name in ('jwt', 'key')})})"


@cache
def heads(*, is_strict: bool) -> re.Pattern[str]:
    """The beginnings of all secrets in a text."""
    keys, words = f"{_KEY_START}(?:{_alternate(_KEYS)})", f"{_START}(?:{_alternate(_WORDS)})"
    strict = (_STRICT_ALTERNATIVE,) if is_strict else ()
    return re.compile("|".join((_alternate(_ADDRESSES), keys, words, *strict, _alternate(_OTHERS))), re.IGNORECASE)


@cache
def secrets_in_names(*, is_strict: bool) -> re.Pattern[str]:
    """What is a secret in the name of something as well."""
    return re.compile(f"{_NAMED_KEYS}|{_STRICT_ALTERNATIVE}" if is_strict else _NAMED_KEYS, re.IGNORECASE)


QUOTE = re.compile(_QUOTE, re.IGNORECASE)
# The rest of a text in quotes, by the quote; of what is escaped once more the end is looked for.
INSIDE = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+\\?', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+\\?", re.DOTALL),
}
UNQUOTED = re.compile(r"[^\s&;\"'<>#\\]*")
_ENDS = rf"{_PERCENT}(?:2[36]|3B)"
UNQUOTED_ENCODED = re.compile(rf"(?:(?!{_ENDS})[^\s&;\"'<>#\\])*", re.IGNORECASE)
# A value that is a secret if it looks generated: up to the end of the first of its parts, and of a few. Another such
# name may begin in each part, and so is no character read more than a few times.
_EQUALS = rf"(?:[:=]|{_PERCENT}3[AD])"
_GENERATED_PART = rf"(?:(?!{_ENDS}|{_EQUALS})[^\s,&;\"'<>#\\])*+"
GENERATED = (
    re.compile(_GENERATED_PART, re.IGNORECASE),
    re.compile(rf"{_GENERATED_PART}(?:{_EQUALS}++{_GENERATED_PART}){{0,4}}+", re.IGNORECASE),
)
GENERATED_WHOLE = re.compile(rf"(?:(?!{_ENDS})[\w.~+/=%:-])*+", re.IGNORECASE | re.ASCII)
PLAIN_MEMBER = re.compile(r"[^\s,;&\"'<>\\\[\]{}%]*")
PART = re.compile(rf"[\s\S]*?(?={_BREAK}--|\Z)")
_QUOTED_COOKIE = r"(?<==)\"[^\"\r\n]*\"(?=\s{0,8}(?:;|[\r\n]|\Z))"
LINE = re.compile(rf"(?:[^\r\n\"'\\]|{_QUOTED_COOKIE})*")
COOKIE = re.compile(rf"(?:[^\r\n\"'\\;]|{_QUOTED_COOKIE})*")
COOKIE_NAME = re.compile(r"[^\s=;,]{1,256}=")
TEXT = re.compile(r"[^<]*")
WORD = re.compile(r"[^\s,;\"'\\]*")
SCHEME = re.compile(
    rf"(?:{'|'.join(SCHEMES)}|Digest|Negotiate|NTLM|AWS4-HMAC-SHA256)[ \t]+(?P<credentials>\S[\s\S]*)",
    re.IGNORECASE,
)
# Also with letters and digits that are percent-encoded without need.
SEGMENT = re.compile(rf"(?:[\w.~+=@-]|{_PERCENT}(?:3\d|[46][1-9A-F]|[57][\dA]))*", re.IGNORECASE)
SLASH = re.compile(_SLASH, re.IGNORECASE)
LOGIN = re.compile(r"[^\s\"'\\]{0,400}")
NUMBERS = re.compile(r"\d+:\d+\W*|\+.*|[^:]*://.*")  # -u 1000:1000, date -u +%H:%M
BETWEEN = re.compile(r"\s*,\s*|\s*%2C\s*", re.IGNORECASE)
QUOTED = re.compile(r"\"(?:[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"?|'(?:[^'\\]*+(?:\\.[^'\\]*+)*+)'?", re.DOTALL)


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match ends that begins at a place; that place if there is none."""
    match = pattern.match(text, at)
    return match.end() if match else at


# Candidates: the places at which secrets may begin, derived from the words of a text instead of every character.
# A word consists of the characters of names in forms, of keys and of web tokens.
_WORD = re.compile(r"[\w.\[\]-]{0,256}")
_ESCAPE_LENGTHS = (1, 2, 4, 6)  # characters behind the first of an escape, such as \n, %20, %2520
_SHORT, _CACHED = 64, 32_768  # characters of words whose answers are cached, and the number of these words
_HEADS = frozenset({*SCHEMES, "form-data", "-u", "--user", "--proxy-user"})
_PRIVATE = "-----begin"
# Keys, and what stands before credentials, also where other characters of a word come before.
_KEY_OR_SCHEME = re.compile(rf"(?={KEY_BEGINNING}|(?:{'|'.join(SCHEMES)})(?:\s|%20|\+)){_KEY_START}")
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
_MOST_QUOTE = 10  # characters of the longest quote

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
            for quote_end in (name, *(match.start() for match in values)):
                places.update(
                    at for at in range(max(quote_end - _MOST_QUOTE, 0), quote_end) if lowered[at] in "\"'\\%&"
                )
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
    yield from ((start, start) for start in starts if _KEY_OR_SCHEME.match(lowered, start))
    if "curl" in lowered:
        yield from ((match.start(), match.start()) for match in _OPTION.finditer(lowered))
    if "@" in text or ELLIPSIS in text:
        yield from ((match.end(), match.end()) for match in _USER.finditer(text))
    if "%40" in text:
        yield from ((match.end(), match.end()) for match in _ENCODED_USER.finditer(lowered))


def _list_spans(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The span of the word around a mark, if it may belong to a secret; also without the rest of an escape."""
    start, end = _start_before(_WORD, text, at, _MOST_WORD), match_end(_WORD, text, at)
    escaped = _ESCAPE_LENGTHS if text[start - 1 : start] in ("%", "\\") else ()
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
    is_escaped = text.rfind("&", max(start - _MOST_ENTRY - _MOST_QUOTE, 0), start) >= 0
    patterns = (_QUOTE_BEFORE, _ENTITY_BEFORE) if is_escaped else (_QUOTE_BEFORE,)
    starts = [_start_before(pattern, text, start, _MOST_ENTRY + _MOST_QUOTE) for pattern in patterns]
    return [quote for quote in starts if quote < start]


def _find_entry_name(text: str, lowered: str, start: int) -> int:
    """The position of `"name": "` before the name of an entry; 0 without it."""
    quotes = _list_quotes_before(text, start)
    positions = (lowered.rfind(key, max(at - _MOST_ENTRY, 0), at) for at in quotes for key in ("name", "key", "field"))
    return max([0, *positions])


def _start_before(pattern: re.Pattern[str], text: str, end: int, most: int) -> int:
    """Where a match begins of what stands before a place; the patterns are those of reversed characters."""
    return end - match_end(pattern, text[max(end - most, 0) : end][::-1], 0)
