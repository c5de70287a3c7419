"""Secrets in messages and explanations, whose paths name the fields of their values."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Container
from functools import partial
from typing import Any

from msgspec import Struct

from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.names import COOKIE, FIELD, HEADER, MEMBER, PARAMETER
from pytest_webeval.redaction.patterns import QUOTED
from pytest_webeval.results import DIFFERENT, EXTRA, MISSING, UNREADABLE, Difference, Explanation, NamedEvent
from pytest_webeval.safety.text import ELLIPSIS

_DIFFERENCES = (DIFFERENT, MISSING, EXTRA, UNREADABLE)
_KINDS_BY_SECTION = {"headers": HEADER, "response_cookies": COOKIE, "post_data": FIELD, "response_content": FIELD}
_KINDS_BY_SECTION |= {"query_params": PARAMETER}
_PREFIXES = ("expected ", "got ", "missing ", "not expected ")


class MessageRedactor(Struct, frozen=True):
    """Replaces secrets in the messages of assertions."""

    trees: JsonRedactor

    def redact(self, path: str, messages: list[str]) -> list[str]:
        """The messages of an assertion about the value at a path."""
        field = self.find_secret_field(path)
        if field is None:
            return [self.trees.texts(message) for message in messages]
        return [self.trees.texts(self._hide_value(message, *field)) for message in messages]

    def find_secret_field(self, path: str) -> tuple[str, str] | None:
        """Kind and name of the secret field that a path leads to; None where it leads to no secret."""
        kind, segments = MEMBER, path.split(".")
        for number, segment in enumerate(segments, 1):
            kind = _KINDS_BY_SECTION.get(segment, kind)
            if segment in _KINDS_BY_SECTION:
                rest = ".".join(segments[number:])
                if rest and self.trees.texts.scope.covers(kind, rest):
                    return kind, rest
            elif self.trees.texts.scope.covers(MEMBER if kind == COOKIE else kind, segment.partition("[")[0]):
                return kind, segment.partition("[")[0]
        return None

    def _hide_value(self, message: str, kind: str, name: str) -> str:
        prefix = next((prefix for prefix in _PREFIXES if message.startswith(prefix)), "")
        body = message.removeprefix(prefix)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return prefix + self._hide_quoted(body, kind, name)
        redacted = json.dumps(self.trees.hide(name, value, kind), ensure_ascii=False)
        return f"{prefix}{redacted}" if isinstance(value, str | int | float | list | dict) else message

    def _hide_quoted(self, message: str, kind: str, name: str) -> str:
        """A sentence with each quoted text replaced; a cut quotation extends to the end."""

        def hide(match: Any) -> str:
            text: str = match.group()
            inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] else text[1:]
            secret = inner.rstrip(ELLIPSIS)
            before, _, after = text.partition(secret) if secret else (text, "", "")
            return f"{before}{self.trees.texts.replace_value(kind, name, secret)}{after}"

        return QUOTED.sub(hide, message)

    @property
    def allowed(self) -> Collection[str]:
        """Values that stay readable here."""
        return self.trees.texts.replacements.allowed

    def explanation(self, explanation: Explanation) -> Explanation:
        """The explanation of the evaluation, with its secrets replaced as in the evaluation itself."""
        return _rewrite(explanation, self._redact_difference, self.trees)

    def _redact_difference(self, difference: Difference) -> Difference:
        """What we write of a difference, with replacements: whoever forged it may have added anything."""
        path, kind, texts = difference.path, difference.kind, self.trees.texts
        known = kind if kind in _DIFFERENCES else DIFFERENT
        if kind != known or kind == EXTRA or not texts.scope.is_strict:  # strict takes long names of fields for secrets
            path = ".".join(map(texts, texts(path).split(".")))
        sides = (self._redact_value(difference.path, side) for side in (difference.expected, difference.actual))
        return Difference(path, known, *sides)

    def _redact_value(self, path: str, value: Any) -> Any:
        if field := self.find_secret_field(path):
            kind, name = field
            return self.trees.hide(name, value, kind)
        head, _, rest = path.partition(".")
        tree = self.trees({head: {rest: value} if rest else value})
        for _ in range(2 if rest else 1):
            tree = next(iter(tree.values())) if isinstance(tree, dict) else tree
        return tree


def replace_in_explanation(explanation: Explanation, secrets: KnownSecrets, allowed: Container[str]) -> Explanation:
    """The same without the known secrets. Our names and those of the task stay."""

    def replace(difference: Difference) -> Difference:
        path = secrets.replace(difference.path) if difference.kind == EXTRA else difference.path
        sides = (secrets.replace_in_json(side, allowed) for side in (difference.expected, difference.actual))
        return Difference(path, difference.kind, *sides)

    return _rewrite(explanation, replace, partial(secrets.replace_in_json, allowed=NamedEvent.__struct_fields__))


def _rewrite(
    explanation: Explanation, rewrite: Callable[[Difference], Difference], replace: Callable[[Any], Any]
) -> Explanation:
    nearest = explanation.nearest and NamedEvent(**replace(explanation.nearest.to_json()))
    return Explanation([*map(rewrite, explanation.differences)], nearest, explanation.candidates)
