"""Scoring from Python, without pytest."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import RunExcluded
from pytest_webeval.evaluators import default_evaluators
from pytest_webeval.evaluators.base import Evaluator
from pytest_webeval.evaluators.case import Case
from pytest_webeval.recordings import formats
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.recordings.run_tree import Kind
from pytest_webeval.recordings.run_tree import Search
from pytest_webeval.recordings.webarena_verified import RESPONSE
from pytest_webeval.results import TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy
from pytest_webeval.rules import find_rules
from pytest_webeval.safety.limits import USUAL
from pytest_webeval.safety.limits import Limits
from pytest_webeval.scoring.score import score as score_case
from pytest_webeval.scoring.task_result import build_error_result
from pytest_webeval.scoring.task_result import exclude
from pytest_webeval.tasks.dataset import TaskSet
from pytest_webeval.tasks.sites import Sites
from pytest_webeval.values.base import present_day


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
) -> TaskResult:
    """The result of a run. Raises `RecordingError` or `TaskDefinitionError` where it cannot be scored at all.

    `today` completes dates that leave something open, such as ``March 2022``; by default it is the present day. A
    trajectory needs no `tasks`, and `policy` says how its stored verdict is read; one that says nothing about the agent
    has a result that is excluded from every count.
    """
    task = run.task(tasks)
    source = (tasks.checksum, tasks.origin) if tasks is not None and task.task_id in tasks else ("", "")
    case = Case(
        run,
        task,
        sites or Sites(),
        today=today or present_day(),
        requested_policy=policy or VerdictPolicy(),
        is_published=tasks is not None and tasks.is_published(task.task_id),
    )
    try:
        return score_case(case, default_evaluators() if evaluators is None else evaluators, *source)
    except RunExcluded as error:
        return exclude(build_error_result(run, task, str(error), *source), run, str(error))
