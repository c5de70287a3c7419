"""Secrets in JSON: members with secret names, headers and cookies, and those in texts."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec import field

from pytest_webeval.redaction.authorization_codes import AUTHORIZATION_CODE
from pytest_webeval.redaction.authorization_codes import has_authorization_code
from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import MEMBER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.redaction.names import compact
from pytest_webeval.redaction.names import is_code
from pytest_webeval.redaction.names import is_next_to_code
from pytest_webeval.redaction.names import is_opaque
from pytest_webeval.redaction.names import may_hold_secrets
from pytest_webeval.redaction.text import TextRedactor

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_CACHED = 16_384  # cached texts: names, paths and messages of webeval recur often


def list_tokens(tree: Any) -> set[bytes] | None:
    """Each text and name as JSON spells it, once; None where the value cannot be encoded."""
    try:
        return set(_TOKEN.findall(msgspec.json.encode(tree)))
    except (TypeError, ValueError, RecursionError):  # values of a user's evaluator, or half a surrogate pair
        return None


@lru_cache(maxsize=1024)
def decode_token(token: bytes) -> str:
    """The text itself."""
    return str(json.loads(token)) if b"\\" in token else token[1:-1].decode()


def may_hold(tree: Any) -> bool:
    """Whether it is worth looking for secrets in some JSON, in texts and by names."""
    found_tokens = list_tokens(tree)
    if found_tokens is None or any(map(_may_be_secret, found_tokens)):
        return True
    return any(map(_is_code_token, found_tokens)) and any(map(_is_next_to_code_token, found_tokens))


@lru_cache(maxsize=_CACHED)
def _is_code_token(token: bytes) -> bool:
    return is_code(decode_token(token))


@lru_cache(maxsize=_CACHED)
def _is_next_to_code_token(token: bytes) -> bool:
    return is_next_to_code(decode_token(token))


@lru_cache(maxsize=_CACHED)
def _may_be_secret(token: bytes) -> bool:
    """Whether a text may hold a secret, or be the name of one, however it is spaced; no address is such a name."""
    text = decode_token(token)
    return may_hold_secrets(text) or ("://" not in text and may_hold_secrets("".join(filter(str.isalnum, text))))


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
_ENTRY = {"name", "value"}  # a header, a cookie or a field as recordings list them
_TOO_DEEP = "redacted: nested too deeply to search"


_MOST_FACTS = 4_096  # cached names: a recording may contain any number of them


class _NameFacts(NamedTuple):
    """Facts about a value that follow from its name. A plain name has no secret in itself."""

    inner: str | None
    is_secret: bool
    is_allowed: bool
    is_plain: bool


class JsonRedactor(Struct, frozen=True):
    """Redacts JSON without changing its shape."""

    texts: TextRedactor
    facts: dict[tuple[str, str], _NameFacts] = field(default_factory=dict)  # by kind and name

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
            if has_authorization_code(tree):
                tree = [self._redact_entry(entry) for entry in tree]
            return [self._walk(child, kind) for child in tree]
        return self._walk_object(tree, kind) if isinstance(tree, dict) else tree

    def _walk_object(self, tree: dict[str, Any], kind: str) -> dict[str, Any]:
        if "name" in tree and "value" in tree and isinstance(tree["name"], str):
            value = self.redact_member(tree["name"], tree["value"], kind)
            entry = {"name": self._redact_name(tree["name"], kind), "value": value}
            if len(tree) == len(_ENTRY):
                return entry
            others = {name: value for name, value in tree.items() if name not in _ENTRY}
            return entry | self._walk_object(others, MEMBER)
        if any(map(is_code, tree)) and any(map(is_next_to_code, tree)):
            tree = {name: self._redact_code(name, value) for name, value in tree.items()}
        return {self._redact_name(name, kind): self._redact_inner(name, value, kind) for name, value in tree.items()}

    def _redact_entry(self, entry: Any) -> Any:
        """An entry of a form or a query that has an authorization code among its entries."""
        is_entry = isinstance(entry, dict) and isinstance(entry.get("name"), str) and "value" in entry
        return entry | {"value": self._redact_code(entry["name"], entry["value"])} if is_entry else entry

    def _redact_code(self, name: str, value: Any) -> Any:
        """The value of a member, replaced where it is an authorization code."""
        if not is_code(name) or self.texts.scope.covers(MEMBER, name) or self.texts.scope.allows(name):
            return value
        if isinstance(value, list):
            return [self._redact_code(name, element) for element in value]
        is_code_value = isinstance(value, str) and is_opaque(value)
        return self.texts.replacements.of(AUTHORIZATION_CODE, name, value) if is_code_value else value

    def _redact_name(self, name: str, kind: str) -> str:
        return name if (self.facts.get((kind, name)) or self._read_facts(name, kind)).is_plain else self.texts(name)

    def _redact_inner(self, name: str, value: Any, kind: str) -> Any:
        facts = self.facts.get((kind, name)) or self._read_facts(name, kind)
        if facts.inner is not None and isinstance(value, dict | list):
            return self._walk(value, facts.inner)
        return self.redact_member(name, value, kind)

    def _read_facts(self, name: str, kind: str) -> _NameFacts:
        scope = self.texts.scope
        facts = _NameFacts(
            inner=_CONTAINERS.get(compact(name)),
            is_secret=scope.covers(kind, name),
            is_allowed=scope.allows(name),
            is_plain=self.texts.has_no_secrets(name),
        )
        if len(self.facts) < _MOST_FACTS:
            self.facts[kind, name] = facts
        return facts

    def redact_member(self, name: str, value: Any, kind: str) -> Any:
        """The value of a member; `kind` says whether its name is that of a header, a cookie, a field."""
        facts = self.facts.get((kind, name)) or self._read_facts(name, kind)
        if facts.is_secret:
            return self.hide(name, value, kind)
        if facts.is_allowed:
            self._allow(value)
        return self._walk(value, kind)

    def hide(self, name: str, value: Any, kind: str) -> Any:
        """A secret value: each text and number in it is replaced, and the shape stays."""
        if isinstance(value, dict):
            return {self.texts(inner): self.hide(name, member, kind) for inner, member in value.items()}
        if isinstance(value, list):
            return [self.hide(name, element, kind) for element in value]
        if value is None or isinstance(value, bool):
            return value
        return self.texts.replace_value(kind, name, str(value))

    def _allow(self, value: Any) -> None:
        if isinstance(value, dict | list):
            for member in value.values() if isinstance(value, dict) else value:
                self._allow(member)
        elif value is not None:
            self.texts.replacements.allow(str(value))
