"""Typed rows of the results below a directory, or of a summary: `load_results`."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, overload

from msgspec import Meta, ValidationError, convert, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.exports.rows import AssertionRow, TaskRow, build_frame
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.reports.failure_text import reason
from pytest_webeval.results import PARTIAL_SUMMARY, RESULT, SUMMARY, TaskResult
from pytest_webeval.safety.files import is_dir
from pytest_webeval.safety.json import format_validation_error
from pytest_webeval.safety.text import escape_surrogates, pluralize, sanitize
from pytest_webeval.summary.comparison.session_reading import build_result_row
from pytest_webeval.summary.partial_scores import select_scores
from pytest_webeval.summary.result_facts import to_text
from pytest_webeval.summary.results.redacted_results import parse_policy, redact_runs, redact_text
from pytest_webeval.summary.results.result_files import read_results
from pytest_webeval.summary.scored_session import ScoredRun, convert_rows, format_problems, parse_summary
from pytest_webeval.summary.summary_file import read_summary_file
from pytest_webeval.tasks.expectations import RESPONSE_EVALUATOR

_LARGEST = 2**63 - 1  # that fits into a column of integers


class ExportedRun(ScoredRun, frozen=True, kw_only=True):
    """The row of a summary with what an export adds. Data that decide nothing may be anything."""

    template: Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)] = -1
    score: Any = None
    answer: Any = None
    wall_time: Any = None
    version: Any = None
    webarena_verified_version: Any = None
    data_checksum: Any = None
    timestamp: Any = None
    grade: dict[str, Any] | None = None


def read_run(result: TaskResult, label: str) -> ExportedRun:
    """The run of a result, with the label unless the result has one. Raises `ValueError` for data of another type."""
    row = build_result_row(result, label)
    added = {
        "reason": row["reason"] if row["status"] == "excluded" else reason(result),
        "answer": find_answer(result),
        "wall_time": result.webeval.get("wall_time"),
        "version": result.webeval.get("version"),
        "webarena_verified_version": result.webarena_verified_version,
    }
    try:
        return convert(escape_surrogates({**row, **added}), ExportedRun)  # as in a summary, which has no half pairs
    except ValidationError as error:
        raise ValueError(format_validation_error(error)) from error


def find_answer(result: TaskResult) -> str | None:
    """What the agent answered: the text that ended a trajectory, or the data of a response as JSON."""
    facts = result.webeval.get("trajectory")
    if isinstance(facts, Mapping):
        return to_text(facts.get("answer"))
    for evaluated in result.evaluators_results:
        if evaluated.evaluator_name == RESPONSE_EVALUATOR and isinstance(evaluated.actual, Mapping):
            data = evaluated.actual.get("retrieved_data", evaluated.actual.get("results"))
            return None if data is None else json.dumps(data, ensure_ascii=False)
    return None


_TEXTS = {  # columns, by the fields that may hold anything
    "answer": "answer",
    "rules": "rules",
    "format": "format",
    "benchmark": "benchmark",
    "version": "version",
    "webarena_verified_version": "webarena_verified_version",
    "evaluators": "evaluators_checksum",
    "data_checksum": "data_checksum",
    "timestamp": "timestamp",
}


def build_task_row(run: ExportedRun) -> TaskRow:
    """The row of a run."""
    return TaskRow(
        run=run.run,
        task_id=str(run.task_id),
        status=run.status,
        score=_to_number(run.score),
        sites=run.site_key,
        template=run.template,
        type=run.type,
        reason=run.reason,
        attempt=run.attempt,
        excluded=not run.is_judged,
        tags=",".join(run.tags),
        today=run.today,
        wall_time=_to_number(run.wall_time),
        partial_score=run.partial_score,
        evaluator_choice=",".join(run.evaluator_choice) or None,
        **{f"{name}_checksum": run.digests.get(name) for name in ("task", "recording", "judge")},
        **{column: to_text(getattr(run, name)) for name, column in _TEXTS.items()},
    )


def build_assertion_rows(result: TaskResult, run: str) -> list[AssertionRow]:
    """The rows of a result: each assertion of each evaluator, in their order."""
    rows = []
    for index, evaluated in enumerate(result.evaluators_results):
        about: dict[str, Any] = {"run": run, "task_id": str(result.task_id)}
        about |= {"evaluator": evaluated.evaluator_name, "evaluator_index": index}
        cells: list[dict[str, Any]] = [
            {
                "assertion": assertion.assertion_name,
                "path": assertion.path,
                "kind": assertion.kind,
                "status": assertion.status.value,
                "messages": "\n".join(assertion.assertion_msgs) if assertion.assertion_msgs else None,
                "error": assertion.error_msg,
            }
            for assertion in evaluated.assertions or ()
        ]
        empty: dict[str, Any] = dict.fromkeys(("assertion", "path", "kind", "messages"))
        cells = cells or [empty | {"status": evaluated.status.value, "error": evaluated.error_msg}]
        rows += [AssertionRow(**escape_surrogates(about | each)) for each in cells]
    return rows


def _to_number(value: object) -> float | None:
    """The finite number, None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


class LoadedResults(Sequence[TaskRow]):
    """A sequence of task rows. `problems` has a line for what could not be read."""

    def __init__(
        self, source: str, tasks: Iterable[TaskRow], assertions: Iterable[AssertionRow] | None, problems: Iterable[str]
    ) -> None:
        self.source = source
        self.problems = tuple(problems)
        self._tasks = tuple(tasks)
        self._assertions = None if assertions is None else tuple(assertions)

    @property
    def assertions(self) -> tuple[AssertionRow, ...]:
        """The assertion rows. Raises `SettingsError` for a summary, which has none."""
        if self._assertions is None:
            raise SettingsError(f"{self.source} holds no assertions; name a directory with {RESULT} files")
        return self._assertions

    def tasks_frame(self) -> Any:
        """A `pandas.DataFrame` of the task rows. Raises `SettingsError` where pandas is not installed."""
        return build_frame(self._tasks, TaskRow)

    def assertions_frame(self) -> Any:
        """A `pandas.DataFrame` of the assertion rows. Raises `SettingsError` as above, and for a summary."""
        return build_frame(self.assertions, AssertionRow)

    def __len__(self) -> int:
        return len(self._tasks)

    @overload
    def __getitem__(self, index: int) -> TaskRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[TaskRow, ...]: ...
    def __getitem__(self, index: int | slice) -> TaskRow | tuple[TaskRow, ...]:
        return self._tasks[index]

    def __repr__(self) -> str:
        counts = Counter(row.status for row in self._tasks)
        parts = [f"{count:,} {status}" for status, count in sorted(counts.items())]
        if self._assertions is not None:
            parts.append(pluralize(len(self._assertions), "assertion"))
        if self.problems:
            parts.append(pluralize(len(self.problems), "problem"))
        return f"<{sanitize(self.source)}: {pluralize(len(self), 'run')}; {', '.join(parts)}>"


def load_results(path: str | Path, redact: str = "default") -> LoadedResults:
    """The rows of all results below a directory, or of an `eval_summary.json`, which has no assertions.

    A summary in the directory adds time, tags and types, and runs that have no result file. Results that cannot be
    read are named in `problems`. Secrets are replaced, unless `redact` is ``"off"``. Raises `SettingsError` if there
    are no results.
    """
    root, source, policy = Path(path), str(path), parse_policy(redact)
    if not os.path.lexists(root):
        raise SettingsError(f"results not found: {source}; name a directory of results or an {SUMMARY}")
    if is_dir(root):
        return _load_directory(root, source, policy)
    runs, problems = _read_summary(root, source, policy)
    return LoadedResults(source, map(build_task_row, runs), None, problems)


def _load_directory(root: Path, source: str, policy: RedactionPolicy) -> LoadedResults:
    read = _ReadResults()
    unreadable: list[str] = []
    for _ in read_results(root, read.add, unreadable, policy):
        pass
    problems = format_problems(unreadable, source)
    summarized: list[ExportedRun] = []
    for path in (root / SUMMARY, root / PARTIAL_SUMMARY):
        if os.path.lexists(path):
            try:
                rows_of_file, more = _read_summary(path, str(path), policy)
            except SettingsError as error:
                rows_of_file, more = [], [str(error)]
            summarized += rows_of_file
            problems += more
    if not read.runs and not summarized and not problems:
        raise SettingsError(f"{source} holds neither {RESULT} nor {SUMMARY}; name a directory of results")
    rows = map(build_task_row, _join(read.list_scored(), summarized))
    return LoadedResults(source, rows, chain(*read.assertions) if read.runs else None, problems)


class _ReadResults:
    """Collects what results hold: the first of each label."""

    def __init__(self) -> None:
        self.runs: dict[str, ExportedRun] = {}
        self.assertions: list[list[AssertionRow]] = []

    def add(self, result: TaskResult, label: str) -> None:
        """Raises `ValueError` for a result that cannot be used."""
        run = read_run(result, label)
        if run.run in self.runs:
            raise ValueError(f"run {run.run!r:.80} is listed twice")
        self.assertions.append(build_assertion_rows(result, run.run))
        self.runs[run.run] = run

    def list_scored(self) -> dict[str, ExportedRun]:
        """The runs by label, with their scores where an evaluator gives partial ones."""
        graded = {label: run.grade for label, run in self.runs.items() if run.grade is not None and run.is_judged}
        scores = select_scores(graded)
        return {label: structs.replace(run, partial_score=scores.get(label)) for label, run in self.runs.items()}


def _read_summary(path: Path, source: str, policy: RedactionPolicy) -> tuple[list[ExportedRun], list[str]]:
    """The runs of a summary, and what is wrong with other rows."""
    raw = read_summary_file(path, source)
    session = parse_summary(raw, source)
    common = {  # what a summary says once for all its runs
        "rules": session.rules,
        "evaluators": session.evaluators,
        "version": session.libraries.get("pytest-webeval"),
        "webarena_verified_version": raw.get("webarena_verified_version"),
        "data_checksum": session.tasks,
        "timestamp": session.timestamp,
        "evaluator_choice": session.evaluator_choice,
    }
    rows = [common | row if isinstance(row, dict) else row for row in raw["task_results"]]
    runs, problems = convert_rows(rows, ExportedRun)
    return redact_runs(runs, policy), [redact_text(problem, policy) for problem in format_problems(problems, source)]


def _join(runs: Mapping[str, ExportedRun], summarized: Sequence[ExportedRun]) -> list[ExportedRun]:
    """The runs of results with what only a summary says, then runs of the summary that have no result."""
    by_label = {run.run: run for run in sorted(summarized, key=lambda run: run.timestamp or "")}  # the last session
    joined = [_add_summarized(run, by_label.get(label)) for label, run in runs.items()]
    return joined + [run for label, run in by_label.items() if label not in runs]


def _add_summarized(run: ExportedRun, summarized: ExportedRun | None) -> ExportedRun:
    if summarized is None or (run.status, run.checksums) != (summarized.status, summarized.checksums):
        return run  # the summary is of another session
    return structs.replace(run, timestamp=summarized.timestamp, tags=summarized.tags, type=summarized.type)
