"""Sessions as they lie on the disk: a summary, or a directory of results."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.results import (
    EVALUATOR_CHOICE,
    PARTIAL_SCORE,
    PARTIAL_SUMMARY,
    RESULT,
    ROWS,
    SUMMARY,
    TaskResult,
)
from pytest_webeval.safety.files import is_dir
from pytest_webeval.summary.partial_scores import select_scores
from pytest_webeval.summary.record import Record, build_task_row
from pytest_webeval.summary.results.redacted_results import DEFAULT_POLICY, redact_runs, redact_text
from pytest_webeval.summary.results.result_files import read_results
from pytest_webeval.summary.scored_session import ScoredRun, ScoredSession, convert_rows, format_problems, parse_summary
from pytest_webeval.summary.store.row_database import is_unfinished
from pytest_webeval.summary.summary_file import find_summary, read_summary_file


def read_session(path: Path, policy: RedactionPolicy = DEFAULT_POLICY) -> ScoredSession:
    """The redacted session of a summary file, or of a directory with a summary or with results.

    Raises `SettingsError`.
    """
    source = str(path)
    if not os.path.lexists(path):
        raise SettingsError(f"session not found: {source}; name a summary or a directory of results")
    if not is_dir(path):
        return _read_summary(path, source, policy)
    if (summary := find_summary(path)) is None:
        return _read_results(path, source, policy)
    session = _read_summary(summary, source, policy)
    if summary.name == PARTIAL_SUMMARY or not os.path.lexists(path / PARTIAL_SUMMARY):
        return session
    problem = f"{source} also holds {PARTIAL_SUMMARY}, which is not read; name that file to read it"
    return structs.replace(session, problems=[*session.problems, problem])


def _read_summary(path: Path, source: str, policy: RedactionPolicy) -> ScoredSession:
    session = parse_summary(read_summary_file(path, source), source)
    problems = [redact_text(problem, policy) for problem in session.problems]
    return structs.replace(session, runs=redact_runs(session.runs, policy), problems=problems)


def _read_results(root: Path, source: str, policy: RedactionPolicy) -> ScoredSession:
    """The session of all results below a directory. Raises `SettingsError` if there is none."""
    problems: list[str] = []
    read = list(read_results(root, build_result_row, problems, policy))
    if not read and not problems:
        raise SettingsError(f"{source} holds neither {SUMMARY} nor {RESULT}; name a summary or a directory of results")
    graded = (row for row in read if row["grade"] is not None and row["status"] != "excluded")
    scores = select_scores({row["run"]: row["grade"] for row in graded})
    runs, invalid = convert_rows([row | {PARTIAL_SCORE: scores.get(row["run"])} for row in read], ScoredRun)
    evaluators = {run.evaluators for run in runs if run.evaluators and run.status != "error"}
    return ScoredSession(
        source,
        runs,
        rules=",".join(sorted({run.rules for run in runs if run.rules})),
        evaluators=",".join(sorted(evaluators)),
        tasks=",".join(sorted({row["data_checksum"] for row in read if row["data_checksum"]})),
        partial=bool(problems or invalid) or is_unfinished(root / ROWS),
        problems=[redact_text(problem, policy) for problem in format_problems([*problems, *invalid], source)],
    )


def build_result_row(result: TaskResult, label: str) -> dict[str, Any]:
    """The row that a summary would have, with grade and checksum of the data. A result names no type of its task."""
    record = Record.of(result, _find_type(result))
    row = build_task_row(record, is_mixed=True) | {"libraries": result.webeval.get("libraries"), "grade": record.grade}
    row |= {EVALUATOR_CHOICE: result.webeval.get(EVALUATOR_CHOICE) or [], "data_checksum": record.data_checksum}
    return row if isinstance(row["run"], str) else row | {"run": label}


def _find_type(result: TaskResult) -> str | None:
    """The type of the task, from what the first evaluator that has one expects."""
    for evaluated in result.evaluators_results:
        expected = evaluated.expected
        with suppress(AttributeError, TypeError):
            kind = expected.get("action") or expected.get("task_type")
            if isinstance(kind, str):
                return kind.lower()
    return None
