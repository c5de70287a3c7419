"""The page of each run in our own report, written by the process that scored the run."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_webeval.errors import DiskFull
from pytest_webeval.errors import EvaluationError
from pytest_webeval.errors import WebEvalError
from pytest_webeval.plugin.collection.nodes import RunItem
from pytest_webeval.plugin.collection.nodes import run_path
from pytest_webeval.plugin.item_names import exact
from pytest_webeval.plugin.performance import gc_paused
from pytest_webeval.plugin.rerun import find_repeated_options
from pytest_webeval.plugin.runtest.evaluation import USED
from pytest_webeval.plugin.runtest.evaluation import run_time_limit
from pytest_webeval.plugin.runtest.run_outcome import RunOutcome
from pytest_webeval.plugin.settings import LONGEST
from pytest_webeval.plugin.workspace import MISSING_ITEM
from pytest_webeval.plugin.workspace import Workspace
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.run import placeholder_run
from pytest_webeval.redaction.policy import REDACTED
from pytest_webeval.reports.rerun import RerunCommands
from pytest_webeval.results import TaskResult
from pytest_webeval.safety.deadline import time_limit
from pytest_webeval.summary.record import Record

if TYPE_CHECKING:
    from pytest_webeval.reports.html.screenshots import ScreenshotSource


@dataclass(frozen=True, eq=False)
class RunPages:
    """One per process. A page that cannot be made is missing, without other effects."""

    workspace: Workspace
    directory: Path
    _task_ids: dict[str, int | str] = field(default_factory=dict)
    _missing: set[str] = field(default_factory=set)
    _taken: set[str] = field(default_factory=set)  # keywords that select tasks by something else than their id

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember all runs, also deselected ones: a keyword on a page must select only the run of that page."""
        if isinstance(item, RunItem):
            label, _, name = item.nodeid.rpartition("::")
            self._task_ids[label] = item.task_id
            self._taken.update(item.extra_keyword_matches - exact([item.task_id]))
            if name == MISSING_ITEM:
                self._missing.add(label)

    def write_for_item(self, outcome: RunOutcome, item: pytest.Item) -> RunOutcome:
        """The same once its page is written, which may take as long as scoring it."""
        item.stash[USED] = 0.0
        path = run_path(item)
        if path is None:
            return outcome
        try:
            with gc_paused(), run_time_limit(item, self.workspace.settings):
                return self.write(outcome, path, len(item.session.items))
        except EvaluationError:
            return outcome

    def write(self, outcome: RunOutcome, path: Path, runs: int = 1) -> RunOutcome:
        """The outcome with the texts of its task, after its page is written; `runs` share the bytes for images.

        If the recording cannot be read, there is no page, and the list says so.
        """
        try:
            return (
                outcome
                if outcome.source_result is None
                else self._write_view(outcome, outcome.source_result, path, runs)
            )
        except DiskFull as error:
            return outcome.with_unwritten_file(error)
        except (WebEvalError, RecursionError):
            return outcome

    def write_merged(self, outcome: RunOutcome, path: Path, runs: int) -> RunOutcome:
        """The same for a merged outcome, within the time limit of one run."""
        seconds = self.workspace.settings.timeout or LONGEST
        try:
            with time_limit(seconds, "writing the report page timed out"):
                return self.write(outcome, path, runs)
        except EvaluationError:
            return outcome

    def write_without_recording(self, outcome: RunOutcome, path: Path) -> RunOutcome:
        """The same without reading the recording, which crashed the worker."""
        return self.write(replace(outcome, run=self._placeholder(path)), path)

    def _write_view(self, outcome: RunOutcome, source_result: TaskResult, path: Path, runs: int) -> RunOutcome:
        from pytest_webeval.reports.html.task_page import ReportPaths
        from pytest_webeval.reports.html.task_page import recorded_parts
        from pytest_webeval.reports.html.task_page import task_view
        from pytest_webeval.reports.html.writer import write_task  # for who asks

        # By another process, which alone knew the secrets in the recording.
        is_redacted = REDACTED in source_result.webeval
        run = self._placeholder(path) if is_redacted else outcome.run or self._load_run(path)
        task = outcome.task or self.workspace.task_or_none(run)
        parts = recorded_parts(run, task, source_result, self._pictures(run, runs))
        result, redacted = outcome.redacting.redact_with_attachment(source_result, run, parts, parts["steps"])
        is_written = outcome.result is not None or outcome.is_resumed or outcome.run is None
        invocation_dir = self.workspace.config.invocation_params.dir
        paths = ReportPaths(self.directory, path, outcome.path if is_written else None, invocation_dir)
        view = task_view(result, outcome.record, redacted, paths, self._rerun(outcome.record))
        write_task(outcome.record.run, view, self.directory)
        return replace(outcome, texts={name: redacted[name] for name in ("intent", "template")})

    def _rerun(self, record: Record) -> str:
        reruns = self._reruns
        if record.run not in reruns.task_ids:  # a controller collects nothing, so it names the run itself
            missing = (record.run,) if record.missing else ()
            reruns = replace(reruns, task_ids={record.run: ""}, missing=missing)
        return reruns.command([record.run]).command

    @cached_property
    def _reruns(self) -> RerunCommands:
        return RerunCommands(self._task_ids, *find_repeated_options(self.workspace.config), self._missing, self._taken)

    def _load_run(self, path: Path) -> Run:
        try:
            return self.workspace.run(path)
        except WebEvalError:
            return self._placeholder(path)

    def _placeholder(self, path: Path) -> Run:
        return placeholder_run(path, self.workspace.labels.of(path), self.workspace.settings.rules)

    def _pictures(self, run: Run, runs: int) -> ScreenshotSource | None:
        """Links to the screenshots of a run, or thumbnails; None without a trajectory, or if redaction forbids them."""
        if run.trajectory is None:
            return None
        from pytest_webeval.reports.html.screenshots import Links
        from pytest_webeval.reports.html.screenshots import Thumbnails

        settings = self.workspace.settings
        if settings.report_embed is None:
            return Links(run.path, self.directory)
        return (
            None if settings.redaction.is_strict else Thumbnails(run.trajectory, settings.report_embed // max(runs, 1))
        )


PAGES = pytest.StashKey[RunPages]()
