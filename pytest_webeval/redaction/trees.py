"""Secrets in JSON: members with secret names, headers and cookies, and those in texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import MEMBER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.redaction.names import compact
from pytest_webeval.redaction.texts import Texts

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
_TOO_DEEP = "redacted: nested too deeply to be searched"


@dataclass(frozen=True, slots=True)
class Trees:
    """Replaces what is secret in JSON; its shape stays."""

    texts: Texts

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
            return [self._walk(one, kind) for one in tree]
        return self._members(tree, kind) if isinstance(tree, dict) else tree

    def _members(self, tree: dict[str, Any], kind: str) -> dict[str, Any]:
        if tree.keys() >= _ENTRY and isinstance(tree["name"], str):
            others = {name: value for name, value in tree.items() if name not in _ENTRY}
            value = self.member(tree["name"], tree["value"], kind)
            return {"name": self.texts(tree["name"]), "value": value} | self._members(others, MEMBER)
        return {self.texts(name): self._inner(name, value, kind) for name, value in tree.items()}

    def _inner(self, name: str, value: Any, kind: str) -> Any:
        inner = _CONTAINERS.get(compact(name))
        if inner is not None and isinstance(value, dict | list):
            return self._walk(value, inner)
        return self.member(name, value, kind)

    def member(self, name: str, value: Any, kind: str) -> Any:
        """The value of a member; `kind` says whether its name is that of a header, a cookie, a field."""
        if self.texts.scope.covers(kind, name):
            return self.hidden(name, value, kind)
        if self.texts.scope.spares(name):
            self._spare(value)
        return self._walk(value, kind)

    def hidden(self, name: str, value: Any, kind: str) -> Any:
        """A secret value: each text and number in it is replaced, and the shape stays."""
        if isinstance(value, dict):
            return {self.texts(inner): self.hidden(name, one, kind) for inner, one in value.items()}
        if isinstance(value, list):
            return [self.hidden(name, one, kind) for one in value]
        if value is None or isinstance(value, bool):
            return value
        return self.texts.valued(kind, name, str(value))

    def _spare(self, value: Any) -> None:
        if isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                self._spare(one)
        elif value is not None:
            self.texts.replacements.spare(str(value))
