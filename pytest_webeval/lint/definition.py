"""One task as the checks see it: its object in the file, and what the readers of the package make of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.event_matcher import EventMatcher
from pytest_webeval.lint.findings import Steps
from pytest_webeval.lint.task_rows import Repeated
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.network.events import NetworkTrace
from pytest_webeval.recordings.run import Run
from pytest_webeval.rules import AUTO_RULES, Rules
from pytest_webeval.tasks.benchmarks import DatasetRow, find_benchmark, unknown_row_error
from pytest_webeval.tasks.expectations import (
    NETWORK_EVALUATOR,
    REQUEST_EVALUATOR,
    RESPONSE_EVALUATOR,
    ExpectedRequest,
    NetworkExpectation,
    RequestPatternExpectation,
    ResponseExpectation,
)
from pytest_webeval.tasks.sites import Environment, Sites, placeholder
from pytest_webeval.tasks.task import Task
from pytest_webeval.values.base import ParseContext

Config = TypeVar("Config")


class RequestCheck(Struct, frozen=True):
    """A NetworkEventEvaluator of a task, with the matcher that decides on recorded requests."""

    steps: Steps
    raw: Mapping[str, Any]
    config: NetworkExpectation
    matcher: EventMatcher

    @property
    def written(self) -> Mapping[str, Any]:
        """The fields of `expected` that the definition has."""
        expected: Mapping[str, Any] = self.raw["expected"]
        return expected

    @property
    def urls(self) -> list[tuple[Steps, str]]:
        """The alternatives of the URL with their places."""
        place, url = (*self.steps, "expected", "url"), self.config.expected.url
        return [(place, url)] if isinstance(url, str) else [((*place, index), each) for index, each in enumerate(url)]

    @property
    def referer_urls(self) -> list[tuple[Steps, str]]:
        """The same of the header that is compared as a URL."""
        place, raw = (
            (*self.steps, "expected", "headers", "referer"),
            (self.config.expected.headers or {}).get("referer"),
        )
        texts = raw if isinstance(raw, list) else [raw]
        return [(place, text) for text in texts if isinstance(text, str)]


class PatternCheck(Struct, frozen=True):
    """What a RequestPatternEvaluator of a task expects. `steps` lead to that."""

    steps: Steps
    expected: ExpectedRequest


class AnswerCheck(Struct, frozen=True, dict=True):
    """An AgentResponseEvaluator of a task."""

    steps: Steps
    raw: Mapping[str, Any]
    config: ResponseExpectation

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the data, which a short task leaves to be inferred from all of them."""
        return self.config.results_schema

    @property
    def item_schema(self) -> Any:
        """What the schema has for each datum, None where it has nothing."""
        return self.schema.get("items")


@dataclass(frozen=True)
class Definition:
    """A task to check. `fields` is its object without the keys that nothing reads, `raw` the same with them.

    `sites` are those of a configuration, None without one. `ids` maps ids to the places where they are first.
    `repeated` are the keys that an object has twice, by the identity of the object.
    """

    raw: Mapping[str, Any]
    fields: Mapping[str, Any]
    location: str
    source: str
    sites: Sites | None
    ids: dict[str, str]
    repeated: Repeated

    @property
    def rules(self) -> Rules:
        """The rules that judge the task unless a session chooses others."""
        return AUTO_RULES.choose(is_published=self.task is not None and self.task.is_published)

    @cached_property
    def task(self) -> Task | None:
        """The task, None where it cannot be read."""
        try:
            return self.read_task()
        except WebEvalError:
            return None

    def read_task(self) -> Task:
        """The task. Raises `TaskDefinitionError`."""
        benchmark = find_benchmark(self.fields)
        if benchmark is None:
            raise unknown_row_error(dict(self.fields), self.location, self.source)
        row = DatasetRow(self.fields, self.location, self.source, benchmark)
        benchmark.task_id(row)
        return benchmark.read(row)

    @property
    def place(self) -> str:
        """The file and the row."""
        return f"{self.source} {self.location}"

    @property
    def task_sites(self) -> tuple[str, ...]:
        """The sites that the task names."""
        return tuple(self.task.sites) if self.task else ()

    @cached_property
    def placeholders(self) -> tuple[str, ...]:
        """The placeholders of those sites."""
        return tuple(map(placeholder, self.task_sites))

    @cached_property
    def case(self) -> Case:
        """The task as evaluators get it, without anything recorded. A site without an address has an invented one."""
        if self.task is None:
            raise EvaluationError("the task cannot be read")
        configured = dict(self.sites.environments) if self.sites else {}
        invented = {
            site: Environment((f"http://{site.replace('_', '-')}.invalid",)) for site in self.task.sites or ("site",)
        }
        sites = Sites(invented | {name: each for name, each in configured.items() if each.urls}).folded
        inputs = RunInputs(Path())
        run = Run(Path(), "", "", "", "", inputs, self.rules, lambda _: NetworkTrace(()))
        return Case(run, self.task, sites)

    @property
    def context(self) -> ParseContext:
        """How values of the task are read. Without a configuration any address may be one of its sites."""
        reading = self.case.expected_reading
        return reading if self.sites is not None else replace(reading, known_sites=False)

    @cached_property
    def requests(self) -> tuple[RequestCheck, ...]:
        """The readable network evaluators."""
        return tuple(
            RequestCheck(steps, raw, config, EventMatcher(config, self.case))
            for steps, raw, config in self._read_configs(NETWORK_EVALUATOR, NetworkExpectation)
        )

    @cached_property
    def answers(self) -> tuple[AnswerCheck, ...]:
        """The readable response evaluators."""
        return tuple(AnswerCheck(*parts) for parts in self._read_configs(RESPONSE_EVALUATOR, ResponseExpectation))

    @cached_property
    def request_patterns(self) -> tuple[PatternCheck, ...]:
        """What the readable ClawBench evaluators expect."""
        is_row = "eval_schema" in self.fields  # of ClawBench, which has no `eval`
        return tuple(
            PatternCheck(("eval_schema",) if is_row else (*steps, "expected"), config.expected)
            for steps, _, config in self._read_configs(REQUEST_EVALUATOR, RequestPatternExpectation)
        )

    def _read_configs(self, evaluator: str, model: type[Config]) -> Iterator[tuple[Steps, Mapping[str, Any], Config]]:
        for expectation in self.task.expectations if self.task else ():
            if expectation.evaluator == evaluator:
                try:
                    config = expectation.read_as(model)
                except EvaluationError:  # which another check reports
                    continue
                yield ("eval", expectation.index), expectation.config, config
