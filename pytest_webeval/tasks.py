"""What the agent was asked: `Task` and its expectations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import TypeVar
from typing import cast

import msgspec
from msgspec import UNSET
from msgspec import Meta
from msgspec import Struct
from msgspec import UnsetType

from pytest_webeval.definitions import is_json
from pytest_webeval.definitions import is_unicode
from pytest_webeval.definitions import quoted_fields
from pytest_webeval.definitions import read_definition
from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.sites import SITE_NAMES

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


class ExpectedResponse(Struct, frozen=True, kw_only=True):
    """What the agent must answer (spec §1.5). `data_given` tells an omitted `retrieved_data` from null (Q16).

    `error_details` says nothing of what they must be: an answer to a task that lists them must have none (Q36). `KEYS`
    are all that a definition may have: the type had another name once.
    """

    written_type: str = msgspec.field(name="task_type")
    written_status: str = msgspec.field(name="status")
    written_data: list[Any] | UnsetType | None = msgspec.field(default=UNSET, name="retrieved_data")
    written_details: str | UnsetType | None = msgspec.field(default=UNSET, name="error_details")

    KEYS: ClassVar[tuple[str, ...]] = ("task_type", "performed_operation", "status", "retrieved_data", "error_details")

    @property
    def task_type(self) -> str:
        """What the agent must say that it did, one of `TASK_TYPES`."""
        return self.written_type.upper()

    @property
    def status(self) -> str:
        """How the agent must say that it went, one of `STATUSES`."""
        return self.written_status.upper()

    @property
    def retrieved_data(self) -> list[Any] | None:
        """What the agent must have found."""
        return None if self.written_data is UNSET else self.written_data

    @property
    def details_given(self) -> bool:
        """Whether the definition names `error_details` at all."""
        return self.written_details is not UNSET

    @property
    def data_given(self) -> bool:
        """Whether the definition names `retrieved_data` at all."""
        return self.written_data is not UNSET

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it has to be refused or read in another way."""
        is_flat = not any(isinstance(one, list) for item in self.retrieved_data or () for one in _alternatives(item))
        return is_flat and self.task_type in TASK_TYPES and self.status in STATUSES


def _alternatives(item: Any) -> list[Any]:
    return item if isinstance(item, list) else []


class ResponseExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of an AgentResponseEvaluator (spec §2.2)."""

    evaluator: str
    expected: ExpectedResponse
    results_schema: dict[str, Any]
    ordered: bool = False

    @property
    def is_plain(self) -> bool:
        """As of what is expected."""
        return self.expected.is_plain


class ExpectedEvent(Struct, frozen=True, kw_only=True):
    """The event that must have happened (spec §2.4)."""

    url: str | list[str]
    http_method: str = "GET"
    response_status: int = 200
    query_params: dict[str, list[str] | str] | None = None
    post_data: dict[str, Any] | None = None
    headers: dict[str, Any] | None = None
    response_content: dict[str, Any] | None = None
    response_cookies: dict[str, Any] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all that a field may hold of any kind is JSON, and not nested too deep to tell that here."""
        return all(map(is_json, (self.post_data, self.headers, self.response_content, self.response_cookies)))


class NetworkExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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

    @property
    def is_plain(self) -> bool:
        """As of what is expected."""
        return self.expected.is_plain


Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of a task's `eval`: the name of an evaluator and what it is told. `index` is its place there.

    The `config` belongs to all runs of the task: nobody may change it.
    """

    evaluator: str
    index: int
    config: Mapping[str, Any]
    _read: dict[type, object] = field(default_factory=dict, repr=False, compare=False)

    def read_as(self, model: type[Model]) -> Model:
        """The configuration as an evaluator's model, read once. Raises `EvaluationError` that points into the task.

        A model is a struct of msgspec, which takes a text for no number, or a model of pydantic, which may.
        """
        if model not in self._read:
            try:
                self._read[model] = read_definition(model, self.config, f"eval[{self.index}]")
            except ValueError as error:
                raise EvaluationError(f"invalid task definition: {error}") from error
        return cast("Model", self._read[model])


Text = Annotated[str, Meta(min_length=1)]


class Task(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task with the fields that WebArena-Verified gives it (spec §2.1). Other benchmarks name their tasks."""

    sites: list[str]
    task_id: int | str
    intent_template_id: int
    start_urls: list[Text]
    intent: Text
    intent_template: Text
    eval: list[dict[str, Any]]
    instantiation_dict: dict[str, Any]
    revision: Annotated[int, Meta(ge=1)]

    def __post_init__(self) -> None:
        """Raise `ValueError` for a task that checks nothing, or does not say by which evaluator."""
        for index, config in enumerate(self.eval):
            if not isinstance(config.get("evaluator"), str):
                raise ValueError(f"eval[{index}] names no evaluator")
        if not self.eval:
            raise ValueError("eval is empty: a task that checks nothing would always pass")

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


class NumberedTask(Task, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task as WebArena-Verified defines it: its id is a whole number."""

    task_id: int

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it has to be refused or read in another way."""
        texts = "".join((self.intent, self.intent_template, *self.start_urls))
        return is_unicode(texts) and all(site in SITE_NAMES for site in self.sites)


def read_task(raw: object, where: str) -> Task:
    """A task from its definition as JSON gives it. Raises `TaskDefinitionError` that points into it."""
    try:
        return read_definition(NumberedTask, raw, "")
    except ValueError as error:
        raise TaskDefinitionError(f"invalid task in {where}: {_lacking(raw) or error}; fix the definition") from error


def _lacking(raw: object) -> str:
    """Which fields a definition lacks, all in one message; empty where it has all."""
    fields = raw if isinstance(raw, dict) else {}
    required = [field.encode_name for field in msgspec.structs.fields(NumberedTask) if field.required]
    missing = [name for name in required if name not in fields]
    return f"task {fields.get('task_id')!s:.80} lacks {quoted_fields(missing)}" if missing else ""
