"""Definitions that are not plain, read as WebArena-Verified reads them: by models of pydantic (spec §2.1-2.4).

It takes the text "107" for the number 107 and "yes" for true, and so must we. The models are made of the structs in
`tasks`, with other types for some fields; what is read here becomes one of those structs.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

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
    model_validator,
)

from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import describe_unknown_keys, format_fields
from pytest_webeval.tasks import expectations as tasks
from pytest_webeval.tasks.sites import site_name

Model = TypeVar("Model")


def read_leniently(kind: type[Model], raw: object, root: str) -> Model:
    """What a definition says, as a struct of `tasks` or a model of somebody's own.

    Raises `ValueError` with one line that says what is wrong, and where below the root.
    """
    model = find_model(cast("Any", kind))
    try:
        if model is None:
            return msgspec.convert(raw, kind)
        parsed = model.model_validate(raw)
    except ValidationError as error:
        raise ValueError(_format_problem(error, root, describe_unknown_fields(kind, raw, root))) from error
    except msgspec.ValidationError as error:
        unknown, is_about_unknown = describe_unknown_fields(kind, raw, root), "unknown field" in str(error)
        problem = format_validation_error(error, root)
        raise ValueError(add_unknown_fields(problem, unknown, is_about_unknown=is_about_unknown)) from error
    return cast("Model", _to_struct(parsed, cast("Any", kind)) if model is not kind else parsed)


def _format_problem(error: ValidationError, root: str, unknown: str | None) -> str:
    problems = error.errors(include_url=False, include_context=False)
    if missing := [_format_location(problem, root) for problem in problems if problem["type"] == "missing"]:
        return add_unknown_fields(f"the definition lacks {format_fields(missing)}", unknown)
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


class _Response(_Expected):
    @model_validator(mode="before")
    @classmethod
    def _accept_legacy_name(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "task_type" not in raw and "performed_operation" in raw:
            return {**raw, "task_type": raw["performed_operation"]}
        return raw


class _Typed(_Definition):
    @model_validator(mode="after")
    def _check_types(self) -> _Typed:
        if "results_schema" not in self.model_fields_set:
            tasks.infer_results_schema(cast("Any", self).expected.retrieved_data)
        return self


class _Task(_Definition):
    @model_validator(mode="after")
    def _check_evaluators(self) -> _Task:
        tasks.check_evaluators(cast("Any", self).eval)
        return self


def _check_alternatives(answers: list[Any] | None) -> list[Any] | None:
    for index, answer in enumerate(answers or ()):
        if isinstance(answer, list) and any(isinstance(alternative, list) for alternative in answer):
            raise ValueError(f"[{index}] is a list of lists; write the alternatives of a datum as one flat list")
    return answers


_TEXT = Annotated[str, Field(min_length=1)]
_TASK_TYPES: dict[str, Any] = {
    "sites": list[Annotated[str, AfterValidator(site_name)]],
    "task_id": int,
    "start_urls": list[_TEXT],
    "intent": _TEXT,
    "intent_template": _TEXT,
    "revision": Annotated[int, Field(ge=1)],
}
_JSON: Any = dict[str, JsonValue] | None
# By the names of structs in this room, for it is `tasks.task` that reads by means of these models: what they build on,
# and the types of the fields of which pydantic must not take that of the struct.
LENIENT: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {
    "ExpectedResponse": (
        _Response,
        {
            "task_type": Annotated[str, _require_one_of(*tasks.TASK_TYPES)],
            "status": Annotated[str, _require_one_of(*tasks.STATUSES)],
            "retrieved_data": Annotated[list[Any] | None, AfterValidator(_check_alternatives)],
            "error_details": str | None,
        },
    ),
    "ResponseExpectation": (_Typed, {"results_schema": dict[str, Any]}),  # null is refused
    "ExpectedEvent": (
        _Expected,
        {"response_status": int}
        | dict.fromkeys(("post_data", "headers", "response_content", "response_cookies"), _JSON),
    ),
    "NetworkExpectation": (_Definition, {}),
    "RubricExpectation": (_Definition, {"threshold": Annotated[float, Field(ge=0, le=1)] | None}),
    "NumberedTask": (_Task, _TASK_TYPES),
    "NamedTask": (_Task, _TASK_TYPES | {"task_id": _TEXT}),
}


@cache
def find_model(kind: type) -> type[BaseModel] | None:
    """The model with the fields of a struct, or the model itself; None for a struct that pydantic does not read."""
    if issubclass(kind, BaseModel):
        return kind
    is_ours = issubclass(kind, msgspec.Struct) and kind.__module__.startswith(f"{__package__}.")
    if not is_ours or kind.__name__ not in LENIENT:
        return None
    base, replaced_types = LENIENT[kind.__name__]
    types, fields = get_type_hints(kind), dict[str, Any]()
    for field in msgspec.structs.fields(cast("Any", kind)):
        default = ... if field.required else None if field.default is msgspec.UNSET else field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = Field(default_factory=field.default_factory)
        own = types[field.name]
        inner = find_model(own) if isinstance(own, type) and issubclass(own, msgspec.Struct) else None
        fields[field.encode_name] = (replaced_types.get(field.encode_name, inner or own), default)
    model: type[BaseModel] = create_model(kind.__name__, __base__=base, **fields)
    return model


def _to_struct(parsed: BaseModel, struct: type[msgspec.Struct]) -> msgspec.Struct:
    """The struct with those fields that the definition names."""
    names, types = {field.encode_name: field.name for field in msgspec.structs.fields(struct)}, get_type_hints(struct)
    values = {names[name]: getattr(parsed, name) for name in parsed.model_fields_set}
    return struct(
        **{
            name: _to_struct(value, types[name]) if isinstance(value, BaseModel) else value
            for name, value in values.items()
        }
    )


def describe_unknown_fields(kind: type, raw: object, where: str) -> str | None:
    """What is wrong with the fields that a struct does not have, and the nearest that it has; None if it has all.

    The first object with such fields counts: the definition itself, or one in it that is a struct as well.
    """
    if not isinstance(raw, dict) or not issubclass(kind, msgspec.Struct):
        return None
    if kind.__struct_config__.forbid_unknown_fields:
        names = [name for name in raw if isinstance(name, str)]  # as all are in JSON
        if problem := describe_unknown_keys(names, kind.__struct_encode_fields__, where or "the definition"):
            return problem
    parts = ((inner_struct(field.type), field.encode_name) for field in msgspec.structs.fields(kind))
    problems = (describe_unknown_fields(part, raw.get(name), f"{where}.{name}".lstrip(".")) for part, name in parts)
    return next(filter(None, problems), None)


def inner_struct(annotation: Any) -> type:
    """The struct that a field is, without what its annotation says of it; `object` for any other field."""
    kind = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return kind if isinstance(kind, type) else object


def add_unknown_fields(problem: str, unknown: str | None, *, is_about_unknown: bool = False) -> str:
    """A problem of a definition together with its unknown fields, where it is about something else."""
    if unknown is None:
        return problem
    return unknown if is_about_unknown else f"{problem}; {unknown}"
