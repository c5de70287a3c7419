"""Recorded judgments of AgentRewardBench (McGill-NLP/agent-reward-bench): a file a judgment, with question and reply.

The image scores and the key points in such a file are replies without their questions and tokens. They are no calls
that could be replayed, and are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.questions import Ending, Image, Message, Question, Reply, TokenUsage
from pytest_webeval.judges.replies import STATUS, parse_last_line
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.recorded_files import RecordedFiles
from pytest_webeval.recordings.verdict_files import build_type_error, parse_object, read_member
from pytest_webeval.safety.files import sha256

VERSION = "recorded"  # of prompts that are not this package's
_REPLACED = re.compile(r"image sha256:([0-9a-f]{64}) ([0-9]{1,12}) characters")
_ENDINGS = {"stop": Ending.COMPLETE, "length": Ending.TRUNCATED, "content_filter": Ending.FILTERED}


def load_judgments(directory: Path) -> Iterator[tuple[str, Question, Reply]]:
    """The id of the task, question and reply of each judgment in a directory. Raises `SettingsError`."""
    inputs = RunInputs(directory)
    for name in RecordedFiles(inputs).names:
        if name.endswith(".json"):
            document = parse_object(inputs.read(name), name)
            yield name.removesuffix(".json"), _read_question(document, name), _read_reply(document, name)


def read_recorded_verdict(reply: Reply) -> bool:
    """The verdict of a reply of WebJudge. Raises `InvalidReply`."""
    return parse_last_line(reply.text, "Status", STATUS).value


def _read_question(document: Mapping[str, Any], where: str) -> Question:
    messages = _require(document, "chat_messages", list, "a list of messages", where)
    return Question(
        model=_require(document, "judge_model_name", str, "a string", where),
        method=_require(document, "judge", str, "a string", where),
        version=VERSION,
        step="verdict",
        messages=tuple(_read_message(message, where) for message in messages),
        parameters=_to_plain(read_member(document, "completion_args", dict, "an object", where) or {}),
    )


def _read_message(message: object, where: str) -> Message:
    if not isinstance(message, dict):
        raise build_type_error("chat_messages", message, "a list of objects", where)
    content = _require(message, "content", (str, list), "a string or a list of parts", where)
    parts = (content,) if isinstance(content, str) else tuple(_read_part(part, where) for part in content)
    return Message(_require(message, "role", str, "a string", where), parts)


def _read_part(part: object, where: str) -> str | Image:
    """A text, or a picture: of its URL the hash and the length, as far as they are not recorded in its place."""
    if not isinstance(part, dict):
        raise build_type_error("content", part, "a list of objects", where)
    if "text" in part:
        return str(_require(part, "text", str, "a string", where))
    url = _require(_require(part, "image_url", dict, "an object", where), "url", str, "a string", where)
    match = _REPLACED.fullmatch(url)
    digest, length = (match[1], match[2]) if match else (sha256(url.encode("utf-8", "backslashreplace")), len(url))
    return Image(f"image of {length} characters", digest)


def _read_reply(document: Mapping[str, Any], where: str) -> Reply:
    response = _require(document, "response", dict, "an object", where)
    choices = _require(response, "choices", list, "a list", where)
    if not choices or not isinstance(choices[0], dict):
        raise build_type_error("choices", choices, "a list of objects", where)
    message = _require(choices[0], "message", dict, "an object", where)
    reason = read_member(choices[0], "finish_reason", str, "a string", where) or "stop"
    is_refused = bool(read_member(message, "refusal", str, "a string", where))
    return Reply(
        text=read_member(message, "content", str, "a string", where) or "",
        model=_require(response, "model", str, "a string", where),
        ending=Ending.REFUSED if is_refused else _ENDINGS.get(reason, Ending.COMPLETE),
        usage=_read_usage(read_member(response, "usage", dict, "an object", where) or {}, where),
    )


def _read_usage(usage: Mapping[str, Any], where: str) -> TokenUsage:
    prompt_details = read_member(usage, "prompt_tokens_details", dict, "an object", where) or {}
    completion_details = read_member(usage, "completion_tokens_details", dict, "an object", where) or {}
    return TokenUsage(
        prompt=_count(usage, "prompt_tokens", where),
        completion=_count(usage, "completion_tokens", where),
        reasoning=_count(completion_details, "reasoning_tokens", where),
        cached=_count(prompt_details, "cached_tokens", where),
    )


def _count(fields: Mapping[str, Any], key: str, where: str) -> int:
    count = read_member(fields, key, int, "a number of tokens", where) or 0
    if count < 0:
        raise build_type_error(key, count, "a number of tokens", where)
    return int(count)


def _require(fields: Mapping[str, Any], key: str, kinds: Any, expected: str, where: str) -> Any:
    value = read_member(fields, key, kinds, expected, where)
    if value is None:
        raise SettingsError(f"{where} has no {key}; name a directory of judgments of AgentRewardBench")
    return value


def _to_plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: float(value) if isinstance(value, Decimal) else value for key, value in fields.items()}
