"""Secrets in messages and explanations, whose paths name the fields of their values."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from msgspec import Struct

from pytest_webeval.diagnostics.difference import DIFFERENT, EXTRA, MISSING, UNREADABLE
from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.names import COOKIE, FIELD, HEADER, MEMBER, PARAMETER
from pytest_webeval.redaction.patterns import QUOTED
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.text import ELLIPSIS

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
        kind = MEMBER
        for segment, rest in _list_tails(path):
            kind = _KINDS_BY_SECTION.get(segment, kind)
            if segment in _KINDS_BY_SECTION:
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


def _list_tails(path: str) -> list[tuple[str, str]]:
    """Each segment of a path with all that follows it."""
    segments = path.split(".")
    return [(segment, ".".join(segments[number:])) for number, segment in enumerate(segments, 1)]


EXPLANATIONS = "explanations"
_SIDES = ("expected", "actual")
_DIFFERENCES = (DIFFERENT, MISSING, EXTRA, UNREADABLE)


def read_explanations(result: TaskResult) -> list[Any] | None:
    """The explanations of a result, one for each evaluation; None where it has none, or invalid ones."""
    explanations = result.webeval.get(EXPLANATIONS)
    if not isinstance(explanations, list) or len(explanations) != len(result.evaluators_results):
        return None
    return (
        explanations
        if all(explanation is None or _is_explanation(explanation) for explanation in explanations)
        else None
    )


def _is_explanation(explanation: Any) -> bool:
    """Whether an explanation has the expected shape: results may be read from files."""
    if not isinstance(explanation, dict) or not isinstance(explanation.get("differences"), list):
        return False
    nearest, candidates = explanation.get("nearest"), explanation.get("candidates")
    is_complete = nearest is None or (isinstance(nearest, dict) and _names_event(nearest))
    if not is_complete or not (candidates is None or _are_numbers(candidates)):
        return False
    return all(isinstance(difference, dict) and _is_difference(difference) for difference in explanation["differences"])


def _names_event(nearest: dict[str, Any]) -> bool:
    are_texts = all(isinstance(nearest.get(name), str) for name in ("method", "url"))
    return are_texts and _are_numbers([nearest.get("index"), nearest.get("of"), nearest.get("status", 0) or 0])


def _are_numbers(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int for value in values)


def _is_difference(difference: dict[str, Any]) -> bool:
    return isinstance(difference.get("path"), str) and difference.keys() >= {"kind", *_SIDES}


class ExplanationRedactor(Struct, frozen=True):
    """Replaces secrets in the explanation of one evaluation, as they are replaced in the evaluation itself."""

    messages: MessageRedactor

    def __call__(self, explanation: dict[str, Any] | None) -> dict[str, Any] | None:
        """The same with replacements."""
        if explanation is None:
            return None
        differences = [self._redact_difference(difference) for difference in explanation["differences"]]
        others = {name: value for name, value in explanation.items() if name != "differences"}
        return {"differences": differences} | {name: self.messages.trees(value) for name, value in others.items()}

    def _redact_difference(self, difference: dict[str, Any]) -> dict[str, Any]:
        """What we write of a difference, with replacements: whoever forged it may have added anything."""
        path, kind = difference["path"], difference["kind"]
        sides = {side: self._redact_value(path, difference[side]) for side in _SIDES}
        known = kind if kind in _DIFFERENCES else DIFFERENT
        return {"path": self._redact_path(path), "kind": known, **sides}

    def _redact_path(self, path: str) -> str:
        """The path of a difference, whose names may come from the recording. A secret may be one of its segments."""
        texts = self.messages.trees.texts
        return ".".join(map(texts, texts(path).split(".")))

    def _redact_value(self, path: str, value: Any) -> Any:
        trees = self.messages.trees
        if field := self.messages.find_secret_field(path):
            kind, name = field
            return trees.hide(name, value, kind)
        head, _, rest = path.partition(".")
        return _unwrap(trees({head: {rest: value}}), 2) if rest else _unwrap(trees({head: value}), 1)


def _unwrap(tree: Any, depth: int) -> Any:
    """The innermost value of a tree with a single member at each level."""
    for _ in range(depth):
        tree = next(iter(tree.values())) if isinstance(tree, dict) else tree
    return tree


def replace_in_explanation(
    explanation: dict[str, Any] | None, secrets: KnownSecrets, allowed: Container[str]
) -> dict[str, Any] | None:
    """The same without the known secrets. Our names and those of the task stay."""
    if explanation is None:
        return None
    differences = [
        difference
        | {side: secrets.replace_in_json(difference[side], allowed) for side in _SIDES}
        | ({"path": secrets.replace(difference["path"])} if difference["kind"] == "extra" else {})
        for difference in explanation["differences"]
    ]
    others = {name: value for name, value in explanation.items() if name != "differences"}
    return {"differences": differences} | {
        name: secrets.replace_in_json(value, ("index", "of", "method", "url", "status"))
        for name, value in others.items()
    }
