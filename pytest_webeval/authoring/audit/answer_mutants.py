"""Mutants of an answer: the same in other spellings, and other answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from pytest_webeval.authoring.audit.attempts import Attempt, Trial
from pytest_webeval.authoring.audit.baselines import DATA, STATUS
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.values import (
    Path,
    Spelling,
    carries_meaning,
    find_kind,
    format_path,
    guess_kind,
    list_equal,
    list_other,
    list_values,
    replace_value,
)
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.safety.text import truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, STATUSES, TASK_TYPES, ResponseExpectation

WRONG = "wrong_answer_passes"
MOST_LEAVES = 40  # values of one answer that are changed
MOST_BYTES = 2**20  # of an answer that is changed
PLAIN_KINDS = ("number", "integer", "currency", "boolean", "date", "duration", "distance")  # quoted in findings


class Leaf(Struct, frozen=True):
    """A value in an answer: where it stands, and the type that the schema gives it."""

    path: Path
    value: Any
    kind: str


def list_answer_mutants(examiner: Examiner, base: Attempt) -> Iterator[Trial]:
    """Mutants of the answer of an attempt that passes."""
    expectation = next((each for each in examiner.checked if each.evaluator == RESPONSE_EVALUATOR), None)
    if expectation is None or len(base.answer) > MOST_BYTES:
        return
    try:
        config = expectation.read_as(ResponseExpectation)
        answer = parse_response(base.answer, examiner.rules)
    except WebEvalError:
        return
    if answer.fields is not None:
        yield from _AnswerMutants(examiner, base, dict(answer.fields), answer.data, config).list_trials()


class _AnswerMutants(Struct, frozen=True, dict=True):
    examiner: Examiner
    base: Attempt
    fields: dict[str, Any]
    data: Any
    config: ResponseExpectation

    @cached_property
    def listed(self) -> set[str]:
        """All values of the expected answer as texts, alternatives among them."""
        return {_fold(value) for _, value in list_values(self.config.expected.retrieved_data or [])}

    def list_trials(self) -> Iterator[Trial]:
        expected = self.config.expected
        for status in STATUSES:
            if status != expected.status:
                yield self._trial(f"status {status}", WRONG, STATUS, {STATUS: status})
        for task_type in TASK_TYPES:
            if task_type != expected.task_type:
                yield self._trial(f"type {task_type}", WRONG, "task_type", {"task_type": task_type})
        if self.examiner.task.task_type == "RETRIEVE" and self.data is not None and expected.retrieved_data:
            data = self.data if isinstance(self.data, list) else [self.data]
            for leaf in list_leaves(data, self.config.results_schema):
                yield from self._change_leaf(data, leaf)
            yield from self._change_items(data)

    def _trial(self, name: str, kind: str, field: str, changes: Mapping[str, Any], detail: str = "") -> Trial:
        attempt = Attempt(json.dumps({**self.fields, **changes}).encode(), self.base.trace)
        return Trial(name, attempt, kind, RESPONSE_EVALUATOR, field, detail)

    def _change_leaf(self, data: list[Any], leaf: Leaf) -> Iterator[Trial]:
        """Other spellings and other values. They are quoted if the task has them, or their type has no secrets."""
        is_listed = leaf.kind in PLAIN_KINDS or _fold(leaf.value) in self.listed
        may_quote = is_listed or carries_meaning(leaf.value, self.examiner.task)

        def spell(spelling: Spelling, kind: str, detail: str) -> Trial:
            changes = {DATA: replace_value(data, leaf.path, spelling.value)}
            field = f"{DATA}{format_path(leaf.path)}"
            return self._trial(spelling.name, kind, field, changes, detail if may_quote else "")

        key = leaf.path[-1]
        topic = (key.replace("_", " ") if isinstance(key, str) else "") or self.examiner.task.intent
        for spelling in list_equal(leaf.value, guess_kind(leaf.value, leaf.kind, topic)):
            detail = f"{_shorten(leaf.value)} is written as {_shorten(spelling.value)}"
            yield spell(spelling, "equal_answer_fails", detail)
        for spelling in list_other(leaf.value, leaf.kind):
            if _fold(spelling.value) not in self.listed:  # as another right answer
                detail = f"{_shorten(spelling.value)} passes for {_shorten(leaf.value)}"
                yield spell(spelling, WRONG, detail)

    def _change_items(self, data: list[Any]) -> Iterator[Trial]:
        """Items added, left out and in another order."""
        extra = [data[-1]]
        for leaf in list_leaves(extra, self.config.results_schema):
            extra = replace_value(extra, leaf.path, list_other(leaf.value, leaf.kind)[0].value)
        yield self._trial("an item added", WRONG, DATA, {DATA: [*data, *extra]})
        yield self._trial("no data", WRONG, DATA, {DATA: None})
        if len(data) < 2:
            return
        yield self._trial("the last item removed", WRONG, DATA, {DATA: data[:-1]})
        reordered = list(reversed(data))
        if reordered != data:
            kind = WRONG if self.config.ordered else "unordered_answer_fails"
            yield self._trial("another order", kind, DATA, {DATA: reordered})


def _fold(value: Any) -> str:
    """A value as a text, which is the same for `5`, `5.0` and `"5"`."""
    return str(value).strip().lower().removesuffix(".0")


def _shorten(value: Any) -> str:
    return truncate(json.dumps(value, ensure_ascii=False, default=str), 60)


def list_leaves(data: list[Any], schema: Mapping[str, Any]) -> list[Leaf]:
    """The first values in an answer, each with the type that the schema gives it."""
    leaves: list[Leaf] = []
    for path, value in list_values(data):
        part = schema
        for step in path:
            for key in ("items",) if isinstance(step, int) else ("properties", step):
                member = part.get(key)
                part = member if isinstance(member, dict) else {}
        if value is not None:
            leaves.append(Leaf(path, value, find_kind(part)))
        if len(leaves) == MOST_LEAVES:
            break
    return leaves
