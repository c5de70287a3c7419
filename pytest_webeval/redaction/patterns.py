"""How secrets look in free text. Each pattern takes time in proportion to the text, whoever wrote that."""

from __future__ import annotations

import re
from functools import cache

from pytest_webeval.redaction.marks import KEY_PATTERN, LINK_WORDS, SCHEMES
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
AFTER_ESCAPE = "|".join(f"(?<={ending})" for ending in (*_ESCAPES, *_COLOURS))
KEY_START = rf"(?:(?<![A-Za-z0-9])|{AFTER_ESCAPE})"
# Where a word begins: also behind an escape of a URL or of JSON, whose last character is a letter.
_START = r"(?:(?<![\w.\[\]\\%-])|(?<=%[0-9A-Fa-f]{2})(?!(?<=%25)[0-9A-Fa-f]{2})|(?<=%25[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
_BREAK = r"(?:\r?\n|\\{1,4}r\\{1,4}n|\\{1,4}n)"  # of lines, also as JSON escapes it
_QUOTE = r"(?:\\{0,8}[\"']|%(?:25){0,2}2[27]|&(?:quot|#3[49]);)"
_BLANK = r"(?:\s|%20|\+){0,8}"
_COLON = rf"{_BLANK}(?::|%(?:25){{0,2}}3A){_BLANK}"
_COMMA = rf"{_BLANK}(?:,|%(?:25){{0,2}}2C){_BLANK}"
_SLASH = r"(?:\\{0,4}/|%(?:25){0,2}2F)"
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
    rf"(?:(?P<equals>=(?![ \t>])|%(?:25){{0,2}}3D)|(?P<colon>[ \t]{{0,3}}(?:=>|[:=])[ \t]{{0,3}}{_NOT_OUR}(?=[^\s=])))",
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
    "member": rf"(?P<mq>{_QUOTE}){_NAME.format('mq', 'member')}(?P=mq){_BLANK}(?::|=|%(?:25){{0,2}}3A){_BLANK}",
}
_STRICT = {
    "mail": r"(?!redacted-)[\w.+-]{1,64}+(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}",
    "opaque": r"(?=[A-Za-z_+-]*+\d)(?=[\d_+-]*+[A-Za-z])[\w+-]{20,}+={0,2}",
}


def _alternate(kinds: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in kinds.items())


# At the start of a run of the characters of both, not at each plus or hyphen in it.
_STRICT_START = rf"(?:(?<![\w+\\%-])|{AFTER_ESCAPE})"
_STRICT_ALTERNATIVE = rf"{_STRICT_START}(?:{_alternate(_STRICT)})"
_NAMED_KEYS = f"{KEY_START}(?:{_alternate({name: _KEYS[name] for name in ('jwt', 'key')})})"


@cache
def heads(*, is_strict: bool) -> re.Pattern[str]:
    """The beginnings of all secrets in a text."""
    keys, words = f"{KEY_START}(?:{_alternate(_KEYS)})", f"{_START}(?:{_alternate(_WORDS)})"
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
UNQUOTED_ENCODED = re.compile(r"(?:(?!%(?:25){0,2}(?:2[36]|3B))[^\s&;\"'<>#\\])*", re.IGNORECASE)
# A value that is a secret if it looks generated: up to the end of the first of its parts, and of a few. Another such
# name may begin in each part, and so is no character read more than a few times.
_ENDS = r"%(?:25){0,2}(?:2[36]|3B)"
_EQUALS = r"(?:[:=]|%(?:25){0,2}3[AD])"
_GENERATED_PART = rf"(?:(?!{_ENDS}|{_EQUALS})[^\s,&;\"'<>#\\])*+"
GENERATED = (
    re.compile(_GENERATED_PART, re.IGNORECASE),
    re.compile(rf"{_GENERATED_PART}(?:{_EQUALS}++{_GENERATED_PART}){{0,4}}+", re.IGNORECASE),
)
GENERATED_WHOLE = re.compile(rf"(?:(?!{_ENDS})[\w.~+/=%:-])*+", re.IGNORECASE | re.ASCII)
PLAIN_MEMBER = re.compile(r"[^\s,;&\"'<>\\\[\]{}%]*")
PART = re.compile(rf"[\s\S]*?(?={_BREAK}--|\Z)")
LINE = re.compile(r"(?:[^\r\n\"'\\]|(?<==)\"[^\"\r\n]*\"(?=\s{0,8}(?:;|[\r\n]|\Z)))*")
COOKIE = re.compile(r"(?:[^\r\n\"'\\;]|(?<==)\"[^\"\r\n]*\"(?=\s{0,8}(?:;|[\r\n]|\Z)))*")
COOKIE_NAME = re.compile(r"[^\s=;,]{1,256}=")
TEXT = re.compile(r"[^<]*")
WORD = re.compile(r"[^\s,;\"'\\]*")
SCHEME = re.compile(
    rf"(?:{'|'.join(SCHEMES)}|Digest|Negotiate|NTLM|AWS4-HMAC-SHA256)[ \t]+(?P<credentials>\S[\s\S]*)",
    re.IGNORECASE,
)
# Also with letters and digits that are percent-encoded without need.
SEGMENT = re.compile(r"(?:[\w.~+=@-]|%(?:25){0,2}(?:3\d|[46][1-9A-F]|[57][\dA]))*", re.IGNORECASE)
SLASH = re.compile(_SLASH, re.IGNORECASE)
LOGIN = re.compile(r"[^\s\"'\\]{0,400}")
NUMBERS = re.compile(r"\d+:\d+\W*|\+.*|[^:]*://.*")  # -u 1000:1000, date -u +%H:%M
BETWEEN = re.compile(r"\s*,\s*|\s*%2C\s*", re.IGNORECASE)
QUOTED = re.compile(r"\"(?:[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"?|'(?:[^'\\]*+(?:\\.[^'\\]*+)*+)'?", re.DOTALL)


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a match ends that begins at a place; that place if there is none."""
    match = pattern.match(text, at)
    return match.end() if match else at
