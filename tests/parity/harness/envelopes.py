"""Answers whose type, status or keys are written otherwise, in another dialect, or missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_webeval.tasks.expectations import STATUSES, TASK_TYPES
from tests.parity.harness.choosing import drawn
from tests.parity.harness.drafts import Draft
from tests.parity.harness.recording import DIALECT, Recording

Answer = Mapping[str, Any]
Edits = Mapping[str, Callable[[Answer], Any]]
COUNT, DIALECTS = 9, 2

# What is set in place of the value of `status` or of `task_type`.
_VALUES: Mapping[str, Callable[[str], Any]] = {
    "lower case": str.lower,
    "title case": str.title,
    "blanks around": lambda text: f" {text}\n",
    "full stop": lambda text: f"{text}.",
    "quotes": lambda text: f"'{text}'",
    "blanks for underscores": lambda text: text.replace("_", " "),
    "hyphens for underscores": lambda text: text.replace("_", "-"),
    "without _ERROR": lambda text: text.removesuffix("_ERROR"),
    "with _ERROR": lambda text: f"{text}_ERROR",
    "trade mark": lambda text: f"{text}™",
    "zero-width blank": lambda text: f"{text[:3]}\u200b{text[3:]}",
    "full width": lambda text: "".join(chr(ord(letter) + 0xFEE0) if "!" < letter < "~" else letter for letter in text),
    "truncated": lambda text: text[:-1],
    "a remark": lambda text: f"{text} (done)",
    "null": lambda _: None,
    "number": lambda _: 200,
    "true": lambda _: True,
    "false": lambda _: False,
    "empty text": lambda _: "",
    "blank": lambda _: " ",
    "in a list": lambda text: [text],
    "in an object": lambda text: {"value": text},
    "empty list": lambda _: [],
    "unknown word": lambda _: "DONE",
    "other key's word": lambda text: "SUCCESS" if text in TASK_TYPES else "RETRIEVE",
}


def _set(**members: Any) -> Callable[[Answer], Answer]:
    return lambda answer: {**answer, **members}


def _without(*keys: str) -> Callable[[Answer], Answer]:
    return lambda answer: {key: value for key, value in answer.items() if key not in keys}


def _renamed(**names: str) -> Callable[[Answer], Answer]:
    return lambda answer: {names.get(key, key): value for key, value in answer.items()}


def _written(key: str, spell: Callable[[str], Any]) -> Callable[[Answer], Answer]:
    return lambda answer: {**answer, key: spell(answer[key])}


ENVELOPES: Edits = {
    **{f"status {status}": _set(status=status) for status in STATUSES},
    **{f"type {name}": _set(task_type=name) for name in TASK_TYPES},
    **{f"{key} {name}": _written(key, spell) for key in ("status", "task_type") for name, spell in _VALUES.items()},
    **{f"without {key}": _without(key) for key in ("status", "task_type", "retrieved_data", "error_details")},
    "only the data": _without("status", "task_type", "error_details"),
    "only type and status": _without("retrieved_data", "error_details"),
    "legacy type": _renamed(task_type="performed_operation"),
    "legacy type in lower case": lambda answer: {
        **_without("task_type")(answer),
        "performed_operation": answer["task_type"].lower(),
    },
    "both types": lambda answer: {**answer, "performed_operation": answer["task_type"]},
    "both types, legacy wrong": _set(performed_operation="READ"),
    "both types, new wrong": lambda answer: {**answer, "performed_operation": answer["task_type"], "task_type": "READ"},
    "both types, new null": lambda answer: {**answer, "performed_operation": answer["task_type"], "task_type": None},
    "both types, new empty": lambda answer: {**answer, "performed_operation": answer["task_type"], "task_type": ""},
    "keys in capitals": lambda answer: {key.upper(): value for key, value in answer.items()},
    "keys in title case": lambda answer: {key.title(): value for key, value in answer.items()},
    "keys with blanks": lambda answer: {f" {key} ": value for key, value in answer.items()},
    "keys with hyphens": lambda answer: {key.replace("_", "-"): value for key, value in answer.items()},
    "camel-case keys": _renamed(task_type="taskType", retrieved_data="retrievedData", error_details="errorDetails"),
    "keys more": _set(reasoning="looked it up", confidence=0.9, steps=[1, 2]),
    "null keys more": _set(reasoning=None),
    "an empty key more": lambda answer: {**answer, "": None},
    "details as text": _set(error_details="nothing of note"),
    "details as list": _set(error_details=["a", "b"]),
    "details as object": _set(error_details={"code": 404}),
    "other order of keys": lambda answer: dict(reversed(answer.items())),
    "under a key": lambda answer: {"agent_response": answer},
    "in a list": lambda answer: [answer],
    "twice in a list": lambda answer: [answer, answer],
    "only the list": lambda answer: answer["retrieved_data"],
    "type as type": _renamed(task_type="type"),
    "data as data": _renamed(retrieved_data="data"),
    "data as answer": _renamed(retrieved_data="answer"),
}
DIALECT_EDITS: Edits = {
    "documented": lambda answer: {**_documented(answer), "action": answer["task_type"].lower()},
    "documented in capitals": lambda answer: {**_documented(answer), "action": answer["task_type"]},
    "action with new data": _renamed(task_type="action"),
    "new type with results": _renamed(retrieved_data="results"),
    "documented, wrong action": lambda answer: {**_documented(answer), "action": "read"},
    "documented, no results": lambda answer: {**_documented(answer), "action": answer["task_type"], "results": None},
    "documented, results without list": lambda answer: {
        **_documented(answer),
        "action": answer["task_type"],
        "results": (answer["retrieved_data"] or [None])[0],
    },
    "both dialects": lambda answer: {**answer, **_documented(answer), "action": answer["task_type"]},
    "both dialects, results wrong": lambda answer: {**answer, "action": answer["task_type"], "results": ["other"]},
    "both dialects, data null": lambda answer: {**answer, **_documented(answer), "retrieved_data": None},
}


def _documented(answer: Answer) -> Answer:
    return {"action": "", "status": answer["status"], "results": answer["retrieved_data"], "error_details": None}


def envelopes(draft: Draft) -> Iterator[Recording]:
    """The expected data under other keys and beside other values."""
    for name, edit in drawn(ENVELOPES.items(), COUNT, draft.task["task_id"], "envelope"):
        answer = edit(draft.answer)
        if answer != draft.answer or list(answer) != list(draft.answer):
            yield replace(draft, answer=answer).recording(f"answer {name}")
    for name, edit in drawn(DIALECT_EDITS.items(), DIALECTS, draft.task["task_id"], "dialect"):
        yield replace(draft, answer=edit(draft.answer)).recording(f"answer {name}", DIALECT)
