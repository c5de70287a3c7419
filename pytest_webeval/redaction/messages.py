"""Secrets in explanations, whose paths say under which names values stood."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from pytest_webeval.redaction.json import JsonRedactor
from pytest_webeval.redaction.known_secrets import KnownSecrets
from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import MEMBER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.results import TaskResult

_ENDINGS = (
    "_array_values_mismatch",
    "_keys_mismatch",
    "_none_mismatch",
    "_missing_or_null",
    "_invalid_format",
    "_unexpected",
    "_mismatch",
    "_match",
)
_PLACES = {"headers": HEADER, "response_cookies": COOKIE, "post_data": FIELD, "response_content": FIELD}
_PLACES |= {"query_params": PARAMETER}
_SAID = ("expected ", "got ", "missing ", "not expected ")


@dataclass(frozen=True, slots=True)
class MessageRedactor:
    """Replaces secrets in the messages of assertions."""

    trees: JsonRedactor

    def of(self, name: str, messages: list[str]) -> list[str]:
        """The messages of an assertion of that name."""
        place = self.secret_of(_without_ending(name))
        if place is None:
            return [self.trees.texts(one) for one in messages]
        return [self.trees.texts(self._hidden(one, *place)) for one in messages]

    def secret_of(self, path: str) -> tuple[str, str] | None:
        """Kind and name of the secret field that a path leads to; None where it leads to no secret."""
        kind = MEMBER
        for place, rest in _tails(path):
            kind = _PLACES.get(place, kind)
            if place in _PLACES:
                if rest and self.trees.texts.scope.covers(kind, rest):
                    return kind, rest
            elif self.trees.texts.scope.covers(MEMBER if kind == COOKIE else kind, place.partition("[")[0]):
                return kind, place.partition("[")[0]
        return None

    def _hidden(self, message: str, kind: str, name: str) -> str:
        said = next((one for one in _SAID if message.startswith(one)), "")
        told = message.removeprefix(said)
        try:
            value = json.loads(told)
        except (ValueError, RecursionError):
            return said + self._quotes(told, kind, name)
        shown = json.dumps(self.trees.hidden(name, value, kind), ensure_ascii=False)
        return f"{said}{shown}" if isinstance(value, str | int | float | list | dict) else message

    def _quotes(self, message: str, kind: str, name: str) -> str:
        """A sentence with each text replaced that stands in quotes; what was cut goes to the end."""
        from pytest_webeval.redaction.patterns import QUOTED  # compiled where it is needed

        def hidden(found: Any) -> str:
            text: str = found.group()
            inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] else text[1:]
            kept = inner.rstrip("…")
            before, _, after = text.partition(kept) if kept else (text, "", "")
            return f"{before}{self.trees.texts.valued(kind, name, kept)}{after}"

        return QUOTED.sub(hidden, message)


def _without_ending(assertion: str) -> str:
    ending = next((one for one in _ENDINGS if assertion.endswith(one)), "")
    return assertion.removesuffix(ending)


def _tails(path: str) -> list[tuple[str, str]]:
    """Each segment of a path with all that follows it."""
    segments = path.split(".")
    return [(one, ".".join(segments[number:])) for number, one in enumerate(segments, 1)]


EXPLANATIONS = "explanations"
_SIDES = ("expected", "actual")


def explanations_of(result: TaskResult) -> list[Any] | None:
    """What a result has to tell beside each evaluator's; None where it has nothing, or something else there."""
    found = result.webeval.get(EXPLANATIONS)
    if not isinstance(found, list) or len(found) != len(result.evaluators_results):
        return None
    return found if all(one is None or _is_whole(one) for one in found) else None


def _is_whole(told: Any) -> bool:
    """Whether it has the shape that we give it: results may be read from files."""
    if not isinstance(told, dict) or not isinstance(told.get("differences"), list):
        return False
    return all(isinstance(one, dict) and _is_difference(one) for one in told["differences"])


def _is_difference(one: dict[str, Any]) -> bool:
    return isinstance(one.get("path"), str) and one.keys() >= {"kind", *_SIDES}


@dataclass(frozen=True, slots=True)
class ExplanationRedactor:
    """Replaces secrets in what is told of one evaluator's result, as they are replaced in that."""

    messages: MessageRedactor

    def __call__(self, told: dict[str, Any] | None) -> dict[str, Any] | None:
        """The same with replacements."""
        if told is None:
            return None
        differences = [self._difference(one) for one in told["differences"]]
        others = {name: value for name, value in told.items() if name != "differences"}
        return {"differences": differences} | {name: self.messages.trees(value) for name, value in others.items()}

    def _difference(self, one: dict[str, Any]) -> dict[str, Any]:
        path = one["path"]
        return one | {"path": self._path(one)} | {side: self._value(path, one[side]) for side in _SIDES}

    def _path(self, one: dict[str, Any]) -> str:
        """What is extra somebody else has named."""
        path: str = one["path"]
        return self.messages.trees.texts(path) if one["kind"] == "extra" else path

    def _value(self, path: str, value: Any) -> Any:
        trees = self.messages.trees
        if place := self.messages.secret_of(path):
            kind, name = place
            return trees.hidden(name, value, kind)
        head, _, rest = path.partition(".")
        return _only(trees({head: {rest: value}}), 2) if rest else _only(trees({head: value}), 1)


def _only(tree: Any, depth: int) -> Any:
    """What stands in a tree of which each level has a single member."""
    for _ in range(depth):
        tree = next(iter(tree.values())) if isinstance(tree, dict) else tree
    return tree


def searched(told: dict[str, Any] | None, known: KnownSecrets, kept: Container[str]) -> dict[str, Any] | None:
    """The same without secrets that were found elsewhere. Names of ours and of the task are kept."""
    if told is None:
        return None
    differences = [
        one
        | {side: known.replace_in_json(one[side], kept) for side in _SIDES}
        | ({"path": known.replaced(one["path"])} if one["kind"] == "extra" else {})
        for one in told["differences"]
    ]
    others = {name: value for name, value in told.items() if name != "differences"}
    return {"differences": differences} | {
        name: known.replace_in_json(value, ("index", "of", "method", "url", "status")) for name, value in others.items()
    }
