"""Secrets in JSON: members with secret names, headers and cookies, and those in texts."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from pytest_webeval.redaction.marks import is_generated
from pytest_webeval.redaction.names import COOKIE, FIELD, HEADER, MEMBER, PARAMETER, compact
from pytest_webeval.redaction.policy import Scope
from pytest_webeval.redaction.replacements import Replacements
from pytest_webeval.redaction.text import GENERATED, TextRedactor

# What the members of these are, in results and in recordings.
CONTAINERS = {
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
        inner=CONTAINERS.get(compact(name)),
        is_secret=scope.covers(kind, name),
        is_generated=scope.covers_generated(name),
        is_allowed=scope.allows(name),
        is_plain=TextRedactor(scope, Replacements(None)).has_no_secrets(name),
    )


class JsonRedactor(Struct, frozen=True, dict=True):
    """Redacts JSON without changing its shape.

    `marked` are all texts in the JSON that may be secrets or name some, as `tokens` lists them; None if nobody knows.
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
                [*self._redact_entry(*child, kind)] if _is_row(child) else self._walk(child, kind) for child in tree
            ]
        return self._walk_object(tree, kind) if isinstance(tree, dict) else tree

    def _walk_object(self, tree: dict[str, Any], kind: str) -> dict[str, Any]:
        name_key = self._find_name_key(tree, kind) if "value" in tree else None
        if name_key is None:
            return dict(self._redact_member(name, value, kind) for name, value in tree.items())
        if len(tree) == len(_ENTRY) and name_key == "name" and isinstance(tree["value"], str):
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


def _is_row(child: Any) -> bool:
    """Whether it is a name and its value, as forms and headers are listed too."""
    return isinstance(child, list) and len(child) == len(_ENTRY) and isinstance(child[0], str)
