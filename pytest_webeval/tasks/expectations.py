"""The expectations of a task, as its evaluators are configured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from pytest_webeval.safety.json import is_json

RESPONSE_EVALUATOR = "AgentResponseEvaluator"
NETWORK_EVALUATOR = "NetworkEventEvaluator"
RUBRIC_EVALUATOR = "RubricEvaluator"
REQUEST_EVALUATOR = "RequestPatternEvaluator"
OK = 200  # the status of a response where a definition names none
TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")
STATUSES = (
    "SUCCESS",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "NOT_FOUND_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)


_JSON_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    dict: "object",
    list: "array",
}
_DEEPEST = 50
_ADVICE = "write results_schema"


class ExpectedResponse(Struct, frozen=True, kw_only=True):
    """What the agent must answer (spec §1.5). `has_data` is False if `retrieved_data` is omitted (Q16).

    `error_details` says nothing of what they must be: an answer to a task that lists them must have none (Q36). `KEYS`
    are all that a definition may have: the type had another name once.
    """

    written_type: Annotated[str, Meta(description="what the agent must say that it did")] = msgspec.field(
        name="task_type"
    )
    written_status: Annotated[str, Meta(description="how the agent must say that it went")] = msgspec.field(
        default="SUCCESS", name="status"
    )
    written_data: Annotated[
        list[Any] | UnsetType | None,
        Meta(
            description="the data that the agent must answer, in a list even for one datum; null for no data. A list "
            "of two or more in place of a datum names alternatives. Checked for `retrieve` alone"
        ),
    ] = msgspec.field(default=UNSET, name="retrieved_data")
    written_details: Annotated[
        str | UnsetType | None,
        Meta(description="not compared; a definition that lists it expects responses without it"),
    ] = msgspec.field(default=UNSET, name="error_details")

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
    def has_details(self) -> bool:
        """Whether the definition names `error_details` at all."""
        return self.written_details is not UNSET

    @property
    def has_data(self) -> bool:
        """Whether the definition names `retrieved_data` at all."""
        return self.written_data is not UNSET

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it has to be refused or read in another way."""
        lists = (item for item in self.retrieved_data or () if isinstance(item, list))
        is_flat = not any(isinstance(alternative, list) for alternative in chain.from_iterable(lists))
        return is_flat and self.task_type in TASK_TYPES and self.status in STATUSES


class ResponseExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of an AgentResponseEvaluator (spec §2.2)."""

    evaluator: Annotated[str, Meta(description="`AgentResponseEvaluator`: checks what the agent answered")]
    expected: Annotated[ExpectedResponse, Meta(description="the expected response")]
    written_schema: Annotated[
        dict[str, Any] | UnsetType,
        Meta(
            description="the schema of the data: `array` with the type of its `items`, or `null` for no data. Without "
            "it, the JSON types of the expected data count, and no `retrieved_data` means null"
        ),
    ] = msgspec.field(default=UNSET, name="results_schema")
    ordered: Annotated[bool, Meta(description="whether the data must have the expected order")] = False

    @property
    def results_schema(self) -> dict[str, Any]:
        """The schema of the data. Raises `ValueError` if there is none and the expected data have several types."""
        if not isinstance(self.written_schema, UnsetType):
            return self.written_schema
        return infer_results_schema(self.expected.retrieved_data)

    @property
    def has_schema(self) -> bool:
        """Whether the definition names `results_schema` at all."""
        return self.written_schema is not UNSET

    @property
    def has_data(self) -> bool:
        """Whether the definition says which data it expects (Q16). A short one, without a schema, always does."""
        return self.expected.has_data or not self.has_schema

    @property
    def is_plain(self) -> bool:
        """As of what is expected, and whether its types are known."""
        with suppress(ValueError):
            return self.expected.is_plain and isinstance(self.results_schema, dict)
        return False


class ExpectedEvent(Struct, frozen=True, kw_only=True):
    """The event that must have happened (spec §2.4)."""

    url: Annotated[
        str | list[str],
        Meta(
            description="the URL, which starts with the placeholder of a site such as `__BOOKSHOP__`, or a regular "
            "expression `^...$` of it. A list of two or more names alternatives"
        ),
    ]
    http_method: Annotated[str, Meta(description="the method of the request")] = "GET"
    written_status: Annotated[
        int | UnsetType,
        Meta(
            description="the status of the response; without it 200, or under the rules `strict` any from 200 to 399 "
            "for a method other than GET and HEAD"
        ),
    ] = msgspec.field(default=UNSET, name="response_status")
    query_params: Annotated[
        dict[str, list[str] | str] | None,
        Meta(
            description="parameters of the query, which replace those in `url`. Only the first value of each is "
            "compared, and may be a regular expression `^...$`; others may not be there"
        ),
    ] = None
    post_data: Annotated[
        dict[str, Any] | None,
        Meta(
            description="fields of the posted form or JSON. A key is a name, a JSONPath such as `$.items[0].id`, or "
            "a regular expression `^...$` of names"
        ),
    ] = None
    headers: Annotated[
        dict[str, Any] | None, Meta(description="headers of the request; `referer` is compared like a URL")
    ] = None
    response_content: Annotated[
        dict[str, Any] | None, Meta(description="fields of the JSON of the response, with keys as in `post_data`")
    ] = None
    response_cookies: Annotated[dict[str, Any] | None, Meta(description="cookies that the response sets, by name")] = (
        None
    )

    @property
    def response_status(self) -> int:
        return OK if isinstance(self.written_status, UnsetType) else self.written_status

    @property
    def has_status(self) -> bool:
        """Whether the definition names a status at all."""
        return self.written_status is not UNSET

    @property
    def is_plain(self) -> bool:
        """Whether all that a field may hold of any kind is JSON, and not nested too deep to tell that here."""
        return all(map(is_json, (self.post_data, self.headers, self.response_content, self.response_cookies)))


class NetworkExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a NetworkEventEvaluator (spec §2.3)."""

    evaluator: Annotated[str, Meta(description="`NetworkEventEvaluator`: checks what the browser sent and received")]
    expected: Annotated[ExpectedEvent, Meta(description="the expected request and its response")]
    last_event_only: Annotated[
        bool,
        Meta(description="whether only the last request with that URL and method counts; else any of them may match"),
    ] = True
    ignored_query_params: Annotated[
        list[str] | None, Meta(description="names of parameters of the query that are not compared")
    ] = None
    ignored_query_params_patterns: Annotated[
        list[str] | None,
        Meta(description="regular expressions, found anywhere in the names of parameters that are not compared"),
    ] = None
    decode_base64_query: Annotated[
        bool, Meta(description="whether parts of the path that are base64 of a query count as parameters")
    ] = False
    query_params_schema: Annotated[
        dict[str, Any] | None,
        Meta(description="types of parameters, as an object whose `properties` are arrays. Without it they are texts"),
    ] = None
    post_data_schema: Annotated[
        dict[str, Any] | None,
        Meta(
            description="types of the fields in `post_data`, as an object with `properties`. Without it they are texts"
        ),
    ] = None
    ignored_post_data_params_patterns: Annotated[
        list[str] | None,
        Meta(description="regular expressions, found anywhere in the names of expected fields that are not compared"),
    ] = None
    should_not_exist: Annotated[bool, Meta(description="whether there must be no request with that URL and method")] = (
        False
    )

    @property
    def is_plain(self) -> bool:
        """As of what is expected."""
        return self.expected.is_plain


class ExpectedRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request that must have been made, in the fields of ClawBench's `eval_schema`.

    `url_pattern` is a regular expression that is found anywhere in the URL. `method`, and each field of `body` and of
    the query in `params`, must be equal; other fields may be there as well.
    """

    url_pattern: Annotated[
        str, Meta(min_length=1, description="a regular expression that is found anywhere in the URL of the request")
    ]
    method: Annotated[str | None, Meta(description="the method of the request; null for any")] = None
    body: Annotated[
        dict[str, Any] | None, Meta(description="fields of the body that must be equal; others may be there")
    ] = None
    params: Annotated[
        dict[str, Any] | None, Meta(description="parameters of the query that must be equal; others may be there")
    ] = None


class RequestPatternExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a RequestPatternEvaluator."""

    evaluator: Annotated[
        str, Meta(description="`RequestPatternEvaluator`: checks that a request was made, whatever its response")
    ]
    expected: Annotated[ExpectedRequest, Meta(description="the expected request")]


class RubricExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a RubricEvaluator: what counts, and the share of the points that a run needs for `process`."""

    evaluator: Annotated[str, Meta(description="`RubricEvaluator`: checks the points or the verdict of a judge")]
    threshold: Annotated[
        float | None,
        Meta(
            description="share of the points, from 0 to 1, that `process` requires; null for that of the session, or "
            "the stored one"
        ),
    ] = None
    criterion: Annotated[
        Literal["outcome", "process", "both", "safe_outcome"] | None,
        Meta(description="which verdict counts; null for the criterion that is stored with the verdict"),
    ] = None

    @property
    def is_plain(self) -> bool:
        """Whether the threshold is a share; NaN is not."""
        return self.threshold is None or 0 <= self.threshold <= 1


def check_evaluators(entries: Sequence[Mapping[str, Any]]) -> None:
    """Raise `ValueError` for an `eval` that checks nothing, or that does not say by which evaluator."""
    for index, entry in enumerate(entries):
        if not isinstance(entry.get("evaluator"), str):
            raise ValueError(f"eval[{index}] has no evaluator")
    if not entries:
        raise ValueError("eval is empty: a task that checks nothing would always pass")


def infer_results_schema(data: list[Any] | None) -> dict[str, Any]:
    """The schema of a list of data; the type `null` for none. Raises `ValueError` for data of several types."""
    if not data:
        return {"type": "null"}
    alternatives = [each for datum in data for each in (datum if isinstance(datum, list) else [datum])]
    return {"type": "array", "items": _infer_schema(alternatives, "retrieved_data", 1)}


def _infer_schema(values: Iterable[Any], where: str, depth: int) -> dict[str, Any]:
    """One schema for all values. Null, and the items of an empty list, are of any type: without others it is empty."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        if kind := _JSON_TYPES.get(type(value)):
            by_type.setdefault(kind, []).append(value)
    if not by_type:
        return {}
    if depth > _DEEPEST:
        raise ValueError(f"retrieved_data nests deeper than {_DEEPEST} levels; {_ADVICE}")
    kind, *others = by_type
    if others:
        raise ValueError(f"{where} has data of the types {kind} and {others[0]}; {_ADVICE}")
    return {"type": kind} | _infer_inner_schema(kind, by_type[kind], depth + 1)


def _infer_inner_schema(kind: str, values: Iterable[Any], depth: int) -> dict[str, Any]:
    """What the schema of lists or objects says of what they hold; nothing for other types."""
    if kind == "array":
        return {"items": _infer_schema(chain.from_iterable(values), "a list", depth)}
    if kind != "object":
        return {}
    members: dict[str, list[Any]] = {}
    for name, value in chain.from_iterable(map(dict.items, values)):
        members.setdefault(name, []).append(value)
    return {"properties": {name: _infer_schema(each, f"{name!r:.80}", depth) for name, each in members.items()}}
