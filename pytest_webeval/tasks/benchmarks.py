"""Whose rows a task file can hold. A row is of the first source in `BENCHMARKS` that recognizes its fields.

One more benchmark is one more line there, if all it has are other names for the same things.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Raw, Struct

from pytest_webeval.errors import TaskDefinitionError
from pytest_webeval.safety.json import DEEPEST, nests_deeper
from pytest_webeval.safety.text import shorten_repr
from pytest_webeval.safety.warning_log import WarningLog
from pytest_webeval.tasks.expectations import REQUEST_EVALUATOR, RUBRIC_EVALUATOR
from pytest_webeval.tasks.task import Task, parse_task_number, read_task

TASK_FILE = "task.json"  # of ClawBench, in a directory for each task
NO_PATTERN = "__PLACEHOLDER_WILL_NOT_MATCH__"


def parse_rubric(raw: object, warnings: WarningLog) -> dict[str, Any] | None:
    """A rubric, as JSON text or as what that holds; the first one of a list."""
    decoded = _decode_json(raw, "precomputed_rubric", warnings) if isinstance(raw, str) else raw
    first = decoded[0] if isinstance(decoded, list) and decoded else decoded
    if first is not None and not isinstance(first, dict):
        warnings.add("precomputed_rubric is not a JSON object; ignored")
    return first if isinstance(first, dict) else None


def parse_rephrasings(raw: object, warnings: WarningLog) -> tuple[str, ...]:
    """Texts in their order: a JSON list, or text of one a line. Blank for an entry of the list that is not usable."""
    if isinstance(raw, str) and not raw.lstrip().startswith(("[", "{")):
        return tuple(line.strip() for line in raw.splitlines() if line.strip())
    decoded = _decode_json(raw, "task_rephrasings", warnings) if isinstance(raw, str) else raw
    if decoded is not None and not isinstance(decoded, list):
        warnings.add("task_rephrasings is not a list of strings; ignored")
    texts = [entry if isinstance(entry, str) else "" for entry in decoded] if isinstance(decoded, list) else []
    for index, text in enumerate(texts):
        if not text.strip():
            warnings.add(f"task_rephrasings[{index}] is not a string; ignored")
    return tuple(text if text.strip() else "" for text in texts)


def parse_length(raw: object, warnings: WarningLog) -> int | None:
    """The number of steps of a reference solution, as a number or as digits."""
    if isinstance(raw, str) and raw.isascii() and raw.isdigit() and len(raw) < 10:
        return int(raw)
    if type(raw) is int and raw >= 0:
        return raw
    if raw not in (None, ""):
        warnings.add("reference_length is not an integer; ignored")
    return None


def parse_label(raw: object, name: str, warnings: WarningLog) -> str | None:
    """A name that results are grouped by, or None where it is blank."""
    if raw is not None and not isinstance(raw, str):
        warnings.add(f"{name} is not a string; ignored")
    return raw if isinstance(raw, str) and raw.strip() else None


def _decode_json(raw: str, name: str, warnings: WarningLog) -> object:
    try:
        return json.loads(raw) if raw.strip() else None
    except (ValueError, RecursionError) as error:
        warnings.add(f"{name} is not valid JSON: {error}; ignored")
        return None


class DatasetRow(Struct, frozen=True):
    """What a file says of one task, where (`[3]` in JSON, `line 4` in a table), and whose tasks are written so."""

    fields: Mapping[str, Any]
    location: str
    source: str
    benchmark: Benchmark


def load_row(content: Raw, location: str, source: str) -> Any:
    """What the JSON of a row says.

    Raises `TaskDefinitionError` for a number of thousands of digits, and for levels that a stack may not suffice for.
    """
    text = bytes(content)
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"cannot parse {source} as JSON: {error} @ {location}"
        raise TaskDefinitionError(f"{problem}; fix the file") from error
    if text.count(b"[") + text.count(b"{") > DEEPEST and nests_deeper(row, DEEPEST):
        problem = f"cannot read {source}: it nests deeper than {DEEPEST} levels @ {location}"
        raise TaskDefinitionError(f"{problem}; fix the file")
    return row


class StoredRow(Struct, frozen=True, gc=False):
    """A row as JSON until its task is needed: data sets have many rows, and a session scores one at a time."""

    content: Raw
    location: str
    source: str
    benchmark: Benchmark

    def load(self) -> DatasetRow:
        """What the row says."""
        return DatasetRow(
            load_row(self.content, self.location, self.source), self.location, self.source, self.benchmark
        )

    def read(self) -> Task:
        """The task that the row defines. Raises `TaskDefinitionError`."""
        return self.benchmark.read(self.load())


class TrajectoryBenchmark(Struct, frozen=True):
    """A benchmark by the names of its fields (`fara_webeval.md` §1.4). The first of the `ids` that is not blank counts.

    `splits` are groups that the name of the file says instead of the row. A row without the `also` fields is of another
    benchmark; `named` are benchmarks with the same fields, which the name of the file decides between.
    """

    name: str
    title: str
    ids: tuple[str, ...]
    text: str
    start_url: str
    group: str
    splits: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def expected_fields(self) -> str:
        """The fields that a row is recognized by, in a few words."""
        texts = " and ".join((self.text, *self.also))
        return f"{' or '.join(self.ids)} with {texts} ({self.title})"

    def recognizes(self, names: Collection[str]) -> bool:
        """Whether there are the fields that only this benchmark's rows have."""
        return all(name in names for name in (self.text, *self.also))

    def task_id(self, row: DatasetRow) -> str | None:
        """The id as it stands there, as the name of a run's directory would have it; None where the row has none.

        Raises `TaskDefinitionError` for an invalid one.
        """
        for name in self.ids:
            raw = row.fields.get(name)
            if isinstance(raw, str) and raw.strip():
                return raw
            if type(raw) is int:  # JSON's true is a bool, which Python takes for a number
                return str(raw)
            if raw is not None and not isinstance(raw, str):
                problem = f"invalid id in {row.source}: {shorten_repr(raw)} @ {row.location}.{name}"
                raise TaskDefinitionError(f"{problem}; write the id as a string")
        return None

    def read(self, row: DatasetRow) -> Task:
        """The task, with a warning for each ignored field. Raises `TaskDefinitionError`."""
        from pytest_webeval.tasks.task import TrajectoryTask  # which no row of WebArena-Verified becomes

        file, fields = Path(row.source).name, row.fields
        warnings = WarningLog(f"{file} {row.location}")
        start_url = _read_text(row, self.start_url)
        split = next((split for split in self.splits if split in file.lower()), None)
        return TrajectoryTask(
            task_id=self.task_id(row) or "",
            intent=_read_text(row, self.text),
            start_urls=[start_url] if start_url.strip() else [],
            benchmark=next((name for name in self.named if name in file.lower()), self.name),
            group=split or parse_label(fields.get(self.group), self.group, warnings),
            rubric=parse_rubric(fields.get("precomputed_rubric"), warnings),
            reference_length=parse_length(fields.get("reference_length"), warnings),
            rephrasings=parse_rephrasings(fields.get("task_rephrasings"), warnings),
            warnings=warnings.texts,  # last: the calls above add theirs
        )


class WebArenaRows(Struct, frozen=True):
    """Rows that are whole definitions (spec §2.1). The id is a number there, and a name for other recorders' runs."""

    ids: tuple[str, ...] = ("task_id",)
    expected_fields: str = "task_id with eval (WebArena-Verified)"

    def recognizes(self, names: Collection[str]) -> bool:
        """Whether there is an id or an expectation: what else is missing is reported when the task is read."""
        return "task_id" in names or "eval" in names

    def task_id(self, row: DatasetRow) -> int | str:
        """The id: a number, however it is written, or else a name."""
        raw = row.fields.get("task_id")
        number = parse_task_number(raw)
        if number is not None:
            return number
        if isinstance(raw, str) and raw.strip():
            return raw
        problem = f"{row.source} has no task_id @ {row.location}"
        raise TaskDefinitionError(f"{problem}; give each task an integer, or the name of its run's task")

    def read(self, row: DatasetRow) -> Task:
        """The task as the row defines it."""
        return read_task(row.fields, row.source)


class ClawBenchRows(Struct, frozen=True):
    """Tasks of ClawBench (PyPI `clawbench-eval` 0.11.0, `test-cases/task.schema.json`): a request that must be made.

    The id is the name of the test case, as in the names of its runs: that of the directory of a `task.json`. A row of
    any other file has it as `test_case`, or else the number in its metadata.
    """

    ids: tuple[str, ...] = ("test_case", "metadata.task_id")
    expected_fields: str = "test_case or metadata.task_id with instruction and eval_schema (ClawBench)"

    def recognizes(self, names: Collection[str]) -> bool:
        """Whether there is a task with the request that it ends with."""
        return "instruction" in names and "eval_schema" in names

    def task_id(self, row: DatasetRow) -> str | None:
        """The name of the test case, or the number as a text."""
        path = Path(row.source)
        if path.name == TASK_FILE:
            return path.absolute().parent.name
        metadata = row.fields.get("metadata")
        number = metadata.get("task_id") if isinstance(metadata, dict) else None
        raw = row.fields.get("test_case", number)
        if type(raw) is int or (isinstance(raw, str) and raw.strip()):
            return str(raw)
        return None

    def read(self, row: DatasetRow) -> Task:
        """The task, which its stored verdict and the request decide. Raises `TaskDefinitionError`."""
        from pytest_webeval.tasks.task import TrajectoryTask  # as above

        warnings = WarningLog(f"{Path(row.source).name} {row.location}")
        schema, metadata = row.fields.get("eval_schema"), row.fields.get("metadata")
        if not isinstance(schema, dict):
            problem = (
                f"invalid task in {row.source}: {shorten_repr(schema)} is not an object @ {row.location}.eval_schema"
            )
            raise TaskDefinitionError(f"{problem}; fix the definition")
        if schema.get("url_pattern") == NO_PATTERN:
            warnings.add(f"url_pattern is ClawBench's placeholder {NO_PATTERN}: no request fits; write a pattern")
        group = metadata.get("metaclass") if isinstance(metadata, dict) else None
        return TrajectoryTask(
            task_id=self.task_id(row) or "",
            intent=_read_text(row, "instruction"),
            benchmark="clawbench",
            group=parse_label(group, "metaclass", warnings),
            eval=[{"evaluator": REQUEST_EVALUATOR, "expected": schema}, {"evaluator": RUBRIC_EVALUATOR}],
            warnings=warnings.texts,
        )


# What reads the rows of one benchmark.
Benchmark = TrajectoryBenchmark | WebArenaRows | ClawBenchRows
BENCHMARKS: tuple[Benchmark, ...] = (
    TrajectoryBenchmark(
        "om2w", "Online-Mind2Web", ("task_id",), "confirmed_task", "website", "level", named=("odysseysbench",)
    ),
    # The JSON lines in `packages/evals/datasets` of browserbase/stagehand (a21633d53; HardBench 0552cbda3), whose rows
    # have a rubric each. Rows of WebVoyager have none, and no category.
    TrajectoryBenchmark(
        "hardbench", "HardBench", ("id",), "ques", "web", "category", also=("precomputed_rubric", "source_suite")
    ),
    TrajectoryBenchmark(
        "webtailbench",
        "WebTailBench of Stagehand",
        ("id",),
        "ques",
        "web",
        "category",
        also=("category", "precomputed_rubric"),
    ),
    TrajectoryBenchmark("webvoyager", "WebVoyager", ("id",), "ques", "web", "web_name"),
    TrajectoryBenchmark(
        "webtailbench", "WebTailBench", ("id", "subdir"), "task_summary", "init_url", "benchmark", ("refusals",)
    ),
    ClawBenchRows(),
    WebArenaRows(),
)


def find_benchmark(names: Collection[str]) -> Benchmark | None:
    """The source whose rows have such fields, or None."""
    return next((source for source in BENCHMARKS if source.recognizes(names)), None)


def list_expected_fields() -> str:
    """The fields that rows are recognized by, in a few words."""
    return "; ".join(benchmark.expected_fields for benchmark in BENCHMARKS)


def unknown_row_error(row: object, location: str, source: str) -> TaskDefinitionError:
    """The error for a row that is of no source, or for a line of names that is of none."""
    label = f"fields {shorten_repr(list(row))}" if isinstance(row, dict | list) else shorten_repr(row)
    return TaskDefinitionError(
        f"unknown benchmark in {source}: {label} @ {location}; expected {list_expected_fields()}"
    )


def _read_text(row: DatasetRow, name: str) -> str:
    raw = row.fields.get(name)
    if raw is not None and not isinstance(raw, str):
        problem = f"invalid task in {row.source}: {shorten_repr(raw)} is not a string @ {row.location}.{name}"
        raise TaskDefinitionError(f"{problem}; fix the definition")
    return raw or ""
