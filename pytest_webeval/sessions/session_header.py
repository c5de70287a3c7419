"""The first lines of a session: what it scores, by which rules, and the checksums of what decides.

All lines have locations in place of the directories of caches.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_webeval.rubrics.policy import OVER_BUDGET
from pytest_webeval.safety.text import pluralize, sanitize
from pytest_webeval.scoring.provenance import deciding_checksum
from pytest_webeval.sessions.settings.settings import Settings
from pytest_webeval.sessions.workspace.workspace import Workspace

MOST_PROBLEMS = 3  # of objects in stores without a file that are shown


def describe_session(workspace: Workspace) -> list[str]:
    """The lines: runs, rules and checksums, then what is wrong with the definitions of tasks."""
    places = [f"runs in {', '.join(map(str, workspace.settings.runs))}"] if workspace.settings.runs else []
    if workspace.settings.record is not None:
        places.append(f"recording into {workspace.settings.record}")
    tasks = workspace.tasks.configured
    data = f", tasks {' '.join(checksum[:12] for checksum in tasks.checksum.split(','))}" if tasks else ""
    subset = workspace.tasks.subset
    part = f", subset {subset.name} {subset.checksum[:12]}" if subset else ""
    code = f"rules {workspace.settings.rules.name}, evaluators {deciding_checksum(())[:12]}"
    policy = workspace.settings.policy.to_json() | {"over_budget": None}
    if workspace.settings.policy.over_budget != OVER_BUDGET[0]:
        policy["over_budget"] = workspace.settings.policy.over_budget
    code += "".join(f", {name.replace('_', ' ')} {value}" for name, value in policy.items() if value is not None)
    code += f", evaluator choice {' '.join(choice)}" if (choice := workspace.settings.evaluators) else ""
    if workspace.external is not None:
        code += f", {workspace.external}"
    task_warnings = (
        [f"webeval: {pluralize(len(tasks.warnings), 'warning')} in task definitions: {tasks.warnings[0]}"]
        if tasks and tasks.warnings
        else []
    )
    lines = name_locations((f"webeval: {', '.join(places)}", f"webeval: {code}{data}{part}"), workspace.settings)
    return [sanitize(line) for line in (*lines, *task_warnings)]


def name_locations(lines: Iterable[str], settings: Settings) -> list[str]:
    """Lines for people with locations in place of directories."""
    shown = list(lines)
    for mirror in settings.mirrors:
        shown = [line.replace(str(mirror.path), mirror.store.location) for line in shown]
    if (staging := settings.staging) is not None:
        place, location = str(staging.path), staging.store.location
        shown = [line if "--webeval-reuse" in line else line.replace(place, location) for line in shown]
    return shown


def list_store_problems(settings: Settings) -> list[str]:
    """The first objects that have no file, a line for each."""
    shown = [problem for mirror in settings.mirrors for problem in mirror.problems][:MOST_PROBLEMS]
    others = sum(mirror.problem_count for mirror in settings.mirrors) - len(shown)
    return [*shown, f"… and {others:,} more"] if others else shown
