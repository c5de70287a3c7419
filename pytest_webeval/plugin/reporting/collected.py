"""What the processes of a session collected, deselected and left to other shards, as the controller knows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.selected_paths import selects_some_runs
from pytest_webeval.plugin.workspace import COUNTS, ITEMS, PytestWorkspace
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.output_paths import check_copy
from pytest_webeval.sessions.session_rows import SessionRows


class CollectedRuns(Struct, eq=False):
    """One per session. `labels` are those of run items, `without_runs` those of directories that hold no run.

    `nested_runs` are the labels of runs inside other runs, which have no item.
    """

    workspace: PytestWorkspace
    rows: SessionRows
    labels: set[str] = field(default_factory=set)
    counts: Counts = field(default_factory=Counts)
    without_runs: Sequence[str] = ()
    nested_runs: Sequence[str] = ()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember the collected items, to recognize a partial session."""
        self._add({item.nodeid.rpartition("::")[0] for item in session.items if isinstance(item, RunItem)})

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The same under xdist, where the controller collects nothing."""
        labels = (label for label, _, name in (nodeid.rpartition("::") for nodeid in ids) if name in ITEMS)
        self._add({label for label in labels if self.workspace.labels.path_of(label)})

    def _add(self, labels: set[str]) -> None:
        """Remember some labels. Raises `pytest.UsageError` if that are too many for a report in one file."""
        self.labels |= labels
        try:
            check_copy(self.workspace.settings, len(self.labels))
        except SettingsError as error:
            raise pytest.UsageError(str(error)) from error
        self.rows.tidy()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker counted; all workers collect the same."""
        output = getattr(node, "workeroutput", None) or {}
        if "webeval_counts" in output:
            self.counts = self.counts.join(Counts(*output["webeval_counts"]))
        self.without_runs = self.without_runs or output.get("webeval_without_runs", ())
        self.nested_runs = self.nested_runs or output.get("webeval_nested_runs", ())

    @property
    def has_runs(self) -> bool:
        """Whether there is anything to score."""
        return bool(self.labels)

    def finish(self) -> None:
        """Add what this process counted itself."""
        self.counts = self.counts.join(self.workspace.config.stash.get(COUNTS, Counts()))
        self.without_runs = self.without_runs or self.workspace.without_runs
        self.nested_runs = self.nested_runs or self.workspace.nested_runs

    @property
    def selection(self) -> str:
        """The values of pytest's options that choose runs."""
        values = (self.workspace.config.getoption(name, default="") for name in ("keyword", "markexpr", "lf"))
        return " ".join(map(str, values))

    @property
    def is_chosen(self) -> bool:
        """Whether the session was to score some runs of the roots or of its shard, rather than all."""
        config, settings = self.workspace.config, self.workspace.settings
        names_tests = settings.is_live and any("::" in argument for argument in config.args)
        return self.counts.chosen > 0 or names_tests or selects_some_runs(config, settings.runs)
