"""The names of attempts and agents, shown before the first task is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import TYPE_CHECKING
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.plugin.workspace import ITEM
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import sanitize
from pytest_webeval.safety.text import truncate
from pytest_webeval.summary.record import find_attempt

if TYPE_CHECKING:
    from pytest_webeval.summary.attempts import AttemptName

NAMES_SHOWN, LONGEST_NAME = 6, 80


class AttemptNames(Struct, eq=False):
    """Plugin of the controller."""

    workspace: Workspace
    is_shown: bool = False

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        """The line of a session without xdist."""
        return self._format(lambda: (item.nodeid for item in items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        """Show the line when the first worker has collected."""
        terminal = node.config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None and not self.is_shown:
            self.is_shown = True
            for line in self._format(lambda: iter(ids)):
                terminal.ensure_newline()
                terminal.write_line(line)

    def _format(self, nodeids: Callable[[], Iterator[str]]) -> list[str]:
        """One line if directories hold runs of the same tasks, or a pattern names the attempts."""
        counts = Counter(directory for directory, _ in _list_places(nodeids()))
        pattern = self.workspace.settings.attempts
        if not counts or (pattern is None and not _has_repeats(nodeids, counts)):
            return []
        from pytest_webeval.summary.attempts import name_attempt  # few sessions have several runs of a task

        named: Counter[AttemptName] = Counter()
        for directory, count in counts.items():
            named[name_attempt(directory, pattern)] += count
        if pattern is not None and not any(name.attempt for name in named):
            return [sanitize(f"webeval: no directory matches --webeval-attempts={pattern}; check the pattern")]
        parts = [
            f"{truncate(' '.join(filter(None, name)) or '(no name)', LONGEST_NAME)} ({pluralize(count, 'run')})"
            for name, count in sorted(named.items())[:NAMES_SHOWN]
        ]
        more = f", … and {len(named) - NAMES_SHOWN} more" if len(named) > NAMES_SHOWN else ""
        return [sanitize(f"webeval: {pluralize(len(named), 'attempt')}: {', '.join(parts)}{more}")]


def _list_places(nodeids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The directory of the attempt and the name of each run."""
    end = f"::{ITEM}"
    for nodeid in nodeids:
        if nodeid.endswith(end):
            label = nodeid.removesuffix(end)
            yield find_attempt(label), label.rpartition("/")[2]


def _has_repeats(nodeids: Callable[[], Iterator[str]], counts: Counter[str]) -> bool:
    """Whether directories hold runs of the same name. Names in one directory differ, and are not even listed."""
    return len(counts) > 1 and len({name for _, name in _list_places(nodeids())}) < counts.total()
