"""Secrets in explanations, whose paths say under which names values stood."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from pytest_webeval.redaction.assertions import Messages
from pytest_webeval.redaction.known import KnownSecrets
from pytest_webeval.results import TaskResult

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

    messages: Messages

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
        | {side: known.everywhere(one[side], kept) for side in _SIDES}
        | ({"path": known.replaced(one["path"])} if one["kind"] == "extra" else {})
        for one in told["differences"]
    ]
    others = {name: value for name, value in told.items() if name != "differences"}
    return {"differences": differences} | {
        name: known.everywhere(value, ("index", "of", "method", "url", "status")) for name, value in others.items()
    }
