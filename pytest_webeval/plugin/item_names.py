"""Names of items: readable names by task, and keywords that `-k` matches in part or exactly."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.workspace import PytestWorkspace
from pytest_webeval.reports.rerun import exact
from pytest_webeval.tasks.task import DefinedTask, Task

LONGEST_NAME = 180
_SAFE = "/-_.~+=@, "


def item_name(task_id: int | str) -> str:
    """The name of an item: its task in ASCII, as in node ids, for reports of other plugins escape nothing."""
    return quote(str(task_id), safe=_SAFE, errors="surrogatepass")[:LONGEST_NAME]


def run_name(nodeid: str, task_id: int | str) -> str:
    """The label of a run, with its task where that has another name than the directory."""
    label, task = nodeid.rpartition("::")[0], item_name(task_id)
    return label if label.rpartition("/")[2] == task else f"{label} (task {task})"


def task_names(task: Task | None) -> list[str]:
    """The keywords of a task for `-k` besides its id: sites, type, template; benchmark and group of a trajectory."""
    if isinstance(task, DefinedTask):
        kind = [task.task_type.lower()] if task.task_type else []
        template = [f"template_{task.intent_template_id}"] if task.intent_template_id >= 0 else []
        return [*template, *task.sites, *kind]
    names = (getattr(task, name, None) for name in ("benchmark", "group"))
    return [name for name in names if name]


def run_keywords(path: Path, workspace: PytestWorkspace) -> set[str]:
    """The keywords that select the tests of a run exactly; for a broken run, the name of its directory."""
    try:
        run = workspace.run(path)
    except WebEvalError:
        return exact([path.name])
    return exact([run.task_id, run.format, *task_names(workspace.tasks.find(run))])
