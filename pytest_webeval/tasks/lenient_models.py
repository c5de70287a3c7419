"""Definitions that are not plain, read as WebArena-Verified reads them: by models of pydantic (spec §2.1-2.4).

It takes the text "107" for the number 107 and "yes" for true, and so must we. The models have the fields of the
structs in `tasks`; what is read here becomes one of those.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, cast, get_type_hints

import msgspec
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import format_fields
from pytest_webeval.tasks import expectations as tasks
from pytest_webeval.tasks.results_schema import infer_results_schema
from pytest_webeval.tasks.sites import site_name
from pytest_webeval.tasks.unknown_fields import add_unknown_fields, describe_unknown_fields

Model = TypeVar("Model")


def read_leniently(kind: type[Model], raw: object, root: str) -> Model:
    """What a definition says, as a struct of `tasks` or a model of somebody's own.

    Raises `ValueError` with one line that says what is wrong, and where below the root.
    """
    model = MODELS.get(kind.__name__, kind) if kind.__module__.startswith(_ROOM) else kind
    if not issubclass(model, BaseModel):  # a struct of somebody's own
        return _convert_struct(kind, raw, root)
    try:
        parsed = model.model_validate(raw)
    except ValidationError as error:
        raise ValueError(_format_problem(error, root, describe_unknown_fields(kind, raw, root))) from error
    return cast("Model", _to_struct(parsed, cast("Any", kind)) if model is not kind else parsed)


def _convert_struct(kind: type[Model], raw: object, root: str) -> Model:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        unknown, is_about_unknown = describe_unknown_fields(kind, raw, root), "unknown field" in str(error)
        problem = format_validation_error(error, root)
        raise ValueError(add_unknown_fields(problem, unknown, is_about_unknown=is_about_unknown)) from error


def _format_problem(error: ValidationError, root: str, unknown: str | None) -> str:
    problems = error.errors(include_url=False, include_context=False)
    if missing := [_format_location(problem, root) for problem in problems if problem["type"] == "missing"]:
        return add_unknown_fields(f"the definition lacks {format_fields(missing)}", unknown, is_about_unknown=False)
    text, where = problems[0]["msg"].removeprefix("Value error, "), _format_location(problems[0], root)
    problem = f"{text} @ {where}" if where else text
    return add_unknown_fields(problem, unknown, is_about_unknown=problems[0]["type"] == "extra_forbidden")


def _format_location(problem: Any, root: str) -> str:
    """Where in a definition a problem of pydantic's is."""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem["loc"])
    return (root + where).lstrip(".")


def _require_one_of(*names: str) -> BeforeValidator:
    def check(raw: object) -> object:
        if not isinstance(raw, str) or raw.upper() not in names:
            raise ValueError(f"invalid value {raw!r}; use one of {', '.join(names)}")
        return raw.upper()

    return BeforeValidator(check)


class _Definition(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)  # who needs one of these needs few of them


class _Expected(_Definition):
    model_config = ConfigDict(extra="ignore")


class ExpectedResponse(_Expected):
    """As the struct of that name, with the name that the type had once (spec §1.5)."""

    task_type: Annotated[str, _require_one_of(*tasks.TASK_TYPES)]
    status: Annotated[str, _require_one_of(*tasks.STATUSES)] = "SUCCESS"
    retrieved_data: list[Any] | None = None
    error_details: str | None = None

    @field_validator("retrieved_data")
    @classmethod
    def _check_alternatives(cls, answers: list[Any] | None) -> list[Any] | None:
        for index, answer in enumerate(answers or ()):
            if isinstance(answer, list) and any(isinstance(alternative, list) for alternative in answer):
                raise ValueError(f"[{index}] is a list of lists; write the alternatives of a datum as one flat list")
        return answers

    @model_validator(mode="before")
    @classmethod
    def _accept_legacy_name(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "task_type" not in raw and "performed_operation" in raw:
            return {**raw, "task_type": raw["performed_operation"]}
        return raw


class ResponseExpectation(_Definition):
    """As the struct of that name."""

    evaluator: str
    expected: ExpectedResponse
    results_schema: dict[str, Any] = cast("Any", None)  # which stands for none: null itself is refused
    ordered: bool = False

    @model_validator(mode="after")
    def _check_types(self) -> ResponseExpectation:
        if "results_schema" not in self.model_fields_set:
            infer_results_schema(self.expected.retrieved_data)
        return self


def _build_model(
    struct: type[msgspec.Struct], base: type[BaseModel] = _Definition, **replaced_types: Any
) -> type[BaseModel]:
    """The model with the fields of a struct, of which pydantic has to take some for another type."""
    types = get_type_hints(struct)
    fields: dict[str, Any] = {
        field.encode_name: (
            replaced_types.get(field.encode_name, types[field.name]),
            ... if field.required else None if field.default is msgspec.UNSET else field.default,
        )
        for field in msgspec.structs.fields(struct)
    }
    return create_model(struct.__name__, __base__=base, **fields)


_Json = dict[str, JsonValue] | None
_ExpectedEvent = _build_model(
    tasks.ExpectedEvent,
    _Expected,
    response_status=int,
    post_data=_Json,
    headers=_Json,
    response_content=_Json,
    response_cookies=_Json,
)


Text = Annotated[str, Field(min_length=1)]


class NumberedTask(_Definition):
    """As the struct of that name."""

    sites: list[Annotated[str, AfterValidator(site_name)]] = Field(default_factory=list)
    task_id: int
    intent_template_id: int = -1
    start_urls: list[Text] = Field(default_factory=list)
    intent: Text
    intent_template: Text = ""
    eval: list[dict[str, Any]]
    instantiation_dict: dict[str, Any] = Field(default_factory=dict)
    revision: Annotated[int, Field(ge=1)] = -1

    @model_validator(mode="after")
    def _check_evaluators(self) -> NumberedTask:
        tasks.check_evaluators(self.eval)
        return self


class NamedTask(NumberedTask):
    """As the struct of that name."""

    task_id: Text  # type: ignore[assignment]  # all other fields are the same


# By the names of structs in this room: `tasks.task`, which has one of them, reads by means of these models.
MODELS: dict[str, type[BaseModel]] = {
    "ResponseExpectation": ResponseExpectation,
    "ExpectedResponse": ExpectedResponse,
    "NetworkExpectation": _build_model(tasks.NetworkExpectation, expected=_ExpectedEvent),
    "ExpectedEvent": _ExpectedEvent,
    "RubricExpectation": _build_model(tasks.RubricExpectation, threshold=Annotated[float, Field(ge=0, le=1)] | None),
    "NumberedTask": NumberedTask,
    "NamedTask": NamedTask,
}
_ROOM = f"{__package__}."
_INNER: dict[type[BaseModel], type[msgspec.Struct]] = {
    ExpectedResponse: tasks.ExpectedResponse,
    _ExpectedEvent: tasks.ExpectedEvent,
}


def _to_struct(parsed: BaseModel, struct: type[msgspec.Struct]) -> msgspec.Struct:
    """The struct with those fields that the definition names."""
    names = {field.encode_name: field.name for field in msgspec.structs.fields(struct)}
    values = {names[name]: getattr(parsed, name) for name in parsed.model_fields_set}
    return struct(
        **{
            name: _to_struct(value, _INNER[type(value)]) if type(value) in _INNER else value
            for name, value in values.items()
        }
    )
