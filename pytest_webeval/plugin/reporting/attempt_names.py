"""The names of attempts and agents, shown before the first task is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct

from pytest_webeval.errors import RecordingError
from pytest_webeval.plugin.workspace import ITEM, PytestWorkspace
from pytest_webeval.safety.text import MORE, list_first, pluralize, sanitize, truncate
from pytest_webeval.summary.run_folders import find_run_folder, group_folders
from pytest_webeval.summary.task_identity import TaskKeys

if TYPE_CHECKING:
    from pytest_webeval.summary.attempts import AttemptName

NAMES_SHOWN, LONGEST_NAME = 6, 80


class AttemptNames(Struct, eq=False):
    """Plugin of the controller."""

    workspace: PytestWorkspace
    is_shown: bool = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """The line of a session without xdist."""
        return self._format(item.nodeid for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Show the line when the first worker has collected."""
        terminal = node.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and not self.is_shown:
            self.is_shown = True
            for line in self._format(ids):
                terminal.ensure_newline()
                terminal.write_line(line)

    def _format(self, nodeids: Iterable[str]) -> list[str]:
        """One line if run folders hold the same tasks, or a pattern names the attempts."""
        end, pattern = f"::{ITEM}", self.workspace.settings.attempts
        labels = [nodeid.removesuffix(end) for nodeid in nodeids if nodeid.endswith(end)]
        if not labels or (pattern is None and len(set(map(find_run_folder, labels))) == 1):
            return []
        from pytest_webeval.summary.attempts import name_attempt  # few sessions have several folders

        named: Counter[AttemptName] = Counter()
        for folder, count in _count_runs([_locate(self.workspace, label) for label in labels], pattern).items():
            named[name_attempt(folder, pattern)] += count
        if pattern is not None and not any(name.attempt for name in named):
            return [sanitize(f"webeval: no directory matches --webeval-attempts={pattern}; check the pattern")]
        listed = list_first(sorted(named.items()), NAMES_SHOWN, lambda item: _format_name(*item), MORE)
        return [sanitize(f"webeval: {pluralize(len(named), 'attempt')}: {listed}")] if named else []


class _Place(Struct, frozen=True):
    """Where a run lies, and what is known of its task before it is read."""

    folder: str
    task_id: int | str
    format: str | None = None
    benchmark: str | None = None


def _locate(workspace: PytestWorkspace, label: str) -> _Place:
    path = workspace.labels.path_of(label)
    try:
        run = workspace.load(path) if path is not None else None
    except RecordingError:  # the test of the run says why
        run = None
    if run is None:
        return _Place(find_run_folder(label), label.rpartition("/")[2])
    return _Place(find_run_folder(label, is_named_by_run=run.is_named_by_run), run.task_id, run.format)


def _count_runs(places: Sequence[_Place], pattern: str | None) -> Counter[str]:
    """The runs of each folder; without a pattern, only of folders that share a task with another one."""
    counts = Counter(place.folder for place in places)
    if pattern is not None:
        return counts
    keys = TaskKeys(places)
    groups = group_folders((place.folder, keys.find(place)) for place in places)
    return Counter({folder: counts[folder] for group in groups if len(group) > 1 for folder in group})


def _format_name(name: AttemptName, count: int) -> str:
    return f"{truncate(' '.join(filter(None, name)) or '(no name)', LONGEST_NAME)} ({pluralize(count, 'run')})"
