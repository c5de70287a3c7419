"""The verdicts of a judge in finished sessions, each with the judge that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, structs

from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.identity import JudgeIdentity
from pytest_webeval.recordings.trajectory.recorded import HUMAN
from pytest_webeval.results import EvaluatorResult, Status, TaskResult
from pytest_webeval.safety.files import is_dir
from pytest_webeval.safety.json import get_member
from pytest_webeval.safety.text import escape_surrogates, preview, to_line
from pytest_webeval.summary.comparison.session_reading import build_result_row, read_session
from pytest_webeval.summary.result_facts import to_text
from pytest_webeval.summary.results.result_files import read_results
from pytest_webeval.summary.scored_session import ScoredRun, format_problems
from pytest_webeval.summary.summary_file import find_summary
from pytest_webeval.tasks.expectations import RUBRIC_EVALUATOR

_LONGEST_REASONING = 500  # characters
_OF_GATES = ("gate", "zero")  # statuses of a verdict to which no judge came


class JudgedRun(Struct, frozen=True, kw_only=True):
    """A run with the verdict of a judge.

    `judge` is None where another program stored the verdict. `agreement` is the share of votes for the verdict, None
    of a single vote.
    """

    run: str
    task_id: str
    verdict: bool
    site: str
    benchmark: str
    judge: JudgeIdentity | None = None
    agreement: float | None = None
    reasoning: str = ""


class JudgedRuns(Struct, frozen=True):
    """The judged runs of some sessions. `unjudged` counts the other runs, `problems` name what could not be read."""

    sources: tuple[str, ...]
    runs: tuple[JudgedRun, ...]
    unjudged: int
    problems: tuple[str, ...]


def read_judged_runs(paths: Iterable[Path]) -> JudgedRuns:
    """The judged runs of sessions. Raises `SettingsError` for a run that has two verdicts, or if none has any."""
    sources, problems, unjudged = [], list[str](), 0
    runs: dict[str, JudgedRun] = {}
    for path in paths:
        sources.append(str(path))
        for run in _read_session(path, problems):
            if run is None:
                unjudged += 1
            elif run.run in runs:
                problem = f"run {preview(run.run, 80)} has two verdicts in {', '.join(sources)}"
                raise SettingsError(f"{problem}; calibrate one judge at a time")
            else:
                runs[run.run] = run
    if not runs:
        more = f" ({problems[0]})" if problems else ""
        raise SettingsError(f"no verdict of a judge in {', '.join(sources)}{more}; name sessions with judged runs")
    return JudgedRuns(tuple(sources), tuple(runs.values()), unjudged, tuple(problems))


def _read_session(path: Path, problems: list[str]) -> Iterator[JudgedRun | None]:
    """The runs of a session, None for each without a verdict of a judge. A summary does not say who judged."""
    unreadable: list[str] = []
    count = 0
    if is_dir(path):
        for run in read_results(path, _build_judged_run, unreadable):
            count += 1
            yield run
    problems += format_problems(unreadable, str(path))
    if not count and not (unreadable and find_summary(path) is None):
        session = read_session(path)
        problems += session.problems
        for row in session.runs:
            has_verdict = row.is_judged and row.status != "error"
            yield _convert_row(row, row.is_success, row.reason or "") if has_verdict else None


def _build_judged_run(result: TaskResult, label: str) -> JudgedRun | None:
    """The judged run of a result. Raises `ValueError` for data of another type."""
    row = convert(escape_surrogates(build_result_row(result, label)), ScoredRun)
    evaluated = next((each for each in result.evaluators_results if each.evaluator_name == RUBRIC_EVALUATOR), None)
    if evaluated is None or not row.is_judged or not _is_verdict(evaluated):
        return None
    raw = get_member(evaluated.actual, "judge")
    judged = _convert_row(row, evaluated.status is Status.SUCCESS, escape_surrogates(_find_reasoning(evaluated)))
    judge = None if raw is None else JudgeIdentity.read(raw)
    return structs.replace(judged, judge=judge, agreement=_to_share(get_member(raw, "agreement")))


def _is_verdict(evaluated: EvaluatorResult) -> bool:
    """Whether a judge came to it: neither a gate of the benchmark, nor a person."""
    status, writer = (get_member(evaluated.actual, name) for name in ("status", "writer"))
    return evaluated.status is not Status.ERROR and status not in _OF_GATES and writer != HUMAN


def _find_reasoning(evaluated: EvaluatorResult) -> str:
    """The judge's reason; without one, the message of the first check."""
    reason = to_text(get_member(evaluated.actual, "reason"))
    messages = (message for check in evaluated.assertions or () for message in check.assertion_msgs or ())
    return reason or next(messages, "")


def _convert_row(row: ScoredRun, verdict: bool, reasoning: str) -> JudgedRun:  # noqa: FBT001  (what it is about)
    return JudgedRun(
        run=row.run,
        task_id=str(row.task_id),
        verdict=verdict,
        site=row.site_key,
        benchmark=to_text(row.benchmark) or "",
        reasoning=to_line(reasoning, _LONGEST_REASONING),
    )


def _to_share(value: Any) -> float | None:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= 1 else None
