"""Who judged: what decides the verdicts of a judge, and so what a certificate is valid for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from msgspec import Meta, Struct, ValidationError, convert

from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import to_line

Name = Annotated[str, Meta(min_length=1, max_length=200)]
MOST_VOTES = 999
_LONGEST_VALUE = 80  # characters in a message


class JudgeIdentity(Struct, frozen=True, kw_only=True):
    """The models, the method with the version of its prompts, and the settings that decide.

    `text_model` is the second model of a judge that has two. `threshold` is a text, so that 0.8 stays 0.8.
    `criterion` is what a verdict is about, such as `outcome`; None where that is unknown.
    """

    model: Name
    text_model: Name | None = None
    method: Name
    version: Name
    votes: Annotated[int, Meta(ge=1, le=MOST_VOTES)] = 1
    threshold: Name
    criterion: Name | None = None

    @classmethod
    def read(cls, raw: object) -> Self:
        """The identity in the `judge` of a result or certificate, which has further members. Raises `ValueError`."""
        try:
            return convert(raw, cls)
        except ValidationError as error:
            raise ValueError(format_validation_error(error, "judge")) from error

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}

    @property
    def checksum(self) -> str:
        """SHA-256 of its members."""
        content = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return sha256(content.encode())

    def list_changes(self, other: JudgeIdentity) -> Mapping[str, tuple[Any, Any]]:
        """The members that `other` has another value of, with both values."""
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in self.__struct_fields__}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def __str__(self) -> str:
        votes = "" if self.votes == 1 else f", {self.votes} votes"
        models = self.model if self.text_model is None else f"{self.model} and {self.text_model}"
        return f"{format_member(models)}, {format_member(f'{self.method} {self.version}')}{votes}"


def format_member(value: object) -> str:
    """The value of a member in a message; it may come from an untrusted file."""
    return "none" if value is None else to_line(str(value), _LONGEST_VALUE)
