"""Secrets in free text: addresses, headers, forms, JSON, keys, however they were escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from pytest_webeval.redaction import patterns
from pytest_webeval.redaction.candidates import candidates
from pytest_webeval.redaction.marks import is_generated, may_hold_secrets
from pytest_webeval.redaction.names import (
    AUTHORIZATION_HEADERS,
    COOKIE,
    COOKIE_HEADERS,
    FIELD,
    HEADER,
    MEMBER,
    PARAMETER,
    compact,
    is_generated_name,
)
from pytest_webeval.redaction.policy import DefaultScope
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.safety.text import ELLIPSIS

COOKIE_FLAGS = frozenset({"", "httponly", "secure", "partitioned"})  # attributes that have no value
# A comma that a cookie follows: dates have none of which an equals sign comes next.
_COMMA = re.compile(r",(?=\s{0,8}[^\s=;,]{1,256}=)")

Replace = Callable[[str, str], str]  # a cookie's name and value become another value


def replace_cookies(header: str, text: str, replace: Replace) -> str:
    """The text of such a header with other values; recordings join several of a response with line feeds."""
    is_setting = compact(header) == "setcookie"
    return "\n".join((_replace_set if is_setting else _replace_sent)(line, replace) for line in text.split("\n"))


def _replace_sent(line: str, replace: Replace) -> str:
    return ";".join(_replace_pair(pair, replace) for pair in line.split(";"))


def _replace_set(line: str, replace: Replace) -> str:
    """Each cookie of a line; some recorders join several with commas, which dates have in them as well."""
    return ",".join(_replace_set_cookie(cookie, replace) for cookie in _COMMA.split(line))


def _replace_set_cookie(cookie: str, replace: Replace) -> str:
    pair, semicolon, attributes = cookie.partition(";")
    return f"{_replace_pair(pair, replace)}{semicolon}{attributes}"


def _replace_pair(pair: str, replace: Replace) -> str:
    name, equals, value = pair.partition("=")
    if not equals:  # a cookie without a name
        name, value = "", pair
    inner = value.strip()
    if not inner:
        return pair
    before, _, after = value.partition(inner)
    quote = '"' if len(inner) > 1 and inner[0] == inner[-1] == '"' else ""
    secret = inner[1:-1] if quote else inner
    return f"{name}{equals}{before}{quote}{replace(name.strip(), secret)}{quote}{after}"


Span = tuple[int, int, str]  # start, end and replacement
_KINDS = {"part": FIELD, "attribute": FIELD, "swapped": FIELD, "member": FIELD, "pair": PARAMETER}
_KINDS |= {"entry": FIELD, "tuple": FIELD, "reversed": FIELD, "flag": MEMBER, "element": MEMBER}
_BEFORE_NAMES = ("reversed", "swapped")  # values that stand before their names
_UNNAMED_KINDS = {"key": "key", "jwt": "web token", "mail": "e-mail address", "opaque": "opaque token"}
_URL = "credentials of a URL"
_PATH, _LOGIN = "token in a path", "credentials of a command"
GENERATED = "authorization code"  # or a ticket, or whatever is a secret where it looks generated
_MOST_SEGMENTS = 3  # parts of a path behind a word such as `invite` that are searched for a token
_TRAILING_PUNCTUATION = ".,:!?)]}"  # ends a sentence or a list rather than a value that stands in it
_LONG = 200  # characters of a text in which marks are searched only once, with the candidates
ROUNDS = 4  # a replacement ends where its secret did, so that what followed without a blank is now seen as a word


class Heads(Struct, frozen=True):
    """What a pattern matches in a text: anywhere, or at candidates alone, which come in order."""

    pattern: re.Pattern[str]
    text: str
    candidates: Iterator[int] | None = None

    def next(self, at: int) -> re.Match[str] | None:
        """The first match that begins there or behind it."""
        if self.candidates is None:
            return self.pattern.search(self.text, at)
        for place in self.candidates:
            if place >= at and (match := self.pattern.match(self.text, place)):
                return match
        return None


class TextRedactor(Struct, frozen=True):
    """Redacts texts."""

    scope: DefaultScope
    replacements: Replacements

    def __call__(self, text: str) -> str:
        """The text with replacements for its secrets."""
        if not text or not self._is_searched(text):
            return text
        for _ in range(ROUNDS):
            before, text = text, self._replace_once(text)
            if before == text:
                break
        return text

    def has_no_secrets(self, text: str) -> bool:
        """Whether a text contains neither a secret nor the name of a secret."""
        return not text or not self._is_searched(text) or self._heads(text).next(0) is None

    def _is_searched(self, text: str) -> bool:
        return self.scope.is_strict or len(text) > _LONG or may_hold_secrets(text)

    def _replace_once(self, text: str) -> str:
        pieces: list[str] = []
        at = 0
        for start, end, replacement in self._spans(text):
            pieces += (text[at:start], replacement)
            at = end
        return "".join([*pieces, text[at:]]) if pieces else text

    def _spans(self, text: str) -> Iterator[Span]:
        """What is to be replaced, in order. A name whose value is not a secret does not hide the text behind it."""
        heads, at = self._heads(text), 0
        while (match := heads.next(at)) is not None:
            at, head = max(match.end(), at + 1), str(match.lastgroup)
            if head in _KINDS:
                kind = MEMBER if head == "pair" and match["colon"] else _KINDS[head]
                name = match[f"{head}_name"]
                is_whole = self.scope.covers(kind, name) or not is_generated_name(name)
                values = (_find_values if is_whole else _find_generated_values)(head, match, text)
                spans = self._list_named_spans(kind, name, values, text)
                yield from self._list_name_spans(match, head, text)
            else:
                spans = self._list_unnamed_spans(head, match, text)
            at = match.start() + 1 if head in _BEFORE_NAMES else at  # what may be in its value comes after it
            for span in spans:
                yield span
                at = max(at, span[1])

    def _heads(self, text: str) -> Heads:
        """Matches at every character where more names are secret than those that candidates are derived from."""
        if self.scope.is_strict:
            return Heads(patterns.heads(is_strict=True), text)
        starts = None if self.scope.allowed else candidates(text)
        return Heads(patterns.heads(is_strict=False), text, None if starts is None else iter(starts))

    def _list_name_spans(self, match: re.Match[str], head: str, text: str) -> Iterator[Span]:
        """Keys and tokens in a name itself: an untrusted file may have any member."""
        if head == "reversed":  # the name comes after its value, and is searched next
            return
        pattern = patterns.secrets_in_names(is_strict=self.scope.is_strict)
        for secret in pattern.finditer(text, *match.span(f"{head}_name")):
            yield *secret.span(), self.replacements.of(_UNNAMED_KINDS[str(secret.lastgroup)], "", secret.group())

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
                    yield start, end, self.replacements.of(_PATH, "", text[start:end])
        elif kind == "private":
            yield self._stripped_span(match, "private_body", "private key")
        elif kind == "scheme":
            yield self._stripped_span(match, "scheme_body", "bearer token")
        else:
            yield *match.span(), self.replacements.of(_UNNAMED_KINDS[kind], "", match.group())

    def _stripped_span(self, match: re.Match[str], group: str, kind: str) -> Span:
        body = match[group]
        start = match.start(group) + len(body) - len(body.lstrip())
        return start, start + len(body.strip()), self.replacements.of(kind, "", body.strip())

    def _redact_userinfo(self, text: str, kind: str = _URL) -> str:
        user, between, password = text.partition(
            next((separator for separator in (":", "%3A", "%3a") if separator in text), ":")
        )
        replaced = [self.replacements.of(kind, name, part) for name, part in (("user", user), ("password", password))]
        return between.join(replaced) if between else replaced[0]

    def _list_named_spans(self, kind: str, name: str, values: Iterator[tuple[int, int]], text: str) -> Iterator[Span]:
        if self.scope.covers(kind, name):
            for start, end in values:
                yield start, end, self.replace_value(kind, name, text[start:end])
        elif self.scope.allows(name):
            for start, end in values:
                self.replacements.allowed.add(text[start:end])
        elif self.scope.covers_generated(name):
            for start, end in values:
                if is_generated(text[start:end]):
                    yield start, end, self.replacements.of(GENERATED, name, text[start:end])

    def replace_value(self, kind: str, name: str, value: str) -> str:
        """The replacement of a secret value: cookies keep their names, authorization keeps its scheme."""
        plain = compact(name)
        if plain in COOKIE_HEADERS and "=" in value:
            return replace_cookies(name, value, self._redact_cookie)
        if plain in AUTHORIZATION_HEADERS and (match := patterns.SCHEME.fullmatch(value)):
            start = match.start("credentials")
            return value[:start] + self.replacements.of(kind, name, value[start:])
        return self.replacements.of(HEADER if plain in COOKIE_HEADERS else kind, name, value)

    def _redact_cookie(self, name: str, value: str) -> str:
        if self.scope.covers(COOKIE, name):
            return self.replacements.of(COOKIE, name, value)
        self.replacements.allowed.add(value)
        return value


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
        yield start, _match_end(patterns.PART, text, start)
    elif kind == "element":
        yield start, _match_end(patterns.TEXT, text, start)
    elif kind == "flag":
        yield _find_quoted(text, start) or _find_unquoted(patterns.WORD, text, start)
    elif kind == "reversed":
        yield match.span("reversed_value" if match["rv"] else "reversed_plain")
    elif kind == "swapped":
        yield match.span("swapped_value")
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
        yield _find_quoted(text, start) or (start, _match_end(patterns.PLAIN_MEMBER, text, start))


def _find_generated_values(kind: str, match: re.Match[str], text: str) -> Iterator[tuple[int, int]]:
    """The same where a value is a secret only if it looks generated: one that does not is not looked far for."""
    start = match.end()
    if kind not in ("pair", "part"):
        yield from _find_values(kind, match, text)
    else:
        yield _find_quoted(text, start) or _find_generated(text, start)


def _find_generated(text: str, start: int) -> tuple[int, int]:
    """The span of the whole of a value of which a few parts look generated, or of these parts."""
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
        at = _match_end(patterns.COOKIE, text, at)
        if "=" not in (pair := text[end:at]) and pair.strip("; \t").lower() not in COOKIE_FLAGS:
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
        span = quoted or (at, _match_end(patterns.PLAIN_MEMBER, text, at))
        if span[0] < span[1]:
            yield span
        at = _skip_closing_quote(text, *span) if quoted else span[1]
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
    inside = patterns.INSIDE.get(quote)
    end = _match_end(inside, text, start) if inside else _find_closing_quote(text, quote, start)
    return start, end - (end == len(text) and text.endswith(ELLIPSIS))


def _find_closing_quote(text: str, quote: str, at: int) -> int:
    """The position of the next quote with the same level of escaping."""
    end = text.find(quote, at)
    while end > 0 and text[end - 1] == "\\" and quote[0] == "\\":
        end = text.find(quote, end + 1)
    return len(text) if end < 0 else end


def _skip_closing_quote(text: str, start: int, end: int) -> int:
    """The place behind a closing quote, which is as long as the opening one."""
    closing = patterns.QUOTE.match(text, end)
    return closing.end() if closing else max(start, end)


def _find_unquoted(pattern: re.Pattern[str], text: str, at: int) -> tuple[int, int]:
    """The span of a value without quotes."""
    value = text[at : _match_end(pattern, text, at)]
    return at, at + len(value.rstrip(f"{_TRAILING_PUNCTUATION}{ELLIPSIS}"))


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
