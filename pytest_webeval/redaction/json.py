"""Secrets in JSON: members with secret names, headers and cookies, and those in texts; and whether it has any."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from pytest_webeval.redaction.names import (
    ALL_MARKS,
    COOKIE,
    FIELD,
    HEADER,
    MEMBER,
    PARAMETER,
    cache_short,
    compact,
    is_generated,
    is_generated_name,
    may_hold_secrets,
)
from pytest_webeval.redaction.policy import Scope
from pytest_webeval.redaction.text import GENERATED, Replacements, TextRedactor

# What the members of these are, in results and in recordings.
_CONTAINERS = {
    "cookies": COOKIE,
    "headers": HEADER,
    "postdata": FIELD,
    "params": FIELD,
    "queryparams": PARAMETER,
    "querystring": PARAMETER,
    "responsecontent": FIELD,
    "responsecookies": COOKIE,
}
_NAME_KEYS = ("name", "key", "field", "id", "label")  # of an entry, in order
_TOO_DEEP = "redacted: nested too deeply to search"
_LONGEST_NAME, _LONGEST_PAIR = 200, 4_000  # characters of what is cached
_MOST_NAMES, _MOST_PAIRS = 16_384, 4_096  # that are cached: a recording may contain any number of them


class _NameFacts(NamedTuple):
    """Facts about a value that follow from its name. A plain name has no secret in itself."""

    inner: str | None
    is_secret: bool
    is_generated: bool
    is_allowed: bool
    is_plain: bool


@lru_cache(maxsize=_MOST_NAMES)
def _find_facts(scope: Scope, kind: str, name: str) -> _NameFacts:
    return _NameFacts(
        inner=_CONTAINERS.get(compact(name)),
        is_secret=scope.covers(kind, name),
        is_generated=scope.covers_generated(name),
        is_allowed=scope.allows(name),
        is_plain=TextRedactor(scope, Replacements(None)).has_no_secrets(name),
    )


class JsonRedactor(Struct, frozen=True, dict=True):
    """Redacts JSON without changing its shape.

    `marked` are all texts in the JSON that may be secrets or name some, as `list_marked` has them; None if unknown.
    """

    texts: TextRedactor
    marked: Collection[bytes] | None = None

    @cached_property
    def _pairs(self) -> dict[tuple[str, str, str], dict[str, Any]]:
        return {}

    def __call__(self, tree: Any) -> Any:
        """The same JSON with replacements."""
        try:
            return self._walk(tree, MEMBER)
        except RecursionError:
            return _TOO_DEEP

    def _walk(self, tree: Any, kind: str) -> Any:
        if isinstance(tree, str):
            return self.texts(tree)
        if isinstance(tree, list):
            return [
                list(self._redact_entry(child[0], child[1], kind))
                if isinstance(child, list) and len(child) == 2 and isinstance(child[0], str)  # as forms list them, too
                else self._walk(child, kind)
                for child in tree
            ]
        return self._walk_object(tree, kind) if isinstance(tree, dict) else tree

    def _walk_object(self, tree: dict[str, Any], kind: str) -> dict[str, Any]:
        name_key = self._find_name_key(tree, kind) if "value" in tree else None
        if name_key is None:
            return dict(self._redact_member(name, value, kind) for name, value in tree.items())
        if len(tree) == 2 and name_key == "name" and isinstance(tree["value"], str):
            return self._redact_pair(tree, kind)
        name, value = self._redact_entry(tree[name_key], tree["value"], kind)
        entry = {name_key: name, "value": value}
        others = {name: value for name, value in tree.items() if name not in entry}
        return (entry | self._walk_object(others, MEMBER)) if others else entry

    def _find_name_key(self, tree: dict[str, Any], kind: str) -> str | None:
        """The key of the name of an entry, a header for one, and of a secret name if it has several; or None."""
        keys = [key for key in _NAME_KEYS if isinstance(tree.get(key), str)]
        if len(keys) < 2:
            return keys[0] if keys else None
        return next((key for key in keys if self.texts.scope.covers(kind, tree[key])), keys[0])

    def _redact_pair(self, pair: dict[str, Any], kind: str) -> dict[str, Any]:
        """A header, a cookie or a field, which most requests of a recording have in common."""
        name, value = pair["name"], pair["value"]
        redacted = self._pairs.get((kind, name, value))
        if redacted is None:
            shown, safe = self._redact_entry(name, value, kind)
            redacted = {"name": shown, "value": safe}
            if self.texts.replacements.listener is None and len(name) + len(value) <= _LONGEST_PAIR:
                if len(self._pairs) >= _MOST_PAIRS:
                    self._pairs.clear()
                self._pairs[kind, name, value] = redacted
        return redacted

    def _redact_member(self, name: str, value: Any, kind: str) -> tuple[str, Any]:
        """The name and the value of a member, which may be a container of others: headers, cookies, fields."""
        facts = self._facts(name, kind)
        if facts.inner is None or not isinstance(value, dict | list):
            return self._redact_entry(name, value, kind)
        shown = name if facts.is_plain else self.texts(name)
        if self.marked is not None and kind == MEMBER and facts.inner != COOKIE:
            encoded = msgspec.json.encode(value)  # an outermost container, such as a body
            if not any(token in encoded for token in self.marked):
                return shown, value
        return shown, self._walk(value, facts.inner)

    def _redact_entry(self, name: str, value: Any, kind: str) -> tuple[str, Any]:
        """A name and its value; `kind` says whether the name is that of a header, a cookie, a field."""
        facts = self._facts(name, kind)
        shown = name if facts.is_plain else self.texts(name)
        if facts.is_secret:
            return shown, self.hide(name, value, kind)
        if facts.is_generated:
            return shown, self._hide_generated(name, value, kind)
        if facts.is_allowed:
            self._allow(value)
        return shown, self._walk(value, kind)

    def _facts(self, name: str, kind: str) -> _NameFacts:
        find = _find_facts if len(name) <= _LONGEST_NAME else _find_facts.__wrapped__
        return find(self.texts.scope, kind, name)

    def hide(self, name: str, value: Any, kind: str) -> Any:
        """A secret value: each text and number in it is replaced, and the shape stays."""
        if isinstance(value, dict):
            return {self.texts(inner): self.hide(name, member, kind) for inner, member in value.items()}
        if isinstance(value, list):
            return [self.hide(name, element, kind) for element in value]
        if value is None or isinstance(value, bool):
            return value
        return self.texts.replace_value(kind, name, str(value))

    def _hide_generated(self, name: str, value: Any, kind: str) -> Any:
        if isinstance(value, list):
            return [self._hide_generated(name, element, kind) for element in value]
        is_secret = isinstance(value, str) and is_generated(value)
        return self.texts.replacements.of(GENERATED, name, value) if is_secret else self._walk(value, kind)

    def _allow(self, value: Any) -> None:
        if isinstance(value, dict | list):
            for member in value.values() if isinstance(value, dict) else value:
                self._allow(member)
        elif value is not None:
            self.texts.replacements.allowed.add(str(value))


# Tokens: the texts and names of some JSON, each looked at once, since most results and pages hold no secret at all.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
# As most events have it. Within a text, a quote stands behind a backslash.
_NO_COOKIES = re.compile(rb'(?<=[{,])"response_cookies":\[\]')
_CACHED = 16_384  # texts: names, paths and messages of ours recur often
_SPACES = re.compile(r"[\W_]+")
_FEW = 200  # texts, of which each is looked up in the cache
_BETWEEN = bytes(code for code in range(128) if not chr(code).isalnum())
_BETWEEN_OF_TOKENS = _BETWEEN.replace(b"\n", b"")  # which have no line break in them
# What `may_hold_secrets` looks for: marks, and a part of each of its other signs.
_ALL_MARKS = (*(mark.encode() for mark in ALL_MARKS), b"@", b"%40")
_MOST_MARKED = 50  # each of which is looked for in each part; with more, all of the JSON is gone through instead
_SHORT = 200  # characters of a text that is searched to say whether it is worth searching


def list_tokens(tree: Any) -> set[bytes] | None:
    """Each text and name once, as JSON spells it: its token. None where the value cannot be encoded."""
    try:
        return find_tokens(msgspec.json.encode(tree))
    except (TypeError, ValueError, RecursionError):  # values of a user's evaluator, or half a surrogate pair
        return None


def find_tokens(encoded: bytes) -> set[bytes]:
    """The same for JSON that is encoded."""
    return set(_TOKEN.findall(_NO_COOKIES.sub(b"", encoded)))


def decode_token(token: bytes) -> str:
    """The text itself."""
    return str(json.loads(token)) if b"\\" in token else token[1:-1].decode()


def may_hold(tokens: Collection[bytes]) -> bool:
    """Whether it is worth looking for secrets in the JSON of a result: in texts, by names, by paths in messages."""
    candidates = _list_candidates(tokens)
    return any(map(_may_be_secret, candidates)) or (
        any(map(_is_generated_name, candidates)) and any(is_generated(decode_token(token)) for token in tokens)
    )


def list_marked(tree: Any) -> frozenset[bytes] | None:
    """The tokens of which `JsonRedactor` needs to know in the default mode; None where they are many, or unknown."""
    tokens = list_tokens(tree)
    if tokens is None:
        return None
    marked = frozenset(filter(_is_marked, _list_candidates(tokens)))
    return marked if len(marked) <= _MOST_MARKED else None


def is_plain_text(text: str) -> bool:
    """Whether neither a text nor any part of it as a name has the mark of a secret, however it is spaced."""
    return not (may_hold_secrets(text) or may_hold_secrets(_drop_spaces(text)) or is_generated_name(text))


def _list_candidates(tokens: Collection[bytes]) -> Collection[bytes]:
    """The texts that may have the mark of a secret in them; many short ones are searched all at once."""
    if len(tokens) <= _FEW:
        return tokens
    everything = b"\n".join(token for token in tokens if len(token) <= _SHORT).lower()
    words = everything.translate(None, _BETWEEN_OF_TOKENS)
    marks = [mark for mark in _ALL_MARKS if mark in everything or (mark.isalnum() and mark in words)]
    return [token for token in tokens if _is_candidate(token, marks)]


def _is_candidate(token: bytes, marks: Collection[bytes]) -> bool:
    if len(token) > _SHORT or not token.isascii() or b"\\" in token or b"%5" in token:
        return True
    lowered = token.lower()
    words = lowered.translate(None, _BETWEEN)
    return any(mark in lowered or mark in words for mark in marks)


@cache_short(_SHORT, _CACHED)
def _is_generated_name(token: bytes) -> bool:
    return len(token) <= _SHORT and is_generated_name(decode_token(token))


@cache_short(_SHORT, _CACHED)
def _may_be_secret(token: bytes) -> bool:
    """Whether a text may hold a secret, or be the name of one, however it is spaced; no address is such a name."""
    text = decode_token(token)
    return may_hold_secrets(text) or ("://" not in text and may_hold_secrets(_drop_spaces(text)))


def _drop_spaces(text: str) -> str:
    """The letters and digits of a text, as `compact` has them."""
    text = text.replace("%5B", "").replace("%5D", "")
    if text.isascii():
        return text.encode().translate(None, _BETWEEN).decode()
    return _SPACES.sub("", text)


@cache_short(_SHORT, _CACHED)
def _is_marked(token: bytes) -> bool:
    """Whether a text has a mark; where it is short, whether the search itself finds something, or a name of secrets."""
    text = decode_token(token)
    if is_plain_text(text):
        return False
    if len(token) > _SHORT:
        return True
    facts = _find_facts(Scope(), MEMBER, text)
    return facts.is_secret or facts.is_generated or facts.inner == COOKIE or not facts.is_plain
