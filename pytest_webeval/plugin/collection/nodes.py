"""Run directories as pytest nodes: a `Collector` for each, with one `Function` in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pluggy
import pytest

from pytest_webeval.errors import RecordingError, RunExcluded, TaskFailed, WebEvalError
from pytest_webeval.plugin.item_names import item_name, task_names
from pytest_webeval.plugin.selected_paths import SELECTED_PATHS
from pytest_webeval.plugin.user_code import with_tracebacks
from pytest_webeval.plugin.workspace import (
    AUDIT_ITEM,
    ITEM,
    MISSING_ITEM,
    MISSING_TASKS,
    TASK_AUDITS,
    WORKSPACE,
    PytestWorkspace,
)
from pytest_webeval.recordings.labels import parse_task_id, quote_path
from pytest_webeval.recordings.run_tree import Branch, Kind
from pytest_webeval.reports.rerun import exact
from pytest_webeval.safety.text import sanitize
from pytest_webeval.tasks.task import DefinedTask, Task


def task(record_evaluation: Any, webeval_evaluators: list[Any]) -> None:
    """Score the run and fail with the reason."""
    try:
        record_evaluation.score(webeval_evaluators)
    except RunExcluded as error:
        record_evaluation.end_as_excluded(error)


class RunItem(pytest.Function):
    """The test that scores one run. `problem` is why it cannot be scored at all.

    Its node id ends with `task` or `missing`. Its name is its task, because reports of other plugins show the name.
    """

    problem: str | None = None
    task_id: int | str = ""
    task_keywords: frozenset[str] = frozenset()  # for `-k`, besides those with its id

    def setup(self) -> None:
        """Look up the fixtures, or put in place what they would give."""
        if needs_no_fixtures(self):
            self.config.stash[SET_UP](self)
        else:
            super().setup()

    def listextrakeywords(self) -> set[str]:
        """All keywords for `-k` that no mark and no function has."""
        return super().listextrakeywords() | self.task_keywords

    @property
    def ihook(self) -> pluggy.HookRelay:
        """Those of its directory."""
        return self.parent.ihook if self.parent is not None else super().ihook

    def getparent(self, cls: Any) -> Any:
        """The nearest node of a class; a run directory stands in for the module that a run does not have."""
        return self.parent if cls is pytest.Module else super().getparent(cls)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The directory, a line because pytest wants one for an item that a marker skips, and the item's name."""
        return self.path, 0, self.nodeid

    @cached_property
    def location(self) -> tuple[str, int | None, str]:
        """The same with the directory as seen from the rootdir, spelled as in labels: reports of workers carry it."""
        return quote_path(os.path.relpath(self.path, self.config.rootpath)), 0, self.nodeid

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ARG002
        """Our own failures as the text that they carry, anything else as pytest shows it."""
        if isinstance(excinfo.value, TaskFailed):
            return with_tracebacks(str(excinfo.value), excinfo.value.raised, self.config)
        if isinstance(excinfo.value, WebEvalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)  # pytest.Function takes no style


SET_UP = pytest.StashKey[Callable[[RunItem], None]]()  # gives an item that looks up no fixtures what they would

# All fixtures that a run item requests, if no conftest.py and no other plugin adds one.
FIXTURES = frozenset(
    {
        "record_evaluation",
        "request",
        "webeval_evaluators",
        "webeval_judge",
        "webeval_network_event",
        "webeval_request_pattern",
        "webeval_response",
        "webeval_rubric",
        "webeval_run",
        "webeval_sites",
    }
)
_SHOWING_FIXTURES = ("setupshow", "setuponly", "setupplan")


def needs_no_fixtures(item: RunItem) -> bool:
    """Whether a run item needs no fixture: nobody overrides one that it requests, adds one, or has them shown.

    Such an item is scored by the evaluators that the fixtures would give, without looking any of them up.
    """
    is_usual = item.obj is task and FIXTURES.issuperset(item.fixturenames) and not has_override(item)
    return is_usual and not any(item.config.getoption(name, default=False) for name in _SHOWING_FIXTURES)


_MARKS_OF_PYTEST = {"filterwarnings", "parametrize", "skip", "skipif", "timeout", "usefixtures", "xfail"}


def list_tags(item: pytest.Item) -> list[str]:
    """Names of the markers that users gave an item, sorted."""
    names = {mark.name for mark in item.iter_markers()}
    return sorted(name for name in names - _MARKS_OF_PYTEST if not name.startswith("webeval_"))


FIXTURE_INFO = pytest.StashKey[Any]()


def find_fixtures(item: RunItem) -> Mapping[str, Sequence[pytest.FixtureDef[Any]]]:
    """The definitions of the fixtures of a run item, by name; those of one name override each other."""
    directory: Any = item.parent
    fixtures: Mapping[str, Sequence[pytest.FixtureDef[Any]]]
    fixtures = (directory.parent or directory).stash[FIXTURE_INFO].name2fixturedefs
    return fixtures


def has_override(item: RunItem) -> bool:
    """Whether a conftest.py or a plugin defines a fixture that the item requests, used so far or not."""
    return any(not _is_ours(definition) for each in find_fixtures(item).values() for definition in each)


def prefer_overrides(item: pytest.Function) -> Any:
    """Let plugins override our fixtures, of which pytest takes the last registered, and return the fixtures.

    Plugins of `-p` and `pytest_plugins` are registered before this one.
    """
    info = item._fixtureinfo  # noqa: SLF001  (what `fixtureinfo` of `from_parent` takes, and nothing else has)
    for name, definitions in info.name2fixturedefs.items():
        info.name2fixturedefs[name] = sorted(definitions, key=_is_ours, reverse=True)
    return info


def _is_ours(definition: pytest.FixtureDef[Any]) -> bool:
    """Whether the function stands in a module of this plugin, whatever it says of itself."""
    module = getattr(definition.func, "__globals__", {}).get("__name__")
    return str(module).startswith("pytest_webeval.plugin.")


class RunNode(pytest.Collector):
    """A directory at or below a run root.

    Not a `pytest.Directory`: pytest would search it for a conftest.py and end the session if it cannot be read.
    """

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks that hold above the run root, as no conftest.py below it does."""
        if isinstance(self.parent, RunNode):
            return self.parent.ihook
        return self.session.gethookproxy(self.path.parent)


class RunDirectory(RunNode):
    """One run, or a directory that should be one."""

    obj = ModuleType("run")
    problem: str | None = None

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The one item, with markers and keywords from the task definition; for an audit that of the task."""
        workspace, audits = self.config.stash[WORKSPACE], self.config.stash.get(TASK_AUDITS, None)
        if audits is not None and not audits.is_first(self.path):
            yield from _missing_directories(self)
            return
        run, problem = None, self.problem
        if problem is None:
            try:
                run = workspace.run(self.path)
            except RecordingError as error:  # it is another than a moment ago
                problem = str(error)
        item = self._item(ITEM, problem)
        if run is not None:
            _describe(item, run.task_id, workspace.tasks.find(run), run.format)
        else:
            _name_item(item, self.path.name)
        yield item
        yield from _missing_directories(self)

    def _item(self, name: str, problem: str | None) -> RunItem:
        """The item, with the fixtures of the first one beside it: to look them up for each takes time and memory."""
        shared = (self.parent or self).stash
        audits, call = self.config.stash.get(TASK_AUDITS, None), task
        if audits is not None:
            name, call = AUDIT_ITEM, audits.test
        item: RunItem = RunItem.from_parent(self, name=name, callobj=call, fixtureinfo=shared.get(FIXTURE_INFO, None))
        if FIXTURE_INFO not in shared:
            shared[FIXTURE_INFO] = prefer_overrides(item)
        item.fixturenames = [*item.fixturenames]  # to which plugins add
        item.problem = problem
        return item


class MissingDirectory(RunDirectory):
    """The path of an expected task without a recording. Nothing is read or written there."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """The one item, with markers and keywords like those of a run."""
        missing = self.config.stash[MISSING_TASKS]
        item = self._item(MISSING_ITEM, missing.reason(self.path))
        _describe(item, missing.by_path[self.path], missing.task_or_none(self.path))
        yield item


def _describe(item: RunItem, task_id: int | str, definition: Task | None, *names: str) -> None:
    """Keywords and markers; an item whose task is not known says so when it runs."""
    names = (*names, *task_names(definition))
    _name_item(item, task_id)
    item.extra_keyword_matches.add(str(task_id).encode("utf-8", "backslashreplace").decode())
    item.task_keywords = _keywords(names)
    if isinstance(definition, DefinedTask):
        _mark(item, definition)


@lru_cache(maxsize=1024)  # many tasks share them too
def _keywords(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(exact(names)).union(names)


def _name_item(item: RunItem, task_id: int | str) -> None:
    """Call an item by its task. The keyword in brackets selects this task, and none whose id only contains its id."""
    item.extra_keyword_matches.update([item.name], exact([task_id]))
    item.task_id, item.name = task_id, item_name(task_id)


def _mark(item: RunItem, definition: Task) -> None:
    if definition.intent_template_id >= 0:  # a task of one's own may be of no template
        item.add_marker(_build_mark("webeval_template", "id", definition.intent_template_id))
    for site in definition.sites:
        item.add_marker(_build_mark("webeval_site", "name", site))
    if kind := definition.task_type:
        item.add_marker(_build_mark("webeval_type", "name", kind.lower()))


@cache
def _build_mark(name: str, field: str, value: int | str) -> pytest.MarkDecorator:
    """A mark, which many tasks share: one object for each would cost a session more than the marks are worth."""
    mark: pytest.MarkDecorator = getattr(pytest.mark, name)
    return mark(value, **{field: value})


class RunsDirectory(RunNode):
    """A directory at or below a run root that is not a run itself."""

    branches: Sequence[Branch] = ()

    def collect(self) -> Iterator[pytest.Collector]:
        """The runs below, and directories with runs."""
        branches, self.branches = self.branches, ()
        for branch in branches:
            if _is_chosen(branch.path, self.config):
                yield _node_of(branch, self, branch.path.name)
        yield from _missing_directories(self)


def _missing_directories(parent: RunNode) -> Iterator[MissingDirectory]:
    """Nodes for the missing tasks that stand in a run root. Arguments that choose runs in it pass them over."""
    for path in parent.config.stash[MISSING_TASKS].below(parent.path):
        if _is_chosen(path, parent.config):
            yield _node(MissingDirectory, parent, path, path.name)


def directory_node(path: Path, parent: pytest.Collector) -> RunNode:
    """The node for a directory at or below a run root where pytest comes to it."""
    is_top = isinstance(parent, pytest.Session)  # its name is not a keyword, as for the top directory of pytest
    return _node_of(parent.config.stash[WORKSPACE].branch(path), parent, "." if is_top else path.name)


def _node_of(branch: Branch, parent: pytest.Collector, name: str) -> RunNode:
    if branch.kind is Kind.GROUP:
        group = _node(RunsDirectory, parent, branch.path, name)
        group.branches = branch.branches
        return group
    node = _node(RunDirectory, parent, branch.path, name)
    node.problem = branch.problem
    return node


Node = TypeVar("Node", bound=RunNode)


def _node(kind: type[Node], parent: pytest.Collector, path: Path, name: str) -> Node:
    nodeid = parent.config.stash[WORKSPACE].labels.of(path)
    if sanitize(name) != name:  # reports carry the names of nodes as keywords
        name = quote_path(name)
    node: Node = kind.from_parent(parent, path=path, nodeid=nodeid, name=name)
    return node


RECORDED = pytest.StashKey[Path]()  # the directory into which a live test records
OPENED_RUNS = pytest.StashKey[ExitStack]()  # of an item: the run directories that stay open through all of its phases
LIVE_FIXTURE = "webeval_recording"


def is_live(item: pytest.Item) -> bool:
    """Whether an item is a test that records a run."""
    return LIVE_FIXTURE in getattr(item, "fixturenames", ())


def has_own_result(item: pytest.Item) -> bool:
    """Whether an item gives the verdict on its run, as no other Python test does."""
    return isinstance(item, RunItem) or RECORDED in item.stash


def run_path(item: pytest.Item) -> Path | None:
    """The run that an item is about: its own directory, what it records, or the parameter of a Python test."""
    if isinstance(item, RunItem):
        return item.path
    if RECORDED in item.stash:
        return item.stash[RECORDED]
    parameter = item.callspec.params.get("webeval_run") if hasattr(item, "callspec") else None
    return parameter if isinstance(parameter, Path) else None


def _is_chosen(path: Path, config: pytest.Config) -> bool:
    """Whether arguments name a directory or something in it or around it; true where pytest looks after that."""
    selected = config.stash.get(SELECTED_PATHS, None)
    return selected is None or selected.includes(path)


def outside_subset(items: Sequence[pytest.Item], workspace: PytestWorkspace) -> list[pytest.Item]:
    """Items about runs of other tasks."""
    if workspace.tasks.subset is None:
        return []
    return [item for item in items if workspace.tasks.leaves_out(_find_id(item, workspace))]


def _find_id(item: pytest.Item, workspace: PytestWorkspace) -> int | str | None:
    path = run_path(item)
    if path is None:
        return None
    missing = workspace.config.stash[MISSING_TASKS].by_path
    if path in missing or getattr(item, "problem", None):
        return missing.get(path, parse_task_id(path))
    try:
        return workspace.run(path).task_id
    except RecordingError:
        return parse_task_id(path)
