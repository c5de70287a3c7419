"""What is wrong with an answer: its type, its status, and each datum that is missing, extra or different."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from pytest_webeval.diagnostics.difference import EXTRA, MISSING, UNREADABLE, Difference
from pytest_webeval.diagnostics.tree_diff import differences
from pytest_webeval.evaluators.agent_response import AgentResponse
from pytest_webeval.tasks.expectations import ResponseExpectation
from pytest_webeval.values.comparison import Comparison

DATA = "retrieved_data"
ReadTexts = Callable[[str, str, str], tuple[Any, Any]]  # name, expected text, actual text -> values


class ResponseDiff(Struct, frozen=True):
    """The expected and the actual answer. `data` are the data of both as values, None if none count.

    `texts` reads the type or the status of both, as it was done for the verdict.
    """

    expectation: ResponseExpectation
    answer: AgentResponse
    texts: ReadTexts
    comparison: Comparison
    data: tuple[Any, Any] | None

    def all(self) -> Iterator[Difference]:
        """Each place where the answer is not as expected. Raises `EvaluationError`."""
        fields, expected = self.answer.fields, self.expectation.expected
        if fields is None:
            expected_fields = {"task_type": expected.task_type, "status": expected.status}
            kind = MISSING if self.answer.is_none else UNREADABLE
            yield Difference("agent_response", kind, expected_fields, self.answer.parsed)
            return
        yield from self._compare_text("task_type", expected.task_type)
        yield from self._compare_text("status", expected.status)
        if not self.expectation.has_data:
            yield Difference(DATA, EXTRA, None, fields.get(DATA))
        if expected.has_details and "error_details" in fields:
            yield Difference("error_details", EXTRA, None, fields["error_details"])
        if self.data is not None:
            yield from differences(self.comparison, *self.data, DATA)

    def _compare_text(self, name: str, expected: str) -> Iterator[Difference]:
        actual = (self.answer.fields or {}).get(name)
        if actual:
            yield from differences(self.comparison, *self.texts(name, expected, actual), name)
        else:
            yield Difference(name, MISSING, expected, actual)
