"""Secrets in free text: addresses, headers, forms, JSON, keys, however they were escaped."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from msgspec import Struct, field

from pytest_webeval.redaction import patterns
from pytest_webeval.redaction.names import (
    AUTHORIZATION_HEADERS,
    COOKIE,
    COOKIE_HEADERS,
    FIELD,
    HEADER,
    MEMBER,
    PARAMETER,
    compact,
    is_generated,
    is_generated_name,
    is_secret,
    may_hold_secrets,
)
from pytest_webeval.redaction.patterns import candidates, match_end
from pytest_webeval.redaction.policy import Scope
from pytest_webeval.safety.text import ELLIPSIS

LONG_ENOUGH = 6  # to be replaced everywhere; anything shorter is a part of other words
_OPAQUE = 8
_REPLACEMENT = re.compile(r"redacted-(?:[0-9a-f]{8}-)?\d+")
_WORDS = frozenset({"true", "false", "null", "none", "undefined"})

Span = tuple[int, int, str]  # start, end and replacement


def splice(text: str, spans: Iterable[Span]) -> str:
    """The text with other texts in some places, which come in order."""
    pieces: list[str] = []
    at = 0
    for start, end, replacement in spans:
        pieces += (text[at:start], replacement)
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text


class Replacements(Struct, frozen=True):
    """Makes replacements, equal ones for equal secrets, and keeps what it replaced.

    `secrets` are replaced everywhere, `allowed` are values that stay readable here. `by_secret` has all replacements.
    """

    salt: bytes | None
    secrets: dict[str, str] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    by_secret: dict[str, str] = field(default_factory=dict)
    listener: Callable[[str, str, str], None] | None = None  # an audit listens: kind, name, replacement

    def of(self, kind: str, name: str, secret: str) -> str:
        """The replacement of a secret. A value that is not one, or was replaced before, stays."""
        if not secret or secret.lower() in _WORDS or _REPLACEMENT.fullmatch(secret):
            return secret
        if secret not in self.by_secret:
            self.by_secret[secret] = replacement_for(secret, self.salt)
        replacement = self.by_secret[secret]
        if self.listener is not None:
            self.listener(kind, name, replacement)
        if _is_unambiguous(name, secret):
            self.secrets[secret] = replacement
        return replacement


def replacement_for(secret: str, salt: bytes | None) -> str:
    """The replacement of a secret; without a salt only its length, against which passwords cannot be tried.

    Secrets that are equal but for case have equal ones: comparisons make small letters of what they compare.
    """
    if salt is None:
        return f"redacted-{len(secret)}"
    digest = hmac.new(salt, secret.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:8]
    return f"redacted-{digest}-{len(secret)}"


def _is_unambiguous(name: str, secret: str) -> bool:
    """Whether a secret is unambiguous enough to be replaced everywhere.

    What is one only by its place, as in a cookie, may be a plain word, or an address.
    """
    if name and not is_secret(name):
        return len(secret) >= _OPAQUE and "://" not in secret and any(map(str.isdigit, secret))
    return len(secret) >= LONG_ENOUGH


_COOKIE_FLAGS = frozenset({"", "httponly", "secure", "partitioned"})  # attributes that have no value
# A comma that a cookie follows: dates have none of which an equals sign comes next.
_COMMA = re.compile(r",(?=\s{0,8}[^\s=;,]{1,256}=)")

_KINDS = {"part": FIELD, "attribute": FIELD, "swapped": FIELD, "member": FIELD, "pair": PARAMETER}
_KINDS |= {"entry": FIELD, "tuple": FIELD, "reversed": FIELD, "flag": MEMBER, "element": MEMBER}
_BEFORE_NAMES = ("reversed", "swapped")  # values that stand before their names
_UNNAMED_KINDS = {"key": "key", "jwt": "web token", "mail": "e-mail address", "opaque": "opaque token"}
_UNNAMED_KINDS |= {"private": "private key", "scheme": "bearer token", "path": "token in a path"}
_URL, _LOGIN = "credentials of a URL", "credentials of a command"
GENERATED = "authorization code"  # or a ticket, or whatever is a secret where it looks generated
_MOST_SEGMENTS = 3  # parts of a path behind a word such as `invite` that are searched for a token
_TRAILING_PUNCTUATION = ".,:!?)]}"  # ends a sentence or a list rather than a value that stands in it
_LONG = 200  # characters of a text in which marks are searched only once, with the candidates
_ROUNDS = 4  # a replacement ends where its secret did, so that what followed without a blank is now seen as a word


class TextRedactor(Struct, frozen=True):
    """Redacts texts."""

    scope: Scope
    replacements: Replacements

    def __call__(self, text: str) -> str:
        """The text with replacements for its secrets."""
        if not text or not self._is_searched(text):
            return text
        for _ in range(_ROUNDS):
            before, text = text, splice(text, self._spans(text))
            if before == text:
                break
        return text

    def has_no_secrets(self, text: str) -> bool:
        """Whether a text contains neither a secret nor the name of a secret."""
        return not text or not self._is_searched(text) or self._finder(text, patterns.heads)(0) is None

    def _is_searched(self, text: str) -> bool:
        return self.scope.is_strict or len(text) > _LONG or may_hold_secrets(text)

    def _spans(self, text: str) -> Iterator[Span]:
        """What is to be replaced, in order. A name whose value is not a secret does not hide the text behind it."""
        find, at = self._finder(text, patterns.heads), 0
        while match := find(at):
            at, head = max(match.end(), at + 1), str(match.lastgroup)
            if head in _KINDS:
                kind = MEMBER if head == "pair" and match["colon"] else _KINDS[head]
                name = match[f"{head}_name"]
                is_whole = self.scope.covers(kind, name) or not is_generated_name(name) or head not in ("pair", "part")
                values = _find_values(head, match, text) if is_whole else [_find_generated(text, match.end())]
                spans = self._list_named_spans(kind, name, values, text)
                yield from self._list_name_spans(match, head, text)
            else:
                spans = self._list_unnamed_spans(head, match, text)
            at = match.start() + 1 if head in _BEFORE_NAMES else at  # what may be in its value comes after it
            for span in spans:
                yield span
                at = max(at, span[1])

    def _finder(self, text: str, build: Callable[..., re.Pattern[str]]) -> Callable[[int], re.Match[str] | None]:
        """Finds the next match from a place on, and those behind it: at candidates, unless more names are secret."""
        pattern = build(is_strict=self.scope.is_strict)
        places = None if self.scope.is_strict or self.scope.allowed else candidates(text)
        if places is None:
            return partial(pattern.search, text)
        rest = iter(places)
        return lambda at: next(filter(None, (pattern.match(text, place) for place in rest if place >= at)), None)

    def _list_name_spans(self, match: re.Match[str], head: str, text: str) -> Iterator[Span]:
        """Keys and tokens in a name itself: an untrusted file may have any member."""
        if head == "reversed":  # the name comes after its value, and is searched next
            return
        (start, end), at = match.span(f"{head}_name"), 0
        find = self._finder(text[start:end], patterns.secrets_in_names)
        while secret := find(at):
            at = secret.end()
            replacement = self.replacements.of(_UNNAMED_KINDS[str(secret.lastgroup)], "", secret.group())
            yield start + secret.start(), start + at, replacement

    def _list_unnamed_spans(self, kind: str, match: re.Match[str], text: str) -> Iterator[Span]:
        if kind in ("userinfo", "cut", "encoded"):
            start, end = match.span(f"{kind}_body")
            yield start, end, self._redact_userinfo(text[start:end])
        elif kind == "login":
            start, end = _find_quoted(text, match.end()) or _find_unquoted(patterns.LOGIN, text, match.end())
            if ":" in text[start:end] and not patterns.NUMBERS.fullmatch(text, start, end):
                yield start, end, self._redact_userinfo(text[start:end], _LOGIN)
        elif kind == "path":
            for start, end in _list_segments(text, match.end()):
                if is_generated(text[start:end]):
                    yield start, end, self.replacements.of(_UNNAMED_KINDS[kind], "", text[start:end])
        else:
            start, end = match.span(f"{kind}_body" if kind in ("private", "scheme") else 0)
            secret = text[start:end].strip()
            start = text.index(secret, start)
            yield start, start + len(secret), self.replacements.of(_UNNAMED_KINDS[kind], "", secret)

    def _redact_userinfo(self, text: str, kind: str = _URL) -> str:
        user, between, password = text.partition(next(filter(text.__contains__, (":", "%3A", "%3a")), ":"))
        replaced = [self.replacements.of(kind, name, part) for name, part in (("user", user), ("password", password))]
        return between.join(replaced) if between else replaced[0]

    def _list_named_spans(self, kind: str, name: str, values: Iterable[tuple[int, int]], text: str) -> Iterator[Span]:
        is_secret, is_allowed = self.scope.covers(kind, name), self.scope.allows(name)
        if not (is_secret or is_allowed or self.scope.covers_generated(name)):
            return
        for start, end in values:
            value = text[start:end]
            if is_secret:
                yield start, end, self.replace_value(kind, name, value)
            elif is_allowed:
                self.replacements.allowed.add(value)
            elif is_generated(value):
                yield start, end, self.replacements.of(GENERATED, name, value)

    def replace_value(self, kind: str, name: str, value: str) -> str:
        """The replacement of a secret value: cookies keep their names, authorization keeps its scheme."""
        plain = compact(name)
        if plain in COOKIE_HEADERS and "=" in value:
            return self._redact_cookies(value, is_setting=plain == "setcookie")
        if plain in AUTHORIZATION_HEADERS and (match := patterns.SCHEME.fullmatch(value)):
            start = match.start("credentials")
            return value[:start] + self.replacements.of(kind, name, value[start:])
        return self.replacements.of(HEADER if plain in COOKIE_HEADERS else kind, name, value)

    def _redact_cookies(self, header: str, *, is_setting: bool) -> str:
        """A header with other cookies: recordings join several that were set with line feeds, and some with commas."""
        if not is_setting:
            return re.sub(r"[^;\n]+", self._redact_cookie, header)
        lines = map(_COMMA.split, header.split("\n"))
        return "\n".join(",".join(re.sub(r"\A[^;]+", self._redact_cookie, cookie) for cookie in line) for line in lines)

    def _redact_cookie(self, match: re.Match[str]) -> str:
        name, equals, value = match[0].partition("=") if "=" in match[0] else ("", "", match[0])
        inner = value.strip()
        if not inner:
            return match[0]
        before, _, after = value.partition(inner)
        quote = '"' if len(inner) > 1 and inner[0] == inner[-1] == '"' else ""
        secret = replacement = inner[1:-1] if quote else inner
        if self.scope.covers(COOKIE, name.strip()):
            replacement = self.replacements.of(COOKIE, name.strip(), secret)
        else:
            self.replacements.allowed.add(secret)
        return f"{name}{equals}{before}{quote}{replacement}{quote}{after}"


def _list_segments(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The spans of the next parts of a path."""
    for _ in range(_MOST_SEGMENTS):
        start, end = _find_unquoted(patterns.SEGMENT, text, at)
        yield start, end
        slash = patterns.SLASH.match(text, end)
        if slash is None:
            return
        at = slash.end()


def _find_values(kind: str, match: re.Match[str], text: str) -> Iterator[tuple[int, int]]:
    """The spans of the values of a name, without their quotes."""
    start = match.end()
    if kind == "part":
        yield start, match_end(patterns.PART, text, start)
    elif kind == "element":
        yield start, match_end(patterns.TEXT, text, start)
    elif kind == "flag":
        yield _find_quoted(text, start) or _find_unquoted(patterns.WORD, text, start)
    elif kind in _BEFORE_NAMES:
        yield match.span("reversed_plain" if kind == "reversed" and not match["rv"] else f"{kind}_value")
    elif kind == "pair" and match["colon"]:
        yield _find_quoted(text, start) or _find_colon_value(compact(match["pair_name"]), text, start)
    elif kind == "pair":
        pattern = patterns.UNQUOTED if match["equals"] == "=" else patterns.UNQUOTED_ENCODED
        yield _find_quoted(text, start) or _find_unquoted(pattern, text, start)
    elif text.startswith(("[", "%5B"), start):
        yield from _list_elements(text, start + (1 if text[start] == "[" else 3))
    elif kind == "tuple":
        yield _find_quoted(text, start) or _find_unquoted(patterns.PLAIN_MEMBER, text, start)
    else:
        yield _find_quoted(text, start) or (start, match_end(patterns.PLAIN_MEMBER, text, start))


def _find_generated(text: str, start: int) -> tuple[int, int]:
    """The span of a value that is a secret only if it looks generated: one that does not is not looked far for.

    It is that of the whole value if a few parts of it look generated, or of these parts.
    """
    if quoted := _find_quoted(text, start):
        return quoted
    for pattern in patterns.GENERATED:
        span = _find_unquoted(pattern, text, start)
        if is_generated(text[slice(*span)]):
            return _find_unquoted(patterns.GENERATED_WHOLE, text, start)
    return span


def _find_colon_value(name: str, text: str, start: int) -> tuple[int, int]:
    """The span of a value behind a colon: one word, except for headers with several."""
    if name in AUTHORIZATION_HEADERS:
        return _find_unquoted(patterns.LINE, text, start)
    if name not in COOKIE_HEADERS or not patterns.COOKIE_NAME.match(text, start):
        return _find_unquoted(patterns.WORD, text, start)
    end = at = start
    while at <= len(text):
        at = match_end(patterns.COOKIE, text, at)
        if "=" not in (pair := text[end:at]) and pair.strip("; \t").lower() not in _COOKIE_FLAGS:
            break  # a sentence that goes on
        end = at
        if text[at : at + 1] != ";":
            break
        at += 1
    return start, start + len(text[start:end].rstrip(f"{_TRAILING_PUNCTUATION}{ELLIPSIS}"))


def _list_elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The values of a list, as JSON and Python show it."""
    while at < len(text):
        while at < len(text) and text[at].isspace():
            at += 1
        quoted = _find_quoted(text, at)
        span = quoted or (at, match_end(patterns.PLAIN_MEMBER, text, at))
        if span[0] < span[1]:
            yield span
        closing = patterns.QUOTE.match(text, span[1]) if quoted else None
        at = closing.end() if closing else span[1]
        between = patterns.BETWEEN.match(text, at)
        if between is None:
            return
        at = between.end()


def _find_quoted(text: str, at: int) -> tuple[int, int] | None:
    """The span of a quoted text without its quotes; a cut one extends to the end."""
    opening = patterns.QUOTE.match(text, at)
    if opening is None:
        return None
    quote, start = opening.group(), opening.end()
    if inside := patterns.INSIDE.get(quote):
        end = match_end(inside, text, start)
    else:  # the next quote with the same level of escaping
        end = text.find(quote, start)
        while end > 0 and text[end - 1] == "\\" and quote[0] == "\\":
            end = text.find(quote, end + 1)
        end = len(text) if end < 0 else end
    return start, end - (end == len(text) and text.endswith(ELLIPSIS))


def _find_unquoted(pattern: re.Pattern[str], text: str, at: int) -> tuple[int, int]:
    """The span of a value without quotes."""
    value = text[at : match_end(pattern, text, at)]
    return at, at + len(value.rstrip(f"{_TRAILING_PUNCTUATION}{ELLIPSIS}"))
