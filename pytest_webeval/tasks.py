"""What the agent was asked: `Task` and its expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from typing import Annotated
from typing import Any
from typing import TypeVar

from pydantic import AfterValidator
from pydantic import BaseModel
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field
from pydantic import JsonValue
from pydantic import ValidationError
from pydantic import field_validator
from pydantic import model_validator

from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.sites import site_name

RESPONSE_EVALUATOR = "AgentResponseEvaluator"
NETWORK_EVALUATOR = "NetworkEventEvaluator"
RUBRIC_EVALUATOR = "RubricEvaluator"
TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")
STATUSES = (
    "SUCCESS",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "NOT_FOUND_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)


def _one_of(*names: str) -> BeforeValidator:
    def check(raw: object) -> object:
        if not isinstance(raw, str) or raw.upper() not in names:
            raise ValueError(f"{raw!r} is none of {', '.join(names)}")
        return raw.upper()

    return BeforeValidator(check)


class _Definition(BaseModel):
    # Completing a model takes longer than scoring a task, and most sessions need few of these.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ExpectedResponse(_Definition):
    """What the agent must answer (spec §1.5). `data_given` tells an omitted `retrieved_data` from null (Q16).

    `error_details` says nothing of what they must be: an answer to a task that lists them must have none (Q36).
    """

    model_config = ConfigDict(extra="ignore")

    task_type: Annotated[str, _one_of(*TASK_TYPES)]
    status: Annotated[str, _one_of(*STATUSES)]
    retrieved_data: list[Any] | None = None
    error_details: str | None = None

    @field_validator("retrieved_data")
    @classmethod
    def _flat_alternatives(cls, found: list[Any] | None) -> list[Any] | None:
        for index, item in enumerate(found or ()):
            if isinstance(item, list) and any(isinstance(one, list) for one in item):
                raise ValueError(f"[{index}] is a list of lists; alternatives of a datum are one flat list")
        return found

    @model_validator(mode="before")
    @classmethod
    def _legacy_name(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "task_type" not in raw and "performed_operation" in raw:
            return {**raw, "task_type": raw["performed_operation"]}
        return raw

    @property
    def details_given(self) -> bool:
        """Whether the definition names `error_details` at all."""
        return "error_details" in self.model_fields_set

    @property
    def data_given(self) -> bool:
        """Whether the definition names `retrieved_data` at all."""
        return "retrieved_data" in self.model_fields_set


class ResponseExpectation(_Definition):
    """Configuration of an AgentResponseEvaluator (spec §2.2)."""

    evaluator: str
    expected: ExpectedResponse
    results_schema: dict[str, Any]
    ordered: bool = False


class ExpectedEvent(_Definition):
    """The event that must have happened (spec §2.4)."""

    model_config = ConfigDict(extra="ignore")

    url: str | list[str]
    http_method: str = "GET"
    response_status: int = 200
    query_params: dict[str, list[str] | str] | None = None
    post_data: dict[str, JsonValue] | None = None
    headers: dict[str, JsonValue] | None = None
    response_content: dict[str, JsonValue] | None = None
    response_cookies: dict[str, JsonValue] | None = None


class NetworkExpectation(_Definition):
    """Configuration of a NetworkEventEvaluator (spec §2.3)."""

    evaluator: str
    expected: ExpectedEvent
    last_event_only: bool = True
    ignored_query_params: list[str] | None = None
    ignored_query_params_patterns: list[str] | None = None
    decode_base64_query: bool = False
    query_params_schema: dict[str, Any] | None = None
    post_data_schema: dict[str, Any] | None = None
    ignored_post_data_params_patterns: list[str] | None = None
    should_not_exist: bool = False


Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of a task's `eval`: the name of an evaluator and what it is told. `index` is its place there."""

    evaluator: str
    index: int
    config: Mapping[str, Any]
    _read: dict[type[BaseModel], BaseModel] = field(default_factory=dict, repr=False, compare=False)

    def read_as(self, model: type[Model]) -> Model:
        """The configuration as an evaluator's model, read once. Raises `EvaluationError` that points into the task."""
        found = self._read.get(model)
        if not isinstance(found, model):
            found = self._read[model] = self._validated(model)
        return found

    def _validated(self, model: type[Model]) -> Model:
        try:
            return model.model_validate(self.config)
        except ValidationError as error:
            raise EvaluationError(f"invalid task definition: {_first(error, f'eval[{self.index}]')}") from error


def _first(error: ValidationError, root: str) -> str:
    problem = error.errors(include_url=False, include_context=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
    return f"{problem['msg']} @ {(root + where).lstrip('.')}"


Text = Annotated[str, Field(min_length=1)]


class Task(_Definition):
    """A task with the fields that WebArena-Verified gives it (spec §2.1). Other benchmarks name their tasks."""

    sites: list[Annotated[str, AfterValidator(site_name)]]
    task_id: Annotated[int | str, Field(union_mode="left_to_right")]
    intent_template_id: int
    start_urls: list[Text]
    intent: Text
    intent_template: Text
    eval: list[dict[str, Any]]
    instantiation_dict: dict[str, Any]
    revision: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _named_evaluators(self) -> Task:
        for index, config in enumerate(self.eval):
            if not isinstance(config.get("evaluator"), str):
                raise ValueError(f"eval[{index}] names no evaluator")
        if not self.eval:
            raise ValueError("eval is empty: a task that checks nothing would always pass")
        return self

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """What must hold, in the order of the definition."""
        return tuple(Expectation(config["evaluator"], index, config) for index, config in enumerate(self.eval))

    @property
    def task_type(self) -> str | None:
        """`RETRIEVE`, `MUTATE` or `NAVIGATE`: the type that the first response expectation asks for."""
        for expectation in self.expectations:
            if expectation.evaluator == RESPONSE_EVALUATOR:
                expected = expectation.config.get("expected")
                named = expected if isinstance(expected, dict) else {}
                kind = named.get("task_type", named.get("performed_operation"))
                return kind.upper() if isinstance(kind, str) else None
        return None


class NumberedTask(Task):
    """A task as WebArena-Verified defines it: its id is a whole number."""

    task_id: int


def read_task(raw: object, where: str) -> Task:
    """A task from its definition as JSON gives it. Raises `TaskDefinitionError` that points into it."""
    try:
        return NumberedTask.model_validate(raw)
    except ValidationError as error:
        raise TaskDefinitionError(f"invalid task in {where}: {_first(error, '')}; mend the definition") from error
