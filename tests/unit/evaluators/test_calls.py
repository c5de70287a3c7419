"""Evaluators that are not ours, without pytest: called once, and their exceptions are errors with a place."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pytest_webeval
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.calls import EvaluatorCalls
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.results import Assertion
from pytest_webeval.scoring.score import evaluate, score


@dataclass(frozen=True)
class Counting(ResponseEvaluator):
    """Counts how often it is called."""

    seen: list[int] = field(default_factory=list)

    def evaluate(self, expectation, case):
        """As usual."""
        self.seen.append(expectation.index)
        return super().evaluate(expectation, case)


class Broken(Evaluator):
    """Raises."""

    name = "AgentResponseEvaluator"

    def evaluate(self, expectation, _case):
        """Raise."""
        raise LookupError("no lamp") if expectation.index == 0 else ValueError("no\nshade")


def line_of(text):
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture
def case(bench):
    """An answer that only a rule keeps from being two patterns."""
    bench.record({"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Mug", "^.*$"]})
    wanted = bench.expecting(data=["Mug", "Cup"])
    return bench.case(bench.task(wanted, wanted))


@pytest.mark.usefixtures("published")
def test_an_evaluator_of_ones_own_is_called_once_for_each_expectation(case):
    mine = Counting()
    score(case, [mine])
    score(case, [mine])
    assert mine.seen == [0, 1]
    rule = "text from an agent or a site is never a pattern"
    told = f"Q1 (no_recorded_patterns) may have changed this verdict to failure: {rule}"
    assert case.warnings[0] == f"{told} @ retrieved_data[1]; AgentResponseEvaluator, eval[0]"


def test_equal_evaluators_share_their_results():
    calls, expectation = EvaluatorCalls(), object()
    assert calls.find_or_evaluate(Counting(), expectation, lambda: "kept") == "kept"
    assert calls.find_or_evaluate(Counting(), expectation, lambda: "again") == "kept"
    assert calls.find_or_evaluate(Counting(seen=[1]), expectation, lambda: "another") == "another"


def test_another_evaluator_is_asked_for_itself(case):
    first, second = Counting(), Counting(seen=[9])
    for mine in (first, second):
        evaluate(case.task.expectations[0], case, {mine.name: mine})
    assert (first.seen, second.seen) == ([0], [9, 0])


def test_an_exception_is_an_error_with_its_line_below_the_current_directory(case, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    results = score(case, [Broken()]).evaluators_results
    line = line_of("raise LookupError")
    assert [result.error_msg for result in results] == [
        f"LookupError: no lamp @ eval[0], evaluators/test_calls.py:{line}",
        f"ValueError: no shade @ eval[1], evaluators/test_calls.py:{line}",
    ]
    assert [type(error) for error in case.calls.raised] == [LookupError, ValueError]
    assert case.calls.raised[0].__traceback__.tb_frame.f_code.co_name == "evaluate"
    assert case.calls.raised[0].__traceback__.tb_frame.f_code.co_filename == __file__


def test_elsewhere_the_name_of_the_file_is_all_that_is_the_same_on_each_machine(case, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = score(case, [Broken()]).evaluators_results[0]
    line = line_of("raise LookupError")
    assert result.error_msg == f"LookupError: no lamp @ eval[0], test_calls.py:{line}"


def test_an_exception_in_an_evaluator_of_ours_has_no_line_of_ours(case, monkeypatch):
    def broken(*_arguments):
        raise LookupError("no lamp")

    monkeypatch.setattr("pytest_webeval.evaluators.response.parse_response", broken)
    result = score(case, default_evaluators()).evaluators_results[0]
    assert result.error_msg == "LookupError: no lamp @ eval[0]"
    assert case.calls.raised == []


def test_a_call_that_fails_before_it_begins_has_no_line(case):
    class Odd(Evaluator):
        name = "AgentResponseEvaluator"

        def evaluate(self):
            return self.result([Assertion.of("never", holds=True)])

    result = score(case, [Odd()]).evaluators_results[0]
    assert result.error_msg.startswith("TypeError: ")
    assert result.error_msg.endswith(" were given @ eval[0]")


def test_warnings_of_ours_are_silent_where_a_subclass_calls_us_and_its_own_are_not(case, monkeypatch):
    from pytest_webeval.evaluators import response

    def noisy(*arguments, read=response.parse_response):
        warnings.warn("a parser grumbles", stacklevel=1)
        return read(*arguments)

    class Noisy(ResponseEvaluator):
        def evaluate(self, expectation, case):
            usual = super().evaluate(expectation, case)
            warnings.warn("the lamp flickers", stacklevel=1)
            return usual

    monkeypatch.setattr("pytest_webeval.evaluators.response.parse_response", noisy)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score(case, [Noisy()])
    assert {str(one.message) for one in caught} == {"the lamp flickers"}


class Unequal(Broken):
    """Cannot be compared, as with an array in it."""

    def __eq__(self, other):
        """Raise."""
        raise ValueError("the truth value of an array is ambiguous")

    __hash__ = None


def test_evaluators_whose_comparison_fails_are_not_the_same():
    calls = EvaluatorCalls()
    one, expectation = Unequal(), object()
    assert calls.find_or_evaluate(one, expectation, lambda: "kept") == "kept"
    assert calls.find_or_evaluate(one, expectation, lambda: "again") == "kept"
    assert calls.find_or_evaluate(Unequal(), expectation, lambda: "another") == "another"


def test_a_package_whose_name_begins_with_ours_is_not_ours():
    ours = Path(pytest_webeval.__file__).parent
    calls = EvaluatorCalls(base=ours.parent)
    with pytest.raises(LookupError) as raised:
        exec(compile("raise LookupError", f"{ours}_acme/evaluator.py", "exec"))
    assert calls.keep_error(raised.value) == "pytest_webeval_acme/evaluator.py:1"
