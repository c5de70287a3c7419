"""The agent's answer: type, status and data against what the task expects (spec §1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec import Struct

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.agent_response import AgentResponse, parse_response
from pytest_webeval.evaluators.base import Evaluator, check_keys, silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.readers import actual_reading, build_comparison, build_reader
from pytest_webeval.results import (
    EXTRA,
    MISSING,
    UNREADABLE,
    Assertion,
    Difference,
    EvaluatorResult,
    Explanation,
    list_failed,
)
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, ExpectedResponse, ResponseExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import Comparison, failed, passed, preview
from pytest_webeval.values.schema import to_plain_json
from pytest_webeval.values.string import StringValue


@dataclass(frozen=True, slots=True)
class ResponseEvaluator(Evaluator):
    """Evaluator for what the agent answered."""

    name: ClassVar[str] = RESPONSE_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """One assertion for the type, the status and the data. Raises `WebEvalError`."""
        config = expectation.read_as(ResponseExpectation)
        check_keys(case, expectation, ExpectedResponse.KEYS, "a response")
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
        compared = (expected_data, actual_data) if list_failed(data) else None
        return self.case.explain(result, lambda: self._explain(compared))

    def _check_fields(self) -> Iterator[Assertion]:
        fields = self.answer.fields
        if self.answer.is_none:
            absence = self.case.run.absence or "an empty response"
            yield failed("agent_response_none_mismatch", "expected a JSON object", f"got {absence}")
            return
        if fields is None:
            message = "expected a JSON object with task_type and status"
            yield failed("agent_response_invalid_format", message, f"got {preview(self.answer.parsed)}")
            return
        expected = {"task_type": self.expectation.expected.task_type, "status": self.expectation.expected.status}
        if missing := sorted(expected.keys() - fields.keys()):
            yield failed("agent_response_keys_mismatch", f"missing keys: {', '.join(missing)}", self.answer.advice)
        if not self.expectation.has_data:
            yield failed("agent_response_keys_mismatch", "the task has no retrieved_data, but every response has it")
        if self.expectation.expected.has_details and "error_details" in fields:
            if not isinstance(details := fields["error_details"], str):
                problem = f"error_details is {preview(details)}, not a string"
                raise EvaluationError(f"{problem} @ agent_response.error_details")
            yield failed("agent_response_keys_mismatch", "extra keys: error_details, which the task lists (Q36)")
        for name in sorted(expected.keys() & fields.keys()):
            yield from self._check_text(name, expected[name], fields[name])

    def _check_text(self, name: str, expected: str, actual: Any) -> Iterator[Assertion]:
        if not isinstance(actual, str):
            raise EvaluationError(f"{name} is {preview(actual)}, not a string @ agent_response.{name}")
        path = f"agent_response.{name}"
        if not actual:
            yield failed(f"{path}_none_mismatch", f"expected {expected!r}", "got an empty string")
            return
        yield from self._comparison.compare(*self._parse_texts(path, expected, actual), path)

    def _parse_texts(self, path: str, expected: str, actual: str) -> tuple[Any, Any]:
        expected_value = build_reader(self.case, path, strict=True).member(expected, None, path)
        return expected_value, build_reader(self.case, path, strict=False).member(actual, None, path)

    def _explain(self, data: tuple[Any, Any] | None) -> Explanation:
        from pytest_webeval.diagnostics.difference import build_explanation  # for failures alone

        return build_explanation(self._list_differences(data))

    def _list_differences(self, data: tuple[Any, Any] | None) -> Iterator[Difference]:
        """Each place where the answer is not as expected; `data` are the values of both, None if they do not count."""
        from pytest_webeval.diagnostics.difference import differ, differences

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
        path, schema, case = "retrieved_data", self.expectation.results_schema, self.case
        expected, answered = self.expectation.expected.retrieved_data, self.answer.data
        if self.kind != "RETRIEVE" or self.answer.fields is None:
            return [], expected or None, answered
        if not expected and answered is None:
            return [passed(f"{path}_match", "no data, as expected")], None, None
        if not expected:
            if self.expectation.has_schema and schema.get("type") == "null":
                if not case.rules.null_schema_fails:
                    raise EvaluationError(f"got the data {preview(answered)} where results_schema is null @ {path}")
                case.notice("null_schema_fails", path)
            return [failed(f"{path}_unexpected", "expected no data", f"got {preview(answered)}")], None, answered
        expected_items = build_reader(case, path, strict=True).array(expected, schema)
        if answered is None:
            message = f"expected {preview(expected_items)}"
            return [failed(f"{path}_missing_or_null", message, "got no data")], expected_items, None
        items = answered if isinstance(answered, list) else [answered]
        actual_items = build_reader(case, path, strict=False).array(items, schema)
        return list(self._comparison.compare(expected_items, actual_items, path)), expected_items, actual_items

    @property
    def _comparison(self) -> Comparison:
        return build_comparison(self.case, ordered=self.expectation.ordered)

    def _normalize_response(self, data: Any) -> Any:
        fields, context = self.answer.fields, actual_reading(self.case)
        if fields is None:
            return None
        texts = (fields.get(name) for name in ("task_type", "status"))
        task_type, status = (
            StringValue.read(text, context).to_json() if isinstance(text, str) else to_plain_json(text)
            for text in texts
        )
        return _build_documented(task_type, status, data, to_plain_json(fields.get("error_details")))


def _build_documented(task_type: Any, status: Any, data: Any, details: Any) -> dict[str, Any]:
    return {
        "action": task_type.lower() if isinstance(task_type, str) else task_type,
        "status": status.upper() if isinstance(status, str) else status,
        "results": data,
        "error_details": details,
    }
