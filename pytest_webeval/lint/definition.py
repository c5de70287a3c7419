"""One task as the checks see it: its object in the file, what the readers make of that, and each expected datum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pytest_webeval.errors import EvaluationError, WebEvalError
from pytest_webeval.evaluators.case import Case
from pytest_webeval.evaluators.network.event_matcher import URL_HEADERS, EventMatcher
from pytest_webeval.evaluators.readers import expected_reading
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
    RUBRIC_EVALUATOR,
    ExpectedEvent,
    ExpectedRequest,
    ExpectedResponse,
    NetworkExpectation,
    RequestPatternExpectation,
    ResponseExpectation,
    RubricExpectation,
)
from pytest_webeval.tasks.sites import Sites, invent_environments, placeholder
from pytest_webeval.tasks.task import Task
from pytest_webeval.values import list_value_types, value_type
from pytest_webeval.values.base import ParseContext, Value

Config = TypeVar("Config")
# The evaluators of the package, and how each entry of `eval` is read.
MODELS: dict[str, type[Struct]] = {
    RESPONSE_EVALUATOR: ResponseExpectation,
    NETWORK_EVALUATOR: NetworkExpectation,
    REQUEST_EVALUATOR: RequestPatternExpectation,
    RUBRIC_EVALUATOR: RubricExpectation,
}
ANSWER, POST, QUERY, HEADER, COOKIE, CONTENT = "answer", "post", "query", "header", "cookie", "content"
NO_ALTERNATIVES = ("coordinates",)  # a list of two is one point


class Datum(Struct, frozen=True):
    """One expected value. `role` says where it is expected, `type_name` how it is compared: empty for exactly."""

    steps: Steps
    raw: Any
    role: str
    type_name: str = "string"

    def read(self, context: ParseContext) -> Value | None:
        """The value, None where it has no type or is invalid."""
        return read_value(self.type_name, self.raw, context)

    @property
    def single(self) -> list[Datum]:
        """The alternatives as data of their own; of any other datum, the datum."""
        if not isinstance(self.raw, list) or self.type_name in NO_ALTERNATIVES or self.role == CONTENT:
            return [self]
        return [Datum((*self.steps, index), raw, self.role, self.type_name) for index, raw in enumerate(self.raw)]


def read_value(type_name: str, raw: Any, context: ParseContext) -> Value | None:
    """A datum as a type reads it, None where it cannot."""
    kind = value_type(type_name)
    try:
        return None if kind is None or raw is None else kind.read(raw, context)
    except WebEvalError:
        return None


def find_type(schema: object) -> str:
    """The type that a part of a schema names; a string where it names none, or none that exists."""
    kind = (schema.get("format") or schema.get("type") or "string") if isinstance(schema, dict) else "string"
    return kind if isinstance(kind, str) and kind in list_value_types() else "string"


def list_properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The types that a schema names, by their names."""
    properties = (schema or {}).get("properties")
    return properties if isinstance(properties, dict) else {}


def _list_typed(steps: Steps, raw: Any, role: str, schema: Any) -> Iterator[Datum]:
    """A datum, or those that a schema makes of it, as `ValueParser` does."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "object" and isinstance(raw, dict):
        types = list_properties(schema)
        for name, member in raw.items():
            yield from _list_typed((*steps, name), member, role, types.get(name))
    elif kind in ("object", "array") and isinstance(raw, list):  # a list of objects has alternatives
        for index, item in enumerate(raw):
            part = schema if kind == "object" else schema.get("items")
            yield from _list_typed((*steps, index), item, role, part)
    else:
        yield Datum(steps, raw, role, find_type(schema))


class RequestCheck(Struct, frozen=True):
    """A NetworkEventEvaluator of a task, with the matcher that decides on recorded requests."""

    steps: Steps
    raw: Mapping[str, Any]
    config: NetworkExpectation
    expected: ExpectedEvent
    matcher: EventMatcher

    @property
    def written(self) -> Mapping[str, Any]:
        """The fields of `expected` that the definition has."""
        expected: Mapping[str, Any] = self.raw["expected"]
        return expected

    def at(self, *steps: str | int) -> Steps:
        """A place in what is expected."""
        return (*self.steps, "expected", *steps)

    @property
    def urls(self) -> list[tuple[Steps, str]]:
        """The alternatives of the URL with their places."""
        place, url = self.at("url"), self.expected.url
        return [(place, url)] if isinstance(url, str) else [((*place, index), each) for index, each in enumerate(url)]

    @property
    def referer_urls(self) -> list[tuple[Steps, str]]:
        """The same of the header that is compared as a URL."""
        raw = (self.expected.headers or {}).get("referer")
        texts = raw if isinstance(raw, list) else [raw]
        return [(self.at("headers", "referer"), text) for text in texts if isinstance(text, str)]

    @property
    def data(self) -> Iterator[Datum]:
        event, types = self.expected, list_properties(self.config.post_data_schema)
        for name, raw in (event.post_data or {}).items():
            yield from _list_typed(self.at("post_data", name), raw, POST, types.get(name))
        types = list_properties(self.config.query_params_schema)
        for name, values in (event.query_params or {}).items():
            kind = find_type(types[name].get("items")) if isinstance(types.get(name), dict) else "string"
            for index, raw in enumerate(values if isinstance(values, list) else []):
                yield Datum(self.at("query_params", name, index), raw, QUERY, kind)
        for name, raw in (event.headers or {}).items():
            if name not in URL_HEADERS:
                yield Datum(self.at("headers", name), raw, HEADER)
        for name, raw in (event.response_cookies or {}).items():
            yield Datum(self.at("response_cookies", name), raw, COOKIE)
        for name, raw in (event.response_content or {}).items():
            yield Datum(self.at("response_content", name), raw, CONTENT, "")


class PatternCheck(Struct, frozen=True):
    """What a RequestPatternEvaluator of a task expects. `steps` lead to that."""

    steps: Steps
    expected: ExpectedRequest


class AnswerCheck(Struct, frozen=True, dict=True):
    """An AgentResponseEvaluator of a task."""

    steps: Steps
    raw: Mapping[str, Any]
    config: ResponseExpectation
    expected: ExpectedResponse

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The schema of the data, which a short task leaves to be inferred from all of them."""
        return self.config.results_schema

    @property
    def item_schema(self) -> Any:
        """What the schema has for each datum, None where it has nothing."""
        return self.schema.get("items")

    @property
    def data(self) -> Iterator[Datum]:
        for index, item in enumerate(self.expected.retrieved_data or []):
            yield from _list_typed((*self.data_steps, index), item, ANSWER, self.item_schema)

    @property
    def data_steps(self) -> Steps:
        return (*self.steps, "expected", "retrieved_data")


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
        return tuple(self.task.sites) if self.task else ()

    @cached_property
    def placeholders(self) -> tuple[str, ...]:
        return tuple(map(placeholder, self.task_sites))

    @cached_property
    def case(self) -> Case:
        """The task as evaluators get it, without anything recorded. A site without an address has an invented one."""
        if self.task is None:
            raise EvaluationError("the task cannot be read")
        configured = self.sites.environments if self.sites else {}
        known = {name: each for name, each in configured.items() if each.urls}
        sites = Sites(invent_environments(self.task.sites or ("site",)) | known).folded
        inputs = RunInputs(Path())
        run = Run(Path(), "", "", "", "", inputs, self.rules, lambda _: NetworkTrace(()))
        return Case(run, self.task, sites)

    @property
    def context(self) -> ParseContext:
        """How values of the task are read. Without a configuration any address may be one of its sites."""
        reading = expected_reading(self.case)
        return reading if self.sites is not None else replace(reading, known_sites=False)

    @cached_property
    def requests(self) -> tuple[RequestCheck, ...]:
        """The readable network evaluators."""
        return tuple(
            RequestCheck(steps, raw, config, config.expected, EventMatcher(config, self.case))
            for steps, raw, config in self._read_configs(NETWORK_EVALUATOR, NetworkExpectation)
        )

    @cached_property
    def answers(self) -> tuple[AnswerCheck, ...]:
        """The readable response evaluators."""
        configs = self._read_configs(RESPONSE_EVALUATOR, ResponseExpectation)
        return tuple(AnswerCheck(steps, raw, config, config.expected) for steps, raw, config in configs)

    @cached_property
    def request_patterns(self) -> tuple[PatternCheck, ...]:
        """What the readable ClawBench evaluators expect."""
        is_row = "eval_schema" in self.fields  # of ClawBench, which has no `eval`
        return tuple(
            PatternCheck(("eval_schema",) if is_row else (*steps, "expected"), config.expected)
            for steps, _, config in self._read_configs(REQUEST_EVALUATOR, RequestPatternExpectation)
        )

    @cached_property
    def data(self) -> Sequence[Datum]:
        """All expected data: lists of alternatives are one datum, members of objects and arrays are one each."""
        data: list[Datum] = []
        with suppress(WebEvalError, RecursionError):  # another check says what cannot be read
            for parts in (self.answers, self.requests):
                for part in parts:
                    data.extend(part.data)
        return data

    @cached_property
    def singles(self) -> Sequence[Datum]:
        """The same with each alternative as a datum of its own."""
        return [single for datum in self.data for single in datum.single]

    def _read_configs(self, evaluator: str, model: type[Config]) -> Iterator[tuple[Steps, Mapping[str, Any], Config]]:
        for expectation in self.task.expectations if self.task else ():
            if expectation.evaluator == evaluator:
                with suppress(EvaluationError):  # which another check reports
                    yield ("eval", expectation.index), expectation.config, expectation.read_as(model)
