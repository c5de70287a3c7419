"""The protocol of chat completions: a question as a request, and a response as a reply. Nothing is sent here."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import partial
from types import ModuleType
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from pytest_webeval.errors import RecordingError, SettingsError
from pytest_webeval.judges.calls import ReplyLost
from pytest_webeval.judges.prices import is_version_of
from pytest_webeval.judges.questions import MOST_TOKENS, Ending, Image, Message, Question, Reply, TokenUsage
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.pictures import load_pillow, shrink_picture
from pytest_webeval.safety.text import escape_surrogates, to_line

IMAGE_SIZE = "image_size"  # the parameter that is not the server's
LONGEST_SIDE = 1024  # pixels, where the parameters of a question have no `image_size`
MOST_BYTES = 8 * 2**20  # of a picture as it is sent
_QUALITY = 85
_RESERVED = frozenset({"messages", "model", "n", "response_format", "stream"})
_LONGEST_NAME = 64  # characters of a schema's name, as the protocol has it
_ENDINGS = {
    "stop": Ending.COMPLETE,
    "eos_token": Ending.COMPLETE,  # of servers that run local models
    "length": Ending.TRUNCATED,
    "content_filter": Ending.FILTERED,
}


class InvalidResponse(ValueError):
    """A response that is not a chat completion."""


class _Message(Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


_Count = Annotated[int, Meta(le=MOST_TOKENS)]


class _PromptDetails(Struct):
    cached_tokens: _Count | None = None


class _CompletionDetails(Struct):
    reasoning_tokens: _Count | None = None


class _Usage(Struct):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None

    def count(self) -> TokenUsage:
        prompt, completion = self.prompt_tokens_details, self.completion_tokens_details
        return TokenUsage(
            prompt=max(self.prompt_tokens, 0),
            completion=max(self.completion_tokens, 0),
            reasoning=max((completion and completion.reasoning_tokens) or 0, 0),
            cached=max((prompt and prompt.cached_tokens) or 0, 0),
        )


class _Completion(Struct):
    model: str
    choices: list[_Choice]
    usage: _Usage | None = field(default_factory=_Usage)


def build_body(question: Question) -> dict[str, Any]:
    """What is sent but for the form of the reply: messages, screenshots included, and parameters.

    Raises `RecordingError`, and `SettingsError` for a parameter that would make it another request.
    """
    longest = question.parameters.get(IMAGE_SIZE, LONGEST_SIDE)
    messages = [_message_to_json(message, longest) for message in question.messages]
    names = _RESERVED.intersection(question.parameters)
    if names:
        raise SettingsError(f"invalid judge parameter '{min(names)}'; remove it, for the plugin sets it")
    parameters = {name: value for name, value in question.parameters.items() if name != IMAGE_SIZE}
    return {"messages": messages} | parameters


def _message_to_json(message: Message, longest: int) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": escape_surrogates(message.text)}
    parts: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, str):
            parts.append({"type": "text", "text": escape_surrogates(part)})
        else:
            url = encode_picture(part, longest)
            parts.append({"type": "image_url", "image_url": {"url": url, "detail": "high"}})
    return {"role": message.role, "content": parts}


def encode_picture(image: Image, longest: int = LONGEST_SIDE) -> str:
    """A `data:` URL with the screenshot as a JPEG, no side of which has more than `longest` pixels.

    The same screenshot gives the same URL. It is always encoded anew, so that nothing but its pixels is sent: no
    metadata, and nothing behind its end.

    Raises `RecordingError`, since it is the recording that is damaged: the file is not a picture, has too many pixels
    or bytes, or has changed since the question was made. Such a run is an error. As a `JudgeFailed` it would be
    excluded, and an agent could choose that for runs that it failed.
    """
    content = image.load()
    if sha256(content) != image.sha256:
        raise RecordingError(f"{image.name} has changed since it was read; score the run again")
    try:
        small = shrink_picture(content, (longest, longest), _QUALITY, load_judge_pillow())
    except RecordingError as error:
        raise RecordingError(f"{image.name}: {error}") from error
    if len(small) > MOST_BYTES:
        raise RecordingError(f"{image.name} has {len(small):,} bytes as a JPEG; lower image_size")
    return f"data:image/jpeg;base64,{b64encode(small).decode()}"


load_judge_pillow = partial[ModuleType](load_pillow, "a judge that sees screenshots", "judge")


def build_response_format(question: Question) -> dict[str, Any] | None:
    """The structured output that a question wants, where it has a schema."""
    if question.schema is None:
        return None
    name = re.sub(r"[^A-Za-z0-9_-]", "_", question.step)[:_LONGEST_NAME] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(question.schema), "strict": True}}


def read_reply(content: bytes, model: str) -> Reply:
    """The reply in the body of a response.

    Raises `InvalidResponse` where it is not a chat completion, and `ReplyLost` where another model replied than the
    requested, or for an unknown reason not all of the reply is there.
    """
    completion = _parse(content)
    choice, name = completion.choices[0], escape_surrogates(completion.model)
    if not is_version_of(name, model):
        raise ReplyLost(f"the server replied with model '{to_line(name, 100)}'; ask for it, or for one that it has")
    reason = choice.finish_reason or ""
    ending = Ending.REFUSED if choice.message.refusal else _ENDINGS.get(reason)
    if ending is None:
        raise ReplyLost(f"the reply ended with finish_reason '{to_line(reason, 40)}'; the protocol expects 'stop'")
    return Reply(
        text=escape_surrogates(choice.message.content or ""),
        model=name,
        ending=ending,
        usage=(completion.usage or _Usage()).count(),
    )


def _parse(content: bytes) -> _Completion:
    try:
        completion = msgspec.convert(json.loads(content), _Completion)
    except msgspec.ValidationError as error:
        raise InvalidResponse(format_validation_error(error)) from error
    except (ValueError, RecursionError) as error:
        raise InvalidResponse(str(error)) from error
    if not completion.choices:
        raise InvalidResponse("Expected at least 1 choice @ choices")
    return completion
