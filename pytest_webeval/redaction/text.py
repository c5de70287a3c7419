"""Secrets in free text: addresses, headers, forms, JSON, keys, however they were escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_webeval.redaction.authorization_codes import AUTHORIZATION_CODE
from pytest_webeval.redaction.authorization_codes import is_authorization_code
from pytest_webeval.redaction.candidates import candidates
from pytest_webeval.redaction.names import AUTHORIZATION_HEADERS
from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import COOKIE_HEADERS
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import MEMBER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.redaction.names import compact
from pytest_webeval.redaction.names import is_code
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.policy import Scope
from pytest_webeval.redaction.replacements import Replacements

COOKIE_FLAGS = frozenset({"", "httponly", "secure", "partitioned"})  # attributes that have no value
# A comma that a cookie follows: dates have none of which an equals sign comes next.
_COMMA = re.compile(r",(?=\s{0,8}[^\s=;,]{1,256}=)")

Replace = Callable[[str, str], str]  # a cookie's name and value become another value


def cookies(header: str, text: str, replace: Replace) -> str:
    """The text of such a header with other values; recordings join several of a response with line feeds."""
    is_setting = compact(header) == "setcookie"
    return "\n".join((_set if is_setting else _sent)(line, replace) for line in text.split("\n"))


def _sent(line: str, replace: Replace) -> str:
    return ";".join(_pair(pair, replace) for pair in line.split(";"))


def _set(line: str, replace: Replace) -> str:
    """Each cookie of a line; some recorders join several with commas, which dates have in them as well."""
    return ",".join(_one_set(one, replace) for one in _COMMA.split(line))


def _one_set(one: str, replace: Replace) -> str:
    pair, semicolon, attributes = one.partition(";")
    return f"{_pair(pair, replace)}{semicolon}{attributes}"


def _pair(pair: str, replace: Replace) -> str:
    name, equals, value = pair.partition("=")
    if not equals:  # a cookie without a name
        name, value = "", pair
    inner = value.strip()
    if not inner:
        return pair
    before, _, after = value.partition(inner)
    quote = '"' if len(inner) > 1 and inner[0] == inner[-1] == '"' else ""
    kept = inner[1:-1] if quote else inner
    return f"{name}{equals}{before}{quote}{replace(name.strip(), kept)}{quote}{after}"


Span = tuple[int, int, str]  # from, to, and what stands there instead
_KINDS = {"part": FIELD, "attribute": FIELD, "member": FIELD, "pair": PARAMETER}
_KINDS |= {"entry": FIELD, "tuple": FIELD, "reversed": FIELD, "flag": MEMBER, "element": MEMBER}
_ALONE = {"key": "key", "jwt": "web token", "mail": "e-mail address", "opaque": "opaque word"}
_URL = "credentials of a URL"
_AFTERWARDS = ".,:!?)]}"  # ends a sentence or a list rather than a value that stands in it
_LONG = 200  # characters of a text in which marks are looked for only once, when candidates are
ROUNDS = 4  # a replacement ends where its secret did, so that what followed without a blank is now seen as a word
CUT = "…"  # where a message shows no more of a value


@dataclass(frozen=True, slots=True)
class Heads:
    """What a pattern matches in a text: anywhere, or at candidates alone, which come in order."""

    pattern: re.Pattern[str]
    text: str
    candidates: Iterator[int] | None = None

    def next(self, at: int) -> re.Match[str] | None:
        """The first match that begins there or behind it."""
        if self.candidates is None:
            return self.pattern.search(self.text, at)
        for place in self.candidates:
            if place >= at and (found := self.pattern.match(self.text, place)):
                return found
        return None


@dataclass(frozen=True, slots=True)
class TextRedactor:
    """Replaces what is secret in texts."""

    scope: Scope
    replacements: Replacements

    def __call__(self, text: str) -> str:
        """The text with replacements for its secrets."""
        if not text or not self._is_searched(text):
            return text
        for _ in range(ROUNDS):
            told, text = text, self._replaced(text)
            if told == text:
                break
        return text

    def has_none(self, text: str) -> bool:
        """Whether no secret is in a text, and nothing that names one."""
        return not text or not self._is_searched(text) or self._heads(text).next(0) is None

    def _is_searched(self, text: str) -> bool:
        return self.scope.is_strict or len(text) > _LONG or may_hold_secrets(text)

    def _replaced(self, text: str) -> str:
        pieces: list[str] = []
        at = 0
        for start, end, told in self._spans(text):
            pieces += (text[at:start], told)
            at = end
        return "".join([*pieces, text[at:]]) if pieces else text

    def _spans(self, text: str) -> Iterator[Span]:
        """What is to be replaced, in order. A name whose value is no secret does not hide what follows it."""
        heads, at = self._heads(text), 0
        while (found := heads.next(at)) is not None:
            at, head = max(found.end(), at + 1), str(found.lastgroup)
            if head in _KINDS:
                kind = MEMBER if head == "pair" and found["colon"] else _KINDS[head]
                spans = self._named(kind, found[f"{head}_name"], _values(head, found, text), text)
            else:
                spans = self._alone(head, found, text)
            at = found.start() + 1 if head == "reversed" else at  # what may be in its value comes after it
            for span in spans:
                yield span
                at = max(at, span[1])

    def _heads(self, text: str) -> Heads:
        """Looks at every character where more names count than those by which candidates are found."""
        from pytest_webeval.redaction import patterns  # compiled for the first text that needs it

        if self.scope.is_strict:
            return Heads(patterns.STRICT_PATTERN, text)
        found = None if self.scope.allowed else candidates(text)
        return Heads(patterns.DEFAULT_PATTERN, text, None if found is None else iter(found))

    def _alone(self, kind: str, found: re.Match[str], text: str) -> Iterator[Span]:
        if kind in ("userinfo", "encoded"):
            start, end = found.span(f"{kind}_body")
            yield start, end, self._userinfo(text[start:end])
        elif kind == "private":
            yield self._stripped(found, "private_body", "private key")
        elif kind == "scheme":
            yield self._stripped(found, "scheme_body", "bearer token")
        else:
            yield *found.span(), self.replacements.of(_ALONE[kind], "", found.group())

    def _stripped(self, found: re.Match[str], group: str, kind: str) -> Span:
        body = found[group]
        start = found.start(group) + len(body) - len(body.lstrip())
        return start, start + len(body.strip()), self.replacements.of(kind, "", body.strip())

    def _userinfo(self, text: str) -> str:
        user, between, password = text.partition(next((one for one in (":", "%3A", "%3a") if one in text), ":"))
        hidden = [self.replacements.of(_URL, name, one) for name, one in (("user", user), ("password", password))]
        return between.join(hidden) if between else hidden[0]

    def _named(self, kind: str, name: str, values: Iterator[tuple[int, int]], text: str) -> Iterator[Span]:
        if self.scope.covers(kind, name):
            for start, end in values:
                yield start, end, self.valued(kind, name, text[start:end])
        elif self.scope.allows(name):
            for start, end in values:
                self.replacements.spare(text[start:end])
        elif is_code(name):
            for start, end in values:
                if is_authorization_code(text, start, end):
                    yield start, end, self.replacements.of(AUTHORIZATION_CODE, name, text[start:end])

    def valued(self, kind: str, name: str, value: str) -> str:
        """What stands in place of a secret value: cookies keep their names, authorization keeps its scheme."""
        plain = compact(name)
        if plain in COOKIE_HEADERS and "=" in value:
            return cookies(name, value, self._cookie)
        if plain in AUTHORIZATION_HEADERS:
            from pytest_webeval.redaction.patterns import SCHEME  # as above

            if found := SCHEME.fullmatch(value):
                start = found.start("credentials")
                return value[:start] + self.replacements.of(kind, name, value[start:])
        return self.replacements.of(HEADER if plain in COOKIE_HEADERS else kind, name, value)

    def _cookie(self, name: str, value: str) -> str:
        if self.scope.covers(COOKIE, name):
            return self.replacements.of(COOKIE, name, value)
        self.replacements.spare(value)
        return value


def _values(kind: str, found: re.Match[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the values of a name stand in a text, without their quotes."""
    from pytest_webeval.redaction import patterns

    start = found.end()
    if kind == "part":
        yield start, _end(patterns.PART, text, start)
    elif kind == "element":
        yield start, _end(patterns.TEXT, text, start)
    elif kind == "flag":
        yield _quoted(text, start) or _bare(patterns.WORD, text, start)
    elif kind == "reversed":
        yield found.span("reversed_value" if found["rv"] else "reversed_plain")
    elif kind == "pair" and found["colon"]:
        yield _quoted(text, start) or _told(compact(found["pair_name"]), text, start)
    elif kind == "pair":
        bare = patterns.BARE if found["equals"] == "=" else patterns.BARE_ENCODED
        yield _quoted(text, start) or _bare(bare, text, start)
    elif text.startswith(("[", "%5B"), start):
        yield from _listed(text, start + (1 if text[start] == "[" else 3))
    else:
        yield _quoted(text, start) or (start, _end(patterns.PLAIN_MEMBER, text, start))


def _told(name: str, text: str, start: int) -> tuple[int, int]:
    """Where a value behind a colon stands: one word, but for those of headers that have several."""
    from pytest_webeval.redaction import patterns

    if name in AUTHORIZATION_HEADERS:
        return _bare(patterns.LINE, text, start)
    if name not in COOKIE_HEADERS or not patterns.COOKIE_NAME.match(text, start):
        return _bare(patterns.WORD, text, start)
    end = at = start
    while at <= len(text):
        at = _end(patterns.COOKIE, text, at)
        if "=" not in (pair := text[end:at]) and pair.strip("; \t").lower() not in COOKIE_FLAGS:
            break  # a sentence that goes on
        end = at
        if text[at : at + 1] != ";":
            break
        at += 1
    return start, start + len(text[start:end].rstrip(f"{_AFTERWARDS}{CUT}"))


def _listed(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The values of a list, as JSON and Python show it."""
    from pytest_webeval.redaction.patterns import BETWEEN
    from pytest_webeval.redaction.patterns import PLAIN_MEMBER

    while at < len(text):
        while at < len(text) and text[at].isspace():
            at += 1
        quoted = _quoted(text, at)
        span = quoted or (at, _end(PLAIN_MEMBER, text, at))
        if span[0] < span[1]:
            yield span
        at = _behind(text, *span) if quoted else span[1]
        between = BETWEEN.match(text, at)
        if between is None:
            return
        at = between.end()


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """Where a text in quotes stands, without them; one that was cut goes to the end."""
    from pytest_webeval.redaction.patterns import INSIDE
    from pytest_webeval.redaction.patterns import QUOTE

    opening = QUOTE.match(text, at)
    if opening is None:
        return None
    quote, start = opening.group(), opening.end()
    end = _end(INSIDE[quote], text, start) if quote in INSIDE else _closing(text, quote, start)
    return start, end - (end == len(text) and text.endswith(CUT))


def _closing(text: str, quote: str, at: int) -> int:
    """Where a quote that is escaped itself comes next, not escaped once more."""
    end = text.find(quote, at)
    while end > 0 and text[end - 1] == "\\" and quote[0] == "\\":
        end = text.find(quote, end + 1)
    return len(text) if end < 0 else end


def _behind(text: str, start: int, end: int) -> int:
    """The place behind a closing quote, which is as long as the opening one."""
    from pytest_webeval.redaction.patterns import QUOTE

    closing = QUOTE.match(text, end)
    return closing.end() if closing else max(start, end)


def _bare(pattern: re.Pattern[str], text: str, at: int) -> tuple[int, int]:
    """Where a value without quotes stands."""
    value = text[at : _end(pattern, text, at)]
    return at, at + len(value.rstrip(f"{_AFTERWARDS}{CUT}"))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
