"""Files that say what agents were asked, which tasks count, and where the sites were."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from pytest_webeval.diagnostics.unpassable import unpassable_reason
from pytest_webeval.errors import EvaluationError, RecordingError, TaskDefinitionError
from pytest_webeval.safety.text import sanitize
from pytest_webeval.schemas.checked_files import CheckedFile
from pytest_webeval.schemas.registry import SCHEMAS
from pytest_webeval.tasks.dataset import TaskSet, load_tasks, load_untrusted_tasks, parse_tasks
from pytest_webeval.tasks.expectations import NetworkExpectation, ResponseExpectation, RubricExpectation
from pytest_webeval.tasks.sites import SITE_NAMES, load_sites, site_name
from pytest_webeval.tasks.subset import load_subset
from pytest_webeval.tasks.task import Task
from tests.fuzz.targets.target import expect, touch

_IN_MEMORY = Path("/dev/shm")
_MODELS = (ResponseExpectation, NetworkExpectation, RubricExpectation)
MAX_USED = 50  # tasks of one file


@cache
def memory() -> Path:
    """A directory for the files of this process, in memory where that is possible, until it ends in order."""
    found = Path(tempfile.mkdtemp(prefix=_prefix(os.getpid()), dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


def forget(pid: int) -> None:
    """Remove the files of a process that ended in whatever way."""
    for place in (_IN_MEMORY, Path(tempfile.gettempdir())):
        for left in place.glob(f"{_prefix(pid)}*"):
            shutil.rmtree(left, ignore_errors=True)


def _prefix(pid: int) -> str:
    return f"fuzz-{pid}-"


@contextmanager
def stored(content: bytes, name: str) -> Iterator[Path]:
    """A file with that content."""
    path = memory() / name
    path.write_bytes(content)
    try:
        yield path
    finally:
        path.unlink()


def read_tasks(content: bytes) -> None:
    """Definitions in whatever file, read as given by name and as found in a run root."""
    with stored(content, "tasks.json") as path:
        with suppress(TaskDefinitionError):
            use_tasks(load_tasks(str(path)))
        with suppress(TaskDefinitionError):
            load_untrusted_tasks(path.parent, path.name, "a run root")
    use_tasks(parse_tasks(content, "webtailbench-refusals.tsv"))


def use_tasks(found: TaskSet) -> None:
    """Ask for every task."""
    _ = found.warnings, found.origin, found.checksum
    for task_id in (*found.task_ids[:MAX_USED], "x_rephrased_1", 7):
        _ = task_id in found, f"{task_id}_rephrased_1" in found
        for one in (task_id, f"{task_id}_rephrased_1"):
            with suppress(TaskDefinitionError):
                use_task(found.get(one))


def use_task(task: Task) -> None:
    """Read what a task expects, as each evaluator would."""
    _ = task.task_type, unpassable_reason(task)
    touch(task, "benchmark", "group", "rubric", "warnings") if hasattr(task, "benchmark") else None
    for expectation in task.expectations:
        for model in _MODELS:
            with suppress(EvaluationError):
                expectation.read_as(model)


def read_sites(content: bytes) -> None:
    """A configuration, and texts in which its addresses are looked for."""
    with stored(content, "config.json") as path:
        sites = load_sites(path)
    known = tuple(sites.environments)
    _ = sites.covers(known), sites.mentions("http://shop.test:7770/a", known)
    for text in ("__SHOPPING__/a?b=c", "http://shop.test:7770/a", ""):
        sites.derender(text, SITE_NAMES)
        with suppress(EvaluationError, RecordingError):
            sites.render(text, known)
            sites.render_pattern(f"^{text}$", known, escape=True)


def read_subset(content: bytes) -> None:
    """Ids of tasks that count."""
    with stored(content, "subset.json") as path:
        subset = load_subset(str(path))
    expect(subset.task_ids and len(subset.checksum) == 64, "a subset without ids or checksum")
    with suppress(ValueError, RecursionError):
        site_name(str(json.loads(content)))


def validate(content: bytes) -> None:
    """A file that is checked by each of the schemas."""
    with stored(content, "any.json") as path:
        for schema in SCHEMAS:
            for problem in CheckedFile(path, schema).find_problems():
                expect(len(sanitize(problem).splitlines()) == 1, f"a problem on several lines: {problem!r}")
