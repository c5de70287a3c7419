"""URLs as data: an answer such as the address to clone a repository from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from urllib.parse import parse_qsl, unquote, urlparse, urlunparse

from pytest_webeval.errors import EvaluationError, ValueParseError
from pytest_webeval.safety.regex import InvalidPattern, PatternTooBig, match
from pytest_webeval.values.base import ParseContext, Value, check_length, looks_like_pattern, parse_error


class Location(NamedTuple):
    """Where a URL leads: `base` is all but its query; of each parameter the first value in order, in lower case."""

    base: str
    query: tuple[tuple[str, str], ...] = ()
    is_pattern: bool = False

    def accepts(self, location: Location) -> bool:
        """Whether this is a pattern that the base of the other location fits."""
        return self.is_pattern and _accepts(self.base, location.base)


@dataclass(frozen=True, slots=True)
class UrlValue(Value):
    """A URL in the normal form of spec §5.14."""

    type_name: ClassVar[str] = "url"
    tolerance: ClassVar[str] = (
        "case, a slash at the end, order of parameters; an expected `^...$` is a regular expression"
    )

    @classmethod
    def canonical(cls, raw: object, context: ParseContext) -> Location:
        """Base and parameters, or the pattern that the text is."""
        from pytest_webeval.values.url_normalization import (
            is_ssh,  # answers are seldom URLs
            normalize_url,
            query_of,
        )

        if not isinstance(raw, str) or not raw.strip():
            raise parse_error(raw, "is not a URL; write it in full")
        check_length(raw, "URL")
        text = raw.strip()
        if context.patterns and looks_like_pattern(text):
            return Location(text, is_pattern=True)
        text = text.rstrip("/")
        try:
            plain = normalize_url(text)
        except EvaluationError as error:
            raise ValueParseError(str(error)) from error
        url = context.derender(plain)
        if is_ssh(text):
            return Location(url)
        if context.known_sites and url == plain:
            raise parse_error(raw, "is not a URL of the task's sites; copy the URL from the site")
        return _split_url(url, query_of(raw.strip()) if context.single_decoding else None, context.derender)

    @staticmethod
    def is_same(expected: Location, actual: Location) -> bool:
        """Whether both lead to the same place. Raises `EvaluationError` for a broken pattern."""
        if expected.is_pattern or actual.is_pattern:
            same_base = expected.accepts(actual) or actual.accepts(expected)
        else:
            same_base = expected.base.lower().rstrip("/") == actual.base.lower().rstrip("/")
        return same_base and _same_query(dict(expected.query), dict(actual.query))

    def to_json(self) -> str:
        """The URL with its parameters as text."""
        location: Location = self.alternatives[0]
        query = "&".join(f"{name}={value}" for name, value in location.query)
        return f"{location.base}?{query}" if query else location.base


def _split_url(url: str, sent: str | None, derender: Callable[[str], str]) -> Location:
    """The parts of a normalized URL. `sent` is its query as it was written, which is decoded once (Q60)."""
    parts = urlparse(url)  # which, unlike urlsplit, drops a semicolon with nothing behind it
    if sent is None:
        pairs = [(unquote(name), unquote(value)) for name, value in parse_qsl(parts.query, keep_blank_values=True)]
    else:
        pairs = [(name, derender(value)) for name, value in parse_qsl(sent, keep_blank_values=True)]
    in_order = sorted((name, value.lower().strip()) for name, value in pairs)
    return Location(urlunparse(parts._replace(query="")), tuple(dict(reversed(in_order)).items()))


def _same_query(expected: dict[str, str], actual: dict[str, str]) -> bool:
    """Whether the parameters agree; a missing one is an empty one."""
    pairs = [(expected.get(name, ""), actual.get(name, "")) for name in sorted({*expected, *actual})]
    same = [_accepts(*pair) if looks_like_pattern(pair[0]) else pair[0] == pair[1] for pair in pairs]  # all are read
    return all(same)


def _accepts(pattern: str, text: str) -> bool:
    try:
        return match(pattern, text)
    except (InvalidPattern, PatternTooBig) as error:
        raise EvaluationError(f"invalid regular expression {pattern!r}; fix the URL") from error
