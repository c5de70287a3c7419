"""The answer file: which file of a directory it is, and what it says (`fara_webeval.md` §2.2)."""

from __future__ import annotations

import codecs
import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from pytest_webeval.recordings.trajectory.step import NO_ANSWER, UnreadableTrajectory
from pytest_webeval.safety.text import list_first
from pytest_webeval.safety.warning_log import WarningLog

_REQUIRED = ("prompt_tokens", "completion_tokens")
_OPTIONAL = ("reasoning_tokens", "num_calls")
_MOST = 2**53  # beyond it some JSON readers round integers


class Usage(Struct, frozen=True):
    """Tokens and calls of a component, or of several. None is unknown, which is not zero."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int | None = None
    num_calls: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total_tokens(self) -> int:
        """Prompt and completion together; reasoning is a part of the completion."""
        return self.prompt_tokens + self.completion_tokens


def total_usage(components: Mapping[str, Usage]) -> Usage:
    """The sum over components. What is unknown of one of them is unknown of the sum."""
    each = list(components.values())
    return Usage(
        sum(usage.prompt_tokens for usage in each),
        sum(usage.completion_tokens for usage in each),
        _sum(usage.reasoning_tokens for usage in each),
        _sum(usage.num_calls for usage in each),
    )


def read_usage(raw: Mapping[str, Any], warnings: WarningLog) -> dict[str, Usage]:
    """The usage of each component with valid numbers; a warning for each excluded one."""
    usages = {}
    for component, fields in raw.items():
        try:
            usages[component] = _parse_usage(fields)
        except ValueError as error:
            warnings.add(f"token_usage of {component!r:.80} is excluded from the sum: {error}")
    return usages


def _parse_usage(fields: object) -> Usage:
    if not isinstance(fields, dict):
        raise ValueError(f"it is {reprlib.repr(fields):.80}; expected an object with {' and '.join(_REQUIRED)}")
    prompt, completion = (_parse_count(fields, key) for key in _REQUIRED)
    reasoning, calls = (None if fields.get(key) is None else _parse_count(fields, key) for key in _OPTIONAL)
    extra = {key: value for key, value in fields.items() if key not in (*_REQUIRED, *_OPTIONAL)}
    return Usage(prompt, completion, reasoning, calls or None, extra)  # zero calls used no tokens: not counted (Q45)


def _parse_count(fields: Mapping[str, object], key: str) -> int:
    raw = fields.get(key)
    count = int(raw) if isinstance(raw, float) and raw.is_integer() else raw
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MOST:
        problem = f"{key} is {reprlib.repr(raw):.80}" if key in fields else f"it has no {key}"
        raise ValueError(f"{problem}; expected a non-negative integer")
    return count


def _sum(counts: Iterable[int | None]) -> int | None:
    addends = list(counts)
    return sum(count for count in addends if count is not None) if addends and None not in addends else None


_SUFFIX = "_answer.json"
_FULL_SUFFIX = "_final_answer.json"
_BYTE_ORDER_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAX_LISTED = 5  # names in a message
_REPAIR_HINT = "re-record the run, or fix the file"

# What a field must be if it is there at all; env_state_json may be anything.
_EXPECTED_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "final_answer": ((str, type(None)), "a string"),
    "env_state_json": ((object,), "any JSON"),
    "env_state_raw": ((str, type(None)), "a string"),
    "screenshots": ((list,), "a list of file names"),
    "is_aborted": ((bool,), "a boolean"),
    "is_rel_paths": ((bool,), "a boolean"),
    "token_usage": ((dict, type(None)), "an object"),
}
_KINDS = {type(None): "null", bool: "a boolean", str: "a string", list: "a list", dict: "an object"}


class FinalAnswer(Struct, frozen=True):
    """What an agent answered, and what was noted when it stopped and is read."""

    name: str
    final_answer: str = NO_ANSWER
    screenshots: tuple[str, ...] = ()
    is_aborted: bool = False
    is_rel_paths: bool = True
    token_usage: Mapping[str, Usage] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def is_answered(self) -> bool:
        """Whether the agent stopped by itself: an empty answer is one."""
        return self.final_answer != NO_ANSWER


def answer_name(task_id: str, names: Sequence[str]) -> str:
    """The only answer file among the names in a directory.

    Raises `UnreadableTrajectory` if there is none, or if there are several: any of them may be one that the agent added
    (F4). Names that differ only in case count as one more, as they do where the file system ignores case.
    """
    exact = f"{task_id}{_FULL_SUFFIX}"
    # Files of the operating system, such as ._7_final_answer.json, begin with a dot.
    others = {name for name in names if name.lower().endswith(_SUFFIX) and not name.startswith(".")}
    candidates = sorted(others.union(name for name in names if name == exact))
    if len(candidates) > 1:
        problem = f"{len(candidates)} answer files: {_format_names(candidates)}"
        advice = "keep only the one that the recorder wrote, or record the run again"
        raise UnreadableTrajectory("answer_ambiguous", f"{problem}; {advice}")
    if candidates and candidates[0].endswith(_SUFFIX):
        return candidates[0]
    problem = f"missing answer file: neither {exact!r:.80} nor another *{_SUFFIX}"
    raise UnreadableTrajectory(
        "answer_missing", f"{problem}; the agent crashed, or the copy is incomplete: re-record the run"
    )


def name_warning(task_id: str, name: str) -> str | None:
    """The warning about an answer file that goes by another task's name than its directory (§1.3-7)."""
    other = name.removesuffix(_FULL_SUFFIX if name.endswith(_FULL_SUFFIX) else _SUFFIX)
    if other in (task_id, "final", ""):
        return None
    return f"{name}: the directory name {task_id!r:.80} is used as the task id; check whether it was renamed"


def read_answer(name: str, content: bytes) -> FinalAnswer:
    """The answer in the bytes of a file.

    Raises `UnreadableTrajectory` if it is not JSON or a field is of a wrong type.
    """
    fields = _parse_object(name, content)
    for key, (types, expected) in _EXPECTED_TYPES.items():
        if key in fields and not isinstance(fields[key], types):
            raise _wrong_type_error(name, fields[key], expected, key)
    for position, entry in enumerate(fields.get("screenshots", ())):
        if not isinstance(entry, str):
            raise _wrong_type_error(name, entry, "a file name", f"screenshots[{position}]")
    warnings = WarningLog(name)
    if content.startswith(_BYTE_ORDER_MARKS):
        warnings.add("starts with a byte order mark, which is skipped")
    if fields.get("final_answer", NO_ANSWER) is None:
        warnings.add(f"final_answer is null, which is read as {NO_ANSWER}")
    if unknown := sorted(fields.keys() - _EXPECTED_TYPES.keys()):
        warnings.add(f"unknown keys, not used: {_format_names(unknown)}")
    final_answer = fields.get("final_answer", NO_ANSWER)
    return FinalAnswer(
        name=name,
        final_answer=NO_ANSWER if final_answer is None else final_answer,
        screenshots=tuple(fields.get("screenshots", ())),
        is_aborted=fields.get("is_aborted", False),
        is_rel_paths=fields.get("is_rel_paths", True),
        token_usage=read_usage(fields.get("token_usage") or {}, warnings),
        warnings=warnings.texts,
    )


def _parse_object(name: str, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UnreadableTrajectory("answer_invalid", f"cannot parse {name} as JSON: {error}; {_REPAIR_HINT}") from error
    if not isinstance(document, dict):
        raise UnreadableTrajectory(
            "answer_invalid",
            f"{name} is {_format_kind(document)}; expected an object with final_answer; {_REPAIR_HINT}",
        )
    return document


def _wrong_type_error(name: str, raw: object, expected: str, where: str) -> UnreadableTrajectory:
    return UnreadableTrajectory(
        "answer_invalid", f"{name} has {_format_kind(raw)} instead of {expected}; {_REPAIR_HINT} @ {where}"
    )


def _format_kind(raw: object) -> str:
    return _KINDS.get(type(raw), "a number")


def _format_names(names: Sequence[str]) -> str:
    return list_first(names, _MAX_LISTED, lambda name: f"{name!r:.80}")
