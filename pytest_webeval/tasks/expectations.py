"""The expectations of a task, as its evaluators are configured."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Literal

import msgspec
from msgspec import UNSET
from msgspec import Meta
from msgspec import Struct
from msgspec import UnsetType

from pytest_webeval.safety.json import is_json

RESPONSE_EVALUATOR = "AgentResponseEvaluator"
NETWORK_EVALUATOR = "NetworkEventEvaluator"
RUBRIC_EVALUATOR = "RubricEvaluator"
REQUEST_EVALUATOR = "RequestPatternEvaluator"
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
    """What the agent must answer (spec §1.5). `has_data` is False if `retrieved_data` is omitted (Q16).

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
        is_flat = not any(
            isinstance(alternative, list)
            for item in self.retrieved_data or ()
            for alternative in _list_alternatives(item)
        )
        return is_flat and self.task_type in TASK_TYPES and self.status in STATUSES


def _list_alternatives(answer: Any) -> list[Any]:
    return answer if isinstance(answer, list) else []


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


class ExpectedRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request that must have been made, in the fields of ClawBench's `eval_schema`.

    `url_pattern` is a regular expression that is found anywhere in the URL. `method`, and each field of `body` and of
    the query in `params`, must be equal; other fields may be there as well.
    """

    url_pattern: Annotated[str, Meta(min_length=1)]
    method: str | None = None
    body: dict[str, Any] | None = None
    params: dict[str, Any] | None = None


class RequestPatternExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a RequestPatternEvaluator."""

    evaluator: str
    expected: ExpectedRequest


class RubricExpectation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Configuration of a RubricEvaluator: what counts, and the share of the points that a run needs for `process`."""

    evaluator: str
    threshold: float | None = None
    criterion: Literal["outcome", "process", "both", "safe_outcome"] | None = None

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
