"""The page of each run in our own report, written by the process that scored the run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from pytest_webeval.plugin.collection.nodes import RunItem, run_path
from pytest_webeval.plugin.performance import gc_paused
from pytest_webeval.plugin.rerun import find_repeated_options
from pytest_webeval.plugin.runtest.evaluation import renew_time_limit, run_time_limit
from pytest_webeval.plugin.workspace import COUNTS, MISSING_ITEM, PytestWorkspace
from pytest_webeval.reports.rerun import RerunCommands, exact
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.sessions.collected import Counts
from pytest_webeval.sessions.runs.run_outcome import RunOutcome
from pytest_webeval.sessions.settings.option_values import LONGEST
from pytest_webeval.summary.record import Record

if TYPE_CHECKING:
    from pytest_webeval.sessions.runs.page_writer import PageWriter


class RunPages(Struct, frozen=True, eq=False, dict=True):
    """One per process. A page that cannot be made is missing, without other effects."""

    workspace: PytestWorkspace
    directory: Path
    _task_ids: dict[str, int | str] = field(default_factory=dict)
    _missing: set[str] = field(default_factory=set)
    _taken: set[str] = field(default_factory=set)  # keywords that select tasks by something else than their id

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember all runs, also deselected ones: a keyword on a page must select only the run of that page."""
        if isinstance(item, RunItem):
            label, _, name = item.nodeid.rpartition("::")
            self._task_ids[label] = item.task_id
            self._taken.update(item.listextrakeywords() - exact([item.task_id]))
            if name == MISSING_ITEM:
                self._missing.add(label)

    def write_for_item(self, written: RunOutcome, item: pytest.Item) -> RunOutcome:
        """Write the page of a run, which may take as long as scoring it."""
        renew_time_limit(item)
        path = run_path(item)
        if path is None:
            return written
        runs = item.config.stash.get(COUNTS, Counts()).split or len(item.session.items)  # which share room for images
        with gc_paused():
            return self._write(written, path, runs, run_time_limit(item, self.workspace.settings))

    def write_merged(self, written: RunOutcome, path: Path, runs: int) -> RunOutcome:
        """Write the page of a run whose result was merged at the end, within the time limit of one run."""
        seconds = self.workspace.settings.timeout or LONGEST
        return self._write(written, path, runs, time_limit(seconds, "writing the report page timed out"))

    def write_without_recording(self, written: RunOutcome, path: Path) -> RunOutcome:
        """Write a page without reading the recording, which crashed the worker."""
        return self._write(written, path, 1, None, is_reading=False)

    def _write(
        self, written: RunOutcome, path: Path, runs: int, limit: AbstractContextManager[None] | None, **options: bool
    ) -> RunOutcome:
        """Write a page; `runs` share the room for images."""
        rerun = self._rerun(written.record)
        return self._writer.try_to_write(written, path, runs, rerun, limit, **options)

    @cached_property
    def _writer(self) -> PageWriter:
        from pytest_webeval.sessions.runs.page_writer import PageWriter  # for who asks

        return PageWriter(self.workspace, self.directory)

    def _rerun(self, record: Record) -> str:
        reruns = self._reruns
        if record.run not in reruns.task_ids:  # a controller collects nothing, so it names the run itself
            missing = (record.run,) if record.missing else ()
            reruns = replace(reruns, task_ids={record.run: ""}, missing=missing)
        return reruns.command([record.run]).command

    @cached_property
    def _reruns(self) -> RerunCommands:
        return RerunCommands(self._task_ids, *find_repeated_options(self.workspace.config), self._missing, self._taken)


PAGES = pytest.StashKey[RunPages]()
