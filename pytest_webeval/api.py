"""Scoring from Python, without pytest."""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.errors import WebEvalError
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.choice import parse_choice
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.inputs import RunInputs
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.recordings.run_tree import Search
from pytest_webeval.recordings.webarena_verified import RESPONSE
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import RESULT
from pytest_webeval.results import Status
from pytest_webeval.results import TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.safety.limits import Limits
from pytest_webeval.safety.text import sanitize
from pytest_webeval.scoring.definition import Definition
from pytest_webeval.scoring.definition import find_source
from pytest_webeval.scoring.definition import find_task
from pytest_webeval.scoring.score import limit_time
from pytest_webeval.scoring.score import warn_of_refusal
from pytest_webeval.scoring.scorer import Scorer
from pytest_webeval.scoring.task_result import add_inputs
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.scoring.task_result import exclude
from pytest_webeval.scoring.task_result import name_run_by_label
from pytest_webeval.storage import remove
from pytest_webeval.storage import write_json
from pytest_webeval.tasks.dataset import TASKS
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.dataset import load_untrusted_tasks
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day

SECONDS = 60.0  # for each run, as in a session


def find_runs(root: str | Path, rules: str = "default", limits: Limits = USUAL) -> Iterator[Run]:
    """Each run at or below a directory, in the order of the directories' names. Opens no recording.

    A directory in it that cannot be listed may be a run: it is given as one, of which nothing can be read. Raises
    `RecordingError` if the first directory itself cannot be listed.
    """
    top, rule_set = Path(root), find_rules(rules)
    tree = Search(top, formats.format_of).tree()
    if tree.kind is Kind.UNREADABLE:
        raise RecordingError(tree.problem or "")
    for branch in tree.list_items():
        path = branch.path
        label = path.relative_to(top).as_posix() if path != top else path.name
        if branch.kind is Kind.RUN:
            yield formats.load_run(path, rule_set, label).within(limits)
        elif branch.kind is Kind.UNREADABLE:
            yield replace(placeholder_run(path, label, rule_set), response_file=RESPONSE)


def load_run(path: str | Path, rules: str = "default", limits: Limits = USUAL) -> Run:
    """The run in a directory. Raises `RecordingError` if no format knows its layout."""
    return formats.load_run(Path(path), find_rules(rules)).within(limits)


def score(  # noqa: PLR0913  (all but the run are optional)
    run: Run,
    tasks: TaskSet | None = None,
    sites: Sites | None = None,
    evaluators: Iterable[Evaluator] | None = None,
    *,
    today: date | None = None,
    policy: VerdictPolicy | None = None,
    only: Iterable[str] = (),
) -> TaskResult:
    """The result of a run. Raises `RecordingError` or `TaskDefinitionError` where it cannot be scored at all.

    `today` completes dates that leave something open, such as ``March 2022``; by default it is the present day. A
    trajectory needs no `tasks`, and `policy` says how its stored verdict is read; one that says nothing about the agent
    has a result that is excluded from every count. `only` names the evaluators that score it, as in
    `only=["response"]`; by default all do.
    """
    scorer = _build_scorer(tasks, sites, evaluators, today, policy)
    return _score_or_exclude(scorer, run.choosing(parse_choice(only)), Definition.of(run, tasks))


def _build_scorer(
    tasks: TaskSet | None,
    sites: Sites | None,
    evaluators: Iterable[Evaluator] | None,
    today: date | None,
    policy: VerdictPolicy | None,
) -> Scorer:
    return Scorer(
        default_evaluators() if evaluators is None else list(evaluators),
        sites or Sites(),
        today or present_day(),
        policy or VerdictPolicy(),
        tasks.origin if tasks is not None else None,
    )


def _score_or_exclude(scorer: Scorer, run: Run, definition: Definition) -> TaskResult:
    try:
        return name_run_by_label(scorer.score(run, definition), run)
    except RunExcluded as error:
        reason = sanitize(str(error))
        result = build_error_result(run, definition.task, reason, definition.checksum, definition.origin)
        return name_run_by_label(exclude(result, run, reason), run)


def _score_in_time(scorer: Scorer, run: Run, tasks: TaskSet | None, timeout: float) -> TaskResult:
    """The result of a run, which is an error where it cannot be scored."""
    try:
        with limit_time(timeout):
            return _score_or_exclude(scorer, run, Definition.of(run, tasks))
    except WebEvalError as error:
        return _build_refused_result(run, tasks, error)


def _build_refused_result(run: Run, tasks: TaskSet | None, error: WebEvalError) -> TaskResult:
    unread = replace(run, inputs=RunInputs(run.path, limits=run.inputs.limits))  # no finding about what was read counts
    message = sanitize(" ".join(str(error).split()))
    result = build_error_result(unread, find_task(run, tasks), message, *find_source(run, tasks))
    if isinstance(error, RecordingError):
        result = add_inputs(result, run)
    return name_run_by_label(result.with_warnings([*result.warnings, *warn_of_refusal(error)]), run)


def score_runs(  # noqa: PLR0913  (all but the directory are optional)
    root: str | Path,
    tasks: TaskSet | None = None,
    sites: Sites | None = None,
    evaluators: Iterable[Evaluator] | None = None,
    *,
    output: str | Path | None = None,
    rules: str = "default",
    limits: Limits = USUAL,
    today: date | None = None,
    policy: VerdictPolicy | None = None,
    timeout: float = SECONDS,
    only: Iterable[str] = (),
) -> Iterator[TaskResult]:
    """Score each run at or below a directory, write its `eval_result.json`, and yield its result.

    The files are those of a session of pytest. `tasks` are by default those of `tasks.json` in the directory. With
    `output`, the files are written below that directory, without secrets. A run that cannot be scored, or takes longer
    than `timeout` seconds (0 for no limit), is an error, and the others are scored. `only` names the evaluators that
    score the runs, as in `only=["response"]`; by default all do. Raises `RecordingError` if the
    directory cannot be listed, `TaskDefinitionError` if its tasks cannot be read, and `SettingsError` if a result
    cannot be written.
    """
    top = Path(root)
    known_tasks = tasks if tasks is not None else _load_root_tasks(top)
    scorer = _build_scorer(tasks, sites, evaluators, today, policy)
    redacting, choice = Redacting(RedactionPolicy(), output is not None), parse_choice(only)
    for run in (each.choosing(choice) for each in find_runs(top, rules, limits)):
        result = _score_in_time(scorer, run, known_tasks, timeout)
        directory = run.path if output is None else Path(output) / run.path.relative_to(top)
        _write_result(result, run, directory, redacting)
        run.release()
        yield result


def _load_root_tasks(root: Path) -> TaskSet | None:
    return load_untrusted_tasks(root, TASKS, str(root / TASKS)) if exists_no_follow(root / TASKS) else None


def _write_result(result: TaskResult, run: Run, directory: Path, redacting: Redacting) -> None:
    """Write a result, but for that of a directory that nobody may use.

    Without a verdict there is no result, and the file of an earlier one no longer holds.
    """
    if result.webeval["skipped"] and run.exclusion is None:
        remove(directory / RESULT)
    elif directory != run.path or result.status is not Status.ERROR or os.access(run.path, os.W_OK | os.X_OK):
        write_json(directory / RESULT, redacting.redact_for_file(result, run).to_json())
    redacting.forget()
