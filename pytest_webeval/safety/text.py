"""Untrusted text in messages: sanitized, shortened and quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

Name = TypeVar("Name")

# Terminals and CI systems obey control characters; an agent's text must not reach them raw.
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
# What CI systems obey: `::error::` at the beginning of a line, `##[…]`, `##vso[…]` and `##teamcity[…]` anywhere in it.
_COMMAND = r"(?mi)^([^\S\n]*):(?=:)|#(?=#(?:vso|teamcity)?\[)"


def sanitize(text: str) -> str:
    """The text with control and direction characters spelled out, and with commands to CI systems made none."""
    if not text.isprintable():  # as most is, for which the pattern need not even be compiled
        text = re.sub(_CONTROLS, lambda match: f"\\u{ord(match.group()):04x}", text)
    return re.sub(_COMMAND, _escape_command, text) if "::" in text or "##" in text else text


def _escape_command(match: re.Match[str]) -> str:
    return "\\u0023" if match[1] is None else f"{match[1]}\\u003a"


ELLIPSIS = "…"
ELLIPSIS_WITH_LENGTH = "… ({:,} characters)"
LONGEST_WORD = 200  # characters
MORE = ", … and {} more"  # names than are shown


def truncate(text: str, limit: int, marker: str = ELLIPSIS, *, is_marker_extra: bool = False) -> str:
    """The text, or where it is longer than `limit` characters its beginning and a marker, together `limit` long.

    An extra marker follows `limit` characters of the text instead. `{}` in a marker stands for the text's own length.
    """
    if len(text) <= limit:
        return text
    return f"{text[: limit if is_marker_extra else limit - len(marker)]}{marker.format(len(text))}"


def truncate_words(text: str, limit: int) -> str:
    """The text, or the words of its beginning that fit into `limit` characters, and a marker with its length.

    For texts that are redacted afterwards: a part of a secret could not be recognized. A word of more than
    `LONGEST_WORD` characters is cut, for of such a secret the beginning is enough.
    """
    if len(text) <= limit:
        return text
    word = "" if text[limit].isspace() else text[max(limit - LONGEST_WORD, 0) : limit + 1].rsplit(maxsplit=1)[-1]
    is_short = 0 < len(word) <= min(LONGEST_WORD, limit)
    return truncate(text, limit + 1 - len(word) if is_short else limit, ELLIPSIS_WITH_LENGTH, is_marker_extra=True)


def to_line(text: str, limit: int) -> str:
    """The beginning of an untrusted text on one sanitized line of at most `limit` characters, without quotes."""
    return truncate(sanitize(" ".join(text[: 4 * limit].split())), limit)


_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
_ASCII_JSON = json.JSONEncoder(default=str)


def preview(value: object, limit: int, marker: str = ELLIPSIS, *, is_ascii: bool = False) -> str:
    """A value as JSON on one line of at most `limit` characters, in printable ASCII if required."""
    short = value[:limit] if isinstance(value, str) else value  # with its quotes longer than `limit` if it was cut
    try:
        text = (_ASCII_JSON if is_ascii else _JSON).encode(short)
    except (ValueError, RecursionError):
        text = repr(type(value))
    return truncate(text, limit, marker)


_SHORT_REPR = Repr()
_SHORT_REPR.maxstring = _SHORT_REPR.maxother = 80


def shorten_repr(raw: object, limit: int | None = 80) -> str:
    """An untrusted datum as Python writes it; without a limit, only its parts are shortened."""
    try:
        return _SHORT_REPR.repr(raw)[:limit]
    except ValueError:  # an int with more digits than Python agrees to print
        return f"a huge {type(raw).__name__}"


def escape_surrogates(tree: Any) -> Any:
    """The same JSON with lone surrogates escaped, which cannot be encoded."""
    if isinstance(tree, dict):
        return {escape_surrogates(key): escape_surrogates(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [escape_surrogates(value) for value in tree]
    if not isinstance(tree, str) or tree.isascii():
        return tree
    return tree.encode("utf-8", "backslashreplace").decode()


def name_first(names: Iterable[object], most: int, longest: int, count: int) -> str:
    """The first few of `count` names, each of at most `longest` characters, and how many more there are."""
    shown = [truncate(str(name), longest) for name in islice(names, most)]
    return ", ".join(shown) + (MORE.format(count - len(shown)) if count > len(shown) else "")


def list_first(names: Sequence[Name], most: int, show: Callable[[Name], str] = str, more: str = " and {} more") -> str:
    """The first few names, each as `show` writes it, and how many more there are."""
    rest = more.format(len(names) - most) if len(names) > most else ""
    return ", ".join(map(show, names[:most])) + rest


def pluralize(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: `1 candidate`, `2 candidates`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def format_fields(names: Sequence[str]) -> str:
    """Names of fields as a message has them: the fields 'intent', 'eval' and 'sites'."""
    *first, last = (f"'{name}'" for name in names)
    return f"the fields {', '.join(first)} and {last}" if first else f"the field {last}"


_MOST_UNKNOWN = 10  # in a message


def describe_unknown_keys(names: Iterable[str], allowed: Sequence[str], where: str, *, noun: str = "key") -> str | None:
    """What is wrong with names that are not allowed, with the nearest allowed ones; None if all are allowed."""
    unknown = [name for name in names if name not in allowed]
    if not unknown:
        return None
    from difflib import get_close_matches  # most definitions have no unknown key

    nearest = dict.fromkeys(
        match for name in unknown[:_MOST_UNKNOWN] for match in get_close_matches(name[:80], allowed, 1)
    )
    hint = f"did you mean {', '.join(map(_quote_name, nearest))}? " if nearest else ""
    plural = "" if len(unknown) == 1 else "s"
    listed = list_first(unknown, _MOST_UNKNOWN, _quote_name)
    return f"unknown {noun}{plural} {listed} @ {where}; {hint}known: {', '.join(allowed)}"


def _quote_name(name: str) -> str:
    return f"{name!r:.80}"
