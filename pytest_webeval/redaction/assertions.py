"""Messages of assertions about a field with a secret name: what they quote is the secret."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pytest_webeval.redaction.names import COOKIE
from pytest_webeval.redaction.names import FIELD
from pytest_webeval.redaction.names import HEADER
from pytest_webeval.redaction.names import MEMBER
from pytest_webeval.redaction.names import PARAMETER
from pytest_webeval.redaction.trees import Trees

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
class Messages:
    """Replaces secrets in the messages of assertions."""

    trees: Trees

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
