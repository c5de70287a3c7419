"""The names of attempts and agents, shown before the first task is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Struct

from pytest_webeval.plugin.workspace import ITEM
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.safety.text import pluralize
from pytest_webeval.safety.text import sanitize
from pytest_webeval.safety.text import truncate

NAMES_SHOWN, LONGEST_NAME = 6, 80


class AttemptNames(Struct, eq=False):
    """Plugin of the controller."""

    workspace: Workspace
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
        """One line if directories hold runs of the same tasks, or a pattern names the attempts."""
        end = f"::{ITEM}"
        places = [nodeid.removesuffix(end).rpartition("/") for nodeid in nodeids if nodeid.endswith(end)]
        pattern = self.workspace.settings.attempts
        if not places or (pattern is None and len({name for _, _, name in places}) == len(places)):
            return []
        from pytest_webeval.summary.attempts import name_attempt  # few sessions have several runs of a task
        from pytest_webeval.summary.record import TRAJECTORIES

        counts = Counter(directory.removesuffix(TRAJECTORIES) for directory, _, _ in places)
        named = {name_attempt(directory, pattern): count for directory, count in counts.items()}
        parts = [
            f"{truncate(' '.join(filter(None, name)) or '(no name)', LONGEST_NAME)} ({pluralize(count, 'run')})"
            for name, count in sorted(named.items())[:NAMES_SHOWN]
        ]
        more = f", … and {len(named) - NAMES_SHOWN} more" if len(named) > NAMES_SHOWN else ""
        return [sanitize(f"webeval: {pluralize(len(named), 'attempt')}: {', '.join(parts)}{more}")]
