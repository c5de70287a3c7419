"""Verdicts about attempts at one task, each expectation checked once for what it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import date

from msgspec import Struct, field

from pytest_webeval.authoring.audit.attempts import Attempt, build_run
from pytest_webeval.errors import EvaluationError, RunExcluded, WebEvalError
from pytest_webeval.evaluators import EVALUATORS, RubricEvaluator
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.recordings.network.events import NetworkEvent, NetworkTrace
from pytest_webeval.results import EvaluatorResult, Status, list_failed
from pytest_webeval.rules import Rules
from pytest_webeval.scoring.score import build_evaluator_error, run_evaluator
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    NetworkExpectation,
)
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.tasks.task import Expectation, Task

OF_REQUESTS = (NETWORK_EVALUATOR, REQUEST_EVALUATOR)


class Verdict(Struct, frozen=True):
    """The status of each expectation that could be checked, by its index in the definition."""

    statuses: Mapping[int, Status]

    @property
    def passes(self) -> bool:
        """Whether each expectation that was checked is met."""
        return all(status is Status.SUCCESS for status in self.statuses.values())

    @property
    def failed(self) -> list[int]:
        """The indices of the expectations that are not met."""
        return [index for index, status in self.statuses.items() if status is not Status.SUCCESS]


class Examiner(Struct, frozen=True):
    """Checks attempts at a task. Results are kept by what they depend on: the answer, the trace, or both."""

    task: Task
    sites: Sites
    rules: Rules
    evaluators: Mapping[str, Evaluator]
    today: date
    _results: dict[tuple[int, bytes, int], EvaluatorResult] = field(default_factory=dict)
    _traces: dict[int, NetworkTrace] = field(default_factory=dict)  # kept, so that no two have one id

    @property
    def checked(self) -> list[Expectation]:
        """Expectations that can be checked here: their evaluator is known, and no judge decides."""
        known = {name for name, each in self.evaluators.items() if not isinstance(each, RubricEvaluator)}
        return [expectation for expectation in self.task.expectations if expectation.evaluator in known]

    @property
    def unknown(self) -> list[Expectation]:
        """Expectations that cannot be checked here."""
        checked = {expectation.index for expectation in self.checked}
        return [expectation for expectation in self.task.expectations if expectation.index not in checked]

    @property
    def has_required(self) -> bool:
        """Whether requests are expected that must have been made."""
        return any(each.evaluator in OF_REQUESTS and not each.config.get("should_not_exist") for each in self.checked)

    def judge(self, attempt: Attempt) -> Verdict:
        """Which expectations an attempt meets; without a trace only those about the answer are checked."""
        trace, expectations = attempt.trace, self.checked
        if trace is None:  # evaluators of users may look at it
            expectations = [
                each for each in self.checked if self.is_built_in(each) and each.evaluator not in OF_REQUESTS
            ]
        elif self.rules.events_required and trace.is_empty:
            return Verdict(dict.fromkeys((each.index for each in expectations), Status.ERROR))
        return Verdict({each.index: self.examine(each, attempt).status for each in expectations})

    def is_built_in(self, expectation: Expectation) -> bool:
        """Whether no evaluator of a user checks an expectation."""
        return type(self.evaluators[expectation.evaluator]) is EVALUATORS.get(expectation.evaluator)

    def examine(self, expectation: Expectation, attempt: Attempt) -> EvaluatorResult:
        """The result of one expectation."""
        answer, trace = attempt.answer, id(attempt.trace)
        if attempt.trace is not None:
            self._traces[trace] = attempt.trace
        if self.is_built_in(expectation):
            answer = b"" if expectation.evaluator in OF_REQUESTS else answer
            trace = 0 if expectation.evaluator == RESPONSE_EVALUATOR else trace
        key = expectation.index, answer, trace
        if key not in self._results:
            try:
                result = run_evaluator(expectation, self.build_case(attempt), dict(self.evaluators))
            except RunExcluded as error:
                result = build_evaluator_error(expectation.evaluator, str(error))
            self._results[key] = result
        return self._results[key]

    def build_case(self, attempt: Attempt) -> Case:
        """What an evaluator may look at."""
        run = build_run(self.task.task_id, attempt, self.rules)
        return Case(run, self.task, self.sites, today=self.today, other_rules=self.rules)  # nobody asks why it failed

    def build_matcher(self, expectation: Expectation, trace: NetworkTrace) -> EventMatcher:
        """What compares requests with an expectation. Raises `EvaluationError`."""
        return EventMatcher(expectation.read_as(NetworkExpectation), self.build_case(Attempt(b"", trace)))

    def find_matches(self, expectation: Expectation, trace: NetworkTrace) -> list[NetworkEvent]:
        """The events of a trace that are what an expectation describes, whether or not they decide."""
        matches = []
        try:
            matcher = self.build_matcher(expectation, trace)
            for event in matcher.case.events:
                with suppress(EvaluationError):
                    if not matcher.is_other_url(event.url) and not list_failed(matcher.assertions(event)):
                        matches.append(event)
        except WebEvalError:
            return []
        return matches
