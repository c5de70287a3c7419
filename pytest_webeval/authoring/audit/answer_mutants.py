"""Mutants of an answer: the same in other spellings, and other answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.authoring.audit.attempts import Attempt
from pytest_webeval.authoring.audit.baselines import DATA, STATUS
from pytest_webeval.authoring.audit.examiner import Examiner
from pytest_webeval.authoring.audit.findings import Demand, Trial
from pytest_webeval.authoring.audit.json_paths import Path, format_path, list_values, replace_value
from pytest_webeval.authoring.audit.meaning import carries_meaning
from pytest_webeval.authoring.audit.spellings import Spelling, find_kind, guess_kind, list_equal, list_other
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.safety.text import truncate
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, STATUSES, TASK_TYPES, ResponseExpectation

MOST_LEAVES = 40  # values of one answer that are changed
MOST_BYTES = 2**20  # of an answer that is changed
PLAIN_KINDS = ("number", "integer", "currency", "boolean", "date", "duration", "distance")  # quoted in findings


class Leaf(Struct, frozen=True):
    """A value in an answer: where it stands, and the type that the schema gives it."""

    path: Path
    value: Any
    kind: str

    @property
    def name(self) -> str:
        """The key under which it stands in words, empty for an item of a list."""
        key = self.path[-1]
        return key.replace("_", " ") if isinstance(key, str) else ""

    @property
    def field(self) -> str:
        """The place as messages write it: `retrieved_data[0].price`."""
        return f"{DATA}{format_path(self.path)}"


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
        for status in STATUSES:
            if status != self.config.expected.status:
                yield self._trial(f"status {status}", Demand.FAIL, "wrong_answer_passes", STATUS, status=status)
        for kind in TASK_TYPES:
            if kind != self.config.expected.task_type:
                yield self._trial(f"type {kind}", Demand.FAIL, "wrong_answer_passes", "task_type", task_type=kind)
        if self.examiner.task.task_type == "RETRIEVE" and self.data is not None and self.config.expected.retrieved_data:
            yield from self._list_data_mutants(self.data if isinstance(self.data, list) else [self.data])

    def _trial(self, name: str, demand: Demand, kind: str, field: str, **changes: Any) -> Trial:
        answer = json.dumps({**self.fields, **changes}).encode()
        attempt = Attempt(answer, self.base.trace)
        return Trial(name, attempt, demand, kind, RESPONSE_EVALUATOR, field)

    def _list_data_mutants(self, data: list[Any]) -> Iterator[Trial]:
        for leaf in list_leaves(data, self.config.results_schema):
            yield from self._change_leaf(data, leaf)
        yield from self._change_items(data)

    def _change_leaf(self, data: list[Any], leaf: Leaf) -> Iterator[Trial]:
        kind = guess_kind(leaf.value, leaf.kind, leaf.name or self.examiner.task.intent)
        may_quote = self._may_quote(leaf)
        for spelling in list_equal(leaf.value, kind):
            detail = f"{_short(leaf.value)} is written as {_short(spelling.value)}" if may_quote else ""
            trial = self._spell(data, leaf, spelling, Demand.PASS, "equal_answer_fails")
            yield replace(trial, detail=detail)
        for spelling in list_other(leaf.value, leaf.kind):
            if _fold(spelling.value) not in self.listed:  # as another right answer
                detail = f"{_short(spelling.value)} passes for {_short(leaf.value)}" if may_quote else ""
                trial = self._spell(data, leaf, spelling, Demand.FAIL, "wrong_answer_passes")
                yield replace(trial, detail=detail)

    def _may_quote(self, leaf: Leaf) -> bool:
        """Whether the task has a value that was recorded, or its type has no room for a secret."""
        is_listed = leaf.kind in PLAIN_KINDS or _fold(leaf.value) in self.listed
        return is_listed or carries_meaning(leaf.value, self.examiner.task)

    def _spell(self, data: list[Any], leaf: Leaf, spelling: Spelling, demand: Demand, kind: str) -> Trial:
        changed = replace_value(data, leaf.path, spelling.value)
        return self._trial(spelling.name, demand, kind, leaf.field, **{DATA: changed})

    def _change_items(self, data: list[Any]) -> Iterator[Trial]:
        """Items added, left out and in another order."""
        extra = _change_any(data[-1], self.config.results_schema)
        yield self._trial("an item added", Demand.FAIL, "wrong_answer_passes", DATA, **{DATA: [*data, extra]})
        yield self._trial("no data", Demand.FAIL, "wrong_answer_passes", DATA, **{DATA: None})
        if len(data) < 2:
            return
        yield self._trial("the last item removed", Demand.FAIL, "wrong_answer_passes", DATA, **{DATA: data[:-1]})
        reordered = list(reversed(data))
        if reordered != data:
            demand, kind = Demand.PASS, "unordered_answer_fails"
            if self.config.ordered:
                demand, kind = Demand.FAIL, "wrong_answer_passes"
            yield self._trial("another order", demand, kind, DATA, **{DATA: reordered})


def _fold(value: Any) -> str:
    """A value as a text, which is the same for `5`, `5.0` and `"5"`."""
    return str(value).strip().lower().removesuffix(".0")


def _short(value: Any) -> str:
    return truncate(json.dumps(value, ensure_ascii=False, default=str), 60)


def list_leaves(data: list[Any], schema: Mapping[str, Any]) -> list[Leaf]:
    """The first values in an answer, each with the type that the schema gives it."""
    leaves = (
        Leaf(path, value, find_kind(_find_schema(schema, path)))
        for path, value in list_values(data)
        if value is not None
    )
    return list(islice(leaves, MOST_LEAVES))


def _find_schema(schema: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """What a schema says about the value at a path."""
    for step in path:
        schema = _member(schema, "items") if isinstance(step, int) else _member(_member(schema, "properties"), step)
    return schema


def _member(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    member = schema.get(name)
    return member if isinstance(member, dict) else {}


def _change_any(item: Any, schema: Mapping[str, Any]) -> Any:
    """A copy of an item of an answer in which each value is another."""
    changed = [item]
    for leaf in list_leaves([item], schema):
        changed = replace_value(changed, leaf.path, list_other(leaf.value, leaf.kind)[0].value)
    return changed[0]
