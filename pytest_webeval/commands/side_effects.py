"""`webeval side-effects RUNS`: changes that one passing run made and no other one of its task."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from pytest_webeval.api import find_runs, score
from pytest_webeval.authoring.addresses import Addresses
from pytest_webeval.authoring.side_effects import RunChanges, SideEffect, count_single, find_side_effects, list_changes
from pytest_webeval.commands.command import argument, print_text, read_sites, switch, to_text
from pytest_webeval.errors import WebEvalError
from pytest_webeval.recordings.run import Run
from pytest_webeval.results import Status
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.scoring.score import SECONDS, limit_time
from pytest_webeval.tasks.dataset import TASKS, TaskSet, id_order, load_tasks, load_untrusted_tasks
from pytest_webeval.tasks.sites import Sites

HELP = "list changes that only one of the passing runs of a task made"

RunsByTask = dict[int | str, list[RunChanges]]


ARGUMENTS = (
    argument("roots", "RUNS", "a directory of runs, with several of each task", nargs="+"),
    argument("--tasks", "FILE", f"the task definitions (default: {TASKS} in each directory)"),
    argument("--config", "FILE", "the site URLs of the recordings (default: inferred)"),
    argument("--format", None, "how to print (default: text)", choices=("text", "json"), default="text"),
    switch("--fail", "exit with 1 if there are any"),
)


def run(arguments: argparse.Namespace) -> int:
    """Score the runs, and list the side effects of those that pass. Returns the exit code.

    Raises `WebEvalError` for a directory or a file that cannot be read.
    """
    sites = read_sites(arguments.config) or Sites()
    tasks = load_tasks(arguments.tasks) if arguments.tasks is not None else None
    runs_by_task: RunsByTask = {}
    compared: set[Path] = set()  # each run once: it shares all that it does with itself
    for root in arguments.roots:
        for recorded, changes in _list_passing(Path(root), tasks, sites, compared):
            runs_by_task.setdefault(recorded.task_id, []).append(changes)
            compared.add(recorded.path.resolve())
    ordered = {task_id: runs_by_task[task_id] for task_id in sorted(runs_by_task, key=id_order)}
    effects = find_side_effects(ordered)
    print_text(_format_json(ordered, effects) if arguments.format == "json" else _format_text(ordered, effects))
    return 1 if arguments.fail and effects else 0


def _list_passing(
    root: Path, tasks: TaskSet | None, sites: Sites, compared: AbstractSet[Path]
) -> Iterator[tuple[Run, RunChanges]]:
    """Each other run that passes, and its changes."""
    if tasks is None and exists_no_follow(root / TASKS):
        tasks = load_untrusted_tasks(root, TASKS, str(root / TASKS))
    addresses = Addresses.of(sites)
    for each in find_runs(root):
        if each.path.resolve() in compared:
            continue
        recorded, parent = each, each.path.resolve().parent.name
        if tasks is not None and each.task_id not in tasks and parent in tasks:  # an attempt below a task's name
            recorded = replace(each, task_id=tasks.get(parent).task_id)
        try:
            with limit_time(SECONDS):
                if score(recorded, tasks, sites, redact="off").status is Status.SUCCESS and recorded.has_trace:
                    label = f"{root.name}/{recorded.label}"
                    yield recorded, list_changes(label, recorded.trace, addresses, recorded.inputs.limits)
        except WebEvalError:  # a run that cannot be scored does not pass
            continue
        finally:
            recorded.release()


def _format_text(runs_by_task: RunsByTask, effects: Sequence[SideEffect]) -> str:
    lines = [effect.text for effect in effects]
    runs = pluralize(sum(map(len, runs_by_task.values())), "passing run")
    lines.append(f"{pluralize(len(effects), 'side effect')} in {runs} of {pluralize(len(runs_by_task), 'task')}")
    if single := count_single(runs_by_task):
        has = "has" if single == 1 else "have"
        lines.append(f"{pluralize(single, 'task')} {has} 1 passing run only, with nothing to compare it with")
    return sanitize("\n".join(lines))


def _format_json(runs_by_task: RunsByTask, effects: Sequence[SideEffect]) -> str:
    content = {
        "passing_runs": sum(map(len, runs_by_task.values())),
        "tasks": len(runs_by_task),
        "tasks_with_1_passing_run": count_single(runs_by_task),
        "side_effects": [effect.to_json() for effect in effects],
    }
    return sanitize(to_text(content))
