"""What is written to disk: the shapes of eval_result.json and eval_summary.json (frozen names and types)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import StrEnum
from itertools import chain, repeat
from math import fsum
from types import NoneType
from typing import Any, NamedTuple, Self

from msgspec import Struct, ValidationError, convert, field, structs, to_builtins

from pytest_webeval.safety.json import format_validation_error

RESULT = "eval_result.json"
SUMMARY = "eval_summary.json"
PARTIAL_SUMMARY = "eval_summary.partial.json"  # of a session that scored fewer runs than its settings select
JOURNAL = "eval_journal.jsonl"  # of a session that goes on, or was killed
SIDE_FILE_DIGITS, LONGEST_LIST_NAME = 12, 60  # of the checksum and the list in the name of a side file
SIDE_FILE = re.compile(rf"[^/\0]{{1,200}}-[a-z0-9_]{{1,{LONGEST_LIST_NAME}}}-[0-9a-f]{{{SIDE_FILE_DIGITS}}}\.jsonl")
SCHEMA_VERSION = 1  # of the fields that are ours; raised where one goes, or gets another name, type or meaning
_LONGEST_VERSION = 20  # characters of one in a message


def is_side_file(name: str, stem: str) -> bool:
    """Whether a file is a side file of one whose name begins with this stem, of this session or another."""
    is_named = name.startswith(f"{stem}-") and SIDE_FILE.fullmatch(name) is not None
    return is_named and "-" not in name[len(stem) + 1 : -len(".jsonl") - SIDE_FILE_DIGITS - 1]


def find_version_problem(version: object) -> str | None:
    """What is wrong with a `schema_version`: in a newer one, a field may have another meaning."""
    if type(version) is int and 1 <= version <= SCHEMA_VERSION:
        return None
    if type(version) is int and version > SCHEMA_VERSION:
        return f"schema_version {version!s:.20} is newer than {SCHEMA_VERSION}; update pytest-webeval"
    shown = repr(version)  # whole or not at all: a part of a secret could not be redacted
    return f"invalid schema_version {shown if len(shown) <= _LONGEST_VERSION else type(version).__name__}; score again"


class Status(StrEnum):
    """Outcome of a task, an evaluator or an assertion. `partial_match` is read, never produced."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL_MATCH = "partial_match"
    ERROR = "error"


WORST_FIRST = (Status.ERROR, Status.FAILURE, Status.PARTIAL_MATCH, Status.SUCCESS)


def worst_status(statuses: list[Status]) -> Status:
    """Error outranks failure outranks success; nothing checked is a success (spec §0)."""
    return next((status for status in WORST_FIRST if status in statuses), Status.SUCCESS)


class WarningKind(StrEnum):
    """The subject of a warning. The kind of a warning about a rule is the number of the rule instead, such as `Q14`."""

    GUESSED_SITES = "guessed_sites"
    OWN_DEFINITION = "own_definition"
    UNDEFINED_TASK = "undefined_task"
    UNKNOWN_FIELD = "unknown_field"
    DEFINITION = "definition"
    SEVERAL_VERDICTS = "several_verdicts"
    OVERRULED_VERDICT = "overruled_verdict"
    UNJUDGED = "unjudged"
    OMITTED = "omitted"
    UNDECLARED_HOST = "undeclared_host"
    OTHER = "other"


class ResultWarning(NamedTuple):
    """A warning in a result. `decided` is set if its rule made the verdict another than the reference's."""

    kind: str
    text: str
    decided: bool = False


_UNLABELLED = (WarningKind.OTHER, False)


class JsonStruct(Struct, frozen=True, kw_only=True):
    """What all of these can do. They hold what they are made of, unchecked."""

    def to_json(self) -> dict[str, Any]:
        """The same in dicts and lists, as JSON has it; models, structs and dataclasses in it as well."""
        plain: dict[str, Any] = plain_json({name: getattr(self, name) for name in self.__struct_fields__})
        return plain

    @classmethod
    def read(cls, raw: object) -> Self:
        """What JSON says one is, such as `to_json` gave. Raises `ValueError` that says where something else stands."""
        try:
            return convert(raw, cls)
        except ValidationError as error:
            raise ValueError(format_validation_error(error)) from error

    def with_changes(self, **changes: Any) -> Self:
        """The same with other values in some fields."""
        return structs.replace(self, **changes)


_SCALARS = (str, int, float, NoneType)
_EXACT_SCALARS = frozenset((*_SCALARS, bool))


def plain_json(value: Any) -> Any:
    """The result of an evaluator, with the types of JSON where they are known: users write evaluators, too."""
    if isinstance(value, dict):
        return {key: each if type(each) in _EXACT_SCALARS else plain_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [each if type(each) in _EXACT_SCALARS else plain_json(each) for each in value]
    return value if isinstance(value, _SCALARS) else _convert_object(value)


def _convert_object(value: Any) -> Any:
    if isinstance(value, JsonStruct):
        return value.to_json()
    if hasattr(value, "model_dump") and not isinstance(value, type):  # a model of pydantic
        return value.model_dump()
    if isinstance(value, Struct):
        return plain_json(structs.asdict(value))
    if isinstance(value, Mapping):
        return {key: plain_json(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain_json(each) for each in value]
    return plain_json(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value


MATCH, NOTED = "match", "noted"
# How names of assertions end, longest first where one ends like another, and the kind that this says (spec §6).
_KINDS_BY_SUFFIX = {
    "_match": MATCH,
    "_noted": NOTED,
    "_array_values_mismatch": "elements",
    "_none_mismatch": "missing",
    "_keys_mismatch": "keys",
    "_mismatch": "different",
    "_invalid_format": "malformed",
    "_missing_or_null": "missing",
    "_unexpected": "unexpected",
    "_unavailable": "unreadable",
}


def parse_assertion_name(name: str) -> tuple[str, str | None]:
    """The path and the kind in the name of an assertion; the whole name and None where it has no such suffix."""
    for suffix, kind in _KINDS_BY_SUFFIX.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix), kind
    return name, None


class Assertion(JsonStruct, frozen=True, kw_only=True):
    """One thing that was checked, passed or not.

    `path` and `kind` are derived when asked for: no file has them, and most assertions need neither.
    """

    assertion_name: str
    status: Status
    assertion_msgs: list[str] | None = None
    error_msg: str | None = None

    @classmethod
    def of(cls, name: str, holds: bool, *messages: str) -> Self:  # noqa: FBT001  (whether it holds is what it is)
        """An assertion that holds or not, with messages that say what was expected and what was found."""
        status = Status.SUCCESS if holds else Status.FAILURE
        return cls(assertion_name=name, status=status, assertion_msgs=list(messages) or None)

    @property
    def path(self) -> str:
        """The path of the value that was checked, such as `retrieved_data[0].name`."""
        return parse_assertion_name(self.assertion_name)[0]

    @property
    def kind(self) -> str | None:
        """`match`, `noted` or how the value differs, such as `elements`; None for a name with no known suffix."""
        return parse_assertion_name(self.assertion_name)[1]


def list_failed(assertions: Iterable[Assertion] | None) -> list[Assertion]:
    """The assertions that do not hold, in the order in which they were checked."""
    return [assertion for assertion in assertions or () if assertion.status is not Status.SUCCESS]


DIFFERENT, MISSING, EXTRA, UNREADABLE = "different", "missing", "extra", "unreadable"


class Difference(JsonStruct, frozen=True):
    """One place where the actual value is not the expected one, both as plain JSON.

    In arrays whose order does not matter, a path counts the expected items, but for what is `extra`.
    """

    path: str
    kind: str
    expected: Any
    actual: Any


class NamedEvent(JsonStruct, frozen=True):
    """A recorded event, one of so many, as explanations name it."""

    index: int
    of: int
    method: str
    url: str
    status: int | None = None


class Explanation(JsonStruct, frozen=True):
    """Why an evaluation is a failure: all differences; for events the nearest one and the positions of candidates."""

    differences: list[Difference]
    nearest: NamedEvent | None = None
    candidates: list[int] = field(default_factory=list)


class EvaluatorResult(JsonStruct, frozen=True, kw_only=True):
    """What one evaluator found: compared values, and an assertion for each check.

    A file has the explanations of all evaluations in one list: see `TaskResult`.
    """

    evaluator_name: str
    status: Status
    score: float
    actual: Any = None
    actual_normalized: Any = None
    expected: Any = None
    assertions: list[Assertion] | None = None
    error_msg: str | None = None
    explanation: Explanation | None = None

    def to_json(self) -> dict[str, Any]:
        """The same in a file, which has its explanation elsewhere."""
        raw = JsonStruct.to_json(self)
        del raw["explanation"]
        return raw

    @property
    def is_partial(self) -> bool:
        """Whether the score is another than that of the status, which is 1 for a success and else 0."""
        return self.score != float(self.status is Status.SUCCESS)


def read_explanations(raw: object, count: int) -> list[Explanation | None]:
    """The explanations of so many evaluations in a file, which may be missing or of another shape."""
    if not isinstance(raw, list) or len(raw) != count:
        return [None] * count
    return [_read_explanation(each) for each in raw]


def _read_explanation(raw: object) -> Explanation | None:
    try:
        return convert(raw, Explanation | None)
    except ValidationError:
        return None


EXPLANATIONS, CAPTURE = "explanations", "capture"  # their names in every file, as the following
PARTIAL_SCORE, EVALUATOR_CHOICE = "partial_score", "evaluator_choice"  # their names in every file
_DIGITS = 6  # of a mean


def average(scores: Sequence[float]) -> float:
    """The mean of some scores, at least one, the same in whatever order they come."""
    return round(fsum(scores) / len(scores), _DIGITS)


class TaskResult(JsonStruct, frozen=True, kw_only=True):
    """The content of eval_result.json. `webeval` holds what other tools for WebArena-Verified do not know.

    The explanations of the evaluators stand there in the file, before `capture`, and in their results here.
    `warning_labels` has kind and `decided` for each of the texts in `webeval["warnings"]`. The file holds the texts
    alone, and no text decides its own kind: the labels of a result that was read are restored from a record.
    """

    task_id: int | str
    intent_template_id: int
    sites: list[str]
    task_revision: int
    status: Status
    score: float
    evaluators_results: list[EvaluatorResult]
    error_msg: str | None
    webarena_verified_version: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    webeval: dict[str, Any] = field(default_factory=dict)
    warning_labels: list[tuple[str, bool]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The content of the file, in dicts and lists. What evaluators gave is plain JSON already."""
        raw: dict[str, Any] = plain_json(structs.asdict(self.with_changes(evaluators_results=[], warning_labels=[])))
        raw["evaluators_results"] = to_builtins(self.evaluators_results)
        del raw["warning_labels"]
        explanations = [each.pop("explanation") for each in raw["evaluators_results"]]
        if CAPTURE in self.webeval or any(explanations):
            names = list(raw["webeval"])
            before = names[: names.index(CAPTURE)] if CAPTURE in names else names
            first = {name: raw["webeval"][name] for name in before}
            raw["webeval"] = first | {EXPLANATIONS: explanations} | raw["webeval"]
        return raw

    @classmethod
    def read(cls, raw: object) -> Self:
        """The content of a file, whose warnings have no labels. Raises `ValueError`.

        Explanations that are not ours are left out, since any file may have others in their place.
        """
        if not isinstance(raw, dict):
            return super().read(raw)
        raw = {name: value for name, value in raw.items() if name != "warning_labels"}
        listed, explanations = raw.get("evaluators_results"), None
        if isinstance(raw.get("webeval"), dict) and EXPLANATIONS in raw["webeval"]:
            raw["webeval"] = dict(raw["webeval"])
            explanations = raw["webeval"].pop(EXPLANATIONS)
        if isinstance(listed, list):
            rows = read_explanations(explanations, len(listed))
            pairs = zip(listed, rows, strict=True)
            raw["evaluators_results"] = [
                {**each, "explanation": row} if isinstance(each, dict) else each for each, row in pairs
            ]
        return super().read(raw)

    @property
    def mean_score(self) -> float | None:
        """The mean of the scores of all evaluators; None for an error, without any, and for one beyond 0 to 1."""
        scores = [result.score for result in self.evaluators_results]
        is_valid = bool(scores) and all(0 <= score <= 1 for score in scores)  # a file may hold others
        return average(scores) if is_valid and self.status is not Status.ERROR else None

    def with_partial_score(self) -> Self:
        """The same with the mean score under `webeval` if an evaluator gave a partial one, and else without."""
        is_partial = any(result.is_partial for result in self.evaluators_results) and self.mean_score is not None
        if not is_partial and PARTIAL_SCORE not in self.webeval:
            return self
        others = {name: value for name, value in self.webeval.items() if name != PARTIAL_SCORE}
        return self.with_changes(webeval=others | ({PARTIAL_SCORE: self.mean_score} if is_partial else {}))

    @property
    def warnings(self) -> list[ResultWarning]:
        """The warnings with their labels."""
        texts = self.webeval.get("warnings")
        if not isinstance(texts, list | tuple):  # of an untrusted file
            return []
        labels = chain(self.warning_labels, repeat(_UNLABELLED))
        return [ResultWarning(kind, text, decided) for text, (kind, decided) in zip(texts, labels, strict=False)]

    def with_warnings(self, warnings: Iterable[ResultWarning]) -> Self:
        """The same with these warnings instead."""
        listed = list(warnings)
        webeval = self.webeval | {"warnings": [warning.text for warning in listed]}
        return self.with_changes(webeval=webeval, warning_labels=[(row.kind, row.decided) for row in listed])


class Summary(JsonStruct, frozen=True, kw_only=True):
    """The content of eval_summary.json. `total` is the sum of the three counts.

    Of very many runs, rows and other long lists may lie on the disk: sequences and mappings that are read piece by
    piece. `to_json` has them in memory.
    """

    timestamp: str
    webarena_verified_version: str
    webarena_verified_evaluator_checksum: str
    webarena_verified_data_checksum: str
    total: int
    success_count: int
    failed_count: int
    error_count: int
    per_site_summary: dict[str, Sequence[dict[str, Any]]]
    task_results: Sequence[dict[str, Any]]
    webeval: dict[str, Any] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        """The name of its file: a partial session does not replace the summary of all runs."""
        return PARTIAL_SUMMARY if self.webeval.get("partial") else SUMMARY
