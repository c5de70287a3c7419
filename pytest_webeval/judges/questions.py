"""What a judge is asked, and what it replies. A question has a key: the same question is never paid for twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from operator import add
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, astuple

from pytest_webeval.safety.files import sha256

KEY_VERSION = 1  # of what a key covers


class Role(StrEnum):
    """Which model is asked, where a judge has two: `fara_webeval.md` §6.4."""

    VISION = "vision"  # the strong multimodal one
    TEXT = "text"  # the cheap one


class Image(Struct, frozen=True):
    """A picture in a message. `sha256` is that of its recorded bytes, which `load` returns; it may raise.

    `load` raises `RecordingError`.
    """

    name: str
    sha256: str
    load: Callable[[], bytes] = field(default=lambda: b"")


class Message(Struct, frozen=True):
    """One message: `role` is `system`, `user` or `assistant`, `parts` are texts and pictures in order."""

    role: str
    parts: tuple[str | Image, ...]

    @property
    def images(self) -> tuple[Image, ...]:
        """Its pictures."""
        return tuple(part for part in self.parts if isinstance(part, Image))

    @property
    def text(self) -> str:
        """Its texts, with a line feed between two."""
        return "\n".join(part for part in self.parts if isinstance(part, str))

    def to_json(self) -> dict[str, Any]:
        """What the key of a question covers."""
        parts = [part if isinstance(part, str) else {"image": part.sha256} for part in self.parts]
        return {"role": self.role, "parts": parts}


class Question(Struct, frozen=True, kw_only=True):
    """One request to a model.

    `model` is the name that the server knows, `method` and `version` say which prompts it comes from, and `step` which
    of them. `parameters` go to the server: `temperature`, `max_completion_tokens`, `seed`, … and `image_size`, the
    longest side of a picture in pixels. `schema` is the JSON Schema of the reply, if it is to be JSON. `rubric` is the
    SHA-256 of the rubric that is asked about. `sample` counts the votes of one question from 0.
    """

    model: str
    method: str
    version: str
    step: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    rubric: str | None = None
    sample: int = 0

    @property
    def images(self) -> Iterator[Image]:
        """The pictures of all messages."""
        for message in self.messages:
            yield from message.images

    def to_json(self) -> dict[str, Any]:
        """All that decides the reply. Two questions with the same JSON are one question."""
        return (
            {"key_version": KEY_VERSION}
            | asdict(self)
            | {
                "messages": [message.to_json() for message in self.messages],
                "parameters": dict(self.parameters),
                "schema": None if self.schema is None else dict(self.schema),
            }
        )

    @property
    def key(self) -> str:
        """SHA-256 of the question, in hexadecimal digits."""
        return sha256(json.dumps(self.to_json(), sort_keys=True, separators=(",", ":")).encode())


MOST_TOKENS = 2**53  # of one kind in a reply: more are an invalid response, and no JSON reader keeps them


class TokenUsage(Struct, frozen=True):
    """Tokens of a reply as the server counts them. `reasoning` are a part of `completion`, `cached` of `prompt`."""

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(*map(add, astuple(self), astuple(other)))


class Ending(StrEnum):
    """How a reply ended. Only a complete one is remembered."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"  # at the limit of tokens
    FILTERED = "filtered"  # by the server's content filter
    REFUSED = "refused"  # by the model


class Reply(Struct, frozen=True, kw_only=True):
    """What a model replied. `model` is the one that the server says it used."""

    text: str
    model: str
    ending: Ending = Ending.COMPLETE
    usage: TokenUsage = field(default_factory=TokenUsage)

    @property
    def is_complete(self) -> bool:
        """Whether it says all that the model had to say, so that it may be remembered."""
        return self.ending is Ending.COMPLETE
