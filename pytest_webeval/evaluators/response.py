"""The agent's answer: type, status and data against what the task expects (spec §1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Any
from typing import ClassVar

from pytest_webeval.errors import EvaluationError
from pytest_webeval.evaluators.agent_response import AgentResponse
from pytest_webeval.evaluators.agent_response import parse_response
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.base import silently
from pytest_webeval.evaluators.case import Case
from pytest_webeval.results import Assertion
from pytest_webeval.results import EvaluatorResult
from pytest_webeval.results import Status
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR
from pytest_webeval.tasks.expectations import ExpectedResponse
from pytest_webeval.tasks.expectations import ResponseExpectation
from pytest_webeval.tasks.task import Expectation
from pytest_webeval.values.comparison import Comparison
from pytest_webeval.values.comparison import failed
from pytest_webeval.values.comparison import passed
from pytest_webeval.values.comparison import preview
from pytest_webeval.values.schema import ValueParser
from pytest_webeval.values.schema import to_plain_json
from pytest_webeval.values.string import StringValue

if TYPE_CHECKING:
    from pytest_webeval.diagnostics.difference import Explanation


@dataclass(frozen=True, slots=True)
class ResponseEvaluator(Evaluator):
    """Evaluator for what the agent answered."""

    name: ClassVar[str] = RESPONSE_EVALUATOR

    @silently
    def evaluate(self, expectation: Expectation, case: Case) -> EvaluatorResult:
        """One assertion for the type, the status and the data. Raises `WebEvalError`."""
        wanted = expectation.read_as(ResponseExpectation)
        case.check_keys(expectation, ExpectedResponse.KEYS, "a response")
        answer = parse_response(case.run.response, case.rules, case.run.inputs.limits)
        for switch in sorted(answer.repairs):
            case.notice(switch, "agent_response")
        # Of several expectations of a task the first says whether data count; one from elsewhere speaks for itself.
        kind = case.task.task_type if expectation in case.task.expectations else wanted.expected.task_type
        return _Check(self, wanted, case, answer, kind).run()


@dataclass(frozen=True, slots=True)
class _Check:
    evaluator: ResponseEvaluator
    wanted: ResponseExpectation
    case: Case
    answer: AgentResponse
    kind: str | None

    def run(self) -> EvaluatorResult:
        head = list(self._head())
        data, expected_data, actual_data = self._data()
        expected = self.wanted.expected
        if any(one.status is not Status.SUCCESS for one in (*head, *data)):
            self.case.explain(lambda: self._explained(data, expected_data, actual_data))
        return self.evaluator.result(
            [*head, *data],
            actual=to_plain_json(self.answer.parsed),
            normalized=self._normalized(to_plain_json(actual_data)),
            expected=_documented(expected.task_type, expected.status, to_plain_json(expected_data), None),
        )

    def _head(self) -> Iterator[Assertion]:
        fields = self.answer.fields
        if fields is None:
            yield self._no_object()
            return
        expected = {"task_type": self.wanted.expected.task_type, "status": self.wanted.expected.status}
        if missing := sorted(expected.keys() - fields.keys()):
            yield failed("agent_response_keys_mismatch", f"missing keys: {', '.join(missing)}", self.answer.advice)
        if not self.wanted.expected.has_data:
            yield failed("agent_response_keys_mismatch", "the task expects no retrieved_data, which every response has")
        if self.wanted.expected.has_details and "error_details" in fields:
            yield self._details(fields["error_details"])
        for name in sorted(expected.keys() & fields.keys()):
            yield from self._text(name, expected[name], fields[name])

    def _details(self, found: Any) -> Assertion:
        if not isinstance(found, str):
            raise EvaluationError(f"error_details is {preview(found)}, not a text @ agent_response.error_details")
        return failed("agent_response_keys_mismatch", "extra keys: error_details, which the task lists (Q36)")

    def _no_object(self) -> Assertion:
        if self.answer.is_none:
            return failed("agent_response_none_mismatch", "expected a JSON object", "got an empty response")
        found = f"got {preview(self.answer.parsed)}"
        return failed("agent_response_invalid_format", "expected a JSON object with task_type and status", found)

    def _text(self, name: str, expected: str, actual: Any) -> Iterator[Assertion]:
        if not isinstance(actual, str):
            raise EvaluationError(f"{name} is {preview(actual)}, not a text @ agent_response.{name}")
        path = f"agent_response.{name}"
        if not actual:
            yield failed(f"{path}_none_mismatch", f"expected {expected!r}", "got an empty text")
            return
        yield from self._comparison.compare(*self._texts(path, expected, actual), path)

    def _texts(self, path: str, expected: str, actual: str) -> tuple[Any, Any]:
        wanted = self._reader(path, strict=True).member(expected, None, path)
        return wanted, self._reader(path, strict=False).member(actual, None, path)

    def _explained(self, data: list[Assertion], expected: Any, actual: Any) -> Explanation:
        from pytest_webeval.diagnostics.difference import Explanation
        from pytest_webeval.evaluators.response_diff import ResponseDiff

        is_wrong = any(one.status is not Status.SUCCESS for one in data)
        compared = (expected, actual) if is_wrong else None
        found = ResponseDiff(self.wanted.expected, self.answer, self._texts, self._comparison, compared)
        return Explanation(found.all())

    def _data(self) -> tuple[list[Assertion], Any, Any]:
        expected, found = self.wanted.expected.retrieved_data, self.answer.data
        if self.kind != "RETRIEVE" or self.answer.fields is None:
            return [], expected or None, found
        if not expected and found is None:
            return [passed("retrieved_data_match", "no data, as expected")], None, None
        if not expected:
            return [self._unexpected(found)], None, found
        wanted = self._reader("retrieved_data", strict=True).array(expected, self.wanted.results_schema)
        if found is None:
            told = f"expected {preview(wanted)}"
            return [failed("retrieved_data_missing_or_null", told, "got no data")], wanted, None
        items = found if isinstance(found, list) else [found]
        actual = self._reader("retrieved_data", strict=False).array(items, self.wanted.results_schema)
        return list(self._comparison.compare(wanted, actual, "retrieved_data")), wanted, actual

    @property
    def _comparison(self) -> Comparison:
        return self.case.comparison(ordered=self.wanted.ordered)

    def _unexpected(self, found: Any) -> Assertion:
        if self.wanted.results_schema.get("type") == "null":
            if self.case.rules.null_schema_fails:
                self.case.notice("null_schema_fails", "retrieved_data")
                return failed("retrieved_data_unexpected", "expected no data", f"got {preview(found)}")
            raise EvaluationError(f"got the data {preview(found)} where results_schema is null @ retrieved_data")
        return failed("retrieved_data_unexpected", "expected no data", f"got {preview(found)}")

    def _reader(self, where: str, *, strict: bool) -> ValueParser:
        return self.case.tree_reader(where, strict=strict)

    def _normalized(self, data: Any) -> Any:
        fields = self.answer.fields
        if fields is None:
            return None
        task_type, status = (self._canonical(fields.get(name)) for name in ("task_type", "status"))
        return _documented(task_type, status, data, to_plain_json(fields.get("error_details")))

    def _canonical(self, raw: Any) -> Any:
        return StringValue.read(raw, self.case.actual_reading).to_json() if isinstance(raw, str) else to_plain_json(raw)


def _documented(task_type: Any, status: Any, data: Any, details: Any) -> dict[str, Any]:
    return {
        "action": task_type.lower() if isinstance(task_type, str) else task_type,
        "status": status.upper() if isinstance(status, str) else status,
        "results": data,
        "error_details": details,
    }
