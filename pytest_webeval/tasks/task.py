"""`Task`: what the agent has to do, and what is expected of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta, Struct, structs
from msgspec import field as struct_field

from pytest_webeval.errors import EvaluationError, TaskDefinitionError
from pytest_webeval.safety.files import sha256
from pytest_webeval.safety.json import is_unicode
from pytest_webeval.safety.text import format_fields
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR, RUBRIC_EVALUATOR, check_evaluators
from pytest_webeval.tasks.sites import is_site_name

REPHRASED = "_rephrased_"
# What scoring reads of a definition. The same task in other words, or with another start URL, gets the same verdicts.
# The id is one of them, for numbers are compared task by task.
PUBLISHED_KEYS = ("eval", "sites", "task_id")
DIGITS = 32  # of the 64 of a SHA-256, which are enough to tell tasks apart
# Written by `python -m tests.support.write_published_digests`.
PUBLISHED_DIGESTS = Path(__file__).with_name("published_digests.txt")
_DATE = "date"


@cache
def load_published_digests() -> frozenset[str]:
    """The beginnings of the digests of all rows of all data sets of WebArena-Verified's releases."""
    return frozenset(PUBLISHED_DIGESTS.read_text("ascii").split())


def parse_rephrased_id(task_id: str) -> tuple[str, int] | None:
    """Original id and number in the id of a task in other words, such as `books_find_7_rephrased_2`, or None."""
    original, _, number = task_id.rpartition(REPHRASED)
    is_number = number.isascii() and number.isdigit() and len(number) < 10  # more digits than any file has lines
    return (original, int(number)) if original and is_number else None


Model = TypeVar("Model")


def decode_definition(model: type[Model], raw: object, root: str) -> Model:
    """What a definition says. Raises `ValueError` that says what is wrong, and where below the root.

    Nearly all definitions are plain, and msgspec reads those. What WebArena-Verified makes of the others is what
    pydantic makes of them, so that is asked; importing it takes longer than to score some tasks. A struct that can tell
    has a property `is_plain`.
    """
    if issubclass(model, Struct):
        with suppress(msgspec.ValidationError, UnicodeEncodeError):  # half of a surrogate pair where no text belongs
            decoded = msgspec.convert(raw, model)
            if getattr(decoded, "is_plain", True):
                return decoded
    from pytest_webeval.tasks.lenient_models import read_leniently  # see above

    return read_leniently(model, raw, root)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One entry of a task's `eval`: the name of an evaluator and its configuration. `index` is its position there.

    All runs of the task share the `config`: do not change it.
    """

    evaluator: str
    index: int
    config: Mapping[str, Any]
    _models: dict[type, object] = field(default_factory=dict, repr=False, compare=False)

    def read_as(self, model: type[Model]) -> Model:
        """The configuration as an evaluator's model, read once. Raises `EvaluationError` that points into the task.

        A model is a struct of msgspec, which takes a text for no number, or a model of pydantic, which may.
        """
        if model not in self._models:
            try:
                self._models[model] = decode_definition(model, self.config, f"eval[{self.index}]")
            except ValueError as error:
                raise EvaluationError(f"invalid task definition: {error}") from error
        return cast("Model", self._models[model])


Text = Annotated[str, Meta(min_length=1)]


class Task(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task with the fields that WebArena-Verified gives it (spec §2.1). Other benchmarks name their tasks.

    A task of one's own needs an id, an intent and expectations.
    """

    sites: Annotated[
        list[str],
        Meta(description="names of the sites that `start_urls` and expectations mean, as in the configuration"),
    ] = struct_field(default_factory=list)
    task_id: Annotated[
        int | str, Meta(description="id of the task, a number or a name, after which the directory of its run is named")
    ]
    intent_template_id: Annotated[
        int,
        Meta(description="number of the template, which tasks with the same intent in other words share; -1 for none"),
    ] = -1
    start_urls: Annotated[
        list[Text], Meta(description="where the agent starts, with placeholders of sites such as `__BOOKSHOP__`")
    ] = struct_field(default_factory=list)
    intent: Annotated[str, Meta(min_length=1, description="what the agent has to do")]
    intent_template: Annotated[str, Meta(min_length=1, description="the intent with names in place of what varies")] = (
        ""
    )
    eval: Annotated[list[dict[str, Any]], Meta(description="what must hold, an entry for each check")]
    instantiation_dict: Annotated[dict[str, Any], Meta(description="what stands for the names in the template")] = (
        struct_field(default_factory=dict)
    )
    revision: Annotated[int, Meta(ge=1, description="revision of the definition, from 1")] = -1

    def __post_init__(self) -> None:
        """Raise `ValueError` for a task that checks nothing, or does not say by which evaluator."""
        check_evaluators(self.eval)

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """What must hold, in the order of the definition."""
        return tuple(Expectation(config["evaluator"], index, config) for index, config in enumerate(self.eval))

    @property
    def own_expectations(self) -> tuple[Expectation, ...]:
        """What the definition itself expects, without the verdict that a benchmark stores with its runs."""
        return self.expectations

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the definition, the same in whatever order a file has its fields."""
        return self._hash_fields(self.__struct_fields__)

    @cached_property
    def is_published(self) -> bool:
        """Whether a release of WebArena-Verified has this task, with all that decides its verdicts."""
        return self._hash_fields(PUBLISHED_KEYS)[:DIGITS] in load_published_digests()

    def _hash_fields(self, names: Iterable[str]) -> str:
        """SHA-256 of the sorted, compact JSON of some fields."""
        fields = {name: getattr(self, name) for name in names}
        try:
            return sha256(msgspec.json.encode(fields, order="deterministic"))
        except UnicodeEncodeError:  # half of a surrogate pair
            return sha256(json.dumps(fields, sort_keys=True).encode())

    @cached_property
    def depends_on_day(self) -> bool:
        """Whether a schema of the task has a date, whose missing parts are those of the present day (Q44)."""
        schemas = (value for config in self.eval for name, value in config.items() if name.endswith("_schema"))
        return any(map(_has_date, schemas))

    @property
    def task_type(self) -> str | None:
        """`RETRIEVE`, `MUTATE` or `NAVIGATE`: the type that the first response expectation asks for."""
        for expectation in self.expectations:
            if expectation.evaluator == RESPONSE_EVALUATOR:
                expected = expectation.config.get("expected")
                response = expected if isinstance(expected, dict) else {}
                kind = response.get("task_type", response.get("performed_operation"))
                return kind.upper() if isinstance(kind, str) else None
        return None


def _has_date(schema: object) -> bool:
    """Whether a part of a schema names the type or format `date`."""
    if isinstance(schema, Mapping):
        return _DATE in (schema.get("format"), schema.get("type")) or any(map(_has_date, schema.values()))
    return isinstance(schema, list) and any(map(_has_date, schema))


class DefinedTask(Task, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task with a definition in the form of WebArena-Verified."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it has to be refused or read in another way."""
        texts = "".join((self.intent, self.intent_template, *self.start_urls))
        return is_unicode(texts) and all(map(is_site_name, self.sites))


class NumberedTask(DefinedTask, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task as WebArena-Verified defines it: its id is an integer."""

    task_id: int


class NamedTask(DefinedTask, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The same for a recorder that names its tasks."""

    task_id: Text


def parse_task_number(raw: object) -> int | None:
    """The number that an id is, however it is written; None for any other id."""
    try:
        return int(raw) if isinstance(raw, float) and raw.is_integer() else int(str(raw))
    except ValueError:
        return None


def read_task(raw: object, where: str) -> Task:
    """A task from its definition as JSON gives it. Raises `TaskDefinitionError` that points into it."""
    task_id = raw.get("task_id") if isinstance(raw, dict) else None
    is_named = isinstance(task_id, str) and parse_task_number(task_id) is None
    try:
        return decode_definition(NamedTask if is_named else NumberedTask, raw, "")
    except ValueError as error:
        raise TaskDefinitionError(
            f"invalid task in {where}: {_format_missing_fields(raw) or error}; fix the definition"
        ) from error


def _format_missing_fields(raw: object) -> str:
    """Which fields a definition lacks, all in one message; empty where it has all."""
    fields = raw if isinstance(raw, dict) else {}
    required = [field.encode_name for field in msgspec.structs.fields(NumberedTask) if field.required]
    missing = [name for name in required if name not in fields]
    if not missing:
        return ""
    from pytest_webeval.tasks.lenient_models import add_unknown_fields, describe_unknown_fields  # most have all

    problem = f"task {fields.get('task_id')!s:.80} lacks {format_fields(missing)}"
    return add_unknown_fields(problem, describe_unknown_fields(NumberedTask, raw, ""))


class TrajectoryTask(Task, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """A task that a rubric or a judge decides on. It names no site, and its text may be unknown.

    `benchmark` is `om2w`, `webvoyager`, `webtailbench` or empty; `group` what its results are told apart by: the level,
    the web site's name or the split. In `rephrasings` the text is blank where the definition has none to offer.
    `warnings` list the fields of the definition that are invalid and ignored.
    """

    task_id: str
    start_urls: list[str] = struct_field(default_factory=list)
    intent: str = ""
    eval: list[dict[str, Any]] = struct_field(default_factory=lambda: [{"evaluator": RUBRIC_EVALUATOR}])

    benchmark: str = ""
    group: str | None = None
    rubric: dict[str, Any] | None = None
    reference_length: int | None = None
    rephrasings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def own_expectations(self) -> tuple[Expectation, ...]:
        """All but the stored verdict: only ClawBench has others."""
        return tuple(each for each in self.expectations if each.evaluator != RUBRIC_EVALUATOR)

    def rephrased(self, number: int) -> TrajectoryTask | None:
        """The same task in its n-th other words, counted from 1; None where there are none."""
        text = self.rephrasings[number - 1] if 0 < number <= len(self.rephrasings) else ""
        changed = {"task_id": f"{self.task_id}{REPHRASED}{number}", "intent": text, "rephrasings": ()}
        return structs.replace(self, **changed) if text else None


def undefined_task(task_id: str, intent: str = "", start_url: str | None = None) -> TrajectoryTask:
    """The task of a trajectory without a definition."""
    return TrajectoryTask(task_id=task_id, intent=intent, start_urls=[start_url] if start_url else [])
