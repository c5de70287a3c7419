"""The agent's answer: type, status and data against what the task expects (spec §1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec import Struct

from pytest_webeval.diagnostics.difference import build_explanation, differ
from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.agent_response import AgentResponse, parse_response
from pytest_webeval.evaluators.base import Evaluator, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import (
    EXTRA,
    MISSING,
    UNREADABLE,
    Assertion,
    Difference,
    EvaluatorResult,
    Status,
    list_failed,
)
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, ExpectedResponse, ResponseExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import Comparison, failed, passed, preview
from pytest_webeval.values.schema import ValueParser, to_plain_json
from pytest_webeval.values.string import StringValue


@dataclass(frozen=True, slots=True)
class ResponseEvaluator(Evaluator):
    """Evaluator for what the agent answered."""

    name: ClassVar[str] = RESPONSE_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """One assertion for the type, the status and the data. Raises `WebEvalError`."""
        config = expectation.read_as(ResponseExpectation)
        case.check_keys(expectation, ExpectedResponse.KEYS, "a response")
        answer = parse_response(case.run.response, case.rules, case.run.inputs.limits)
        for switch in sorted(answer.repairs):
            case.notice(switch, "agent_response")
        # Of several expectations of a task the first decides whether data count; another one decides for itself.
        kind = case.task.task_type if expectation in case.task.expectations else config.expected.task_type
        return _Check(self, config, case, answer, kind).run()


class _Check(Struct, frozen=True):
    evaluator: ResponseEvaluator
    expectation: ResponseExpectation
    case: Case
    answer: AgentResponse
    kind: str | None

    def run(self) -> EvaluatorResult:
        head = list(self._check_fields())
        data, expected_data, actual_data = self._check_data()
        expected = self.expectation.expected
        result = self.evaluator.result(
            [*head, *data],
            actual=to_plain_json(self.answer.parsed),
            normalized=self._normalize_response(to_plain_json(actual_data)),
            expected=_build_documented(expected.task_type, expected.status, to_plain_json(expected_data), None),
        )
        if result.status is not Status.FAILURE:
            return result
        compared = (expected_data, actual_data) if list_failed(data) else None
        explanation = self.case.explain(lambda: build_explanation(self._list_differences(compared)))
        return result.with_changes(explanation=explanation)

    def _check_fields(self) -> Iterator[Assertion]:
        fields = self.answer.fields
        if fields is None:
            yield self._fail_invalid_format()
            return
        expected = {"task_type": self.expectation.expected.task_type, "status": self.expectation.expected.status}
        if missing := sorted(expected.keys() - fields.keys()):
            yield failed("agent_response_keys_mismatch", f"missing keys: {', '.join(missing)}", self.answer.advice)
        if not self.expectation.has_data:
            yield failed("agent_response_keys_mismatch", "the task has no retrieved_data, but every response has it")
        if self.expectation.expected.has_details and "error_details" in fields:
            yield self._check_details(fields["error_details"])
        for name in sorted(expected.keys() & fields.keys()):
            yield from self._check_text(name, expected[name], fields[name])

    def _check_details(self, details: Any) -> Assertion:
        if not isinstance(details, str):
            raise EvaluationError(f"error_details is {preview(details)}, not a string @ agent_response.error_details")
        return failed("agent_response_keys_mismatch", "extra keys: error_details, which the task lists (Q36)")

    def _fail_invalid_format(self) -> Assertion:
        if self.answer.is_none:
            return failed("agent_response_none_mismatch", "expected a JSON object", self._absence)
        problem = f"got {preview(self.answer.parsed)}"
        return failed("agent_response_invalid_format", "expected a JSON object with task_type and status", problem)

    @property
    def _absence(self) -> str:
        return f"got {self.case.run.absence or 'an empty response'}"

    def _check_text(self, name: str, expected: str, actual: Any) -> Iterator[Assertion]:
        if not isinstance(actual, str):
            raise EvaluationError(f"{name} is {preview(actual)}, not a string @ agent_response.{name}")
        path = f"agent_response.{name}"
        if not actual:
            yield failed(f"{path}_none_mismatch", f"expected {expected!r}", "got an empty string")
            return
        yield from self._comparison.compare(*self._parse_texts(path, expected, actual), path)

    def _parse_texts(self, path: str, expected: str, actual: str) -> tuple[Any, Any]:
        expected_value = self._build_reader(path, strict=True).member(expected, None, path)
        return expected_value, self._build_reader(path, strict=False).member(actual, None, path)

    def _list_differences(self, data: tuple[Any, Any] | None) -> Iterator[Difference]:
        """Each place where the answer is not as expected; `data` are the values of both, None if they do not count."""
        from pytest_webeval.diagnostics.tree_diff import differences  # for failures alone

        fields, expected = self.answer.fields, self.expectation.expected
        texts = {"task_type": expected.task_type, "status": expected.status}
        if fields is None:
            kind = MISSING if self.answer.is_none else UNREADABLE
            yield differ("agent_response", kind, texts, self.answer.parsed)
            return
        for name, text in texts.items():
            if actual := fields.get(name):
                yield from differences(self._comparison, *self._parse_texts(name, text, actual), name)
            else:
                yield differ(name, MISSING, text, actual)
        if not self.expectation.has_data:
            yield differ("retrieved_data", EXTRA, None, fields.get("retrieved_data"))
        if expected.has_details and "error_details" in fields:
            yield differ("error_details", EXTRA, None, fields["error_details"])
        if data is not None:
            yield from differences(self._comparison, *data, "retrieved_data")

    def _check_data(self) -> tuple[list[Assertion], Any, Any]:
        expected, answered = self.expectation.expected.retrieved_data, self.answer.data
        if self.kind != "RETRIEVE" or self.answer.fields is None:
            return [], expected or None, answered
        if not expected and answered is None:
            return [passed("retrieved_data_match", "no data, as expected")], None, None
        if not expected:
            return [self._fail_unexpected(answered)], None, answered
        expected_items = self._build_reader("retrieved_data", strict=True).array(
            expected, self.expectation.results_schema
        )
        if answered is None:
            message = f"expected {preview(expected_items)}"
            return [failed("retrieved_data_missing_or_null", message, "got no data")], expected_items, None
        items = answered if isinstance(answered, list) else [answered]
        actual_items = self._build_reader("retrieved_data", strict=False).array(items, self.expectation.results_schema)
        return (
            list(self._comparison.compare(expected_items, actual_items, "retrieved_data")),
            expected_items,
            actual_items,
        )

    @property
    def _comparison(self) -> Comparison:
        return self.case.comparison(ordered=self.expectation.ordered)

    def _fail_unexpected(self, answered: Any) -> Assertion:
        if self.expectation.has_schema and self.expectation.results_schema.get("type") == "null":
            if self.case.rules.null_schema_fails:
                self.case.notice("null_schema_fails", "retrieved_data")
                return failed("retrieved_data_unexpected", "expected no data", f"got {preview(answered)}")
            raise EvaluationError(f"got the data {preview(answered)} where results_schema is null @ retrieved_data")
        return failed("retrieved_data_unexpected", "expected no data", f"got {preview(answered)}")

    def _build_reader(self, where: str, *, strict: bool) -> ValueParser:
        return self.case.tree_reader(where, strict=strict)

    def _normalize_response(self, data: Any) -> Any:
        fields = self.answer.fields
        if fields is None:
            return None
        task_type, status = (self._canonicalize(fields.get(name)) for name in ("task_type", "status"))
        return _build_documented(task_type, status, data, to_plain_json(fields.get("error_details")))

    def _canonicalize(self, raw: Any) -> Any:
        return StringValue.read(raw, self.case.actual_reading).to_json() if isinstance(raw, str) else to_plain_json(raw)


def _build_documented(task_type: Any, status: Any, data: Any, details: Any) -> dict[str, Any]:
    return {
        "action": task_type.lower() if isinstance(task_type, str) else task_type,
        "status": status.upper() if isinstance(status, str) else status,
        "results": data,
        "error_details": details,
    }
